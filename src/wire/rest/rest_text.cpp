#include "wire/rest/rest_text.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/text_table.h"

namespace slackline::wire {
namespace {

std::string type_text(const GpuType& type) {
  return type.empty() ? "unknown" : type.str();
}

// Three significant digits, without exponents for usual numbers.
std::string figure(double value) {
  if (value == 0 || !std::isfinite(value)) return "-";
  const double size = std::fabs(value);
  if (size >= 100) return format("{:.0f}", value);
  if (size >= 10) return format("{:.1f}", value);
  if (size >= 0.1) return format("{:.2f}", value);
  return format("{:.2g}", value);
}

std::string gpu_text(const std::vector<GpuUseView>& uses, std::int64_t GpuUseView::* member) {
  std::vector<std::string> parts;
  for (const GpuUseView& use : uses)
    parts.push_back(std::to_string(use.*member));
  return join(parts, "+");
}

std::string node_state(const NodeView& node) {
  if (!node.problems.empty()) return "unreadable: " + node.problems.front();
  if (!node.ready) return "not ready";
  return node.unschedulable ? "cordoned" : "ready";
}

std::string names_text(const std::vector<NodeName>& nodes) {
  std::vector<std::string> names;
  for (const NodeName& node : nodes)
    names.push_back(node.str());
  return join(names, ",");
}

std::string source_text(const std::string& source, bool extrapolated) {
  return extrapolated ? source + ", extrapolated" : source;
}

// "" if unknown.
std::string_view yes_or_no(const std::optional<bool>& value) {
  if (!value) return "";
  return *value ? "yes" : "no";
}

std::string feature(const ScoreView& view, std::string_view name) {
  for (const auto& [key, value] : view.features)
    if (key == name) return name == "free_gpus_after" ? format("{:.0f}", value) : figure(value);
  return "-";
}

// "K80:8 P100:7", the best few.
std::string candidates_text(const DecisionRow& row) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(kShown, row.candidates.size()); ++i)
    parts.push_back(format("{}:{}", row.candidates[i].node, row.candidates[i].score));
  for (const auto& [reason, nodes] : row.reasons)
    parts.push_back(format("{}:{}", reason, nodes));
  return join(parts, " ");
}

}  // namespace

std::string text_of(const ClusterView& view) {
  std::string out = format(
      "mode {}, version {}, {} nodes, {} pods bound, {} waiting, {} Jobs, {} models\n", view.mode,
      view.version, view.nodes, view.pods_bound, view.pods_unbound, view.jobs, view.models);
  out += format("cache {}{}, age {}\n", view.synced ? "synced" : "not synced",
                view.stale ? ", STALE: " + printable(view.cache_detail, 512) : "",
                format_duration(view.cache_age_s));
  if (!view.stale && !view.cache_detail.empty())
    out += format("note: {}\n", printable(view.cache_detail, 512));
  for (const auto& [state, count] : view.tasks)
    out += format("tasks {}: {}\n", state, count);
  TextTable table({"GPU TYPE", ">NODES", ">USABLE", ">GPUS", ">USED", ">HELD", ">FREE", ">COST"});
  for (const GpuPoolView& pool : view.pools)
    table.add({type_text(pool.gpu_type), std::to_string(pool.nodes),
               std::to_string(pool.nodes_usable), gpu_text(pool.gpus, &GpuUseView::allocatable),
               gpu_text(pool.gpus, &GpuUseView::used), gpu_text(pool.gpus, &GpuUseView::held),
               gpu_text(pool.gpus, &GpuUseView::free), figure(pool.cost)});
  return out + "\n" + table.str();
}

TextTable table_of(const std::vector<NodeView>& nodes) {
  TextTable table({"NODE", "GPU TYPE", ">GPUS", ">USED", ">HELD", ">FREE", "STATE", "GPU PODS"});
  for (const NodeView& node : nodes)
    table.add({node.name.str(), type_text(node.gpu_type),
               gpu_text(node.gpus, &GpuUseView::allocatable),
               gpu_text(node.gpus, &GpuUseView::used), gpu_text(node.gpus, &GpuUseView::held),
               gpu_text(node.gpus, &GpuUseView::free), node_state(node), join(node.gpu_pods, " ")});
  return table;
}

TextTable table_of(const std::vector<TaskView>& tasks) {
  TextTable table({"NAMESPACE", "NAME", "~KIND", "STATE", "~MODEL", "~CLASS", "SHAPE", "GPU TYPES",
                   "DEADLINE", "NODES"});
  for (const TaskView& task : tasks)
    table.add({task.key.ns, task.key.name, task.kind, task.state, task.model, task.qos_class,
               task.shape.str(), join(task.gpu_types, ","),
               task.deadline_s ? format_rfc3339(*task.deadline_s) : "", names_text(task.nodes)});
  return table;
}

TextTable table_of(const std::vector<ScoreView>& nodes) {
  TextTable table({">RANK", "NODE", "GPU TYPE", ">SCORE", ">SAMPLES/S", "~SOURCE", ">~CER",
                   "MEETS DEADLINE", ">FREE AFTER", "VERDICT"});
  for (const ScoreView& node : nodes)
    table.add({node.rank > 0 ? std::to_string(node.rank) : "", node.node.str(),
               type_text(node.gpu_type), std::to_string(node.score),
               feature(node, "throughput_samples_per_s"),
               source_text(node.source, node.extrapolated), feature(node, "cer"),
               std::string(yes_or_no(node.feasible)), feature(node, "free_gpus_after"),
               node.passes ? "passes" : node.message});
  return table;
}

TextTable table_of(const std::vector<PlacementRow>& rows) {
  TextTable table({"GPU TYPE", "SHAPE", ">SAMPLES/S", ">~LOW", ">~HIGH", "~SOURCE", ">RUN TIME",
                   ">~COST", ">~CER", "MEETS DEADLINE", "FITS NOW", "NOTE"});
  for (const PlacementRow& row : rows)
    table.add({type_text(row.gpu_type), row.shape.str(), figure(row.throughput_samples_per_s),
               figure(row.throughput_low), figure(row.throughput_high),
               source_text(row.source, row.extrapolated),
               row.latency_s > 0 ? format_duration(row.latency_s) : "", figure(row.cost),
               figure(row.cer), std::string(yes_or_no(row.feasible)), row.fits_now ? "yes" : "no",
               row.written && row.allowed ? "as submitted" : row.reason});
  return table;
}

TextTable table_of(const std::vector<DecisionRow>& rows) {
  TextTable table(
      {">~ID", "TIME", "VERB", "POD", "RESULT", "CANDIDATES AND REASONS", "OUTCOME", ">~US"});
  for (const DecisionRow& row : rows)
    table.add({std::to_string(row.id), format_rfc3339(row.time_s), std::string(to_string(row.verb)),
               row.pod.str(), row.result, candidates_text(row),
               row.outcome ? "on " + row.outcome->node : "", format("{:.0f}", row.duration_us)});
  return table;
}

}  // namespace slackline::wire
