// The correction by one small network for all nodes.
#include "slackline/core/learning/correction_net.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace slackline::core {
namespace {

// A task on a node of 2 or 4 GPUs, of one of two families; only one family is slow, and only on
// nodes of four.
std::vector<CorrectionNet::Sample> lessons() {
  std::vector<CorrectionNet::Sample> samples;
  for (int i = 0; i < 400; ++i)
    for (const double gpus : {2.0, 4.0})
      for (const double family : {0.0, 1.0})
        samples.push_back({{gpus, family, 5}, gpus * family == 4 ? 0.5 : 0.0});
  return samples;
}

TEST(CorrectionNet, LearnsWhatHoldsOnlyTogether) {
  const CorrectionNet net(lessons(), 1);
  EXPECT_NEAR(net.log_factor(std::vector<double>{4, 1, 5}).value(), 0.5, 0.03);
  EXPECT_NEAR(net.log_factor(std::vector<double>{4, 0, 5}).value(), 0, 0.03);
  EXPECT_NEAR(net.log_factor(std::vector<double>{2, 1, 5}).value(), 0, 0.03);
}

TEST(CorrectionNet, TheSameSamplesAndSeedGiveTheSameAnswer) {
  const std::vector<double> asked = {3, 0.5, 5};
  EXPECT_EQ(CorrectionNet(lessons(), 7).log_factor(asked),
            CorrectionNet(lessons(), 7).log_factor(asked));
  EXPECT_NE(CorrectionNet(lessons(), 7).log_factor(asked),
            CorrectionNet(lessons(), 8).log_factor(asked));
}

TEST(CorrectionNet, GivenBackItAnswersAsBefore) {
  int passes = 0;
  const CorrectionNet net(lessons(), 7, [&](int pass, int of) {
    EXPECT_EQ(pass, ++passes);
    EXPECT_EQ(of, 20);
  });
  EXPECT_EQ(passes, 20);
  EXPECT_EQ(net.weights().size(), Mlp::weight_count(CorrectionNet::widths(3)));
  const CorrectionNet again(net.features(), net.weights());
  const std::vector<double> asked = {3, 0.5, 5};
  EXPECT_EQ(again.log_factor(asked), net.log_factor(asked));
  EXPECT_FALSE(again.log_factor(std::vector<double>{9, 0.5, 5})) << "far from what it has seen";
}

TEST(CorrectionNet, SaysNothingFarFromWhatItHasSeen) {
  const CorrectionNet net(lessons(), 1);
  EXPECT_TRUE(net.log_factor(std::vector<double>{6, 1, 5})) << "1.5 ranges from the middle";
  EXPECT_FALSE(net.log_factor(std::vector<double>{6.1, 1, 5}));
  EXPECT_FALSE(net.log_factor(std::vector<double>{4, 1, 5.1})) << "it was always 5";
  EXPECT_FALSE(net.log_factor(std::vector<double>{std::numeric_limits<double>::quiet_NaN(), 1, 5}));
}

TEST(CorrectionNet, NeverGoesFurtherThanTheTable) {
  std::vector<CorrectionNet::Sample> samples;
  for (int i = 0; i < 200; ++i)
    samples.push_back({{static_cast<double>(i % 2)}, i % 2 == 0 ? -5.0 : 5.0});
  const CorrectionNet net(samples, 1);
  EXPECT_DOUBLE_EQ(net.log_factor(std::vector<double>{0}).value(), std::log(0.33));
  EXPECT_DOUBLE_EQ(net.log_factor(std::vector<double>{1}).value(), std::log(6));
}

}  // namespace
}  // namespace slackline::core
