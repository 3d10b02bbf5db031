#include "slackline/core/throughput/fit.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_THAT(refusal({good, a_sample(3, "1x4", 10)}, "A"), HasSubstr("one sample for each GPU"));
  EXPECT_THAT(refusal({good, a_sample(128, "1x2", 150), a_sample(256, "1x4", 200)}, "A"),
              HasSubstr("second batch"));
  EXPECT_THAT(
      refusal({a_sample(64, "1x2", 90), a_sample(128, "1x2", 95), a_sample(256, "1x2", 99)}, "A"),
      HasSubstr("measure a single GPU too"));
  EXPECT_THAT(refusal(measured_by({"A", {0.02, 0.001, 0, 0, 0, 0}}, kBatches), "L"),
              HasSubstr("one GPU only"));
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
