#include "slackline/core/sharing/pair_table.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "slackline/base/random.h"
#include "slackline/base/text.h"

namespace slackline::core {
namespace {

PairTable empty_table() {
  return {GpuType("T4"), GpuSharing::kMps};
}

PairTask task(int index) {
  return {format("family-{:02}", index), ""};
}

// Tasks whose ln r is a mean, how much one suffers, how much the other takes, and, where `bent`, a
// product that no sum of two terms can tell.
struct Pairs {
  bool bent = false;

  static double trait(int index, int which) { return std::sin(1.7 * index + 2.3 * which); }
  double r(int a, int b) const {
    const double product = bent ? 0.25 * trait(a, 2) * trait(b, 3) : 0;
    return std::exp(-0.4 + 0.1 * trait(a, 0) + 0.15 * trait(b, 1) + product);
  }
  // Every pair of `tasks` for which (a + b) % 3 is not 0.
  PairTable two_thirds(int tasks) const {
    PairTable table = empty_table();
    for (int a = 0; a < tasks; ++a)
      for (int b = a; b < tasks; ++b)
        if ((a + b) % 3 != 0) table.observe(task(a), task(b), {r(a, b), r(b, a)});
    return table;
  }
  // Mean error on the other third, in percent.
  double error_of(const PairModel& model, int tasks) const {
    double sum = 0;
    int cells = 0;
    for (int a = 0; a < tasks; ++a)
      for (int b = 0; b < tasks; ++b)
        if ((a + b) % 3 == 0) {
          sum += std::abs(model.predict(task(a), task(b))->speeds.first / r(a, b) - 1);
          ++cells;
        }
    return 100 * sum / cells;
  }
};

TEST(PairTable, AnObservationIsFoundFromBothSides) {
  PairTable table = empty_table();
  table.observe({"b", ""}, {"a", ""}, {0.9, 0.4});
  const auto model = PairModel::fit(table);
  const auto found = model.predict({"b", ""}, {"a", ""});
  EXPECT_TRUE(found->measured);
  EXPECT_DOUBLE_EQ(found->speeds.first, 0.9);
  EXPECT_DOUBLE_EQ(found->speeds.second, 0.4);
  EXPECT_DOUBLE_EQ(model.predict({"a", ""}, {"b", ""})->speeds.first, 0.4);
  EXPECT_FALSE(model.predict({"a", "b256"}, {"b", ""})->measured) << "another variant";
}

TEST(PairTable, EachNewObservationMakesTheOldOnesCountLess) {
  PairTable table = empty_table();
  const PairTask a = task(0);
  const PairTask b = task(1);
  for (int i = 0; i < 400; ++i)
    table.observe(a, b, {0.9, 0.9});
  EXPECT_NEAR(table.find(a, b)->weight, 50, 0.1) << "1 / (1 - 0.98)";
  for (int i = 0; i < 100; ++i)
    table.observe(a, b, {0.3, 0.9});
  EXPECT_NEAR(table.find(a, b)->speeds().first,
              std::exp(0.87 * std::log(0.3) + 0.13 * std::log(0.9)), 0.01);
  EXPECT_EQ(table.observations(), 2U);
}

TEST(PairTable, ASpeedCountsWithinItsLimitsAndNonsenseNotAtAll) {
  PairTable table = empty_table();
  table.observe(task(0), task(1), {1e-9, 1e9});
  EXPECT_NEAR(table.find(task(0), task(1))->speeds().first, kLeastObservedSpeed, 1e-12);
  EXPECT_NEAR(table.find(task(0), task(1))->speeds().second, kMostObservedSpeed, 1e-12);
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    table.observe(task(2), task(3), {bad, 0.5});
    table.observe(task(2), task(3), {0.5, bad});
  }
  EXPECT_EQ(table.find(task(2), task(3)), nullptr);
}

TEST(PairTable, TwoCopiesOfATaskAreOneCell) {
  PairTable table = empty_table();
  table.observe(task(0), task(0), {0.4, 0.9});
  EXPECT_EQ(table.observations(), 1U);
  EXPECT_NEAR(table.find(task(0), task(0))->speeds().first, 0.6, 1e-12);
  EXPECT_NEAR(table.find(task(0), task(0))->speeds().second, 0.6, 1e-12);
}

TEST(PairTable, AnInfeasiblePairIsSoUntilAMemoryPortraitChanges) {
  PairTable table = empty_table();
  table.observe(task(0), task(1), {0.8, 0.8});
  table.mark_infeasible(task(1), task(0));
  EXPECT_FALSE(PairModel::fit(table).predict(task(0), task(1)));
  EXPECT_EQ(table.observations(), 0U);
  table.forget_infeasible(task(2));
  EXPECT_FALSE(PairModel::fit(table).predict(task(0), task(1)));
  table.forget_infeasible(task(0));
  EXPECT_TRUE(PairModel::fit(table).predict(task(0), task(1))->measured);
}

TEST(PairModel, WithoutMeasurementsTheUtilisationOfBothCounts) {
  PairTable table = empty_table();
  table.add_task(task(0), 0.9);
  table.add_task(task(1), 0.6);
  table.add_task(task(2), 0.3);
  table.add_task(task(3));
  const auto model = PairModel::fit(table);
  EXPECT_EQ(model.kind(), "cold");
  EXPECT_FALSE(model.error_percent());
  EXPECT_NEAR(model.predict(task(0), task(1))->speeds.first, 1 - 0.36 * 0.5, 1e-12);
  EXPECT_NEAR(model.predict(task(1), task(2))->speeds.first, 1, 1e-12) << "there is time for both";
  EXPECT_NEAR(model.predict(task(0), task(3))->speeds.first, 0.6, 1e-12) << "no portrait";
  EXPECT_NEAR(model.predict({"new", ""}, {"newer", ""})->speeds.first, 0.6, 1e-12);
}

TEST(PairModel, TellsPairsItHasNotSeenFromTheirTasks) {
  const Pairs pairs;
  const PairModel model = PairModel::fit(pairs.two_thirds(12), {"log-additive"});
  EXPECT_EQ(model.kind(), "log-additive");
  EXPECT_LT(pairs.error_of(model, 12), 2);
  ASSERT_TRUE(model.error_percent());
  EXPECT_LT(*model.error_percent(), 3);
}

TEST(PairModel, TakesTheMatrixWhereASumOfTwoTermsDoesNotDo) {
  const Pairs pairs{true};
  const PairTable table = pairs.two_thirds(20);
  const PairModel chosen = PairModel::fit(table);
  EXPECT_EQ(chosen.kind(), "als");
  EXPECT_LT(pairs.error_of(chosen, 20),
            0.7 * pairs.error_of(PairModel::fit(table, {"log-additive"}), 20));
}

TEST(PairModel, KindsSayHowManyCellsTheyNeed) {
  EXPECT_EQ(least_pair_cells("cold"), 0U);
  EXPECT_EQ(least_pair_cells("als"), 20U);
  EXPECT_EQ(least_pair_cells("nosuch"), 0U);
}

TEST(PairModel, NcfPredictsToo) {
  const Pairs pairs;
  const PairTable table = pairs.two_thirds(8);
  const PairModel ncf = PairModel::fit(table, {"ncf", false, false});
  EXPECT_EQ(ncf.kind(), "ncf");
  EXPECT_LT(pairs.error_of(ncf, 8), 8);
  const PairModel again = PairModel::fit(table, {"ncf", false, false});
  EXPECT_EQ(ncf.predict(task(0), task(3))->speeds.first,
            again.predict(task(0), task(3))->speeds.first);
}

TEST(PairModel, ATaskWithoutMeasurementsIsTakenForAMeanOne) {
  const Pairs pairs;
  const PairModel model = PairModel::fit(pairs.two_thirds(12));
  const double beside_new = model.predict(task(1), {"new", ""})->speeds.first;
  EXPECT_GT(beside_new, 0.5);
  EXPECT_LT(beside_new, 0.9);
}

TEST(PairModel, PredictionsStayWithinTheirLimits) {
  for (const auto kind : pair_kind_names()) {
    PairTable table = empty_table();
    for (int a = 0; a < 7; ++a)
      for (int b = a; b < 7; ++b)
        table.observe(task(a), task(b), {a % 2 == 0 ? 0.02 : 1.5, b % 2 == 0 ? 0.02 : 1.5});
    table.add_task({"other", ""});
    const auto model = PairModel::fit(table, {kind, false, false});
    const auto speeds = model.predict({"other", ""}, task(1))->speeds;
    for (const double r : {speeds.first, speeds.second}) {
      EXPECT_GE(r, kLeastPredictedSpeed - 1e-9) << kind;
      EXPECT_LE(r, kMostPredictedSpeed + 1e-9) << kind;
    }
  }
}

TEST(PairModel, TooFewCellsForANamedKindOrAnUnknownOneIsAuto) {
  PairTable table = empty_table();
  table.observe(task(0), task(1), {0.5, 0.5});
  EXPECT_EQ(PairModel::fit(table, {"als"}).kind(), "cold");
  EXPECT_EQ(PairModel::fit(table, {"oracle"}).kind(), "cold");
}

}  // namespace
}  // namespace slackline::core
