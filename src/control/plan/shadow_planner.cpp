#include "control/plan/shadow_planner.h"

#include <algorithm>
#include <utility>

#include "control/plan/plan_journal.h"
#include "obs/log.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

std::string_view text_of(core::DeadlineVerdict verdict) {
  switch (verdict) {
    case core::DeadlineVerdict::kMet:
      return "met";
    case core::DeadlineVerdict::kMissed:
      return "missed";
    case core::DeadlineVerdict::kCensored:
      break;
  }
  return "censored";
}

core::StockScope scope_of(const PlannerOptions& options) {
  return options.stock_waits.value_or(core::StockScope::kManaged);
}

}  // namespace

ShadowPlanner::ShadowPlanner(const PlannerOptions& options, const Published<Known>& known,
                             const cluster::ClusterSource& source, DecisionLog& log,
                             store::Journal* journal, obs::MetricsRegistry& metrics,
                             const Clock& clock)
    : options_(options),
      known_(known),
      source_(source),
      log_(log),
      history_(journal),
      metrics_(metrics),
      clock_(clock),
      starts_(metrics.counter("slackline_shadow_starts_total")),
      begun_anew_(metrics.counter("slackline_shadow_begun_anew_total")),
      waiting_(metrics.gauge("slackline_shadow_waiting")),
      running_(metrics.gauge("slackline_shadow_running")),
      lag_(metrics.gauge("slackline_shadow_lag_seconds")),
      cluster_(scope_of(options)) {}

void ShadowPlanner::start() {
  worker_.start([this] {
    double rest_s = kShadowLook_s;
    while (worker_.wait(rest_s)) {
      const double began_s = clock_.steady_s();
      look();
      rest_s = std::max(kShadowLook_s, kShadowRestRatio * (clock_.steady_s() - began_s));
    }
  });
}

void ShadowPlanner::look() {
  const SnapshotPtr snapshot = source_.snapshot();
  if (!snapshot->synced || !source_.health().trusted()) return;
  const SettingsPtr settings = options_.settings->get();
  const auto known = known_.get();
  core::QueueOptions asked = options_.queue_options(*settings, *known, source_, clock_);
  asked.stop = [this] { return worker_.is_stopping(); };
  if (cluster_.is_full()) {
    obs::log_warning("shadow_begun_anew",
                     {{"waiting", static_cast<std::int64_t>(cluster_.waiting())},
                      {"running", static_cast<std::int64_t>(cluster_.running())}});
    begun_anew_.add();
    cluster_ = core::VirtualCluster(scope_of(options_));
    seen_version_ = 0;
  }
  if (snapshot->version != seen_version_) cluster_.look(*snapshot, asked.now_wall_s);
  seen_version_ = snapshot->version;
  core::VirtualNews news = cluster_.advance(asked, settings->policy, asked.now_wall_s);
  for (core::VirtualStart& start : news.starts)
    journal(std::move(start), *settings, *known, snapshot->version);
  for (const core::VirtualEnd& end : news.ends)
    note(end);
  waiting_.set(static_cast<double>(cluster_.waiting()));
  running_.set(static_cast<double>(cluster_.running()));
  lag_.set(std::max(0.0, asked.now_wall_s - cluster_.time_s()));
}

void ShadowPlanner::journal(core::VirtualStart start, const Settings& settings, const Known& known,
                            std::uint64_t snapshot_version) {
  starts_.add();
  start.write.decision.stamp = std::make_shared<const DecisionStamp>(
      DecisionStamp{snapshot_version, settings.policy.name + "-shadow",
                    format("{}-{}", options_.fingerprint(settings), known.fingerprint)});
  auto row = row_of(start.write, start.at_s);
  if (!row) return;
  row->result = "would start: " + row->result;
  row->reasons = {{std::string(reason::kStartsNow), 1}};
  log_.record(*std::move(row));
}

void ShadowPlanner::note(const core::VirtualEnd& end) {
  if (end.run && history_ != nullptr) history_->shadowed(end.job, *end.run);
  if (!end.had_deadline) return;
  metrics_
      .counter("slackline_shadow_deadlines_total", {{"queue", queues_.admit(end.queue)},
                                                    {"result", text_of(end.planned)},
                                                    {"real", text_of(end.real)}})
      .add();
}

}  // namespace slackline::control
