#include "slackline/core/throughput/throughput.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/planning/cost.h"

namespace slackline::core {
namespace {

using ::testing::ElementsAre;

// ResNet-50 on a K80.
const Coefficients kResnet50{"S", {24.0, 0.42, -0.0021, 0.12, 1.4}};
const Coefficients kResnet50Mean{"S/mean", {24.0, 0.42, -0.0021, 0.12, 1.4}};

TEST(Throughput, OfOneGpuIsTheQuadraticInTheBatch) {
  EXPECT_DOUBLE_EQ(*predict_throughput(kResnet50, 64, Placement{1, 1}),
                   24.0 + 0.42 * 64 - 0.0021 * 64 * 64);
}

TEST(Throughput, StaysAtTheVertexOfAFallingParabola) {
  const double at_vertex = 24.0 + 0.42 * 100 - 0.0021 * 100 * 100;
  EXPECT_DOUBLE_EQ(*predict_throughput(kResnet50, 100, Placement{1, 1}), at_vertex);
  EXPECT_DOUBLE_EQ(*predict_throughput(kResnet50, 128, Placement{1, 1}), at_vertex);
}

TEST(Throughput, LosesToCommunicationInAndBetweenNodes) {
  const double on_each = 24.0 + 0.42 * 16 - 0.0021 * 16 * 16;  // batch 128 on 8 GPUs
  const double comm = 0.12 * (1.4 * 1 * 4 + 3);
  EXPECT_DOUBLE_EQ(*predict_throughput(kResnet50, 128, Placement{2, 4}), (8 - comm) * on_each);
  EXPECT_GT(*predict_throughput(kResnet50, 128, Placement{1, 4}),
            *predict_throughput(kResnet50, 128, Placement{4, 1}));
}

TEST(Throughput, ReadsEquation8AsSumOrAsMean) {
  for (const Placement four : {Placement{1, 4}, Placement{2, 2}, Placement{4, 1}})
    EXPECT_DOUBLE_EQ(*predict_throughput(kResnet50, 64, four),
                     *predict_throughput(kResnet50Mean, 64, four))
        << "the readings agree at four GPUs";
  const double on_each = 24.0 + 0.42 * 16 - 0.0021 * 16 * 16;
  EXPECT_DOUBLE_EQ(*predict_throughput(kResnet50Mean, 128, Placement{2, 4}),
                   (8 - 3 * (0.12 * (1.4 * 1 * 4 + 3)) / 7) * on_each);
  EXPECT_DOUBLE_EQ(*predict_throughput(kResnet50Mean, 64, Placement{1, 1}),
                   *predict_throughput(kResnet50, 64, Placement{1, 1}));
}

TEST(Throughput, IsUnknownForAModelThatCannotBeUsed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const Coefficients& bad :
       {Coefficients{"Z", {1, 2, 3, 4, 5}}, Coefficients{"S", {1, 2, 3, 4}},
        Coefficients{"S", {1, 2, 3, 4, 5, 6}}, Coefficients{"S", {nan, 2, 3, 4, 5}},
        Coefficients{"S", {1, 2, inf, 4, 5}}, Coefficients{"", {}}}) {
    EXPECT_EQ(predict_throughput(bad, 64, Placement{1, 1}), std::nullopt) << bad.kind;
    EXPECT_FALSE(valid_coefficients(bad));
  }
  EXPECT_TRUE(valid_coefficients(kResnet50));
  EXPECT_THAT(fittable_kinds(),
              ElementsAre("A", "H", "L", "P", "P2", "S", "S/mean", "W", "linear"));
}

TEST(Throughput, IsUnknownWhereTheShapeMakesNoProgress) {
  EXPECT_EQ(predict_throughput(kResnet50, 4, Placement{2, 4}), std::nullopt)
      << "more GPUs than samples";
  EXPECT_EQ(predict_throughput(kResnet50, 64, Placement{0, 4}), std::nullopt);
  EXPECT_EQ(predict_throughput(kResnet50, std::nan(""), Placement{1, 1}), std::nullopt);
  EXPECT_EQ(predict_throughput({"S", {10, 0, 0, 1, 20}}, 64, Placement{4, 1}), std::nullopt)
      << "communication eats everything";
  EXPECT_EQ(predict_throughput({"S", {-10, 0, 0, 0, 1}}, 64, Placement{1, 1}), std::nullopt);
  EXPECT_EQ(predict_throughput({"S", {1e308, 1e308, 0, 0, 1}}, 64, Placement{1, 1}), std::nullopt);
}

TEST(Throughput, UnusableCoefficientsAreTold) {
  EXPECT_EQ(why_unusable(kResnet50), "");
  EXPECT_EQ(why_unusable({"Z", {1}}),
            "\"Z\" is not a kind of model; allowed: A, H, L, P, P2, S, S/mean, W, linear, table");
  EXPECT_EQ(why_unusable({"S", {1}}),
            "the 1 params are not what kind S takes: k0, k1, k2, gamma, lambda");
  for (const std::string_view kind : fittable_kinds())
    EXPECT_EQ(why_unusable({std::string(kind), {}}).find("finite numbers"), std::string::npos)
        << kind << " has no params named";
}

TEST(Lat, IsWorkOverThroughputPlusStartUp) {
  const double throughput = *predict_throughput(kResnet50, 64, Placement{1, 2});
  EXPECT_DOUBLE_EQ(*predict_lat_s(kResnet50, 64, 5000, Placement{1, 2}, 30),
                   64.0 * 5000 / throughput + 30);
  EXPECT_EQ(predict_lat_s(kResnet50, 64, -1, Placement{1, 2}, 30), std::nullopt);
  EXPECT_EQ(predict_lat_s(kResnet50, 64, 1, Placement{1, 2}, std::nan("")), std::nullopt);
  EXPECT_EQ(predict_lat_s(kResnet50, 64, 1e308, Placement{1, 2}, 0), std::nullopt);
}

TEST(Cost, IsTheShareOfGpusPlusTheSpread) {
  const Pool pool{GpuType("K80"), "nvidia.com/gpu", 4, 4, 2.0};
  EXPECT_DOUBLE_EQ(placement_cost(pool, {2, 2}, 1.0), 2.0 * (4.0 / 16 + 2.0 / 4));
  EXPECT_LT(placement_cost(pool, {1, 4}, 1.0), placement_cost(pool, {4, 1}, 1.0));
  EXPECT_DOUBLE_EQ(placement_cost(pool, {1, 4}, 0.0), placement_cost(pool, {4, 1}, 0.0));
}

TEST(Cost, OfAnEmptyPoolBuysNothing) {
  EXPECT_TRUE(std::isinf(placement_cost({}, {1, 1}, 1.0)));
  EXPECT_DOUBLE_EQ(cer(100, placement_cost({}, {1, 1}, 1.0)), 0);
  EXPECT_DOUBLE_EQ(cer(100, 0), 0);
  EXPECT_DOUBLE_EQ(cer(100, -1), 0);
  EXPECT_DOUBLE_EQ(cer(100, 4), 25);
}

}  // namespace
}  // namespace slackline::core
