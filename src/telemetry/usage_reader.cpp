#include "telemetry/usage_reader.h"

#include <algorithm>
#include <utility>

#include "slackline/base/text.h"
#include "telemetry/node_queries.h"
#include "telemetry/usage_join.h"

namespace slackline::telemetry {
namespace {

// The pods of one namespace, if they are few; else the whole cluster.
Scope scope_of(std::span<const MeasuredTask> tasks) {
  Scope scope;
  for (const MeasuredTask& task : tasks) {
    if (!scope.ns.empty() && scope.ns != task.task.ns) return {};
    scope.ns = task.task.ns;
    for (const MeasuredPod& pod : task.pods)
      scope.pods.push_back(pod.name);
  }
  if (scope.pods.empty() || scope.pods.size() > kMostNamedPods) return {};
  return scope;
}

void remark(std::vector<std::string>& remarks, std::string text) {
  if (std::find(remarks.begin(), remarks.end(), text) == remarks.end())
    remarks.push_back(std::move(text));
}

QueryText text_of(std::span<const MeasuredTask> tasks, const Steps& steps,
                  const ReaderSettings& settings) {
  return {.labels = settings.labels,
          .scope = scope_of(tasks),
          .step_s = steps.step_s,
          .rate_s = settings.rate_s};
}

}  // namespace

ReaderSettings reader_settings(const TelemetrySettings& settings) {
  const int step_s = static_cast<int>(settings.step_s);
  return {.labels = settings.labels, .step_s = step_s, .rate_s = 2 * step_s};
}

Result<UsageReading> UsageReader::read(std::span<const MeasuredTask> tasks, const Window& window) {
  return read_joined(tasks, window, [](const UsageJoin& join) { return join.samples(); });
}

Result<UsageReading> UsageReader::read_steps(std::span<const MeasuredTask> tasks,
                                             const Window& window) {
  return read_joined(tasks, window, [](const UsageJoin& join) { return join.samples_of_steps(); });
}

Result<UsageReading> UsageReader::read_joined(
    std::span<const MeasuredTask> tasks, const Window& window,
    std::vector<UsageSample> (*samples)(const UsageJoin&)) {
  const Steps steps = make_steps(window, settings_.step_s);
  if (tasks.empty()) return UsageReading();
  UsageJoin join(tasks, steps, settings_.labels);
  SLACKLINE_ASSIGN(UsageReading reading, fill(join, text_of(tasks, steps, settings_), steps));
  reading.samples = samples(join);
  return reading;
}

Result<UsageReading> UsageReader::fill(UsageJoin& join, const QueryText& text, const Steps& steps) {
  UsageReading reading;
  for (std::size_t i = 0; i < kQuantityCount && steps.count > 0; ++i) {
    const auto quantity = static_cast<Quantity>(i);
    SLACKLINE_ASSIGN(const wire::QueryAnswer answer, ask(quantity, text, steps));
    if (answer.series.empty())
      remark(reading.remarks, format("no samples of {}{}", source_of(quantity),
                                     text.scope.ns.empty() ? "" : " that name these pods"));
    for (const std::string& warning : answer.warnings)
      remark(reading.remarks, "Prometheus warns: " + warning);
    if (const std::size_t impossible = join.add(quantity, answer.series); impossible > 0)
      remark(reading.remarks, format("impossible values of {}, which measure nothing: {}",
                                     source_of(quantity), impossible));
  }
  return reading;
}

Result<std::vector<NodeLoad>> UsageReader::node_loads(double end_s) {
  std::vector<NodeLoad> loads;
  for (std::size_t i = 0; i < kNodeQuantityCount; ++i) {
    const auto quantity = static_cast<NodeQuantity>(i);
    const std::string query =
        node_promql(quantity, settings_.labels, settings_.step_s, settings_.rate_s);
    SLACKLINE_ASSIGN(const wire::QueryAnswer answer, client_.query(query, end_s, &interrupt_));
    add_loads(loads, quantity, answer.series, settings_.labels);
  }
  return loads;
}

Result<wire::QueryAnswer> UsageReader::ask(Quantity quantity, const QueryText& text,
                                           const Steps& steps) {
  const std::string query = promql(quantity, text);
  if (steps.count == 1) return client_.query(query, steps.window.to_s, &interrupt_);
  return client_.query_range(
      query,
      {.start_s = steps.end_s(0), .end_s = steps.window.to_s, .step_s = double(steps.step_s)},
      &interrupt_);
}

}  // namespace slackline::telemetry
