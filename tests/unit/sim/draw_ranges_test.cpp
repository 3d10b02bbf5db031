#include "sim/draw_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/throughput/throughput.h"
#include "support/profiles.h"

namespace slackline::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const GpuType kK80("K80");

TEST(DrawRanges, TheImportFormStatesThem) {
  const auto ranges = read_draw_ranges(
      R"({"kind":"seed","types":{"lstm":{"k":[1,2,3],"gamma":1,"lam":1,"batch":[20,40],"iters":[7,75]}}})",
      "p.json");
  ASSERT_TRUE(ranges) << ranges.error().message;
  ASSERT_EQ(ranges->size(), 1U);
  EXPECT_EQ((*ranges)[0].type, "lstm");
  EXPECT_THAT((*ranges)[0].batches, ElementsAre(20, 40));
  EXPECT_EQ((*ranges)[0].least_iterations, 7);
  EXPECT_EQ((*ranges)[0].most_iterations, 75);
}

TEST(DrawRanges, AMistakeIsToldWithFileLineAndField) {
  const auto error_of = [](const char* type) {
    const auto ranges = read_draw_ranges(
        std::string("{\"kind\":\"seed\",\"types\":{\n\"lstm\":") + type + "}}", "p.json");
    return ranges ? std::string("none") : ranges.error().message;
  };
  EXPECT_THAT(error_of("{\"iters\":[1,2]}"), HasSubstr("p.json: line 2: types.lstm.batch"));
  EXPECT_THAT(error_of("{\"batch\":[0],\"iters\":[1,2]}"), HasSubstr("whole numbers"));
  EXPECT_THAT(error_of("{\"batch\":[8],\"iters\":[2,1]}"), HasSubstr("types.lstm.iters"));
  EXPECT_THAT(error_of("{\"batch\":[8],\"iters\":[1]}"), HasSubstr("[least, most]"));
}

TEST(DrawRanges, DefaultsKeepOneGpuBusyForTheStatedTime) {
  ProfileEntry entry = test::a_profile("resnet50", kK80, {"S", {24, 0.42, -0.0021, 0.12, 1.4}});
  entry.batch_range = BatchRange{1, 100};
  ProfileEntry elsewhere = entry;
  elsewhere.gpu_type = GpuType("P100");
  const auto ranges = default_draw_ranges(WorkloadProfiles({entry, elsewhere}), kK80);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_THAT(ranges[0].batches, ElementsAre(8, 16, 32, 64));
  const auto seconds = [&](double iterations) {
    return *core::predict_lat_s(entry.coefficients, 32, iterations, Placement{1, 1}, 0);
  };
  EXPECT_NEAR(seconds(ranges[0].least_iterations), kShortest_s, 1);
  EXPECT_NEAR(seconds(ranges[0].most_iterations), kLongest_s, 1);
}

TEST(DrawRanges, AMeasuredTableStatesItsBatches) {
  const ProfileEntry entry =
      test::a_profile("bert", kK80, {"table", {64, 1, 100, 64, 2, 150, 128, 1, 110}});
  const auto ranges = default_draw_ranges(WorkloadProfiles({entry}), kK80);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_THAT(ranges[0].batches, ElementsAre(64, 128));
}

}  // namespace
}  // namespace slackline::sim
