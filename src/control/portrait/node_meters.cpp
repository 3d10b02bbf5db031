#include "control/portrait/node_meters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace slackline::control {
namespace {

std::optional<double> share_of(const std::optional<double>& used, double all) {
  if (!used || !(all > 0)) return std::nullopt;
  return std::clamp(*used / all, 0.0, 1.0);
}

double or_nan(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

struct NodeMeters::Sums {
  using Values = std::vector<double>;
  std::array<std::pair<std::string_view, Values>, 4> shares{
      {{"cpu", {}}, {"memory", {}}, {"gpu", {}}, {"gpu_memory", {}}}};
  Values received;
  Values sent;
  Values loads;

  void add(const telemetry::NodeLoad& load, const NodeShares& of_node) {
    const auto note = [](Values& values, const std::optional<double>& value) {
      if (value) values.push_back(*value);
    };
    note(shares[0].second, of_node.cpu);
    note(shares[1].second, of_node.memory);
    note(shares[2].second, of_node.gpu);
    note(shares[3].second, of_node.gpu_memory);
    note(received, load.received_bytes_per_s);
    note(sent, load.sent_bytes_per_s);
    note(loads, of_node.load());
  }
  static std::optional<double> mean(const Values& values) {
    if (values.empty()) return std::nullopt;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
};

std::optional<double> NodeShares::load() const {
  if (!cpu || !memory || !gpu || !gpu_memory) return std::nullopt;
  return (*cpu + *memory + *gpu + *gpu_memory) / 4;
}

NodeShares shares_of(const telemetry::NodeLoad& load, const Node& node) {
  constexpr double kMilli = 1000;
  return {share_of(load.cpu_cores, static_cast<double>(node.allocatable.cpu_milli) / kMilli),
          share_of(load.memory_bytes, static_cast<double>(node.allocatable.memory_bytes)),
          share_of(load.gpu_share, 1), share_of(load.gpu_memory_share, 1)};
}

std::optional<double> load_balance(std::span<const double> loads) {
  if (loads.empty()) return std::nullopt;
  const auto count = static_cast<double>(loads.size());
  const double mean = std::accumulate(loads.begin(), loads.end(), 0.0) / count;
  double squares = 0;
  for (const double load : loads)
    squares += (load - mean) * (load - mean);
  return 1 - std::sqrt(squares / count);
}

NodeMeters::NodeMeters(obs::MetricsRegistry& metrics) : metrics_(metrics) {
  clear();
}

void NodeMeters::show(const std::vector<telemetry::NodeLoad>& loads,
                      const ClusterSnapshot& snapshot) {
  std::map<std::string, Sums> by_type;
  std::vector<double> all;
  for (const std::string& type : shown_)
    by_type[type];
  for (const telemetry::NodeLoad& load : loads) {
    const auto index = snapshot.find_node(load.node.str());
    if (!index) continue;
    const Node& node = *snapshot.node(*index).node;
    if (!node.allocatable.wants_gpus()) continue;
    const NodeShares shares = shares_of(load, node);
    by_type[types_.admit(node.gpu_type.empty() ? "unknown" : node.gpu_type.str())].add(load,
                                                                                       shares);
    if (const auto busy = shares.load()) all.push_back(*busy);
  }
  for (const auto& [type, sums] : by_type) {
    set(type, sums);
    shown_.insert(type);
  }
  metrics_.gauge("slackline_cluster_load_balance_ratio").set(or_nan(load_balance(all)));
}

void NodeMeters::set(const std::string& gpu_type, const Sums& sums) const {
  for (const auto& [resource, values] : sums.shares)
    metrics_.gauge("slackline_node_load_ratio", {{"gpu_type", gpu_type}, {"resource", resource}})
        .set(or_nan(Sums::mean(values)));
  for (const auto& [direction, values] :
       {std::pair<std::string_view, const Sums::Values*>{"received", &sums.received},
        {"sent", &sums.sent}})
    metrics_
        .gauge("slackline_node_network_bytes_per_second",
               {{"gpu_type", gpu_type}, {"direction", direction}})
        .set(or_nan(Sums::mean(*values)));
  metrics_.gauge("slackline_load_balance_ratio", {{"gpu_type", gpu_type}})
      .set(or_nan(load_balance(sums.loads)));
}

}  // namespace slackline::control
