#include "planning.h"

#include <algorithm>
#include <utility>

#include "ask_back.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/core/planning/mixed_pods.h"

namespace slackline::core {

bool Planning::fits(TaskIndex task, const Choice& choice) const {
  return choice.gpus <= idle() && state_.may_use(task, choice) &&
         core::fits(state_.free(), state_.tasks()[task], choice) && open(task, choice.pool);
}

bool Planning::open(TaskIndex task, PoolIndex pool) const {
  return state_.open(task, pool, now_s_);
}

bool Planning::holds_out(TaskIndex task) const {
  return state_.holds_out(task, now_s_);
}

RoomGain Planning::gain_of(TaskIndex task, const Choice& choice, double ended_s) const {
  const double latest_s = this->task(task).deadline_s + kDeadlineTolerance_s - lat_s(task, choice);
  return {ended_s - now_s_, now_s_ <= latest_s && latest_s < ended_s};
}

void Planning::start(TaskIndex task, ChoiceIndex choice, bool promoted,
                     std::vector<PoolNode> nodes) {
  Run run = state_.run_at(task, choice, now_s_, std::move(nodes));
  run.promoted = promoted;
  std::erase_if(plan_.yields, [&](const Yielding& held) { return held.task == task; });
  plan_.effects.push_back({task, std::nullopt, run});
  state_.start(task, std::move(run));
}

Run Planning::end(TaskIndex task, TaskIndex asker) {
  const int gpus = state_.running_choice(task).gpus;
  Run ended = state_.stop(task, now_s_);
  const double left = state_.progress(task).left;
  state_.charge(asker, wasted_gpu_s(ended, ended.observed_work_s, left, gpus, now_s_), now_s_);
  return ended;
}

void Planning::stop(TaskIndex task, TaskIndex asker, const RoomGain& gain, bool risks_deadline) {
  plan_.effects.push_back({task, end(task, asker), std::nullopt, gain, risks_deadline});
  ++stops_;
}

void Planning::give_back(TaskIndex task, const RoomGain& gain) {
  plan_.effects.push_back({task, state_.stop(task, now_s_), std::nullopt, gain, false, true});
}

void Planning::shrink(TaskIndex task, ChoiceIndex choice, TaskIndex asker, const RoomGain& gain) {
  Run ended = end(task, asker);
  Run begun = state_.run_at(task, choice, now_s_, {ended.nodes.front()});
  begun.promoted = ended.promoted;
  plan_.effects.push_back({task, std::move(ended), begun, gain});
  state_.start(task, std::move(begun));
}

void Planning::deny(TaskIndex asker) {
  std::vector<TaskIndex>& denied = plan_.denied_room;
  if (std::find(denied.begin(), denied.end(), asker) == denied.end()) denied.push_back(asker);
}

void Planning::yield(TaskIndex task, TaskIndex spared) {
  std::erase_if(plan_.yields, [&](const Yielding& held) { return held.task == task; });
  plan_.yields.push_back({task, spared});
}

void Planning::reserve(Reservation kept) {
  plan_.reservations.push_back(std::move(kept));
}

void Planning::wake_at(double wake_s) {
  state_.set_next_wake(wake_s);
  plan_.next_wake_s = wake_s;
}

void Planning::wake_by(double wake_s) {
  const bool asked_for = state_.next_wake_s() > now_s_ && state_.next_wake_s() <= wake_s;
  if (wake_s != kNoDeadline && !asked_for) wake_at(wake_s);
}

bool Planning::begins(TaskIndex task) const {
  return std::any_of(plan_.effects.begin(), plan_.effects.end(), [&](const Effect& effect) {
    return effect.task == task && effect.is_start();
  });
}

void Planning::wake_when_pools_open() {
  if (!state_.tasks().any_preference()) return;
  double next_s = kNoDeadline;
  for (const TaskIndex task : state_.waiting()) {
    if (!holds_out(task)) continue;
    for (const PoolIndex pool : state_.tasks()[task].preference)
      if (const double fallback_at_s = state_.fallback_at_s(task, pool); fallback_at_s > now_s_)
        next_s = std::min(next_s, fallback_at_s);
  }
  wake_by(next_s);
}

namespace {

// At most three times: as the policy wants it; with those first who lost their room to somebody who
// uses more than his queue owns; and with all first who might.
Planning serve_owners_first(PlanState& state, Planning asked, const Policy& policy) {
  const std::vector<TaskIndex> owners = owners_at_risk(asked, policy);
  if (owners.empty()) {
    policy.rule->serve(asked);
    return asked;
  }
  const PlanState before = state;
  std::vector<TaskIndex> first;
  for (;;) {
    Planning planning = asked;
    if (!first.empty()) ask_back(planning, policy, first);
    policy.rule->serve(planning);
    const std::vector<TaskIndex> pushed = pushed_out(planning, policy, owners);
    if (pushed.empty() || first.size() == owners.size()) return planning;
    first = first.empty() ? pushed : owners;
    state = before;
  }
}

}  // namespace

Plan plan(PlanState& state, double now_s, const Policy& policy) {
  state.forget_asks();
  Planning asked(state, now_s);
  ask_back(asked, policy);
  Planning planning = serve_owners_first(state, std::move(asked), policy);
  // Owners may lack room by now, and stops leave room for more.
  if (planning.changes_runs()) ask_back(planning, policy);
  planning.wake_when_pools_open();
  return planning.take();
}

bool may_stop_runs(const PlanState& state, const Policy& policy) {
  return policy.preempts() || has_owners(state);
}

}  // namespace slackline::core
