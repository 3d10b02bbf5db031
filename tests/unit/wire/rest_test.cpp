#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "support/decisions.h"
#include "wire/format/text_table.h"
#include "wire/rest/decision_codec.h"
#include "wire/rest/rows.h"
#include "wire/rest/status_codec.h"

namespace slackline::wire {
namespace {

using ::testing::HasSubstr;

TEST(DecisionCodec, CandidatesAndReasonsSurviveTheJournal) {
  const std::vector<DecisionCandidate> candidates = {{"gpu-1", 8, {{"cer", 12.5}, {"free", 0}}}};
  const auto read = decode_candidates(encode_candidates(candidates));
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)[0].features, candidates[0].features);
  const ReasonCounts reasons = {{"Pass", 3}, {"HeldForOthers", 1}};
  EXPECT_EQ(decode_reasons(encode_reasons(reasons)).value(), reasons);
  EXPECT_FALSE(decode_reasons("[1]"));
  EXPECT_FALSE(decode_candidates(R"([{"node":1}])"));
}

TEST(DecisionCodec, AStopThatIsNotAsItWasWrittenIsRefused) {
  for (const char* damaged : {"", "[]", R"({"for":1})", R"({"for":"nobody"})"})
    EXPECT_FALSE(decode_stop(damaged)) << damaged;
  EXPECT_EQ(decode_stop("{}").value(), DecisionStop{});
}

TEST(DecisionCodec, AListIsReadAsItWasAnswered) {
  DecisionRow row = test::decision(3);
  row.time_s = 1700000003;  // a list tells seconds
  row.outcome = DecisionOutcome{"gpu-1", 1700000010};
  row.stop = DecisionStop{.asker = {"team", "urgent"}, .gain_s = 60, .lost_gpu_s = 480};
  const std::string one = encode_one(row);
  const auto read = read_listed_decisions(format(R"({{"items":[{},{}]}})", one, one));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(encode_one(DecisionRow(read->front())), encode_one([&] {
              DecisionRow without_id = row;
              without_id.id = 0;
              return without_id;
            }()));
  EXPECT_EQ(read->front().verb, Verb::kFilter);
  EXPECT_EQ(read->front().stop, row.stop);
}

TEST(DecisionCodec, AListWithSomethingElseIsRefusedWithItsPlace) {
  const auto why = [](const char* json) { return read_listed_decisions(json).error().message; };
  EXPECT_THAT(why("{}"), HasSubstr("items: is missing"));
  EXPECT_THAT(why(R"({"items":[1]})"), HasSubstr("items[0]: is no object"));
  EXPECT_THAT(why(R"({"items":[{"verb":"filter"}]})"), HasSubstr("items[0]: time: is missing"));
  EXPECT_THAT(why(R"({"items":[{"verb":"guess","time":"2026-01-01T00:00:00Z"}]})"),
              HasSubstr("items[0]: verb: is missing, or unknown"));
}

TEST(TextTable, AlignsByCharactersAndSilencesControlCodes) {
  TextTable table({"NAME", ">N"});
  table.add({"größe", "7"});
  table.add({"a\x1b[31m", "10"});
  table.add({""});
  EXPECT_EQ(table.str(),
            "NAME        N\n"
            "größe       7\n"
            "a\\x1b[31m  10\n"
            "-           -\n");
}

TEST(RestEncode, AListCarriesItsFactsAndWhereItGoesOn) {
  ScoreView score;
  score.node = NodeName("gpu-1");
  score.features = {{"cer", 1.5}};
  const std::vector<ScoreView> scores = {score};
  ScoresView view;
  view.pod = {"team", "a"};
  view.note = "n";
  EXPECT_EQ(
      encode_list(scores, "1", encode_one(view)),
      R"({"pod":"team/a","schemaVersion":4,"note":"n","items":[{"node":"gpu-1","gpuType":"","passes":false,"verdict":"",)"
      R"("message":"","score":0,"rank":0,"source":"","extrapolated":false,"features":{"cer":1.5}}],"metadata":{"continue":"1"}})");
}

TEST(RestEncode, FeasibleIsNullWhereNothingIsKnown) {
  PlacementRow row;
  EXPECT_THAT(encode_one(row), HasSubstr(R"("feasible":null)"));
  row.feasible = true;
  EXPECT_THAT(encode_one(row), HasSubstr(R"("feasible":true)"));
  EXPECT_THAT(table_of(std::vector<PlacementRow>{row}).str(), HasSubstr("yes"));
}

TEST(StatusCodec, AnErrorIsAKubernetesStatus) {
  EXPECT_EQ(encode_status_error(404, "NotFound", "no \"x\""),
            R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"no \"x\"",)"
            R"("reason":"NotFound","code":404})");
}

}  // namespace
}  // namespace slackline::wire
