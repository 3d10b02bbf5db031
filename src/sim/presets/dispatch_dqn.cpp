#include "sim/presets/dispatch_dqn.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/presets/dispatch_learning.h"
#include "slackline/base/random.h"
#include "slackline/core/learning/q_learner.h"

namespace slackline::sim {
namespace {

constexpr double kExploresFirst = 0.2;  // share of decisions at random, falling in a line
constexpr double kExploresLast = 0.03;
constexpr double kThroughputWindow_s = 60;
constexpr double kAdamStep = 1e-3;
constexpr std::size_t kStateOfNode = 4;
constexpr std::size_t kFactsOfNode = 3;
constexpr std::uint64_t kExploreStream = 0x6578706c;

using Choices = std::span<const DispatchChoice>;

bool is_shared(DqnKind kind) {
  return kind == DqnKind::kShared || kind == DqnKind::kSharedNow;
}

core::QSettings settings_of(DqnKind kind) {
  core::QSettings settings;
  settings.hidden = is_shared(kind) ? std::vector<int>{64, 32} : std::vector<int>{256, 128};
  if (kind == DqnKind::kNow || kind == DqnKind::kSharedNow) settings.gamma = 0;
  if (kind == DqnKind::kPaper) return settings;
  settings.adam = true;
  settings.step_size = kAdamStep;
  return settings;
}

std::vector<double> family_of(const DispatchChoice& choice) {
  std::vector<double> features;
  for (const DispatchFamily& family : kDispatchFamilies)
    features.push_back(family.name == choice.placed.family ? 1 : 0);
  return features;
}

void append_state(const DispatchChoice& choice, double* features) {
  features[0] = std::log1p(choice.predicted_s) / 3;
  features[1] = std::log1p(static_cast<double>(choice.residents)) / 3;
  features[2] = choice.placed.busy_share;
  features[3] = choice.placed.memory_short ? 1 : 0;
}

// Of all nodes behind each other; zeros for those that are not there.
std::vector<double> state_of(Choices choices) {
  std::vector<double> features = family_of(choices.front());
  const std::size_t nodes_at = features.size();
  features.resize(nodes_at + kMostDispatchNodes * kStateOfNode);
  for (const DispatchChoice& choice : choices)
    append_state(choice, &features[nodes_at + choice.node * kStateOfNode]);
  return features;
}

// One input a node.
std::vector<double> each_node(Choices choices) {
  std::vector<double> all;
  for (const DispatchChoice& choice : choices) {
    const std::vector<double> family = family_of(choice);
    all.insert(all.end(), family.begin(), family.end());
    const auto* node =
        std::find_if(kDispatchNodes.begin(), kDispatchNodes.end(),
                     [&](const DispatchNode& one) { return one.type == choice.placed.node_type; });
    all.insert(all.end(), {static_cast<double>(node->gpu), node->gpus / 4.0, node->memory_gb / 32});
    all.resize(all.size() + kStateOfNode);
    append_state(choice, &all[all.size() - kStateOfNode]);
  }
  return all;
}

}  // namespace

class DqnDispatcher::Learner {
 public:
  Learner(DqnKind kind, std::uint64_t seed)
      : kind_(kind),
        random_(seed ^ kExploreStream),
        net_(kDispatchFamilies.size() + (is_shared(kind) ? kFactsOfNode + kStateOfNode
                                                         : kMostDispatchNodes * kStateOfNode),
             is_shared(kind) ? 1 : kMostDispatchNodes, settings_of(kind), seed) {}

  std::size_t best(Choices choices) const {
    return best_of(choices, is_shared(kind_) ? each_node(choices) : state_of(choices));
  }

  std::size_t choose(Choices choices) {
    const std::vector<double> inputs = is_shared(kind_) ? each_node(choices) : state_of(choices);
    end_last(choices.front().at_s, inputs);
    const double done = std::min(1.0, static_cast<double>(decided_++) / kDispatchHistory);
    const bool explores =
        random_.uniform() < kExploresFirst + done * (kExploresLast - kExploresFirst);
    const std::size_t chosen = explores ? random_.index(choices.size()) : best_of(choices, inputs);
    Open open;
    open.decision.input = inputs;
    open.decision.output = choices[chosen].node;
    if (is_shared(kind_)) {
      const auto width = static_cast<std::ptrdiff_t>(inputs.size() / choices.size());
      const auto from = inputs.begin() + width * static_cast<std::ptrdiff_t>(chosen);
      open.decision.input.assign(from, from + width);
      open.decision.output = 0;
    }
    last_ = choices.front().task;
    open_.emplace(*last_, std::move(open));
    return chosen;
  }

  void ended(const DispatchChoice& placed, double response_s) {
    ended_s_.push_back(placed.at_s + response_s);
    if (kind_ == DqnKind::kPaper) return;
    const auto open = open_.find(placed.task);
    open->second.decision.reward = -std::log(response_s);
    open->second.has_reward = true;
    learn_from(open);
  }

 private:
  // A decision whose reward, or what came next, is not known yet.
  struct Open {
    core::QLearner::Decision decision;
    bool has_reward = false;
    bool has_next = false;
  };

  std::size_t best_of(Choices choices, std::span<const double> inputs) const {
    const std::vector<double> values = net_.values(inputs);
    std::size_t best = 0;
    for (std::size_t i = 1; i < choices.size(); ++i) {
      const auto value = [&](std::size_t at) {
        return values[is_shared(kind_) ? at : choices[at].node];
      };
      if (value(i) > value(best)) best = i;
    }
    return best;
  }

  // The decision before this one has led to these inputs.
  void end_last(double now_s, const std::vector<double>& inputs) {
    while (!ended_s_.empty() && ended_s_.front() <= now_s - kThroughputWindow_s)
      ended_s_.pop_front();
    const auto throughput = static_cast<double>(ended_s_.size());
    const double before = std::exchange(throughput_, throughput);
    if (!last_) return;
    const auto open = open_.find(*last_);
    open->second.decision.next = inputs;
    open->second.has_next = true;
    if (kind_ == DqnKind::kPaper) {
      open->second.decision.reward = throughput - before;
      open->second.has_reward = true;
    }
    learn_from(open);
  }

  void learn_from(std::map<std::size_t, Open>::iterator open) {
    if (!open->second.has_reward || !open->second.has_next) return;
    net_.observe(std::move(open->second.decision));
    open_.erase(open);
  }

  DqnKind kind_;
  Random random_;
  core::QLearner net_;
  std::map<std::size_t, Open> open_;  // by task
  std::optional<std::size_t> last_;
  int decided_ = 0;
  std::deque<double> ended_s_;  // of the last minute
  double throughput_ = 0;       // tasks that ended in the minute before the last decision
};

DqnDispatcher::DqnDispatcher(DqnKind kind, std::uint64_t seed)
    : learner_(std::make_shared<Learner>(kind, seed)) {}

DqnDispatcher::~DqnDispatcher() = default;

DispatchPolicy DqnDispatcher::learning() {
  DispatchPolicy policy;
  policy.choose = [learner = learner_](Choices choices) { return learner->choose(choices); };
  policy.learn = [learner = learner_](const DispatchChoice& placed, double response_s,
                                      const DispatchTimes& /*took*/) {
    learner->ended(placed, response_s);
  };
  return policy;
}

DispatchPolicy DqnDispatcher::fixed() {
  DispatchPolicy policy;
  policy.choose = [learner = learner_](Choices choices) { return learner->best(choices); };
  return policy;
}

}  // namespace slackline::sim
