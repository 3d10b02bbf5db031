// NodeLoad: how busy a node is, whoever works on it. A number that was not measured is absent.
#pragma once

#include <optional>

#include "slackline/model/ids.h"

namespace slackline::telemetry {

struct NodeLoad {
  NodeName node;
  std::optional<double> cpu_cores{};
  std::optional<double> memory_bytes{};      // working set
  std::optional<double> gpu_share{};         // 0..1, mean over its GPUs
  std::optional<double> gpu_memory_share{};  // likewise, of their framebuffers
  std::optional<double> received_bytes_per_s{};
  std::optional<double> sent_bytes_per_s{};
};

}  // namespace slackline::telemetry
