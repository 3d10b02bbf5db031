// Throughput models on measurements of random models, with noise: bounds, determinism, recovery.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "slackline/core/throughput/fit.h"
#include "slackline/core/throughput/throughput.h"
#include "support/throughput_samples.h"

namespace slackline::core {
namespace {

using test::measured_by;

constexpr int kFits = 12;
const std::vector<double> kBatches{8, 16, 32, 64, 128};

class Models {
 public:
  explicit Models(unsigned seed) : random_(seed) {}

  // Somewhere between a small network on fast links and a large one on slow ones.
  Coefficients draw(std::string kind) {
    if (kind == "S" || kind == "S/mean") {
      const double k1 = between(0.2, 2);
      return {kind,
              {between(5, 50), k1, -k1 / between(300, 900), between(0.005, 0.03), between(1, 8)}};
    }
    std::vector<double> params{between(0.005, 0.05), between(0.0005, 0.003), between(0.001, 0.02),
                               between(0, 0.003),    between(0.01, 0.1),     between(0, 0.004)};
    if (kind != "A") params.push_back(between(1, 4));
    if (kind == "P2") params.insert(params.end(), {between(0, 0.08), between(0.6, 1)});
    return {kind, params};
  }

 private:
  double between(double low, double high) {
    return std::uniform_real_distribution(low, high)(random_);
  }
  std::mt19937 random_;
};

std::vector<std::string> multi_gpu_kinds() {
  std::vector<std::string> kinds;
  for (const std::string_view kind : fittable_kinds())
    if (kind != "L") kinds.emplace_back(kind);
  return kinds;
}

TEST(ThroughputProperty, AFitRecoversTheModelBehindNoisyMeasurements) {
  Models models(1);
  for (int round = 0; round < kFits; ++round)
    for (const char* kind : {"S", "S/mean", "A", "P", "P2"}) {
      const Coefficients truth = models.draw(kind);
      const auto fit = fit_throughput(measured_by(truth, kBatches, 0.03), {kind});
      ASSERT_TRUE(fit) << fit.error().message;
      for (const ThroughputSample& exact : measured_by(truth, kBatches))
        EXPECT_NEAR(*predict_throughput(fit->coefficients, exact.batch, exact.layout.spread()) /
                        exact.throughput_samples_per_s,
                    1, 0.05)
            << kind << " round " << round << " " << exact.layout.str() << " batch " << exact.batch;
    }
}

TEST(ThroughputProperty, TheCoefficientsOfTheSingleGpuCurveComeBack) {
  const Coefficients truth{"A", {0.02, 0.001, 0.01, 0.004, 0.06, 0.003}};
  const auto fit = fit_throughput(measured_by(truth, kBatches, 0.01), {"A"});
  ASSERT_TRUE(fit);
  for (std::size_t i = 0; i < truth.params.size(); ++i)
    EXPECT_NEAR(fit->coefficients.params[i], truth.params[i], 0.05 * truth.params[i] + 5e-4) << i;
}

TEST(ThroughputProperty, TheSameSamplesInAnyOrderGiveTheSameBytes) {
  Models models(2);
  std::mt19937 shuffler(3);
  for (const std::string& kind : multi_gpu_kinds()) {
    auto samples = measured_by(models.draw("P2"), kBatches, 0.1);
    const auto repeated = measured_by(models.draw("P2"), {16, 64}, 0.1);
    samples.insert(samples.end(), repeated.begin(), repeated.end());
    const auto first = fit_throughput(samples, {kind});
    std::shuffle(samples.begin(), samples.end(), shuffler);
    const auto second = fit_throughput(samples, {kind});
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->coefficients, second->coefficients) << kind;
  }
  auto samples = measured_by(models.draw("P"), kBatches, 0.1);
  const auto first = fit_throughput(samples);
  std::shuffle(samples.begin(), samples.end(), shuffler);
  EXPECT_EQ(first->coefficients, fit_throughput(samples)->coefficients);
}

TEST(ThroughputProperty, FitsKeepTheirBounds) {
  Models models(4);
  for (int round = 0; round < kFits; ++round) {
    const auto samples = measured_by(models.draw("P2"), kBatches, 0.4);
    for (const std::string& kind : multi_gpu_kinds()) {
      const auto fit = fit_throughput(samples, {kind});
      ASSERT_TRUE(fit) << fit.error().message;
      ASSERT_TRUE(valid_coefficients(fit->coefficients)) << kind;
      const std::vector<double>& params = fit->coefficients.params;
      if (kind.starts_with("S")) {
        EXPECT_GE(params[3], 0);
        EXPECT_GE(params[4], 1);
        EXPECT_LE(params[4], 20);
      }
      double last = 0;
      for (double batch = 1; batch <= 4096 && kind != "H"; batch *= 1.5) {
        const auto speed = predict_throughput(fit->coefficients, batch, Placement{1, 1});
        ASSERT_TRUE(speed) << kind;
        EXPECT_GE(*speed, last * (1 - 1e-12)) << kind << ": falls at batch " << batch;
        last = *speed;
      }
      for (const ThroughputSample& sample : samples)
        EXPECT_GT(
            predict_throughput(fit->coefficients, sample.batch, sample.layout.spread()).value_or(0),
            0)
            << kind << ": Comm reaches M on " << sample.layout.str();
    }
  }
}

TEST(ThroughputProperty, NoShapeOrBatchGivesANegativeThroughput) {
  Models models(5);
  for (const std::string& kind : multi_gpu_kinds()) {
    const auto fit = fit_throughput(measured_by(models.draw("P2"), kBatches, 0.4), {kind});
    ASSERT_TRUE(fit);
    for (int nodes = 1; nodes <= 64; nodes *= 2)
      for (int gpus = 1; gpus <= 16; ++gpus)
        for (const double batch : {1.0, 100.0, 1e4, 1e9}) {
          const auto found = predict_throughput(fit->coefficients, batch, Placement{nodes, gpus});
          EXPECT_GT(found.value_or(1), 0) << kind;
        }
  }
}

// Whatever communication costs, one GPU has none: its speed is that of the curve alone.
TEST(ThroughputProperty, OneGpuDoesNotCommunicate) {
  Models models(6);
  for (const std::string& kind : multi_gpu_kinds()) {
    if (kind == "linear") continue;  // it has no such part
    Coefficients fitted =
        fit_throughput(measured_by(models.draw("P2"), kBatches, 0.1), {kind})->coefficients;
    const auto before = predict_throughput(fitted, 64, Placement{1, 1});
    const std::size_t first = kind.starts_with("S") ? 3 : 2;
    const std::size_t last = kind.starts_with("S") ? 5 : kind == "H" ? 7 : 6;
    for (std::size_t i = first; i < last; ++i)
      fitted.params[i] *= 3;
    EXPECT_EQ(predict_throughput(fitted, 64, Placement{1, 1}), before) << kind;
  }
}

}  // namespace
}  // namespace slackline::core
