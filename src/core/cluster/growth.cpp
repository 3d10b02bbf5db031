#include "slackline/core/cluster/growth.h"

#include <algorithm>

#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/planning/lost_work.h"

namespace slackline::core {
namespace {

class GrowthFinder {
 public:
  GrowthFinder(const ClusterSnapshot& snapshot, const QueueOptions& options, const Queue& queue,
               const StopLimits& limits, const std::optional<LossBudget>& budget)
      : snapshot_(snapshot),
        queue_(queue),
        state_(queue.state()),
        limits_(limits),
        now_s_(options.now_wall_s),
        room_(snapshot, options.now_steady_s, options.now_wall_s) {
    if (budget) left_gpu_s_ = state_.budgets_left_gpu_s(*budget, now_s_);
  }

  std::optional<Growth> of(TaskIndex index) const {
    const Placement& had = queue_.task(index).job->preemptions->goes_on->from;
    const std::vector<Choice>& all = state_.tasks()[index].menu->all;
    const PoolIndex pool = state_.running_choice(index).pool;
    const auto wanted = std::find_if(all.begin(), all.end(), [&](const Choice& choice) {
      return choice.pool == pool && choice.shape == had;
    });
    if (wanted == all.end() || !may_be_stopped(index)) return std::nullopt;

    PlanState stopped = state_;
    const Run run = stopped.stop(index, now_s_);
    Growth growth{
        .task = index, .choice = static_cast<ChoiceIndex>(wanted - all.begin()), .nodes = {}};
    growth.left = stopped.progress(index).left;
    growth.lost_gpu_s = wasted_gpu_s(run, run.observed_work_s, growth.left,
                                     state_.running_choice(index).gpus, now_s_);
    const double end_s = now_s_ + state_.tasks()[index].restart_s + wanted->work_s * growth.left;
    growth.gain_s = state_.observed_end_s(index, now_s_) - end_s;
    if (!stopped.may_use(index, *wanted)) return std::nullopt;
    if (!(growth.gain_s > 0) || !is_paid(index, growth.lost_gpu_s)) return std::nullopt;
    const EligibleNodes eligible = usable_nodes_of(index, run);
    growth.nodes = stopped.free().find(pool, wanted->shape, &eligible);
    if (growth.nodes.empty()) return std::nullopt;
    return growth;
  }

 private:
  bool may_be_stopped(TaskIndex index) const {
    const TaskProgress& progress = state_.progress(index);
    if (queue_.task(index).notice_s > 0) return false;  // nobody would tell it
    return state_.tasks()[index].preemptible && !progress.run.promoted &&
           progress.stops < limits_.most_stops &&
           now_s_ - progress.run.started_s >= limits_.protect_s &&
           state_.observed_end_s(index, now_s_) - now_s_ >= limits_.protect_s;
  }

  bool is_paid(TaskIndex index, double lost_gpu_s) const {
    return left_gpu_s_.empty() || lost_gpu_s <= left_gpu_s_[state_.tasks()[index].queue];
  }

  // Besides GPUs, its own pods leave on their nodes what the new ones need there.
  EligibleNodes usable_nodes_of(TaskIndex index, const Run& run) const {
    const Pod& member = *queue_.task(index).member;
    const PoolIndex pool = state_.choice(index, run.choice).pool;
    const std::vector<NodeIndex>& nodes = queue_.pools()[pool].nodes;
    const Resources rest = besides_gpus(member);
    const Node& here = *snapshot_.node(nodes[run.nodes.front()]).node;
    EligibleNodes eligible;
    for (const QueuePool& each : queue_.pools())
      eligible.by_pool.emplace_back(each.nodes.size());
    if (queue_.task(index).request.spread.apart) return eligible;  // more nodes may not be apart
    for (PoolNode i = 0; i < nodes.size(); ++i) {
      const bool own = std::find(run.nodes.begin(), run.nodes.end(), i) != run.nodes.end();
      const Node& node = *snapshot_.node(nodes[i]).node;
      if (!misfit(member, node) &&
          in_same_domain(here, node, queue_.task(index).request.spread.together) &&
          (own || snapshot_.fits(rest, room_.free(nodes[i]))))
        eligible.by_pool[pool].insert(i);
    }
    return eligible;
  }

  const ClusterSnapshot& snapshot_;
  const Queue& queue_;
  const PlanState& state_;
  const StopLimits limits_;
  const double now_s_;
  const RoomTable room_;
  std::vector<double> left_gpu_s_;  // by queue; empty: there is no budget
};

}  // namespace

bool is_shrunk(const QueueTask& task) {
  if (!task.job || !task.is_planned() || !task.job->preemptions || !task.job->preemptions->goes_on)
    return false;
  const PreemptionNote::GoesOn& shrunk = *task.job->preemptions->goes_on;
  return task.plan->shape == shrunk.shape && task.plan->gpu_type == shrunk.gpu_type &&
         shrunk.shape.gpus() < shrunk.from.gpus();
}

std::optional<Growth> next_growth(const ClusterSnapshot& snapshot, const QueueOptions& options,
                                  const Queue& queue, const Policy& policy) {
  const auto limits = policy.stop_limits();
  if (!limits || !queue.state().waiting().empty()) return std::nullopt;
  std::vector<TaskIndex> shrunk;
  for (const TaskIndex index : queue.state().running())
    if (index < queue.size() && is_shrunk(queue.task(index))) shrunk.push_back(index);
  if (shrunk.empty()) return std::nullopt;
  const GrowthFinder finder(snapshot, options, queue, *limits, policy.budget());
  std::optional<Growth> best;
  for (const TaskIndex index : shrunk)
    if (auto growth = finder.of(index); growth && (!best || growth->gain_s > best->gain_s))
      best = std::move(growth);
  return best;
}

}  // namespace slackline::core
