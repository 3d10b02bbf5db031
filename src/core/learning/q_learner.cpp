#include "slackline/core/learning/q_learner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace slackline::core {
namespace {

std::vector<int> layers_between(std::size_t inputs, std::vector<int> hidden, std::size_t outputs) {
  hidden.insert(hidden.begin(), static_cast<int>(inputs));
  hidden.push_back(static_cast<int>(outputs));
  return hidden;
}

// Errors beyond 1 count as 1, as in DQN: else plain steps diverge.
void clip(std::vector<double>& targets, const std::vector<double>& values) {
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (!std::isnan(targets[i])) targets[i] = std::clamp(targets[i], values[i] - 1, values[i] + 1);
}

}  // namespace

QLearner::QLearner(std::size_t inputs, std::size_t outputs, QSettings settings, std::uint64_t seed)
    : settings_(std::move(settings)),
      random_(seed),
      net_(layers_between(inputs, settings_.hidden, outputs), random_),
      target_(net_) {
  if (settings_.adam) adam_.emplace(net_.weights().size(), settings_.step_size, 0);
}

void QLearner::observe(Decision decision) {
  if (kept_.size() < settings_.memory) {
    kept_.push_back(std::move(decision));
  } else {
    kept_[oldest_] = std::move(decision);
    oldest_ = (oldest_ + 1) % kept_.size();
  }
  step();
}

double QLearner::target_of(const Decision& decision) const {
  if (settings_.gamma == 0 || decision.next.empty()) return decision.reward;
  const std::vector<double> next = target_.predict_all(decision.next);
  return decision.reward + settings_.gamma * *std::max_element(next.begin(), next.end());
}

void QLearner::step() {
  const auto outputs = static_cast<std::size_t>(net_.outputs());
  std::vector<double> inputs;
  std::vector<double> targets(settings_.batch * outputs, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < settings_.batch; ++i) {
    const Decision& decision = kept_[random_.index(kept_.size())];
    inputs.insert(inputs.end(), decision.input.begin(), decision.input.end());
    targets[i * outputs + decision.output] = target_of(decision);
  }
  if (!adam_) clip(targets, net_.predict_all(inputs));
  net_.gradient(inputs, targets, gradient_);
  if (adam_)
    adam_->step(net_.weights(), gradient_.weights);
  else
    for (std::size_t i = 0; i < gradient_.weights.size(); ++i)
      net_.weights()[i] -= settings_.step_size * gradient_.weights[i];
  if (++steps_ % settings_.copy_each == 0) target_ = net_;
}

}  // namespace slackline::core
