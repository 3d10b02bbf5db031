#include "stops.h"

#include <algorithm>
#include <numeric>

#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/disrupted_jobs.h"
#include "slackline/core/cluster/run_progress.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/model/reason.h"

namespace slackline::core {
namespace {

struct Kept {
  double left = 1;  // share of its work
  double lost_gpu_s = 0;
};

// Of a gang of which a pod has succeeded, the menu has what is left: another shape of the GPU type.
std::optional<ChoiceIndex> planned_choice(const Queue& queue, const PlanTask& described,
                                          const PlanNote& plan) {
  const std::vector<Choice>& all = described.menu->all;
  std::optional<ChoiceIndex> of_type;
  for (ChoiceIndex i = 0; i < all.size(); ++i) {
    if (queue.pools()[all[i].pool].pool.type != plan.gpu_type) continue;
    if (all[i].shape == plan.shape) return i;
    if (!of_type) of_type = i;
  }
  return of_type;
}

// The run alone in a plan with as many nodes as it has: those that it ran on may be in no pool any
// more.
Kept kept_of(const Queue& queue, TaskIndex index, double stopped_s) {
  const QueueTask& task = queue.task(index);
  const PlanTask& described = queue.state().tasks()[index];
  const TaskProgress& known = queue.state().progress(index);
  // Who replaces the pods that are gone waits: it does not say that nobody has run.
  const double released_s = task.job->started_s.value_or(stopped_s);
  const double started_s = std::min(core::started_s(task).value_or(released_s), stopped_s);
  const double held_s = stopped_s - started_s;
  const auto gpus = static_cast<double>(task.plan->shape.gpus());
  const double left = task.job->preemptions ? task.job->preemptions->left : 1.0;
  const auto choice = planned_choice(queue, described, *task.plan);
  if (!choice) return {left, lost_gpu_s({.worked_s = held_s}, gpus)};

  const TaskTable table({described});
  const Choice& chosen = described.menu->all[*choice];
  std::vector<std::vector<int>> free(chosen.pool + std::size_t{1});
  free.back().assign(static_cast<std::size_t>(chosen.shape.d_node), chosen.shape.d_gpn);
  PlanState alone(table, FreeGpus(free));
  alone.recall(0, known.stops, left, known.over_s);
  alone.arrive(0);
  std::vector<PoolNode> nodes(free.back().size());
  std::iota(nodes.begin(), nodes.end(), PoolNode{0});
  Run run = alone.run_at(0, *choice, started_s, std::move(nodes));
  if (task.job->progress) believe_progress(*task.job->progress, chosen.work_s, run);
  alone.start(0, std::move(run));
  const Run ended = alone.stop(0, stopped_s);
  const double left_now = alone.progress(0).left;
  return {left_now, wasted_gpu_s(ended, ended.observed_work_s, left_now, chosen.gpus, stopped_s)};
}

ResizeFailure shortage_of(const ClusterSnapshot& snapshot, const QueueTask& task) {
  ResizeFailure failure = ResizeFailure::kNone;
  const auto look_at = [&](const Pod& pod) {
    if (!is_of_present_run(pod, *task.job) || !pod.memory_shortage()) return;
    failure = pod.out_of_memory ? ResizeFailure::kOutOfMemory : ResizeFailure::kGpuOutOfMemory;
  };
  for (const PodPtr& pod : task.bound)
    look_at(*pod);
  for (const PodPtr& pod : snapshot.displaced)
    if (pod->owner && pod->owner->uid == task.uid) look_at(*pod);
  return failure;
}

// What the run that is stopped held: nobody else remembers it after a restart.
void note_run(const QueueTask& task, double stopped_s, PreemptionNote& note) {
  const bool of_earlier_version = note.count > 0 && note.first_start_s <= 0;
  if (of_earlier_version || !task.plan) return;
  const double released_s = task.job->started_s.value_or(stopped_s);
  const double started_s = std::min(core::started_s(task).value_or(released_s), stopped_s);
  if (note.count == 0) note.first_start_s = started_s;
  note.held_s += stopped_s - started_s;
  note.held_gpu_s += (stopped_s - started_s) * static_cast<double>(task.plan->shape.gpus());
}

OwnWrite stop_of(const Queue& queue, TaskIndex index, double now_s) {
  const QueueTask& task = queue.task(index);
  const PodDisruption& disruption = *task.disruption;
  const double stopped_s = disruption.at_s > 0 ? std::min(disruption.at_s, now_s) : now_s;
  const Kept kept = kept_of(queue, index, stopped_s);
  PreemptionNote note = note_of_stop(task, kept.left, kept.lost_gpu_s, now_s);
  note.disruptions += 1;
  note.by = to_string(disruption.kind);
  StopJob stop{.preemptions = std::make_shared<const PreemptionNote>(std::move(note)),
               .lost_gpu_s = kept.lost_gpu_s,
               .disruption = disruption,
               .qos = task.intent->qos_class.value_or(QosClass::kNormal)};
  return job_write(
      *task.job, std::move(stop),
      {.verb = Verb::kSuspend, .reason = reason::kRescheduled, .plan_id = task.plan->id});
}

}  // namespace

PreemptionNote note_of_stop(const QueueTask& task, double left, double lost_gpu_s,
                            double now_wall_s) {
  PreemptionNote note;
  if (task.job->preemptions) note = *task.job->preemptions;
  note_run(task, now_wall_s, note);
  note.count += 1;
  note.left = left;
  note.lost_gpu_s += lost_gpu_s;
  note.at_s = now_wall_s;
  note.nodes.clear();
  for (const PodPtr& pod : task.bound)
    if (note.nodes.empty() || note.nodes.back() != pod->node) note.nodes.push_back(pod->node);
  note.by.clear();
  note.goes_on.reset();
  note.text.clear();
  note.code.clear();
  return note;
}

void charge(PreemptionNote& note, const std::string& queue, double gpu_s, double now_wall_s) {
  std::erase_if(note.charges, [&](const PreemptionNote::Charge& past) {
    return past.at_s < now_wall_s - kAccountedFor_s;
  });
  if (note.charges.size() == kMostCharges) note.charges.erase(note.charges.begin());
  note.charges.push_back({queue, now_wall_s, gpu_s, note.count});
}

std::vector<OwnWrite> stop_too_small(const ClusterSnapshot& snapshot, const Queue& queue,
                                     double now_wall_s) {
  std::vector<OwnWrite> writes;
  for (TaskIndex index = 0; index < queue.size(); ++index) {
    const QueueTask& task = queue.task(index);
    if (!task.job || !task.plan || !task.plan->resize || task.disruption) continue;
    const ResizeFailure failure = shortage_of(snapshot, task);
    if (failure == ResizeFailure::kNone) continue;
    const Kept kept = kept_of(queue, index, now_wall_s);
    PreemptionNote note = note_of_stop(task, kept.left, kept.lost_gpu_s, now_wall_s);
    note.by = reason::kResizeRolledBack;
    note.too_small = failure;
    StopJob stop{.preemptions = std::make_shared<const PreemptionNote>(std::move(note)),
                 .lost_gpu_s = kept.lost_gpu_s,
                 .qos = task.intent->qos_class.value_or(QosClass::kNormal)};
    writes.push_back(job_write(
        *task.job, std::move(stop),
        {.verb = Verb::kSuspend, .reason = reason::kResizeRolledBack, .plan_id = task.plan->id}));
  }
  return writes;
}

std::vector<OwnWrite> stop_disrupted(const Queue& queue, double now_wall_s) {
  std::vector<OwnWrite> writes;
  for (TaskIndex index = 0; index < queue.size(); ++index)
    if (queue.task(index).disruption) writes.push_back(stop_of(queue, index, now_wall_s));
  return writes;
}

}  // namespace slackline::core
