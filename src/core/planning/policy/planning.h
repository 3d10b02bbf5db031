// Planning: one call of a policy: its view of the state, and the verbs by which it acts. Each verb
// changes the state at once and records the effect.
#pragma once

#include "slackline/core/planning/plan.h"

namespace slackline::core {

class Planning {
 public:
  Planning(PlanState& state, double now_s) : state_(state), now_s_(now_s) {}

  const PlanState& state() const { return state_; }
  double now_s() const { return now_s_; }
  const PlanTask& task(TaskIndex task) const { return state_.tasks()[task]; }
  const PlacementMenu& menu(TaskIndex task) const { return *state_.tasks()[task].menu; }
  double lat_s(TaskIndex task, const Choice& choice) const { return state_.lat_s(task, choice); }
  std::int64_t total() const { return state_.free().total(); }
  std::int64_t idle() const { return state_.free().idle(); }
  // There is room now, and the pool is open to the task.
  bool fits(TaskIndex task, const Choice& choice) const;
  bool open(TaskIndex task, PoolIndex pool) const;
  // It prefers some pools, and still waits for them.
  bool holds_out(TaskIndex task) const;

  // Of a task that starts now, where it would have waited until then.
  RoomGain gain_of(TaskIndex task, const Choice& choice, double ended_s) const;

  // On these nodes, else on those that FreeGpus::find gives; it must fit.
  void start(TaskIndex task, ChoiceIndex choice, bool promoted = false,
             std::vector<PoolNode> nodes = {});
  // Preempts, for `asker`, which gains that, and whose queue pays for what is lost.
  void stop(TaskIndex task, TaskIndex asker, const RoomGain& gain, bool risks_deadline);
  // The same, and starts the task again at once on the first of its nodes.
  void shrink(TaskIndex task, ChoiceIndex choice, TaskIndex asker, const RoomGain& gain);
  // Preempts for the task that starts next, whose queue owns those GPUs: nobody pays.
  void give_back(TaskIndex task, const RoomGain& gain);
  // The same, where disruption budgets have delayed the owner for as long as they may.
  void give_back_at_last(TaskIndex task, const RoomGain& gain) {
    give_back(task, gain);
    plan_.effects.back().overdue = true;
  }
  // Until the next plan nobody gets more of its GPU type than his queue owns.
  void keep_for_owners(PoolIndex pool) { state_.ask_back(pool); }
  // `asker` would have had room made, but its queue may not make others lose that much.
  void deny(TaskIndex asker);
  // `task` fits, and waits so that `spared` meets its deadline.
  void yield(TaskIndex task, TaskIndex spared);
  // Keeps these nodes for a task that cannot start yet.
  void reserve(Reservation kept);
  // Asks to be called again.
  void wake_at(double wake_s);
  // The same, unless an earlier request stands.
  void wake_by(double wake_s);

  int stops() const { return stops_; }  // of this call, shrinks not counted
  bool changes_runs() const { return !plan_.effects.empty(); }
  // The run of the task is one that this plan starts.
  bool begins(TaskIndex task) const;
  // Asks to be called when the next pool opens to a waiting task.
  void wake_when_pools_open();
  Plan take() { return std::move(plan_); }

 private:
  Run end(TaskIndex task, TaskIndex asker);

  PlanState& state_;
  double now_s_;
  Plan plan_;
  int stops_ = 0;
};

}  // namespace slackline::core
