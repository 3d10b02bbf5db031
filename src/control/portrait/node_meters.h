// NodeMeters: how busy the nodes with GPUs are, by their GPU type, as the Prometheus last told it.
//
//   slackline_node_load_ratio{gpu_type,resource}             mean over nodes; cpu, memory, gpu,
//                                                            gpu_memory, 0..1
//   slackline_node_network_bytes_per_second{gpu_type,direction}   likewise; received, sent
//   slackline_load_balance_ratio{gpu_type}                   1 - standard deviation of node loads
//   slackline_cluster_load_balance_ratio                     likewise, over all types
//
// NaN where nothing is measured. Names of nodes are no labels: there may be thousands.
//
// Thread-safety: show() from one thread.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/query/gpu_meters.h"
#include "obs/bounded_names.h"
#include "obs/metrics.h"
#include "slackline/model/snapshot.h"
#include "telemetry/node_load.h"

namespace slackline::control {

// The shares of a node that are in use, 0..1.
struct NodeShares {
  std::optional<double> cpu;
  std::optional<double> memory;
  std::optional<double> gpu;
  std::optional<double> gpu_memory;

  // The mean of the four; nullopt unless all were measured.
  std::optional<double> load() const;
};

NodeShares shares_of(const telemetry::NodeLoad& load, const Node& node);

// 1 - the standard deviation; 1: all are as busy as each other. nullopt: of nothing.
std::optional<double> load_balance(std::span<const double> loads);

class NodeMeters {
 public:
  // `metrics` outlives it.
  explicit NodeMeters(obs::MetricsRegistry& metrics);

  void show(const std::vector<telemetry::NodeLoad>& loads, const ClusterSnapshot& snapshot);
  // Nothing is known any more.
  void clear() { show({}, {}); }

 private:
  struct Sums;
  void set(const std::string& gpu_type, const Sums& sums) const;

  obs::MetricsRegistry& metrics_;
  obs::BoundedNames types_{kMaxGpuTypes};
  std::set<std::string> shown_;  // types that have gauges
};

}  // namespace slackline::control
