#include "control/learn/progress_reports.h"

#include <algorithm>
#include <utility>

#include "cluster/watch/source.h"
#include "control/state/present_situation.h"
#include "obs/log.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/each_pod.h"

namespace slackline::control {
namespace {

constexpr double kLookForReports_s = 1;

obs::Counter reports_by(obs::MetricsRegistry& metrics, std::string_view result) {
  return metrics.counter("slackline_progress_reports_total", {{"result", result}});
}

Result<const Job*> find_reporter(const ClusterSnapshot& snapshot, const ObjectKey& key) {
  const std::string name = printable(key.str(), 128);
  const Job* job = snapshot.find_job(key.ns, key.name);
  if (job == nullptr)
    return fail(ErrorCode::kNotFound,
                format("there is no Job {}; name the Job of your pod, its label "
                       "batch.kubernetes.io/job-name",
                       name));
  if (job->finished) return fail(ErrorCode::kNotFound, format("the Job {} has ended", name));
  if (!job->managed && !job->waits_with_us())
    return fail(ErrorCode::kInvalidArgument,
                format("Slackline does not manage the Job {}: label its namespace "
                       "slackline.dev/managed=true, and create it again",
                       name));
  return job;
}

// When its present attempt began. Where all its pods work together, or there is only one, a pod
// that replaces another begins a new one.
std::optional<double> began_s(const ClusterSnapshot& snapshot, const Job& job) {
  std::optional<double> began_s = job.started_s;
  if (!job.is_gang() && job.parallelism != 1) return began_s;
  core::each_pod(snapshot, [&](const Pod& pod) {
    if (pod.owner && pod.owner->uid == job.uid && pod.started_s && !pod.terminal())
      began_s = std::max(began_s.value_or(0), *pod.started_s);
  });
  return began_s;
}

// It was stopped, or has not begun, and none of its pods is there any more to tell its last work.
bool is_waiting(const Job& job) {
  return job.suspended && job.active == 0 && job.terminating == 0;
}

}  // namespace

ProgressReports::ProgressReports(const cluster::ClusterSource& source,
                                 cluster::ClusterWriter* writer, obs::MetricsRegistry& metrics,
                                 const Clock& clock)
    : source_(source),
      writer_(writer),
      taken_(reports_by(metrics, "taken")),
      over_rate_(reports_by(metrics, "over_rate")),
      refused_(reports_by(metrics, "refused")),
      clock_(clock) {}

Result<ProgressNote> ProgressReports::take(const ObjectKey& key, const ProgressReport& report) {
  const SnapshotPtr snapshot = source_.snapshot();
  SLACKLINE_TRY(cluster_is_read(*snapshot));
  const auto job = find_reporter(*snapshot, key);
  auto noted = job ? note(**job, report, *snapshot) : Result<ProgressNote>(fail(job.error()));
  const bool over = !noted && noted.error().code == ErrorCode::kResourceExhausted;
  (noted ? taken_ : over ? over_rate_ : refused_).add();
  return noted;
}

Result<ProgressNote> ProgressReports::note(const Job& job, const ProgressReport& report,
                                           const ClusterSnapshot& snapshot) {
  MutexLock lock(mutex_);
  Kept& kept = kept_[job.uid];
  if (!kept.reports.take(clock_.steady_s(), kBurst, 1 / kReportEvery_s))
    return fail(ErrorCode::kResourceExhausted,
                format("{} reports more often than every {:.0f} s; report less often",
                       printable(job.key.str(), 128), kReportEvery_s));
  const bool first = kept.job.name.empty();
  const bool seen_later = job.progress && (first || job.progress->at_s > kept.note.at_s);
  const ProgressNote* known = seen_later ? job.progress.get() : first ? nullptr : &kept.note;
  const bool falls = known != nullptr && report.iteration < known->iteration;
  const auto attempt_s = falls ? began_s(snapshot, job) : job.started_s;
  ProgressNote next = with_report(known, report, attempt_s, clock_.wall_s());
  kept.unwritten = kept.unwritten || known == nullptr || next.at_s > known->at_s;
  kept.job = job.key;
  kept.note = next;
  return next;
}

bool ProgressReports::is_due(const Kept& kept, const Job& job, double now_s) const {
  if (!kept.unwritten || now_s < kept.rests_until_s) return false;
  if (job.suspended && !(is_waiting(job) && kept.wrote_waiting)) return true;
  const bool wrote_lately = kept.wrote_s && now_s < *kept.wrote_s + kWriteEvery_s;
  // Whichever replica wrote what is there.
  const bool is_fresh = job.progress && clock_.wall_s() < job.progress->at_s + kWriteEvery_s;
  return !wrote_lately && !is_fresh;
}

std::vector<ProgressReports::Order> ProgressReports::collect_due(const ClusterSnapshot& snapshot) {
  MutexLock lock(mutex_);
  const double now_s = clock_.steady_s();
  std::vector<Order> orders;
  for (auto at = kept_.begin(); at != kept_.end();) {
    const Job* job = snapshot.find_job(at->second.job.ns, at->second.job.name);
    if (job == nullptr || job->uid != at->first || job->finished) {
      at = kept_.erase(at);
      continue;
    }
    const bool waits = is_waiting(*job);
    if (!waits) at->second.wrote_waiting = false;
    if (is_due(at->second, *job, now_s))
      orders.push_back({at->second.job, at->first, at->second.note, waits});
    ++at;
  }
  return orders;
}

void ProgressReports::settle(const Order& order, bool written) {
  MutexLock lock(mutex_);
  const auto at = kept_.find(order.uid);
  if (at == kept_.end()) return;
  const double now_s = clock_.steady_s();
  if (!written) {
    at->second.rests_until_s = now_s + kRetry_s;
    return;
  }
  at->second.wrote_s = now_s;
  at->second.wrote_waiting = order.waits;
  if (at->second.note.at_s <= order.note.at_s) at->second.unwritten = false;
}

void ProgressReports::write_due() {
  if (!source_.health().trusted()) return;
  const SnapshotPtr snapshot = source_.snapshot();
  const std::vector<Order> orders = collect_due(*snapshot);
  if (writer_ == nullptr) return;
  for (const Order& order : orders) {
    if (worker_.is_stopping()) return;
    const Status written = writer_->note_progress(order.job, order.uid, order.note);
    settle(order, written.has_value());
    // Another Job of this name has come, or none: the next look forgets this one.
    const bool gone = !written && (written.error().code == ErrorCode::kConflict ||
                                   written.error().code == ErrorCode::kNotFound);
    if (gone) continue;
    if (failures_.is_news(written))
      obs::log_warning("progress_not_noted", {{"error", written.error().message}});
    if (!written) return;  // the API server will not take the others either
  }
}

void ProgressReports::start() {
  worker_.start([this] {
    while (worker_.wait(kLookForReports_s))
      write_due();
  });
}

void ProgressReports::stop() {
  worker_.stop();
  worker_.join();
}

}  // namespace slackline::control
