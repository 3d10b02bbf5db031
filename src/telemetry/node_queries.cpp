#include "telemetry/node_queries.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "slackline/base/text.h"
#include "telemetry/usage_queries.h"

namespace slackline::telemetry {
namespace {

std::vector<std::string> gpu_labels(const LabelNames& labels) {
  std::vector<std::string> all;
  for (const auto* group : {&labels.device, &labels.node, &labels.index, &labels.instance})
    all.insert(all.end(), group->begin(), group->end());
  return all;
}

// Each GPU once, whichever pods have it and however often it was scraped; then the mean of a node.
std::string of_gpus(const LabelNames& labels, const std::string& inner) {
  return format("avg by ({}) (max by ({}) ({}))", join(labels.node, ","),
                join(gpu_labels(labels), ","), inner);
}

std::string of_machine(const LabelNames& labels, std::string_view over, std::string_view metric,
                       int range_s) {
  return format("max by ({}) ({}({}{{id=\"/\"}}[{}s]))", join(labels.host, ","), over, metric,
                range_s);
}

// Cards, without what pods and the machine itself are joined by.
std::string of_network(const LabelNames& labels, std::string_view metric, int range_s) {
  const std::string card = format(
      "rate({}{{id=\"/\",interface!~\"lo|veth.*|cali.*|cni.*|docker.*|flannel.*|tunl.*|vxlan.*\"}}"
      "[{}s])",
      metric, range_s);
  std::vector<std::string> by = labels.host;
  by.emplace_back("interface");
  return format("sum by ({}) (max by ({}) ({}))", join(labels.host, ","), join(by, ","), card);
}

bool is_of_gpus(NodeQuantity quantity) {
  return quantity == NodeQuantity::kGpu || quantity == NodeQuantity::kGpuMemory;
}

NodeName node_of(const wire::Series& series, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const std::string_view value = series.label(name); !value.empty()) return NodeName(value);
  return {};
}

std::optional<double>& place(NodeLoad& load, NodeQuantity quantity) {
  switch (quantity) {
    case NodeQuantity::kGpu:
      return load.gpu_share;
    case NodeQuantity::kGpuMemory:
      return load.gpu_memory_share;
    case NodeQuantity::kCpu:
      return load.cpu_cores;
    case NodeQuantity::kMemory:
      return load.memory_bytes;
    case NodeQuantity::kReceived:
      return load.received_bytes_per_s;
    case NodeQuantity::kSent:
      break;
  }
  return load.sent_bytes_per_s;
}

}  // namespace

std::string node_promql(NodeQuantity quantity, const LabelNames& labels, int step_s, int rate_s) {
  switch (quantity) {
    case NodeQuantity::kGpu: {
      std::string whole;
      for (const std::string& name : labels.instance)
        whole += format("{}{}=\"\"", whole.empty() ? "" : ",", name);
      return of_gpus(labels, format("avg_over_time(DCGM_FI_DEV_GPU_UTIL{{{0}}}[{1}s]) / 100 or "
                                    "avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[{1}s])",
                                    whole, step_s));
    }
    case NodeQuantity::kGpuMemory:
      return of_gpus(labels, format("avg_over_time(DCGM_FI_DEV_FB_USED[{0}s]) / "
                                    "(avg_over_time(DCGM_FI_DEV_FB_USED[{0}s]) + "
                                    "avg_over_time(DCGM_FI_DEV_FB_FREE[{0}s]))",
                                    step_s));
    case NodeQuantity::kCpu:
      return of_machine(labels, "rate", "container_cpu_usage_seconds_total", rate_s);
    case NodeQuantity::kMemory:
      return of_machine(labels, "avg_over_time", "container_memory_working_set_bytes", step_s);
    case NodeQuantity::kReceived:
      return of_network(labels, "container_network_receive_bytes_total", rate_s);
    case NodeQuantity::kSent:
      break;
  }
  return of_network(labels, "container_network_transmit_bytes_total", rate_s);
}

void add_loads(std::vector<NodeLoad>& loads, NodeQuantity quantity,
               const std::vector<wire::Series>& series, const LabelNames& labels) {
  for (const wire::Series& one : series) {
    const NodeName name = node_of(one, is_of_gpus(quantity) ? labels.node : labels.host);
    if (name.empty() || one.points.empty()) continue;
    const double newest = one.points.back().value;
    const std::optional<double> told = is_of_gpus(quantity) ? possible_share(newest)
                                       : newest >= 0        ? std::optional(newest)
                                                            : std::nullopt;
    if (!told) continue;
    auto at = std::lower_bound(
        loads.begin(), loads.end(), name,
        [](const NodeLoad& load, const NodeName& wanted) { return load.node < wanted; });
    if (at == loads.end() || at->node != name) {
      at = loads.emplace(at);
      at->node = name;
    }
    std::optional<double>& value = place(*at, quantity);
    value = std::max(value.value_or(0), *told);
  }
}

}  // namespace slackline::telemetry
