#include "slackline/core/throughput/fit.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/throughput/model_parallel.h"
#include "slackline/core/throughput/prediction.h"
#include "slackline/core/throughput/throughput.h"
#include "support/throughput_samples.h"

namespace slackline::core {
namespace {

using test::a_sample;
using test::measured_by;
using ::testing::HasSubstr;

const std::vector<double> kBatches{8, 16, 32, 64, 128};

std::string refusal(const std::vector<ThroughputSample>& samples, const std::string& kind) {
  const auto fit = fit_throughput(samples, {kind});
  return fit ? "accepted" : fit.error().message;
}

TEST(Fit, SaysWhatItWasFittedTo) {
  const auto samples = measured_by({"A", {0.02, 0.001, 0.01, 0.004, 0.06, 0.003}}, kBatches);
  const auto fit = fit_throughput(samples, {"A"});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->points, 60);
  EXPECT_LT(fit->in_sample_mape, 0.1);
  EXPECT_EQ(fit->batch_range, (BatchRange{8, 128}));
  EXPECT_EQ(fit->gpus_range, (CountRange{1, 16}));
  EXPECT_EQ(fit->nodes_range, (CountRange{1, 4}));
  EXPECT_FALSE(fit->held_out);
}

TEST(Fit, RefusesWithAReason) {
  const auto good = a_sample(64, "1x1", 100);
  EXPECT_THAT(refusal({}, "A"), HasSubstr("no samples"));
  EXPECT_THAT(refusal({good}, "B"), HasSubstr("unknown kind"));
  EXPECT_THAT(refusal({good}, "A"), HasSubstr("too few"));
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(refusal({good, a_sample(64, "1x2", bad)}, "A"), HasSubstr("positive number"));
  ThroughputSample stated = a_sample(3, "1x4", 10);
  stated.model_parallel = 1;
  EXPECT_THAT(refusal({good, stated}, "A"), HasSubstr("one sample for each replica"));
  EXPECT_THAT(refusal({good, a_sample(128, "1x2", 150), a_sample(256, "1x4", 200)}, "A"),
              HasSubstr("second batch"));
  EXPECT_THAT(
      refusal({a_sample(64, "1x2", 90), a_sample(128, "1x2", 95), a_sample(256, "1x2", 99)}, "A"),
      HasSubstr("measure a single GPU too"));
  EXPECT_THAT(refusal(measured_by({"A", {0.02, 0.001, 0, 0, 0, 0}}, kBatches), "L"),
              HasSubstr("one GPU only"));
  EXPECT_THAT(refusal({good}, "W"), HasSubstr("several GPUs only"));
}

// Seconds of an iteration over the batch of one GPU, by least squares through the origin: of 0.03 s
// for 10 samples and 0.05 s for 20, (10 x 0.03 + 20 x 0.05) / (10^2 + 20^2).
TEST(Linear, IsARegressionThroughTheOrigin) {
  const std::vector<ThroughputSample> samples = {a_sample(10, "1x1", 10 / 0.03),
                                                 a_sample(40, "1x2", 40 / 0.05)};
  const auto fit = fit_throughput(samples, {"linear"});
  ASSERT_TRUE(fit) << fit.error().message;
  ASSERT_EQ(fit->coefficients.params.size(), 1U);
  EXPECT_NEAR(fit->coefficients.params[0], 1.3 / 500, 1e-12);
  EXPECT_NEAR(*predict_throughput(fit->coefficients, 64, Placement{1, 4}), 4 * 500 / 1.3, 1e-6);
  EXPECT_FALSE(valid_coefficients({"linear", {0}}));
}

TEST(Linear, IsNeverChosenByItself) {
  const auto samples = measured_by({"linear", {0.002}}, kBatches);
  EXPECT_NEAR(fit_throughput(samples, {"linear"})->coefficients.params[0], 0.002, 1e-9);
  EXPECT_NE(fit_throughput(samples, {"auto"})->coefficients.kind, "linear");
}

// Weak scaling: every GPU has the same batch, on 8 to 128 GPUs that lose 2 % a doubling.
std::vector<ThroughputSample> weak_scaling() {
  return {a_sample(256, "1x8", 400), a_sample(512, "2x8", 784), a_sample(1024, "4x8", 1537),
          a_sample(4096, "16x8", 5903)};
}

TEST(WeakScaling, IsFittedFromOneBatchPerGpu) {
  EXPECT_THAT(refusal(weak_scaling(), "A"), HasSubstr("second batch"));
  const auto fit = fit_throughput(weak_scaling());
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->coefficients.kind, "W");
  EXPECT_EQ(fit->batch_range, (BatchRange{32, 32}));
  EXPECT_NEAR(*predict_throughput(fit->coefficients, 2048, Placement{8, 8}), 3012, 60);
  const PreparedModel model(to_profile_entry(*fit, "m", GpuType("H100"), 30, ""), 2048);
  EXPECT_FALSE(model.predict(Placement{8, 8})->extrapolated);
  EXPECT_TRUE(model.predict(Placement{4, 8})->extrapolated) << "another batch of one GPU";
}

