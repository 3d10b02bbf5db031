#include "slackline/core/cluster/run_progress.h"

#include <algorithm>
#include <cmath>

#include "slackline/core/cluster/as_planned.h"

namespace slackline::core {
namespace {

bool is_amount_of_work(double work_s) {
  return work_s > 0 && std::isfinite(work_s);
}

// Of a run that ends at `ends_s`: its time limit may end it before it is done.
double work_done_s(const QueueTask& task, double ends_s, double done_s) {
  return limit_end_s(task) ? std::max(ends_s, done_s) : ends_s;
}

}  // namespace

void believe_progress(const ProgressNote& note, double predicted_work_s, Run& run) {
  if (note.at_s < run.started_s || note.total <= 0 || !is_amount_of_work(predicted_work_s)) return;
  const double most_done = kMostSpeedup * (note.at_s - run.started_s) / predicted_work_s;
  const double left = std::clamp(1 - note.done(), 0.0, 1.0);
  run.reported = ReportedWork{note.at_s, std::max(left, run.left - most_done)};
  if (const auto shown_s = note.work_s(); shown_s && std::isfinite(*shown_s))
    run.observed_work_s = std::max(*shown_s, predicted_work_s / kMostSpeedup);
}

void believe_end(double end_s, double now_s, double predicted_work_s, Run& run) {
  if (!is_amount_of_work(predicted_work_s)) return;
  run.observed_work_s = predicted_work_s;
  run.predicted_end_s = end_s;
  run.reported = ReportedWork{now_s, std::max(0.0, end_s - now_s) / predicted_work_s};
}

double believed_end_s(const Run& run, double lasts_s, double now_s) {
  const double end_s = run.reported ? run.reported->at_s + run.observed_work_s * run.reported->left
                                    : run.predicted_end_s;
  return end_s > now_s ? end_s : now_s + kOverrun * lasts_s;
}

std::optional<double> end_as_planned(const QueueTask& task, double now_s) {
  const auto since_s = started_s(task);
  if (!task.plan || !since_s || !task.plan->predicted_s) return std::nullopt;
  const double predicted_s = *task.plan->predicted_s;
  Run run;
  run.started_s = pod_not_starting(task) != nullptr ? now_s : *since_s;
  run.observed_work_s = predicted_s;
  if (task.job && task.job->progress) believe_progress(*task.job->progress, predicted_s, run);
  run.predicted_end_s = run.started_s + predicted_s;
  const double end_s = believed_end_s(run, predicted_s, now_s);
  return std::max(now_s, std::min(end_s, limit_end_s(task).value_or(end_s)));
}

std::optional<double> done_before(const TaskProgress& progress) {
  return progress.stops > 0 ? std::optional(1 - progress.left) : std::nullopt;
}

std::optional<double> done_share(const Queue& queue, TaskIndex index, double now_s) {
  const QueueTask& task = queue.task(index);
  const TaskProgress& progress = queue.state().progress(index);
  const bool runs = progress.phase == TaskPhase::kRunning;
  const ProgressNote* told = task.job ? task.job->progress.get() : nullptr;
  if (told != nullptr && (!runs || told->at_s >= progress.run.started_s)) return told->done();
  if (!runs) {
    const auto end_s = task.bound.empty() ? std::nullopt : end_as_planned(task, now_s);
    if (end_s && *task.plan->predicted_s > 0) {
      const double work_s = *task.plan->predicted_s;
      const double done_s = work_done_s(task, *end_s, started_s(task).value_or(now_s) + work_s);
      return std::clamp(1 - (done_s - now_s) / work_s, 0.0, 1.0);
    }
    return done_before(progress);
  }
  const Choice& choice = queue.state().running_choice(index);
  if (!task.length_known_in(choice) || task.length == LengthSource::kAtMost) return std::nullopt;
  const Run& run = progress.run;
  const double done_s = work_done_s(task, queue.state().predicted_end_s(index, now_s),
                                    run.started_s + run.overhead_s + run.left * choice.work_s);
  return std::clamp(1 - (done_s - now_s) / choice.work_s, 0.0, 1.0);
}

}  // namespace slackline::core
