#include "wire/samples/pair_codec.h"

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

std::string error(std::string_view text, std::string_view type = "") {
  const auto pairs = read_pairs(text, "p.json", type);
  return pairs ? "none" : pairs.error().message;
}

TEST(PairCodec, ReadsBothDirectionsOfAPairAsOne) {
  const auto pairs = read_pairs(
      R"({"k80": {"a": {"null": 10, "a": [4, 9], "b": [8, 1]},
                  "b": {"null": 2, "a": [1, 2], "c": [0, 0]},
                  "c": {"null": 5, "b": [1, 1], "a": [2.5, 5]},
                  "dead": {"null": 0, "a": [0, 0]}}})",
      "p.json", "");
  ASSERT_TRUE(pairs) << pairs.error().message;
  EXPECT_EQ(pairs->gpu_type, GpuType("K80"));
  EXPECT_EQ(pairs->tasks, (std::vector<std::string>{"a", "b", "c"})) << "what runs alone";
  ASSERT_EQ(pairs->pairs.size(), 4U);
  EXPECT_NEAR(pairs->pairs[0].first_per_s, 6, 1e-12) << "a beside itself: the mean of 4 and 9";
  EXPECT_NEAR(pairs->pairs[1].first_per_s, 4, 1e-12) << "of 8 and 2";
  EXPECT_NEAR(pairs->pairs[1].second_per_s, 1, 1e-12);
  EXPECT_NEAR(pairs->pairs[2].first_per_s, 5, 1e-12);
  EXPECT_FALSE(pairs->pairs[3].ran()) << "one direction says that it did not run";
}

TEST(PairCodec, TasksOfOneWorkerMayBeWrittenAsGavelDoes) {
  const auto pairs = read_pairs(
      R"json({"p100": {"('A3C', 1)": {"null": 4, "('A3C', 1)": [3, 3], "('A3C', 2)": [1, 1]},
                   "('A3C', 2)": {"null": 7, "('A3C', 1)": [1, 1]}}})json",
      "p.json", "P100");
  ASSERT_TRUE(pairs) << pairs.error().message;
  EXPECT_EQ(pairs->tasks, std::vector<std::string>{"A3C"});
  EXPECT_EQ(pairs->pairs.size(), 1U);
}

TEST(PairCodec, TasksThatDifferInTheirBatchSizeAreOneFamily) {
  const auto pairs = read_pairs(
      R"json({"k80": {"LM (batch size 5)": {"null": 1, "LM (batch size 5)": [1, 1]},
                      "LM (batch size 80)": {"null": 1}, "A3C": {"null": 1},
                      "LM (batch size x)": {"null": 1}}})json",
      "p.json", "");
  ASSERT_TRUE(pairs) << pairs.error().message;
  EXPECT_EQ(pairs->families, (std::vector<std::string>{"LM", "LM", "A3C", "LM (batch size x)"}));
  EXPECT_EQ(pairs->batch_sizes, (std::vector<double>{5, 80, 1, 1}));
}

TEST(PairCodec, SeveralTypesNeedAName) {
  constexpr std::string_view kTwo =
      R"({"k80": {"a": {"null": 1, "a": [1, 1]}}, "p100": {"a": {"null": 1, "a": [1, 1]}}})";
  EXPECT_EQ(error(kTwo), "p.json: has the GPU types k80, p100: say which, as in FILE:k80");
  EXPECT_EQ(error(kTwo, "v100"), "p.json: has no GPU type \"v100\"; it has k80, p100");
  EXPECT_EQ(error(kTwo, "K80"), "none");
}

TEST(PairCodec, SaysWhatIsWrongAndWhere) {
  EXPECT_NE(error("{").find("p.json: "), std::string::npos);
  EXPECT_EQ(error("{}"), "p.json: must be an object of GPU types, each an object of tasks");
  EXPECT_EQ(error("[]"), "p.json: must be an object of GPU types, each an object of tasks");
  EXPECT_EQ(error(R"({"k80": 3})"), "p.json: k80: must be an object of tasks");
  EXPECT_EQ(error(R"({"k80": {"a": 3}})"), "p.json: k80: a: must be an object of its partners");
  EXPECT_EQ(error(R"({"k80": {"a": {"a": [1, 1]}}})"),
            "p.json: k80: a: \"null\" must be the iterations/s of the task alone, from 0 to 1e+09");
  EXPECT_EQ(error(R"({"k80": {"a": {"null": -1}}})"),
            "p.json: k80: a: \"null\" must be the iterations/s of the task alone, from 0 to 1e+09");
  EXPECT_EQ(error(R"({"k80": {"a": {"null": 1, "a": [1]}}})"),
            "p.json: k80: a: a: must be two iterations/s, or [0, 0]");
  EXPECT_EQ(error(R"({"k80": {"a": {"null": 1, "a": [1, "x"]}}})"),
            "p.json: k80: a: a: must be two iterations/s, or [0, 0]");
  EXPECT_EQ(error(R"({"k80": {"a": {"null": 1, "a": [1, 1, 1]}}})"),
            "p.json: k80: a: a: must be two iterations/s, or [0, 0]");
  EXPECT_EQ(error(R"({"k80": {"a": {"null": 1}, "a": {"null": 2}}})"),
            "p.json: k80: a: is there twice");
  EXPECT_EQ(error(R"({"k80": {"a": {"null": 1, "a": [0, 0]}}})"),
            "p.json: k80: has no pair of tasks that ran beside each other");
}

}  // namespace
}  // namespace slackline::wire
