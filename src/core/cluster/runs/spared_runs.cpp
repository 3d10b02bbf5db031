#include "slackline/core/cluster/spared_runs.h"

#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/planning/spared_by.h"

namespace slackline::core {
namespace {

// Others are of no use without it, be it that it has a plan of its own: it came later than they, or
// in the place of one of them.
bool is_of_gang(const Pod& pod) {
  if (pod.intent && pod.intent->gang) return pod.intent->gang_size.value_or(2) > 1;
  return pod.owner_gang && pod.owner_gang->size.value_or(2) > 1;
}

// Of a planned run that is not whole.
Spared starting_or_ending(const QueueTask& run) {
  const bool all_there = run.pods.empty() || has_planned_pods(run);
  return run.bound.empty() || !all_there ? Spared::kStarting : Spared::kEnding;
}

Spared spared_by_shape(const QueueTask& run) {
  if (!run.is_planned()) return Spared::kUnplanned;
  if (run.kind == TaskKind::kGang) return Spared::kGangOfPods;
  if (run.job) {
    if (run.job->is_calibration()) return Spared::kCalibration;
    return runs_as_planned(run) ? Spared::kNo : starting_or_ending(run);
  }
  if (is_of_gang(*run.member)) return Spared::kGangOfPods;
  if (!is_replaced(*run.member)) return Spared::kNotReplaced;
  return runs_alone(run) ? Spared::kNo : starting_or_ending(run);
}

}  // namespace

bool comes_back(const QueueTask& task) {
  return task.kind == TaskKind::kPod && is_replaced(*task.member) && !is_of_gang(*task.member);
}

bool runs_alone(const QueueTask& task) {
  if (task.job || !task.is_planned() || task.bound.size() != 1) return false;
  const Pod& pod = *task.bound.front();
  return comes_back(task) && !pod.deleting && !pod.terminal() && !pod.disruption;
}

Spared spared_as_run(const QueueTask& run, const StopBook* book) {
  if (const Spared spared = spared_by_shape(run); spared != Spared::kNo) return spared;
  const bool refused = book != nullptr && book->refused.contains(run.uid);
  return refused ? Spared::kApiRefused : Spared::kNo;
}

Spared spared_for_others(const QueueTask& run, const QueueRules& rules, const StopBook* book,
                         const Disruptions& disruptions) {
  if (const Spared spared = spared_as_run(run, book); spared != Spared::kNo) return spared;
  if (!rules.preemptible) return Spared::kNotPreemptible;
  return disruptions.allow(run.bound) ? Spared::kNo : Spared::kDisruptionBudget;
}

std::vector<Spared> spared_runs(const ClusterSnapshot& snapshot, const QueueOptions& options,
                                const Queue& queue, const Policy& policy) {
  const EndingPods ending(snapshot, options.now_wall_s);
  const Disruptions disruptions(snapshot, ending.pods(), options.now_wall_s);
  const QueueRulebook rulebook = options.queues == nullptr ? QueueRulebook() : *options.queues;
  const auto of_run = [&](TaskIndex index) {
    const QueueTask& run = queue.task(index);
    if (!options.may_stop) return Spared::kStopsNobody;
    const QueueRules& rules = rulebook.of(queue_of(*run.intent, run.key.ns), run.key.ns);
    const Spared spared = spared_for_others(run, rules, options.stop_book, disruptions);
    if (spared != Spared::kNo) return spared;
    if (queue.state().progress(index).phase != TaskPhase::kRunning) return Spared::kNotAsPlanned;
    return spared_by(policy, queue.state(), index, options.now_wall_s);
  };
  std::vector<Spared> spared(queue.size(), Spared::kNo);
  for (TaskIndex index = 0; index < queue.size(); ++index)
    if (queue.task(index).plan) spared[index] = of_run(index);
  return spared;
}

}  // namespace slackline::core
