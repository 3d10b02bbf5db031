#include "telemetry/usage_queries.h"

#include <algorithm>

#include "slackline/base/text.h"

namespace slackline::telemetry {
namespace {

constexpr std::string_view kUtilisation = "DCGM_FI_DEV_GPU_UTIL";            // percent
constexpr std::string_view kEngineActive = "DCGM_FI_PROF_GR_ENGINE_ACTIVE";  // 0..1
constexpr std::string_view kFramebufferUsed = "DCGM_FI_DEV_FB_USED";         // MiB, as is FREE
constexpr std::string_view kFramebufferFree = "DCGM_FI_DEV_FB_FREE";
constexpr std::string_view kCpuSeconds = "container_cpu_usage_seconds_total";
constexpr std::string_view kWorkingSet = "container_memory_working_set_bytes";

// A text in a PromQL string that is a regular expression: names of Kubernetes have dots and dashes.
std::string literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view(R"(\.+*?()|[]{}^$")").find(c) != std::string_view::npos)
      out += c == '"' ? R"(\)" : R"(\\)";
    out += c;
  }
  return out;
}

// `make` of the metric's selector; within a scope for each group of owner labels, one of which
// the series have.
template <class Make>
std::string in_scope(const QueryText& text, std::string_view matcher, const Make& make) {
  if (text.scope.ns.empty()) return make(matcher.empty() ? "" : format("{{{}}}", matcher));
  std::vector<std::string> names;
  for (const std::string& pod : text.scope.pods)
    names.push_back(literal(pod));
  std::vector<std::string> parts;
  for (const OwnerLabels& group : text.labels.owners)
    parts.push_back(
        make(format("{{{}{}{}=~\"{}\",{}=~\"{}\"}}", matcher, matcher.empty() ? "" : ",", group.ns,
                    literal(text.scope.ns), group.pod, join(names, "|"))));
  return join(parts, " or ");
}

// One series for each owner and GPU, whoever scraped it, without the labels that nobody asks for.
std::string by_device(const QueryText& text, const std::string& inner) {
  std::vector<std::string> names = owner_names(text.labels);
  for (std::string& name : device_names(text.labels))
    names.push_back(std::move(name));
  return format("max by ({}) ({})", join(names, ","), inner);
}

// Profiling counters are the only measure of a MIG instance, and the second best of a whole GPU.
std::string utilisation(std::string_view over, const QueryText& text) {
  std::string whole;
  for (const std::string& name : text.labels.instance)
    whole += format("{}{}=\"\"", whole.empty() ? "" : ",", name);
  const std::string percent = in_scope(text, whole, [&](const std::string& selector) {
    return format("{}({}{}[{}s])", over, kUtilisation, selector, text.step_s);
  });
  const std::string active = in_scope(text, "", [&](const std::string& selector) {
    return format("{}({}{}[{}s])", over, kEngineActive, selector, text.step_s);
  });
  return by_device(text, format("({}) / 100 or {}", percent, active));
}

std::string framebuffer(std::string_view over, const QueryText& text) {
  return by_device(text, in_scope(text, "", [&](const std::string& selector) {
                     const std::string range = format("{}[{}s]", selector, text.step_s);
                     return format("{0}({1}{3}) / (avg_over_time({1}{3}) + avg_over_time({2}{3}))",
                                   over, kFramebufferUsed, kFramebufferFree, range);
                   }));
}

// `make` of the selectors of containers, for each group of owner labels: without the series of the
// cgroups of pods and of all that is above them (container=""), which nobody counts.
template <class Make>
std::string of_containers(const QueryText& text, const Make& make) {
  std::vector<std::string> parts;
  for (const OwnerLabels& group : text.labels.owners) {
    QueryText of_group = text;
    of_group.labels.owners = {group};
    parts.push_back(in_scope(of_group, format("{}!=\"\"", group.container), make));
  }
  return format("max by ({}) ({})", join(owner_names(text.labels), ","), join(parts, " or "));
}

std::string memory(std::string_view over, const QueryText& text) {
  return of_containers(text, [&](const std::string& selector) {
    return format("{}({}{}[{}s])", over, kWorkingSet, selector, text.step_s);
  });
}

// Without what only began in the range: a rate over the whole range would be too low. A sample is
// asked for in its first three eighths, at least one and a half scrapes long.
std::string cpu(int range_s, const QueryText& text) {
  const int begin_s = std::max(1, range_s * 3 / 8);
  return of_containers(text, [&](const std::string& selector) {
    return format("rate({0}{1}[{2}s]) and last_over_time({0}{1}[{3}s] offset {4}s)", kCpuSeconds,
                  selector, range_s, begin_s, range_s - begin_s);
  });
}

}  // namespace

std::string_view source_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::kGpuMean:
    case Quantity::kGpuMax:
      return "DCGM_FI_DEV_GPU_UTIL or DCGM_FI_PROF_GR_ENGINE_ACTIVE (dcgm-exporter)";
    case Quantity::kGpuMemoryMean:
    case Quantity::kGpuMemoryMax:
      return "DCGM_FI_DEV_FB_USED and DCGM_FI_DEV_FB_FREE (dcgm-exporter)";
    case Quantity::kCpu:
      return "container_cpu_usage_seconds_total (cAdvisor, in the kubelet)";
    case Quantity::kMemoryMean:
    case Quantity::kMemoryMax:
      return "container_memory_working_set_bytes (cAdvisor, in the kubelet)";
  }
  return "";
}

std::optional<double> possible_share(double value) {
  constexpr double kRounding = 0.05;
  if (!(value >= 0 && value <= 1 + kRounding)) return std::nullopt;
  return std::min(value, 1.0);
}

std::optional<double> possible(Quantity quantity, double value) {
  constexpr double kMostCores = 10'000;               // of one container
  constexpr double kMostBytes = 64.0 * (1ULL << 40);  // likewise
  if (is_of_gpu(quantity)) return possible_share(value);
  const double most = quantity == Quantity::kCpu ? kMostCores : kMostBytes;
  return value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

std::string promql(Quantity quantity, const QueryText& text) {
  switch (quantity) {
    case Quantity::kGpuMean:
      return utilisation("avg_over_time", text);
    case Quantity::kGpuMax:
      return utilisation("max_over_time", text);
    case Quantity::kGpuMemoryMean:
      return framebuffer("avg_over_time", text);
    case Quantity::kGpuMemoryMax:
      return framebuffer("max_over_time", text);
    case Quantity::kCpu:
      return cpu(std::max(text.rate_s, text.step_s), text);
    case Quantity::kMemoryMean:
      return memory("avg_over_time", text);
    case Quantity::kMemoryMax:
      return memory("max_over_time", text);
  }
  return "";
}

}  // namespace slackline::telemetry
