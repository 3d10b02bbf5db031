#include "wire/rest/standing.h"

#include <string>

#include <gtest/gtest.h>

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

Standing in_queue(const std::string& rows) {
  const auto standing = standing_in_queue(format(R"({{"items":[{}]}})", rows));
  EXPECT_TRUE(standing) << standing.error().message;
  return standing.value_or(Standing::kInTime);
}

Standing of_manifest(const std::string& nodes, const std::string& deadline = "") {
  const auto tried = decode_tried(format(R"({{{}"items":[{}]}})", deadline, nodes));
  EXPECT_TRUE(tried) << tried.error().message;
  return standing_of(tried.value_or(TriedManifest()));
}

TEST(Standing, OfATaskInTheQueue) {
  EXPECT_EQ(in_queue(R"({"state":"waiting","predictedStart":"t"})"), Standing::kInTime);
  EXPECT_EQ(in_queue(R"({"state":"running"})"), Standing::kInTime);
  EXPECT_EQ(in_queue(R"({"state":"waiting"})"), Standing::kUnknown);
  EXPECT_EQ(in_queue(R"({"state":"running","deadline":"t"})"), Standing::kUnknown);
  EXPECT_EQ(in_queue(R"({"deadline":"t","predictedFinish":"t","late":false})"), Standing::kInTime);
  EXPECT_EQ(in_queue(R"({"deadline":"t","predictedFinish":"t","late":true})"), Standing::kTooLate);
  EXPECT_EQ(in_queue(R"({"state":"waiting","blocked":true})"), Standing::kTooLate);
  EXPECT_EQ(in_queue(R"({"state":"waiting","deadline":"t","slackSeconds":-1})"),
            Standing::kTooLate);
}

TEST(Standing, OfSeveralTasksIsTheWorst) {
  const std::string good = R"({"state":"running"})";
  const std::string unknown = R"({"state":"waiting"})";
  const std::string bad = R"({"blocked":true})";
  EXPECT_EQ(in_queue(good + "," + unknown), Standing::kUnknown);
  EXPECT_EQ(in_queue(bad + "," + unknown + "," + good), Standing::kTooLate);
}

TEST(Standing, OfAManifestWithoutAForecastIsNeverInTime) {
  const std::string deadline = R"("deadline":"t",)";
  EXPECT_EQ(of_manifest(R"({"passes":true})"), Standing::kUnknown);
  EXPECT_EQ(of_manifest(R"({"passes":false})"), Standing::kTooLate);
  EXPECT_EQ(of_manifest(R"({"passes":false,"feasible":true})", deadline), Standing::kTooLate);
  EXPECT_EQ(of_manifest(R"({"passes":true,"feasible":false})", deadline), Standing::kTooLate);
  EXPECT_EQ(of_manifest(R"({"passes":true,"feasible":false},{"passes":true})", deadline),
            Standing::kUnknown);
  EXPECT_EQ(of_manifest(R"({"passes":true},{"passes":true,"feasible":true})", deadline),
            Standing::kUnknown);
}

TEST(Standing, IsReadFromListsOnly) {
  EXPECT_FALSE(standing_in_queue("{}"));
  EXPECT_FALSE(standing_in_queue("no JSON"));
  EXPECT_FALSE(standing_in_queue(R"({"items":7})"));
  EXPECT_FALSE(decode_tried(R"({"items":7})"));
}

}  // namespace
}  // namespace slackline::wire
