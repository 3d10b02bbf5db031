// A multi-layer perceptron with ReLU in its hidden layers and linear outputs, mostly one, and Adam
// to train it. What is trained is one list of numbers; the caller says in which order it sees
// samples, so the same seed gives the same weights, bit by bit, on one build.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "slackline/base/random.h"

namespace slackline::core {

class Mlp {
 public:
  // Widths from the input to the outputs: {64, 128, 64, 32, 1}. Weights start normal
  // with variance 2 / inputs of the layer (He et al. 2015), biases at 0.
  Mlp(std::vector<int> widths, Random& random);
  // As it was trained before: weights() of that one, weight_count() of them.
  Mlp(std::vector<int> widths, std::vector<double> weights);

  static std::size_t weight_count(const std::vector<int>& widths);

  int inputs() const { return widths_.front(); }
  int outputs() const { return widths_.back(); }
  // Layer by layer: outputs x inputs by columns, then the biases.
  std::vector<double>& weights() { return weights_; }
  const std::vector<double>& weights() const { return weights_; }

  double predict(std::span<const double> input) const;  // its first output
  // All outputs of samples that lie behind each other in `inputs`, in the same way.
  std::vector<double> predict_all(std::span<const double> inputs) const;

  // The sum over the outputs of (output - target)^2, its mean over samples that lie behind each
  // other in `inputs`, and its gradients by the weights and by the inputs, in the order of these.
  // A target that is NaN asks nothing of its output.
  struct Gradient {
    double loss = 0;
    std::vector<double> weights;
    std::vector<double> inputs;
  };
  void gradient(std::span<const double> inputs, std::span<const double> targets,
                Gradient& out) const;

 private:
  std::vector<int> widths_;
  std::vector<double> weights_;
};

// Adam (Kingma and Ba 2015) with beta 0.9 and 0.999. `decay` times the weight is added to the
// gradient of each weight.
class Adam {
 public:
  Adam(std::size_t weights, double step_size, double decay);
  void step(std::vector<double>& weights, std::span<const double> gradient);

 private:
  double step_size_;
  double decay_;
  double first_power_ = 1;  // beta to the number of steps
  double second_power_ = 1;
  std::vector<double> first_;
  std::vector<double> second_;
};

// A random order of 0 .. n-1.
void shuffle(std::vector<std::size_t>& order, Random& random);

}  // namespace slackline::core
