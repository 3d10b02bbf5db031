#include "sim/scaling_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/throughput/throughput.h"

namespace slackline::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const GpuType kA100("A100");

TEST(ScalingTable, PredictsWhatWasMeasuredAndNothingOutside) {
  const auto entry =
      read_scaling_table("global_batch_size,1,2,4\n64,6,8,10\n128,3.5,5.5,\n", "bert", kA100);
  ASSERT_TRUE(entry) << entry.error().message;
  const auto samples_per_s = [&](double batch, Placement shape) {
    return core::predict_throughput(entry->coefficients, batch, shape).value_or(-1);
  };
  EXPECT_DOUBLE_EQ(samples_per_s(64, {1, 1}), 6 * 64);
  EXPECT_DOUBLE_EQ(samples_per_s(64, {2, 2}), 10 * 64);
  EXPECT_DOUBLE_EQ(samples_per_s(64, {1, 3}), 9 * 64);  // half way between 2 and 4 GPUs
  EXPECT_DOUBLE_EQ(samples_per_s(96, {1, 1}), (6 * 64 + 3.5 * 128) / 2);
  EXPECT_EQ(samples_per_s(128, {1, 4}), -1);  // not measured
  EXPECT_EQ(samples_per_s(64, {1, 8}), -1);
  EXPECT_EQ(samples_per_s(32, {1, 1}), -1);
  EXPECT_EQ(samples_per_s(256, {1, 1}), -1);
  EXPECT_THAT(measured_batches(entry->coefficients), ElementsAre(64, 128));
}

TEST(ScalingTable, AMistakeIsToldWithLineAndColumn) {
  const auto error_of = [](const char* text) {
    const auto entry = read_scaling_table(text, "bert", kA100);
    return entry ? std::string("none") : entry.error().message;
  };
  EXPECT_THAT(error_of("global_batch_size,1\n64,fast\n"), HasSubstr("line 2: 1: \"fast\""));
  EXPECT_THAT(error_of("global_batch_size,many\n64,1\n"), HasSubstr("line 1: many"));
  EXPECT_THAT(error_of("batch,1\n64,1\n"), HasSubstr("global_batch_size"));
  EXPECT_THAT(error_of("global_batch_size,1\n64,1\n64,2\n"), HasSubstr("only once"));
  EXPECT_THAT(error_of("global_batch_size,1\n"), HasSubstr("must have a value"));
}

}  // namespace
}  // namespace slackline::sim
