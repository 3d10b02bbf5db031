#include "slackline/core/sharing/task_variants.h"

#include <vector>

#include <gtest/gtest.h>

namespace slackline::core {
namespace {

// A task with a fast and a light variant, beside one resident.
class TaskVariants : public testing::Test {
 protected:
  static ShareTask task(const char* family, const char* variant) {
    ShareTask task;
    task.task = {family, variant};
    task.memory_bytes = 1;
    return task;
  }
  VariantVerdict verdict() const {
    return judge_variants(variants_, resident_, resident_speed_, {16, {}, {}},
                          PairModel::fit(table_), {}, limits_);
  }
  void measure(const char* variant, PairSpeeds speeds) {
    table_.observe({"new", variant}, {"old", ""}, speeds);
  }

  std::vector<TaskVariant> variants_ = {{task("new", "light"), 90}, {task("new", "fast"), 100}};
  ShareTask resident_ = task("old", "");
  double resident_speed_ = 1;
  PairTable table_{GpuType("T4"), GpuSharing::kTimeslice};
  VariantLimits limits_;
};

TEST_F(TaskVariants, AloneTheFastestRuns) {
  EXPECT_EQ(fastest_variant(variants_), 1U);
  variants_[0].speed = 100;
  EXPECT_EQ(fastest_variant(variants_), 0U) << "the first of equals";
}

TEST_F(TaskVariants, BesideAResidentTheOneWithTheGreatestProgress) {
  measure("fast", {0.6, 0.6});
  measure("light", {0.6, 0.65});
  EXPECT_EQ(verdict().variant, 1U) << "0.9 x 0.6 + 0.65 is less than 0.6 + 0.6";
  EXPECT_NEAR(verdict().share.score, 1.2, 1e-12);
  measure("light", {0.8, 0.8});  // on average about 0.7 and 0.72
  EXPECT_EQ(verdict().variant, 0U);
  resident_speed_ = 0.5;
  EXPECT_EQ(verdict().share.refusal, ShareRefusal::kLeastSum) << "both work slowly already";
}

TEST_F(TaskVariants, TheLeastOverheadPicksTheSlowOne) {
  measure("fast", {0.6, 0.6});
  measure("light", {0.6, 0.65});
  limits_.score = VariantScore::kLeastOverhead;
  EXPECT_EQ(verdict().variant, 0U);
}

TEST_F(TaskVariants, AVariantThatIsMuchSlowerAloneIsNotTaken) {
  measure("fast", {0.6, 0.6});
  measure("light", {1, 1});
  variants_[0].speed = 80;
  EXPECT_EQ(verdict().variant, 0U);
  variants_[0].speed = 79;
  EXPECT_EQ(verdict().variant, 1U);
}

TEST_F(TaskVariants, WhereTheFastestMayNotJoinALighterOneMay) {
  measure("fast", {0.9, 0.4});
  measure("light", {0.8, 0.7});
  EXPECT_EQ(verdict().variant, 0U);
  resident_.least_speed = 0.75;
  EXPECT_EQ(verdict().share.refusal, ShareRefusal::kLeastSpeed) << "the resident's bound";
  EXPECT_EQ(verdict().variant, 1U);
}

TEST_F(TaskVariants, APredictionKeepsTheBoundByAMargin) {
  // Nothing is measured: 0.6 for every pair.
  resident_.least_speed = 0.55;
  EXPECT_EQ(verdict().share.refusal, ShareRefusal::kLeastSpeed);
  limits_.margin = 0.05;
  EXPECT_TRUE(verdict().share.ok());
  measure("fast", {0.9, 0.56});
  limits_.margin = 0.1;
  EXPECT_TRUE(verdict().share.ok()) << "measured";
}

}  // namespace
}  // namespace slackline::core
