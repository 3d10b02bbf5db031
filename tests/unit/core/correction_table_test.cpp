// How much longer tasks take than predicted, by where they ran.
#include "slackline/core/learning/correction_table.h"

#include <cmath>

#include <gtest/gtest.h>

namespace slackline::core {
namespace {

using Circumstances = CorrectionTable::Circumstances;

TEST(CorrectionTable, KnowsNothingAtFirst) {
  EXPECT_EQ(CorrectionTable().log_factor({"resnet", "4xP4", false, 0}), 0);
}

TEST(CorrectionTable, FollowsTheFormula) {
  const Circumstances placed{"resnet", "4xP4", false, 0.5};
  CorrectionTable table;
  const double e = std::log(1.5);
  table.observe(placed, 150, 100);
  // Three entries of one task each: v <- v + (e - v) / 6.
  const double once = e / 6;
  const double twice = once + (e - once) / 6;
  EXPECT_DOUBLE_EQ(table.log_factor(placed), twice + (e - twice) / 6);
  table.observe(placed, 150, 100);
  double value = 0;
  for (int entry = 0; entry < 3; ++entry)
    value += (1.995 * e - 1.995 * value) / 6.995;
  EXPECT_DOUBLE_EQ(table.log_factor(placed), value);
}

TEST(CorrectionTable, WhatIsNotKnownOfAStateIsTakenFromOthersOfTheFamilyAndTheNodeType) {
  CorrectionTable table;
  for (int i = 0; i < 200; ++i) {
    table.observe({"resnet", "4xP4", false, 0}, 100, 100);
    table.observe({"resnet", "4xP4", true, 0}, 160, 100);
  }
  const auto factor = [&](const Circumstances& placed) {
    return std::exp(table.log_factor(placed));
  };
  EXPECT_NEAR(factor({"resnet", "4xP4", false, 0.2}), 1, 0.03);
  EXPECT_NEAR(factor({"resnet", "4xP4", true, 0.2}), 1.6, 0.05);
  EXPECT_NEAR(factor({"resnet", "4xP4", true, 0.9}), 1.6, 0.05) << "busier than ever seen";
  EXPECT_EQ(factor({"resnet", "2xK80", true, 0.2}), 1);
  EXPECT_EQ(factor({"bert", "4xP4", true, 0.2}), 1);
}

TEST(CorrectionTable, ForgetsWhatIsLongAgoAndNeverGoesTooFar) {
  const Circumstances placed{"resnet", "4xP4", false, 1};
  CorrectionTable table;
  for (int i = 0; i < 1000; ++i)
    table.observe(placed, 200, 100);
  for (int i = 0; i < 2000; ++i)
    table.observe(placed, 100, 100);
  EXPECT_NEAR(table.log_factor(placed), 0, 0.01);
  for (int i = 0; i < 1000; ++i)
    table.observe(placed, 1e6, 1);
  EXPECT_DOUBLE_EQ(table.log_factor(placed), std::log(6));
  for (int i = 0; i < 5000; ++i)
    table.observe(placed, 1, 1e6);
  EXPECT_DOUBLE_EQ(table.log_factor(placed), std::log(0.33));
}

}  // namespace
}  // namespace slackline::core
