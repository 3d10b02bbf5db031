#include "slackline/core/handover/begin_moves.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "slackline/core/cluster/budgets.h"
#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/model/reason.h"
#include "stops.h"

namespace slackline::core {
namespace {

OwnWrite stop_of(const Queue& queue, const Move& move, TaskIndex index, double now_s) {
  const QueueTask& task = queue.task(index);
  const QueueTask& gains = queue.task(move.gains);
  const PlanState& state = queue.state();
  const Run& run = state.progress(index).run;
  PlanState stopped = state;
  stopped.stop(index, now_s);
  const double left = stopped.progress(index).left;
  StopJob stop{.asker = gains.key, .qos = task.intent->qos_class.value_or(QosClass::kNormal)};
  stop.lost_gpu_s =
      wasted_gpu_s(run, run.observed_work_s, left, state.running_choice(index).gpus, now_s);
  stop.move = std::make_shared<const MoveAdvice>(move.advice);
  PreemptionNote note = note_of_stop(task, left, stop.lost_gpu_s, now_s);
  charge(note, queue_of(*gains.intent, gains.key.ns), stop.lost_gpu_s, now_s);
  note.by = reason::kMoved;
  if (move.advice.cause == MoveCause::kSlow) note.slow = PreemptionNote::SlowRun{note.nodes, now_s};
  stop.preemptions = std::make_shared<const PreemptionNote>(std::move(note));
  return job_write(*task.job, std::move(stop),
                   {.verb = Verb::kSuspend, .reason = reason::kMoved, .plan_id = task.plan->id});
}

}  // namespace

std::vector<OwnWrite> begin_moves(const ClusterSnapshot& snapshot, const Queue& queue,
                                  const std::vector<Move>& moves, double now_wall_s) {
  std::vector<OwnWrite> writes;
  if (moves.empty()) return writes;
  const std::vector<PodPtr> ending = EndingPods(snapshot, now_wall_s).pods();
  Disruptions disruptions(snapshot, ending);
  for (const Move& move : moves) {
    Disruptions trial = disruptions;
    const bool may_go = std::all_of(move.moved.begin(), move.moved.end(), [&](TaskIndex index) {
      const std::vector<PodPtr>& pods = queue.task(index).bound;
      if (!trial.allow(pods)) return false;
      trial.add(pods);
      return true;
    });
    if (!may_go) continue;
    disruptions = std::move(trial);
    for (const TaskIndex index : move.moved)
      writes.push_back(stop_of(queue, move, index, now_wall_s));
  }
  return writes;
}

}  // namespace slackline::core