TEST(WeakScaling, OneWildClusterMovesLittle) {
  auto samples = weak_scaling();
  samples[2].throughput_samples_per_s /= 2;
  const auto fit = fit_throughput(samples);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(*predict_throughput(fit->coefficients, 2048, Placement{8, 8}), 3012, 150);
}

TEST(WeakScaling, TakesASingleMeasurementAndSaysThatItExtrapolates) {
  const auto fit = fit_throughput(std::vector{a_sample(64, "1x8", 100)});
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_NEAR(*predict_throughput(fit->coefficients, 64, Placement{1, 8}), 100, 1e-3);
  const double two = *predict_throughput(fit->coefficients, 128, Placement{2, 8});
  EXPECT_GT(two, 180);
  EXPECT_LT(two, 200);
}

TEST(WeakScaling, NeverPromisesMorePerGpuForASmallerBatch) {
  const auto fit = fit_throughput(
      std::vector{a_sample(256, "1x8", 400), a_sample(64, "1x8", 350), a_sample(128, "2x8", 650)});
  ASSERT_TRUE(fit);
  double before = 0;
  for (const double batch : {8, 16, 64, 256, 4096}) {
    const double speed = *predict_throughput(fit->coefficients, batch, Placement{1, 8});
    EXPECT_GE(speed, before) << batch;
    before = speed;
  }
}

TEST(ModelParallel, IsDerivedWhereTheSamplesDoNotStateIt) {
  const std::vector samples{a_sample(8, "2x8", 4.7), a_sample(16, "8x8", 18),
                            a_sample(64, "64x8", 80)};
  EXPECT_EQ(model_parallel_of(samples).gpus, 8);
  EXPECT_TRUE(model_parallel_of(samples).derived);
  const auto fit = fit_throughput(samples);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->model_parallel, 8);
  EXPECT_TRUE(fit->model_parallel_derived);
  EXPECT_EQ(fit->batch_range, (BatchRange{1, 4})) << "of a replica";
  auto stated = samples;
  stated[0].model_parallel = 16;
  EXPECT_EQ(model_parallel_of(stated).gpus, 16);
  EXPECT_FALSE(model_parallel_of(stated).derived);
  EXPECT_FALSE(model_parallel_of(std::vector{a_sample(64, "1x8", 100)}).derived);
}

TEST(Fit, MergesRepeatedMeasurements) {
  auto samples = measured_by({"A", {0.02, 0.001, 0.01, 0.004, 0.06, 0.003}}, kBatches, 0.05);
  const auto once = fit_throughput(samples, {"A"});
  const auto copy = samples;
  samples.insert(samples.end(), copy.begin(), copy.end());
  const auto twice = fit_throughput(samples, {"A"});
  ASSERT_TRUE(once && twice);
  for (std::size_t i = 0; i < once->coefficients.params.size(); ++i)
    EXPECT_NEAR(twice->coefficients.params[i], once->coefficients.params[i], 1e-4);
  EXPECT_EQ(twice->points, 2 * once->points);
}

TEST(Fit, OneWildMeasurementMovesLittle) {
  auto samples = measured_by({"A", {0.02, 0.001, 0.01, 0.004, 0.06, 0.003}}, kBatches);
  samples[7].throughput_samples_per_s *= 20;
  const auto fit = fit_throughput(samples, {"A"});
  ASSERT_TRUE(fit);
  EXPECT_NEAR(*predict_throughput(fit->coefficients, 128, Placement{1, 1}), 128 / 0.148, 10);
}

TEST(Fit, WhatWasNeverMeasuredAcrossNodesCostsAtLeastWhatItDoesInOne) {
  const auto samples = measured_by({"P", {0.02, 0.001, 0.03, 0.004, 0.06, 0.003, 1.5}}, kBatches, 0,
                                   {"1x1", "1x2", "1x4"});
  for (const char* kind : {"A", "P", "P2", "H"}) {
    const auto fit = fit_throughput(samples, {kind});
    ASSERT_TRUE(fit) << fit.error().message;
    EXPECT_LT(*predict_throughput(fit->coefficients, 64, Placement{2, 1}),
              2 * *predict_throughput(fit->coefficients, 32, Placement{1, 1}) * 0.99)
        << kind;
    EXPECT_EQ(fit->nodes_range, (CountRange{1, 1})) << kind;
  }
}

