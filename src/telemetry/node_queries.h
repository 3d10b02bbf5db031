// The PromQL for the load of nodes, one query a number (docs/TELEMETRY.md): dcgm-exporter's GPUs by
// their node, and of the kubelets' cAdvisor the cgroup of the whole machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/labels.h"
#include "telemetry/node_load.h"

namespace slackline::telemetry {

enum class NodeQuantity : std::uint8_t { kGpu, kGpuMemory, kCpu, kMemory, kReceived, kSent };
inline constexpr std::size_t kNodeQuantityCount = 6;

std::string node_promql(NodeQuantity quantity, const LabelNames& labels, int step_s, int rate_s);

// Puts the newest value of each series to the node that it names; of two of one node the greater.
void add_loads(std::vector<NodeLoad>& loads, NodeQuantity quantity,
               const std::vector<wire::Series>& series, const LabelNames& labels);

}  // namespace slackline::telemetry
