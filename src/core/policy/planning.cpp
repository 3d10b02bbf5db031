#include "planning.h"

namespace slackline::core {

bool Planning::fits(TaskIndex task, const Choice& choice) const {
  return choice.gpus <= idle() &&
         state_.free().fits(choice.pool, choice.shape, state_.tasks()[task].eligible.get());
}

void Planning::start(TaskIndex task, ChoiceIndex choice, bool promoted) {
  Run run = state_.run_at(task, choice, now_s_, {});
  run.promoted = promoted;
  plan_.effects.push_back({task, std::nullopt, run});
  state_.start(task, std::move(run));
}

void Planning::stop(TaskIndex task) {
  plan_.effects.push_back({task, state_.stop(task, now_s_), std::nullopt});
  ++stops_;
}

void Planning::shrink(TaskIndex task, ChoiceIndex choice) {
  Run ended = state_.stop(task, now_s_);
  Run begun = state_.run_at(task, choice, now_s_, {ended.nodes.front()});
  begun.promoted = ended.promoted;
  plan_.effects.push_back({task, std::move(ended), begun});
  state_.start(task, std::move(begun));
}

void Planning::wake_at(double wake_s) {
  state_.set_next_wake(wake_s);
  plan_.next_wake_s = wake_s;
}

Plan plan(PlanState& state, double now_s, const Policy& policy) {
  Planning planning(state, now_s);
  policy.serve(planning, policy.options);
  return planning.take();
}

}  // namespace slackline::core