TEST(AutoKind, InterpolatesOneGpu) {
  const auto few = measured_by({"A", {0.02, 0.001, 0, 0, 0, 0}}, {8, 16, 64}, 0, {"1x1"});
  EXPECT_EQ(fit_throughput(few)->coefficients.kind, "A");
  const auto more = measured_by({"A", {0.02, 0.001, 0, 0, 0, 0}}, kBatches, 0, {"1x1"});
  const auto fit = fit_throughput(more);
  EXPECT_EQ(fit->coefficients.kind, "L");
  EXPECT_NEAR(*predict_throughput(fit->coefficients, 64, Placement{1, 1}), 64 / 0.084, 1e-6);
}

TEST(AutoKind, TakesTheSimplestBelowEightPoints) {
  const auto samples = measured_by({"P", {0.02, 0.001, 0.01, 0.004, 0.06, 0.003, 3}}, {16, 64}, 0,
                                   {"1x1", "1x2", "2x2"});
  ASSERT_EQ(samples.size(), 6U);
  const auto fit = fit_throughput(samples);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->coefficients.kind, "A");
  EXPECT_FALSE(fit->held_out);
}

TEST(AutoKind, TakesThePapersFormulaWhereItHolds) {
  const Coefficients truth{"S", {20, 0.5, -0.001, 0.02, 6}};
  const auto fit = fit_throughput(measured_by(truth, {16, 64, 100, 160, 240}, 0.003));
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->coefficients.kind, "S");
  ASSERT_TRUE(fit->held_out);
  EXPECT_LT(fit->held_out->mean, 1);
  EXPECT_GE(fit->held_out->p90, fit->held_out->median);
}

TEST(AutoKind, TheErrorIsThatOfEachMeasurementAndNotOfTheirMean) {
  const auto samples = measured_by({"A", {0.02, 0.001, 0.01, 0.004, 0.06, 0.003}}, kBatches);
  std::vector<ThroughputSample> noisy;
  for (const ThroughputSample& sample : samples)
    for (const double off : {0.8, 1.25}) {
      noisy.push_back(sample);
      noisy.back().throughput_samples_per_s *= off;
    }
  const auto exact = fit_throughput(samples);
  const auto fit = fit_throughput(noisy);
  ASSERT_TRUE(exact && exact->held_out && fit && fit->held_out);
  EXPECT_LT(exact->held_out->p90, 10);
  EXPECT_EQ(fit->held_out->samples, 2 * exact->held_out->samples);
  EXPECT_GT(fit->held_out->p90, 20);
  EXPECT_GT(fit->held_out->mean, 18);
}

TEST(AutoKind, FollowsAGpuThatIsSlowerWithALargerBatch) {
  std::vector<ThroughputSample> samples;
  for (const char* layout : {"1x1", "1x2", "1x4", "2x1", "4x1"}) {
    const int gpus = parse_layout(layout)->spread().gpus;
    for (const auto& [batch, seconds] :
         {std::pair(16, 0.21), std::pair(32, 0.14), std::pair(64, 0.15), std::pair(128, 0.55)})
      samples.push_back(
          a_sample(batch * gpus, layout, batch * gpus / (seconds * (1 + 0.02 * gpus))));
  }
  const auto fit = fit_throughput(samples);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_EQ(fit->coefficients.kind, "H");
  EXPECT_LT(fit->in_sample_mape, 6);
}

TEST(ProfileEntryOfAFit, CarriesErrorAndRanges) {
  const auto fit =
      fit_throughput(measured_by({"A", {0.02, 0.001, 0.01, 0.004, 0.06, 0.003}}, kBatches, 0.05));
  ASSERT_TRUE(fit);
  const ProfileEntry entry = to_profile_entry(*fit, "bert", GpuType("T4"), 30, "measured: by us");
  EXPECT_EQ(entry.model, "bert");
  EXPECT_EQ(entry.points, 60);
  EXPECT_EQ(entry.held_out_mape, fit->held_out->mean);
  EXPECT_EQ(entry.held_out_p90, fit->held_out->p90);
  EXPECT_EQ(entry.gpus_range, (CountRange{1, 16}));
}

}  // namespace
}  // namespace slackline::core
