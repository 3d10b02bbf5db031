#include "telemetry/usage_reader.h"

#include <algorithm>
#include <utility>

#include "slackline/base/text.h"
#include "telemetry/node_queries.h"
#include "telemetry/usage_join.h"

namespace slackline::telemetry {
namespace {

// The pods of one namespace, if they are few or of one task, so many in a query; else the whole
// cluster.
std::vector<Scope> scopes_of(std::span<const MeasuredTask> tasks) {
  std::vector<Scope> cluster(1);
  Scope all;
  for (const MeasuredTask& task : tasks) {
    if (!all.ns.empty() && all.ns != task.task.ns) return cluster;
    all.ns = task.task.ns;
    for (const MeasuredPod& pod : task.pods)
      all.pods.push_back(pod.name);
  }
  if (all.pods.empty() || (tasks.size() > 1 && all.pods.size() > kMostNamedPods)) return cluster;
  std::vector<Scope> scopes;
  for (std::span<const std::string> left = all.pods; !left.empty();) {
    const auto some = left.first(std::min(left.size(), kMostNamedPods));
    scopes.push_back({all.ns, {some.begin(), some.end()}});
    left = left.subspan(some.size());
  }
  return scopes;
}

void remark(std::vector<std::string>& remarks, std::string text) {
  if (std::find(remarks.begin(), remarks.end(), text) == remarks.end())
    remarks.push_back(std::move(text));
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
  SLACKLINE_ASSIGN(UsageReading reading, fill(join, scopes_of(tasks), steps));
  reading.samples = samples(join);
  return reading;
}

Result<UsageReading> UsageReader::fill(UsageJoin& join, const std::vector<Scope>& scopes,
                                       const Steps& steps) {
  UsageReading reading;
  for (std::size_t i = 0; i < kQuantityCount && steps.count > 0; ++i) {
    const auto quantity = static_cast<Quantity>(i);
    bool any = false;
    std::size_t impossible = 0;
    for (const Scope& scope : scopes) {
      SLACKLINE_ASSIGN(const wire::QueryAnswer answer, ask(quantity, scope, steps));
      any = any || !answer.series.empty();
      for (const std::string& warning : answer.warnings)
        remark(reading.remarks, "Prometheus warns: " + warning);
      impossible += join.add(quantity, answer.series);
    }
    if (!any)
      remark(reading.remarks, format("no samples of {}{}", source_of(quantity),
                                     scopes.front().ns.empty() ? "" : " that name these pods"));
    if (impossible > 0)
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

Result<wire::QueryAnswer> UsageReader::ask(Quantity quantity, const Scope& scope,
                                           const Steps& steps) {
  const std::string query = promql(quantity, {.labels = settings_.labels,
                                              .scope = scope,
                                              .step_s = steps.step_s,
                                              .rate_s = settings_.rate_s});
  if (steps.count == 1) return client_.query(query, steps.window.to_s, &interrupt_);
  return client_.query_range(
      query,
      {.start_s = steps.end_s(0), .end_s = steps.window.to_s, .step_s = double(steps.step_s)},
      &interrupt_);
}

}  // namespace slackline::telemetry
