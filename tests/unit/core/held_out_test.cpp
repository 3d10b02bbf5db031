#include "slackline/core/throughput/held_out.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/throughput_samples.h"

namespace slackline::core {
namespace {

using test::a_sample;
using test::measured_by;
using ::testing::HasSubstr;

const Coefficients kTruth{"A", {0.02, 0.001, 0.01, 0.004, 0.06, 0.003}};
const std::vector<double> kHeldBatches{8, 16, 32, 64};

HoldOut how(std::string_view text) {
  return parse_hold_out(text).value();
}

TEST(HoldOut, ReadsAndWritesItsNames) {
  for (const std::string text : {"loo", "few:5+6x3", "batches", "kfold:8"})
    EXPECT_EQ(to_string(how(text)), text);
  EXPECT_EQ(how("few"), how("few:3+4x2"));
  for (const char* text : {"", "kfold", "kfold:1", "kfold:x", "kfold:5000", "LOO", "few:", "few:3",
                           "few:1+4x2", "few:3+1x2", "few:3+4x0", "few:3+4x2x2", "few:3x4+2"})
    EXPECT_FALSE(parse_hold_out(text)) << text;
}

TEST(HeldOut, PredictsEverySampleOnceFromOtherLayouts) {
  const auto samples = measured_by(kTruth, kHeldBatches, 0.02);
  for (const char* text : {"loo", "kfold:5"}) {
    const auto report = evaluate(samples, {"A"}, how(text));
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->predictions.size(), samples.size()) << text;
    for (std::size_t i = 0; i < samples.size(); ++i)
      EXPECT_EQ(report->predictions[i].sample, i);
    EXPECT_EQ(report->error.samples, static_cast<int>(samples.size()));
    EXPECT_LT(report->error.mean, 4) << text;
    EXPECT_GT(report->error.mean, report->fit.in_sample_mape) << text;
    EXPECT_EQ(report->fit.held_out, report->error);
  }
}

TEST(HeldOut, LeavesOutMeasurementsWhereThereIsOneLayout) {
  const auto one = measured_by(kTruth, kHeldBatches, 0, {"1x1"});
  const auto report = evaluate(one, {"A"}, how("loo"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->by_measurement);
  EXPECT_EQ(report->predictions.size(), one.size());
  const std::vector several{a_sample(800, "1x8", 90), a_sample(1600, "1x8", 99),
                            a_sample(3200, "1x8", 102), a_sample(3200, "1x8", 104)};
  EXPECT_TRUE(evaluate(several, {}, how("loo"))->by_measurement);
  const std::vector again{a_sample(800, "1x8", 90), a_sample(800, "1x8", 99)};
  EXPECT_EQ(evaluate(again, {}, how("loo"))->predictions.size(), 2U);
  const std::vector two{a_sample(800, "1x8", 90), a_sample(800, "2x8", 170)};
  EXPECT_FALSE(evaluate(two, {}, how("loo"))->by_measurement);
}

TEST(HeldOut, NeverSeesTheLayoutItPredicts) {
  auto samples = measured_by(kTruth, kHeldBatches);
  for (ThroughputSample& sample : samples)
    if (sample.layout.str() == "4x4") sample.throughput_samples_per_s /= 10;
  const auto report = evaluate(samples, {"A"}, how("loo"));
  ASSERT_TRUE(report);
  for (const HeldOutPrediction& prediction : report->predictions)
    if (samples[prediction.sample].layout.str() == "4x4") {
      EXPECT_GT(prediction.ape, 500);
    }
}

TEST(HeldOut, FewTrainsOnThreeBatchesAndFourLayouts) {
  const auto samples = measured_by(kTruth, {8, 16, 32, 64, 128}, 0.02);
  const auto report = evaluate(samples, {"A"}, how("few"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->predictions.size(), samples.size() - 3 - 4 * 2);
  EXPECT_LT(report->error.mean, 10);
}

TEST(HeldOut, FewTrainsOnAsManyAsItIsTold) {
  const auto samples = measured_by(kTruth, {8, 16, 32, 64, 128}, 0.02);
  const auto report = evaluate(samples, {"A"}, how("few:4+2x3"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->predictions.size(), samples.size() - 4 - 2 * 3);
  EXPECT_THAT(evaluate(samples, {"A"}, how("few:6+2x3")).error().message, HasSubstr("6 batches"));
}

TEST(HeldOut, BatchesLeavesOutThoseInBetweenOnOneGpu) {
  const auto samples = measured_by(kTruth, {8, 16, 32, 64, 128, 256});
  const auto report = evaluate(samples, {"auto"}, how("batches"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->predictions.size(), 4U);
  EXPECT_LT(report->error.mean, 7);
}

TEST(HeldOut, NoiseFloorIsTheErrorBetweenRepeatedMeasurements) {
  auto samples = measured_by(kTruth, kHeldBatches);
  EXPECT_FALSE(evaluate(samples, {"A"}, how("loo"))->noise_floor);
  samples.push_back(a_sample(50, "2+1", 100));
  samples.push_back(a_sample(50, "1+2", 125));  // nodes permuted
  EXPECT_DOUBLE_EQ(evaluate(samples, {"A"}, how("loo"))->noise_floor.value(), (25.0 + 20.0) / 2);
}

TEST(HeldOut, CountsTheShapesThatWouldBeChosen) {
  const auto samples = measured_by(kTruth, kHeldBatches);
  const auto report = evaluate(samples, {"A"}, how("loo"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->choices, 6) << "batches 16 to 512 run on several shapes";
  EXPECT_GE(report->choices_within_5_percent, 5);
}

TEST(HeldOut, RefusesWhatCannotBeHeldOut) {
  const auto one = measured_by(kTruth, kHeldBatches, 0, {"1x1"});
  EXPECT_THAT(evaluate(std::vector{a_sample(64, "1x8", 100)}, {}, how("loo")).error().message,
              HasSubstr("nothing to be predicted from"));
  EXPECT_THAT(evaluate(one, {"A"}, how("few")).error().message, HasSubstr("symmetric layouts"));
  const auto samples = measured_by(kTruth, {8, 16});
  EXPECT_THAT(evaluate(samples, {"A"}, how("batches")).error().message, HasSubstr("at least 3"));
  EXPECT_THAT(evaluate(samples, {"A"}, how("kfold:50")).error().message, HasSubstr("kfold:50"));
}

}  // namespace
}  // namespace slackline::core
