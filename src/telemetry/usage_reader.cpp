#include "telemetry/usage_reader.h"

#include <algorithm>
#include <utility>

#include "slackline/base/text.h"
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

}  // namespace

Result<UsageReading> UsageReader::read(std::span<const MeasuredTask> tasks, const Window& window,
                                       net::Interrupt* interrupt) {
  UsageReading reading;
  const Steps steps = make_steps(window, settings_.step_s);
  if (tasks.empty()) return reading;
  const QueryText text{.labels = settings_.labels,
                       .scope = scope_of(tasks),
                       .step_s = steps.step_s,
                       .rate_s = settings_.rate_s};
  UsageJoin join(tasks, steps, settings_.labels);
  for (std::size_t i = 0; i < kQuantityCount && steps.count > 0; ++i) {
    const auto quantity = static_cast<Quantity>(i);
    SLACKLINE_ASSIGN(const wire::QueryAnswer answer, ask(quantity, text, steps, interrupt));
    if (answer.series.empty())
      remark(reading.remarks, format("no samples of {}{}", source_of(quantity),
                                     text.scope.ns.empty() ? "" : " that name these pods"));
    for (const std::string& warning : answer.warnings)
      remark(reading.remarks, "Prometheus warns: " + warning);
    join.add(quantity, answer.series);
  }
  reading.samples = join.samples();
  return reading;
}

Result<wire::QueryAnswer> UsageReader::ask(Quantity quantity, const QueryText& text,
                                           const Steps& steps, net::Interrupt* interrupt) {
  const std::string query = promql(quantity, text);
  if (steps.count == 1) return client_.query(query, steps.window.to_s, interrupt);
  return client_.query_range(
      query,
      {.start_s = steps.end_s(0), .end_s = steps.window.to_s, .step_s = double(steps.step_s)},
      interrupt);
}

}  // namespace slackline::telemetry
