#include "slackline/core/learning/mlp.h"

#include <cmath>
#include <utility>

#include <Eigen/Core>

namespace slackline::core {
namespace {

using Weights = Eigen::Map<const Eigen::MatrixXd>;
using Biases = Eigen::Map<const Eigen::VectorXd>;

struct LayerAt {
  Eigen::Index in;
  Eigen::Index out;
  std::size_t weights;  // where they begin
  std::size_t biases;
};

std::vector<LayerAt> layers_of(const std::vector<int>& widths) {
  std::vector<LayerAt> layers;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const auto in = static_cast<std::size_t>(widths[i]);
    const auto out = static_cast<std::size_t>(widths[i + 1]);
    layers.push_back({widths[i], widths[i + 1], at, at + in * out});
    at += in * out + out;
  }
  return layers;
}

// What goes into each layer, one column a sample, and behind them the outputs.
std::vector<Eigen::MatrixXd> forward(const std::vector<LayerAt>& layers,
                                     const std::vector<double>& weights,
                                     std::span<const double> inputs) {
  std::vector<Eigen::MatrixXd> at(layers.size() + 1);
  const Eigen::Index width = layers.front().in;
  at[0] = Weights(inputs.data(), width, static_cast<Eigen::Index>(inputs.size()) / width);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerAt& layer = layers[i];
    at[i + 1].noalias() = Weights(&weights[layer.weights], layer.out, layer.in) * at[i];
    at[i + 1].colwise() += Biases(&weights[layer.biases], layer.out);
    if (i + 1 < layers.size()) at[i + 1] = at[i + 1].cwiseMax(0).eval();
  }
  return at;
}

}  // namespace

Mlp::Mlp(std::vector<int> widths, Random& random) : widths_(std::move(widths)) {
  for (const LayerAt& layer : layers_of(widths_)) {
    weights_.resize(layer.biases + static_cast<std::size_t>(layer.out), 0.0);
    const double deviation = std::sqrt(2.0 / static_cast<double>(layer.in));
    for (std::size_t i = layer.weights; i < layer.biases; ++i)
      weights_[i] = deviation * random.normal();
  }
}

Mlp::Mlp(std::vector<int> widths, std::vector<double> weights)
    : widths_(std::move(widths)), weights_(std::move(weights)) {}

std::size_t Mlp::weight_count(const std::vector<int>& widths) {
  const LayerAt last = layers_of(widths).back();
  return last.biases + static_cast<std::size_t>(last.out);
}

double Mlp::predict(std::span<const double> input) const {
  Eigen::VectorXd x = Biases(input.data(), static_cast<Eigen::Index>(input.size()));
  const auto layers = layers_of(widths_);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerAt& layer = layers[i];
    Eigen::VectorXd y = Biases(&weights_[layer.biases], layer.out);
    y.noalias() += Weights(&weights_[layer.weights], layer.out, layer.in) * x;
    x = i + 1 < layers.size() ? Eigen::VectorXd(y.cwiseMax(0)) : y;
  }
  return x(0);
}

std::vector<double> Mlp::predict_all(std::span<const double> inputs) const {
  const Eigen::MatrixXd outputs = forward(layers_of(widths_), weights_, inputs).back();
  return {outputs.data(), outputs.data() + outputs.size()};
}

void Mlp::gradient(std::span<const double> inputs, std::span<const double> targets,
                   Gradient& out) const {
  const auto layers = layers_of(widths_);
  const std::vector<Eigen::MatrixXd> at = forward(layers, weights_, inputs);
  const Eigen::Index samples = at.back().cols();
  const Weights wanted(targets.data(), widths_.back(), samples);
  Eigen::MatrixXd error = wanted.array().isNaN().select(0.0, at.back() - wanted);
  out.loss = error.squaredNorm() / static_cast<double>(samples);
  error *= 2.0 / static_cast<double>(samples);
  out.weights.resize(weights_.size());
  out.inputs.resize(inputs.size());
  for (std::size_t i = layers.size(); i-- > 0;) {
    const LayerAt& layer = layers[i];
    Eigen::Map<Eigen::MatrixXd>(&out.weights[layer.weights], layer.out, layer.in).noalias() =
        error * at[i].transpose();
    Eigen::Map<Eigen::VectorXd>(&out.weights[layer.biases], layer.out) = error.rowwise().sum();
    Eigen::MatrixXd below(layer.in, samples);
    below.noalias() = Weights(&weights_[layer.weights], layer.out, layer.in).transpose() * error;
    if (i > 0) below = (at[i].array() > 0).select(below, 0.0).eval();
    error = std::move(below);
  }
  Eigen::Map<Eigen::MatrixXd>(out.inputs.data(), widths_.front(), samples) = error;
}

Adam::Adam(std::size_t weights, double step_size, double decay)
    : step_size_(step_size), decay_(decay), first_(weights, 0.0), second_(weights, 0.0) {}

void Adam::step(std::vector<double>& weights, std::span<const double> gradient) {
  constexpr double kFirst = 0.9;
  constexpr double kSecond = 0.999;
  constexpr double kEpsilon = 1e-8;
  first_power_ *= kFirst;
  second_power_ *= kSecond;
  const auto size = static_cast<Eigen::Index>(weights.size());
  Eigen::Map<Eigen::ArrayXd> w(weights.data(), size);
  Eigen::Map<Eigen::ArrayXd> m(first_.data(), size);
  Eigen::Map<Eigen::ArrayXd> v(second_.data(), size);
  const Eigen::Map<const Eigen::ArrayXd> g(gradient.data(), size);
  m = kFirst * m + (1 - kFirst) * (g + decay_ * w);
  v = kSecond * v + (1 - kSecond) * (g + decay_ * w).square();
  w -= step_size_ / (1 - first_power_) * m / ((v / (1 - second_power_)).sqrt() + kEpsilon);
}

void shuffle(std::vector<std::size_t>& order, Random& random) {
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.index(i)]);
}

}  // namespace slackline::core
