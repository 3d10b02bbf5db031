#include "slackline/core/handover/begin_growth.h"

#include <memory>
#include <utility>

#include "slackline/model/reason.h"
#include "stops.h"

namespace slackline::core {

std::vector<OwnWrite> begin_growth(const ClusterSnapshot& snapshot, const QueueOptions& options,
                                   const Queue& queue, const Policy& policy) {
  const auto growth = next_growth(snapshot, options, queue, policy);
  if (!growth) return {};
  const QueueTask& task = queue.task(growth->task);
  const Choice& choice = queue.state().choice(growth->task, growth->choice);
  const QueuePool& pool = queue.pools()[choice.pool];
  PreemptionNote note = note_of_stop(task, growth->left, growth->lost_gpu_s, options.now_wall_s);
  charge(note, task.account, growth->lost_gpu_s, options.now_wall_s);
  note.by = reason::kGrown;
  note.goes_on = PreemptionNote::GoesOn{
      .shape = choice.shape, .gpu_type = pool.pool.type, .nodes = {}, .from = task.plan->shape};
  for (const PoolNode node : growth->nodes)
    note.goes_on->nodes.push_back(snapshot.node(pool.nodes[node]).node->name);
  StopJob stop{.preemptions = std::make_shared<const PreemptionNote>(std::move(note)),
               .lost_gpu_s = growth->lost_gpu_s,
               .asker = task.key,
               .gain = {.earlier_s = growth->gain_s},
               .qos = task.intent->qos_class.value_or(QosClass::kNormal)};
  return {job_write(*task.job, std::move(stop),
                    {.verb = Verb::kSuspend, .reason = reason::kGrown, .plan_id = task.plan->id})};
}

}  // namespace slackline::core
