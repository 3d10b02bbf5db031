// QLearner: values of decisions by temporal differences, with a replay memory and a target network
// (DQN, Mnih et al. 2015; paper 001, LDWP). For the study alone: no scorer is made of it.
//
// Either a state is one input and each decision one output, or each decision is an input of its own
// to a network of one output. What is learnt of a decision:
//   reward + gamma x the largest value of the decisions that come next
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "slackline/base/random.h"
#include "slackline/core/learning/mlp.h"

namespace slackline::core {

struct QSettings {
  std::vector<int> hidden;
  double gamma = 0.8;
  bool adam = false;  // else plain steps down the gradient
  double step_size = 0.1;
  std::size_t memory = 8000;  // decisions that are replayed, the latest ones
  std::size_t batch = 20;     // of them, drawn for each decision that is added
  int copy_each = 200;        // steps between two copies to the target network
};

class QLearner {
 public:
  struct Decision {
    std::vector<double> input;
    std::size_t output = 0;
    double reward = 0;
    std::vector<double> next;  // inputs behind each other; none: nothing follows
  };

  // The same decisions and seed give the same values, bit by bit, on one build.
  QLearner(std::size_t inputs, std::size_t outputs, QSettings settings, std::uint64_t seed);

  // All outputs of inputs that lie behind each other.
  std::vector<double> values(std::span<const double> inputs) const {
    return net_.predict_all(inputs);
  }
  // Keeps the decision, and takes one step on a batch of what is kept.
  void observe(Decision decision);

 private:
  double target_of(const Decision& decision) const;
  void step();

  QSettings settings_;
  Random random_;
  Mlp net_;
  Mlp target_;
  std::optional<Adam> adam_;
  std::vector<Decision> kept_;
  std::size_t oldest_ = 0;  // once the memory is full
  int steps_ = 0;
  Mlp::Gradient gradient_;
};

}  // namespace slackline::core
