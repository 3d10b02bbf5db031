#include "control/journal/decision_log.h"

#include <optional>
#include <utility>
#include <vector>

#include "obs/log.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"
#include "slackline/model/extender_messages.h"

namespace slackline::control {

DecisionLog::DecisionLog(store::Journal* journal, obs::MetricsRegistry& metrics)
    : journal_(journal),
      metrics_(metrics),
      victims_(metrics.counter("slackline_preempt_victims_total")),
      written_(metrics.gauge("slackline_journal_written_rows")),
      dropped_(metrics.gauge("slackline_journal_dropped_rows")),
      queued_(metrics.gauge("slackline_journal_queued_rows")),
      unreadable_(metrics.gauge("slackline_journal_unreadable_rows")),
      degraded_(metrics.gauge("slackline_journal_degraded")),
      damaged_(metrics.gauge("slackline_journal_damaged")) {}

namespace {

// Changes of the cluster are logged; calls that come many times a second only on demand. A bind
// that failed is tried again, as often as somebody likes.
obs::LogLevel level_of(const DecisionRow& row) {
  if (row.verb == Verb::kFilter || row.verb == Verb::kPrioritize) return obs::LogLevel::kDebug;
  const bool failed = row.verb == Verb::kBind && !row.outcome;
  return failed ? obs::LogLevel::kWarning : obs::LogLevel::kInfo;
}

void write_line(const DecisionRow& row, std::int64_t left_out) {
  obs::log(level_of(row), "decision",
           {{"verb", to_string(row.verb)},
            {"namespace", row.pod.ns},
            {"name", row.pod.name},
            {"uid", row.pod_uid.str()},
            {"plan", row.plan_id},
            {"result", row.result},
            {"nodes_asked", static_cast<std::int64_t>(row.nodes_asked)},
            {"snapshot", static_cast<std::int64_t>(row.snapshot_version)},
            {"duration_us", row.duration_us}},
           left_out);
}

}  // namespace

void DecisionLog::record(DecisionRow row) {
  // A pod that waits is asked about again and again.
  const auto left_out = row.verb == Verb::kPreempt ? preempt_lines_.admit(system_clock().steady_s())
                                                   : std::optional<std::int64_t>(0);
  if (left_out) write_line(row, *left_out);
  if (row.verb == Verb::kFilter)
    for (const auto& [reason, nodes] : row.reasons)
      metrics_.counter("slackline_filter_nodes_total", {{"reason", reason}}).add(nodes);
  if (journal_ != nullptr) (void)journal_->append(std::move(row));
}

void DecisionLog::predict(const Uid& task, double predicted_s) {
  if (journal_ != nullptr) (void)journal_->predict(task, predicted_s);
}

void DecisionLog::count_bind(std::string_view outcome) {
  metrics_.counter("slackline_binds_total", {{"outcome", outcome}}).add();
}

void DecisionLog::count_victims(std::size_t victims) {
  victims_.add(static_cast<double>(victims));
}

std::string DecisionLog::count_late(Verb verb) {
  metrics_.counter("slackline_extender_deadline_exceeded_total", {{"verb", to_string(verb)}}).add();
  return "not judged: no time was left";
}

void DecisionLog::on_pod_bound(const Pod& pod, double seen_s) {
  if (journal_ != nullptr)
    (void)journal_->record_outcome(pod.uid, DecisionOutcome{pod.node.str(), seen_s});
}

std::string DecisionLog::journal_problem() const {
  if (journal_ == nullptr) return "there is no journal";
  const store::JournalStats stats = journal_->stats();
  std::vector<std::string> problems;
  if (!stats.problem.empty()) problems.push_back(stats.problem);
  if (stats.damaged > 0)
    problems.push_back(
        format("the decision journal was damaged: history, decisions and reports begin anew; those "
               "before are in {}",
               stats.recovered_from));
  return join(problems, "; ");
}

void DecisionLog::refresh_metrics() {
  if (journal_ == nullptr) {
    degraded_.set(1);
    return;
  }
  const store::JournalStats stats = journal_->stats();
  written_.set(static_cast<double>(stats.written));
  dropped_.set(static_cast<double>(stats.dropped));
  queued_.set(static_cast<double>(stats.queued));
  unreadable_.set(static_cast<double>(stats.unreadable));
  degraded_.set(stats.degraded ? 1 : 0);
  damaged_.set(static_cast<double>(stats.damaged));
}

}  // namespace slackline::control
