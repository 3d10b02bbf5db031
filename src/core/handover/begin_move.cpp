#include "slackline/core/handover/begin_move.h"

#include <memory>
#include <utility>

#include "slackline/core/cluster/growth.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/model/reason.h"
#include "stops.h"

namespace slackline::core {
namespace {

// Its place there is kept while its pods end. Who was shrunk may still have its shape back.
PreemptionNote::GoesOn going_on(const QueueTask& task, const MovedRun& moved) {
  const PlanNote& plan = *task.plan;
  const Placement from = is_shrunk(task) ? task.job->preemptions->goes_on->from : plan.shape;
  return {.shape = plan.shape, .gpu_type = plan.gpu_type, .nodes = moved.to, .from = from};
}

OwnWrite stop_of(const Queue& queue, const Move& move, std::size_t which, double now_s) {
  const TaskIndex index = move.moved[which];
  const QueueTask& task = queue.task(index);
  const QueueTask& gains = queue.task(move.gains);
  const PlanState& state = queue.state();
  const Run& run = state.progress(index).run;
  const double left = state.left_after_stop(index, now_s);
  StopJob stop{.asker = gains.key, .qos = task.intent->qos_class.value_or(QosClass::kNormal)};
  stop.lost_gpu_s =
      wasted_gpu_s(run, run.observed_work_s, left, state.running_choice(index).gpus, now_s);
  stop.move = std::make_shared<const MoveAdvice>(move.advice);
  PreemptionNote note = note_of_stop(task, left, stop.lost_gpu_s, now_s);
  charge(note, gains.account, stop.lost_gpu_s, now_s);
  note.by = reason::kMoved;
  note.goes_on = going_on(task, move.advice.moves[which]);
  if (move.advice.cause == MoveCause::kSlow) note.slow = PreemptionNote::SlowRun{note.nodes, now_s};
  stop.preemptions = std::make_shared<const PreemptionNote>(std::move(note));
  return job_write(*task.job, std::move(stop),
                   {.verb = Verb::kSuspend, .reason = reason::kMoved, .plan_id = task.plan->id});
}

}  // namespace

std::vector<OwnWrite> begin_move(const Queue& queue, const Move& move, double now_wall_s) {
  std::vector<OwnWrite> writes;
  for (std::size_t which = 0; which < move.moved.size(); ++which)
    writes.push_back(stop_of(queue, move, which, now_wall_s));
  return writes;
}

}  // namespace slackline::core
