#include "stop_rules.h"

#include <algorithm>

#include "slackline/core/planning/lost_work.h"

namespace slackline::core {
namespace {

constexpr double kLeastRun_s = 60;

bool is_near_end(const PlanState& state, TaskIndex run, double now_s, const StopRules& rules,
                 bool urgent) {
  if (!rules.spare_ends) return false;
  const auto& since_s = state.tasks()[run].near_end_since_s;
  if (since_s && now_s - *since_s >= rules.protect_s) return false;
  const double due_s =
      rules.learn ? state.observed_due_s(run, now_s) : state.progress(run).run.predicted_end_s;
  const double left_s = due_s - now_s;
  return left_s > 0 && left_s < protect_s(rules, urgent);
}

}  // namespace

double protect_s(const StopRules& rules, bool urgent) {
  return urgent ? std::min(kLeastRun_s, rules.protect_s) : rules.protect_s;
}

Spared spared_by(const PlanState& state, TaskIndex run, double now_s, const StopRules& rules,
                 bool urgent) {
  const TaskProgress& progress = state.progress(run);
  const PlanTask& task = state.tasks()[run];
  if (!task.preemptible) return Spared::kNotPreemptible;
  if (task.qos == QosClass::kUrgent) return Spared::kUrgent;
  if (progress.run.promoted) return Spared::kGuaranteed;
  if (progress.stops >= rules.most_stops) return Spared::kStoppedOften;
  if (now_s - progress.run.started_s < protect_s(rules, urgent)) return Spared::kProtected;
  return is_near_end(state, run, now_s, rules, urgent) ? Spared::kNearItsEnd : Spared::kNo;
}

bool spares_owners(const PlanState& state, TaskIndex run, TaskIndex asker, const Choice& wanted) {
  const ShareUse& shares = state.shares();
  if (shares.shares() == nullptr || shares.shares()->types.empty()) return false;
  const QueueNumber queue = state.tasks()[run].queue;
  if (queue == state.tasks()[asker].queue || shares.is_own(state.use_of(asker, wanted)))
    return false;
  return shares.owns(queue, wanted.pool) && !shares.is_beyond_own(queue, wanted.pool);
}

double wasted_if_stopped_gpu_s(const PlanState& state, TaskIndex run, double work_s, double now_s) {
  return wasted_gpu_s(state.progress(run).run, work_s, state.left_if_stopped(run, work_s, now_s),
                      state.running_choice(run).gpus, now_s);
}

bool ends_in_time(const PlanTask& run, double wait_s, double most_grace_s) {
  const double grace_s = lasting_grace_s(run.grace_s);
  return run.notice_s + grace_s <= wait_s && (grace_s <= 0 || grace_s <= most_grace_s);
}

bool TakenDisruptions::add(const PlanTask& run, bool overdue) {
  for (const DisruptionNeed& need : run.disrupts) {
    const Taken& taken = of_budget_[need.budget];
    if (taken.pods + need.pods > need.left && (taken.obeyed || !overdue)) return false;
  }
  for (const DisruptionNeed& need : run.disrupts) {
    Taken& taken = of_budget_[need.budget];
    taken.pods += need.pods;
    taken.obeyed |= !overdue;
  }
  return true;
}

}  // namespace slackline::core
