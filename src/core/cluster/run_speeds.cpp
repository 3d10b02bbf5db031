#include "slackline/core/cluster/run_speeds.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace slackline::core {
namespace {

// The report of its present run; nullptr: it told none.
const ProgressNote* told_by(const Queue& queue, TaskIndex index) {
  if (index >= queue.size()) return nullptr;  // somebody else's
  const QueueTask& task = queue.task(index);
  if (!task.job || !task.job->progress || !task.job->started_s) return nullptr;
  const ProgressNote& note = *task.job->progress;
  return note.at_s >= *task.job->started_s && note.total > 0 ? &note : nullptr;
}

}  // namespace

void RunSpeeds::see(const Queue& queue, double window_s) {
  window_s_ = window_s;
  std::unordered_map<Uid, Reports> still;
  for (const TaskIndex index : queue.state().running()) {
    const ProgressNote* note = told_by(queue, index);
    if (note == nullptr) continue;
    const Job& job = *queue.task(index).job;
    Reports& reports = still[job.uid];
    if (const auto known = reports_.find(job.uid); known != reports_.end())
      reports = std::move(known->second);
    if (reports.started_s != *job.started_s) reports = {*job.started_s, {}};
    std::deque<ProgressPoint>& points = reports.points;
    if (points.empty() || note->at_s > points.back().at_s)
      points.push_back({note->iteration, note->at_s});
    while (points.size() > kMostReports ||
           (points.size() > 2 && points[1].at_s <= points.back().at_s - window_s))
      points.pop_front();
  }
  reports_ = std::move(still);
}

std::optional<RunSpeed> RunSpeeds::of(const Queue& queue, TaskIndex index) const {
  const ProgressNote* note = told_by(queue, index);
  if (note == nullptr || !queue.task(index).length_is_told() ||
      !queue.task(index).length_known_in(queue.state().running_choice(index)))
    return std::nullopt;
  const auto known = reports_.find(queue.task(index).job->uid);
  if (known == reports_.end()) return std::nullopt;
  const ProgressPoint& first = known->second.points.front();
  const ProgressPoint& last = known->second.points.back();
  const double took_s = last.at_s - first.at_s;
  if (took_s < window_s_) return std::nullopt;
  // One that reports the same iteration again did less than one.
  const double done =
      static_cast<double>(std::max<std::int64_t>(1, last.iteration - first.iteration));
  RunSpeed speed;
  speed.work_s = took_s * static_cast<double>(note->total) / done;
  speed.share = queue.state().running_choice(index).work_s / speed.work_s;
  speed.at_s = last.at_s;
  return std::isfinite(speed.share) ? std::optional(speed) : std::nullopt;
}

}  // namespace slackline::core
