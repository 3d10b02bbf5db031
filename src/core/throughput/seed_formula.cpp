// Kinds "S" and "S/mean": throughput = (M - Comm) * sPR(batch / M), 000 eq 5-8.
#include <algorithm>
#include <cmath>

#include "kinds.h"
#include "least_squares.h"

namespace slackline::core {
namespace {

constexpr double kMaxLambda = 20;
constexpr double kMaxComm = 0.99;  // of M: Comm stays below M on every observed shape

struct Seed {
  double k0, k1, k2, gamma, lambda;
};

Seed seed_of(std::span<const double> params) {
  return {params[0], params[1], params[2], params[3], params[4]};
}

// Comm / gamma in the "sum" reading: peers on other nodes count lambda, peers on the fullest
// node 1.
double path_sum(double lambda, Spread spread) {
  return lambda * (spread.gpus - spread.most_per_node) + (spread.most_per_node - 1);
}

// Comm / gamma as a mean path length: divided by M - 1, and by the scale that makes both readings
// agree at 4.
double path_mean(double lambda, Spread spread) {
  return spread.gpus > 1 ? 3 * path_sum(lambda, spread) / (spread.gpus - 1) : 0.0;
}

using Path = double (*)(double lambda, Spread spread);

// Speed of one GPU on its share of the batch; a falling parabola stays at its vertex beyond it.
double single_gpu(const Seed& seed, double local_batch) {
  double b = local_batch;
  if (seed.k2 < 0) b = std::min(b, -seed.k1 / (2 * seed.k2));
  return seed.k0 + seed.k1 * b + seed.k2 * b * b;
}

double predict(const Seed& seed, double batch, Spread spread, Path path) {
  const double m = spread.gpus;
  return std::max(0.0, m - seed.gamma * path(seed.lambda, spread)) * single_gpu(seed, batch / m);
}

// The optimiser sees a box only: (k0, k1 in units of the data, largest batch / vertex, share of the
// largest allowed gamma, lambda).
class SeedFit {
 public:
  SeedFit(std::span<const Observation> observations, Path path)
      : observations_(observations), path_(path) {
    low_ = most_ = observations.front().local_batch();
    std::vector<double> speeds;
    for (const Observation& seen : observations) {
      low_ = std::min(low_, seen.local_batch());
      most_ = std::max(most_, seen.local_batch());
      speeds.push_back(seen.throughput_samples_per_s / seen.spread.gpus);
    }
    std::nth_element(speeds.begin(), speeds.begin() + static_cast<long>(speeds.size() / 2),
                     speeds.end());
    unit_ = speeds[speeds.size() / 2];
  }

  std::vector<double> run() const {
    LeastSquares problem;
    problem.weights.resize(static_cast<Eigen::Index>(observations_.size()));
    for (std::size_t i = 0; i < observations_.size(); ++i)
      problem.weights[static_cast<Eigen::Index>(i)] = observations_[i].weight;
    problem.low = Eigen::VectorXd{{0, 1e-9, 0, 0, 1}};
    problem.high = Eigen::VectorXd{{1e6, 1e6, most_ / low_, 1, kMaxLambda}};
    problem.residuals = [this](const Eigen::VectorXd& x, Eigen::VectorXd& out) {
      const Seed seed = decode(x);
      for (std::size_t i = 0; i < observations_.size(); ++i) {
        const Observation& seen = observations_[i];
        const double predicted = predict(seed, seen.batch, seen.spread, path_);
        out[static_cast<Eigen::Index>(i)] =
            std::log(std::max(predicted, 1e-12) / seen.throughput_samples_per_s);
      }
    };
    std::vector<Eigen::VectorXd> starts;
    for (const double lambda : {1.5, 6.0})
      for (const double share : {0.05, 0.5})
        for (const double bend : {0.1, 0.9})
          starts.push_back(Eigen::VectorXd{{0.3, 0.7, bend, share, lambda}});
    const Seed seed = decode(minimize(problem, starts).x);
    return {seed.k0, seed.k1, seed.k2, seed.gamma, seed.lambda};
  }

 private:
  Seed decode(const Eigen::VectorXd& x) const {
    double gamma_most = 1e9;
    for (const Observation& seen : observations_)
      if (seen.spread.gpus > 1)
        gamma_most = std::min(gamma_most, kMaxComm * seen.spread.gpus / path_(x[4], seen.spread));
    if (gamma_most == 1e9) gamma_most = 0;  // one GPU only: no communication was seen
    const double k1 = x[1] * unit_ / most_;
    return {x[0] * unit_, k1, -k1 * x[2] / (2 * most_), x[3] * gamma_most, x[4]};
  }

  std::span<const Observation> observations_;
  Path path_;
  double low_ = 0;  // batches of one GPU
  double most_ = 0;
  double unit_ = 1;  // samples per second of one GPU, median
};

bool takes_five(std::span<const double> params) {
  return params.size() == 5;
}

}  // namespace

const ThroughputKind kSeedSum{"S", 5, takes_five,
                              [](std::span<const double> params, double batch, Spread spread) {
                                return predict(seed_of(params), batch, spread, path_sum);
                              },
                              [](std::span<const Observation> observations) {
                                return SeedFit(observations, path_sum).run();
                              }};

const ThroughputKind kSeedMean{"S/mean", 5, takes_five,
                               [](std::span<const double> params, double batch, Spread spread) {
                                 return predict(seed_of(params), batch, spread, path_mean);
                               },
                               [](std::span<const Observation> observations) {
                                 return SeedFit(observations, path_mean).run();
                               }};

}  // namespace slackline::core
