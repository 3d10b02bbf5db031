// Neural collaborative filtering: a vector for each task as the one that runs, another as the one
// beside it, and a network over both. Few cells and many weights: it predicts well only with strong
// decay. Takes seconds; deterministic.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "pair_kinds.h"
#include "slackline/base/random.h"
#include "slackline/core/learning/mlp.h"

namespace slackline::core {
namespace {

constexpr std::size_t kVector = 32;
constexpr double kVectorDeviation = 0.3;
constexpr double kStepSize = 1e-3;
constexpr double kLayerDecay = 1e-2;
constexpr double kVectorDecay = 1e-4;
constexpr std::size_t kBatch = 32;
constexpr std::size_t kEpochs = 400;
constexpr std::size_t kMostPasses = 400'000;  // of a cell through the network: a few seconds
constexpr std::uint64_t kNcfSeed = 5;

class Ncf {
 public:
  explicit Ncf(const PairCells& known)
      : tasks_(static_cast<std::size_t>(known.tasks)),
        random_(kNcfSeed),
        vectors_(2 * tasks_ * kVector),
        network_({2 * kVector, 128, 64, 32, 1}, random_) {
    for (double& x : vectors_)
      x = kVectorDeviation * random_.normal();
  }

  void train(const PairCells& known);
  double predict(int a, int b) const;

 private:
  // Where the vector of a task lies: as the one that runs, or as the one beside it.
  std::size_t vector_at(int task, bool beside) const {
    return (static_cast<std::size_t>(task) + (beside ? tasks_ : 0)) * kVector;
  }
  void append_input(int a, int b, std::vector<double>& inputs) const {
    for (const std::size_t at : {vector_at(a, false), vector_at(b, true)})
      inputs.insert(inputs.end(), vectors_.begin() + static_cast<std::ptrdiff_t>(at),
                    vectors_.begin() + static_cast<std::ptrdiff_t>(at + kVector));
  }

  std::size_t tasks_;
  Random random_;
  std::vector<double> vectors_;
  Mlp network_;
  double mean_ = 0;
  double deviation_ = 1;
};

void Ncf::train(const PairCells& known) {
  const auto count = known.cells.size();
  for (const PairCell& cell : known.cells)
    mean_ += cell.y / static_cast<double>(count);
  double variance = 0;
  for (const PairCell& cell : known.cells)
    variance += (cell.y - mean_) * (cell.y - mean_) / static_cast<double>(count);
  deviation_ = variance > 0 ? std::sqrt(variance) : 1;
  Adam layers(network_.weights().size(), kStepSize, kLayerDecay);
  Adam of_vectors(vectors_.size(), kStepSize, kVectorDecay);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> inputs;
  std::vector<double> targets;
  std::vector<double> by_vector(vectors_.size());
  Mlp::Gradient gradient;
  const std::size_t epochs = std::clamp(kMostPasses / count, std::size_t{20}, kEpochs);
  for (std::size_t epoch = 0; epoch < epochs; ++epoch) {
    shuffle(order, random_);
    for (std::size_t from = 0; from < count; from += kBatch) {
      const std::size_t to = std::min(from + kBatch, count);
      inputs.clear();
      targets.clear();
      for (std::size_t i = from; i < to; ++i) {
        const PairCell& cell = known.cells[order[i]];
        append_input(cell.a, cell.b, inputs);
        targets.push_back((cell.y - mean_) / deviation_);
      }
      network_.gradient(inputs, targets, gradient);
      std::fill(by_vector.begin(), by_vector.end(), 0.0);
      for (std::size_t i = from; i < to; ++i) {
        const PairCell& cell = known.cells[order[i]];
        const double* slope = &gradient.inputs[(i - from) * 2 * kVector];
        for (std::size_t k = 0; k < kVector; ++k) {
          by_vector[vector_at(cell.a, false) + k] += slope[k];
          by_vector[vector_at(cell.b, true) + k] += slope[kVector + k];
        }
      }
      layers.step(network_.weights(), gradient.weights);
      of_vectors.step(vectors_, by_vector);
    }
  }
}

double Ncf::predict(int a, int b) const {
  std::vector<double> input;
  append_input(a, b, input);
  return mean_ + deviation_ * network_.predict(input);
}

std::vector<double> fit_ncf(const PairCells& known) {
  Ncf ncf(known);
  ncf.train(known);
  std::vector<double> y;
  for (int a = 0; a < known.tasks; ++a)
    for (int b = 0; b < known.tasks; ++b)
      y.push_back(ncf.predict(a, b));
  return y;
}

}  // namespace

const PairKind kNcf{"ncf", 40, true, fit_ncf};

}  // namespace slackline::core
