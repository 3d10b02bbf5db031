// Which shapes are measured of a model that is not known.
#include "slackline/core/throughput/trial_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/throughput/fit.h"
#include "slackline/core/throughput/prediction.h"

namespace slackline::core {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<Placement> kOneNode = {{1, 1}, {1, 2}, {1, 4}};
const std::vector<Placement> kTwoNodes = {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 2}, {2, 4}};

std::vector<Placement> shapes_of(const std::vector<TrialGain>& trials) {
  std::vector<Placement> shapes;
  for (const TrialGain& trial : trials)
    shapes.push_back(trial.shape);
  return shapes;
}

TEST(Trials, OneGpuIsMeasuredFirstAndThreeAreEnough) {
  const auto chosen = choose_trials({}, kTwoNodes);
  ASSERT_THAT(chosen, SizeIs(3));
  EXPECT_EQ(chosen[0].shape, (Placement{1, 1})) << "it shows the speed without any communication";
  EXPECT_GT(chosen[0].bits, 1.5 * chosen[1].bits) << "the first says how fast the model is at all";
  EXPECT_GE(chosen[1].bits, chosen[2].bits);
}

TEST(Trials, WhereSeveralNodesAreOpenBothKindsOfCommunicationAreMeasured) {
  bool in_node = false;
  bool across = false;
  for (const Placement& shape : shapes_of(choose_trials({}, kTwoNodes))) {
    in_node |= shape.d_node == 1 && shape.gpus() > 1;
    across |= shape.d_node > 1;
  }
  EXPECT_TRUE(across);
  EXPECT_TRUE(in_node);
}

TEST(Trials, WhatIsMeasuredIsNotMeasuredAgainAndCounts) {
  const std::vector<Placement> measured = {{1, 1}};
  const auto chosen = choose_trials(measured, kOneNode);
  EXPECT_THAT(chosen, SizeIs(2));
  for (const TrialGain& trial : chosen)
    EXPECT_NE(trial.shape, (Placement{1, 1}));
  EXPECT_LT(chosen[0].bits, choose_trials({}, kOneNode)[0].bits);
  EXPECT_THAT(choose_trials(kOneNode, kTwoNodes), IsEmpty());
}

TEST(Trials, TheOrderOfTheCandidatesChangesNothing) {
  const std::vector<Placement> other(kTwoNodes.rbegin(), kTwoNodes.rend());
  EXPECT_EQ(shapes_of(choose_trials({}, other)), shapes_of(choose_trials({}, kTwoNodes)));
}

TEST(Trials, WhatSaysTooLittleIsLeftOut) {
  EXPECT_THAT(choose_trials({}, kOneNode, {.most = 3, .least_bits = 1000}), IsEmpty());
  const std::vector<Placement> one = {{1, 1}, {1, 1}};
  EXPECT_THAT(choose_trials({}, one), SizeIs(1));
}

// What they are for: the choice can be fitted, and predicts a shape that was not measured.
TEST(Trials, AFitOfTheChosenShapesPredictsTheOthers) {
  constexpr double kBatch = 256;
  const auto speed = [](const Placement& shape) {
    const double sync_s = shape.gpus() == 1 ? 0 : 0.02 + 0.002 * (shape.gpus() - 2);
    return kBatch / (0.05 + 0.4 / shape.gpus() + sync_s);
  };
  std::vector<ThroughputSample> samples;
  for (const TrialGain& trial : choose_trials({}, kOneNode))
    samples.push_back({"net", GpuType("T4"), kBatch, Layout(trial.shape), speed(trial.shape), "",
                       SampleOrigin::kCalibration});
  const auto fit = fit_throughput(samples);
  ASSERT_TRUE(fit) << fit.error().message;
  const PreparedModel model(to_profile_entry(*fit, "net", GpuType("T4"), 0, ""), kBatch);
  const Placement other{1, 3};
  EXPECT_NEAR(model.predict(other)->throughput_samples_per_s, speed(other), 0.1 * speed(other));
}

}  // namespace
}  // namespace slackline::core
