// Progress as it is posted, and as it is noted on the Job.
#include "wire/rest/progress_codec.h"

#include <gmock/gmock.h>

#include "wire/kube/progress_note.h"

namespace slackline::wire {
namespace {

using ::testing::HasSubstr;

constexpr double kTime_s = 1795348860;  // 2026-11-22T12:01:00Z

std::string refusal(std::string_view body) {
  const auto report = read_posted_progress(body);
  return report ? "taken" : report.error().message;
}

TEST(ProgressCodecTest, AReportIsRead) {
  const auto report = read_posted_progress(
      R"({"iteration":1200,"total":90000,"loss":0.35,"time":"2026-11-22T12:01:00Z","phase":"warmup"})");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->iteration, 1200);
  EXPECT_EQ(report->total, 90000);
  EXPECT_EQ(report->loss, 0.35);
  EXPECT_EQ(report->time_s, kTime_s);
  EXPECT_EQ(report->phase, "warmup");
  EXPECT_EQ(read_posted_progress(R"({"iteration":0,"total":1,"time":1795348860.5})")->time_s,
            kTime_s + 0.5);
}

TEST(ProgressCodecTest, MistakesAreNamedWithTheirRemedy) {
  EXPECT_THAT(refusal("[]"), HasSubstr("the body: must be a JSON object"));
  EXPECT_THAT(refusal(R"({"iteration":1})"), HasSubstr("total: must be a whole number from 1"));
  EXPECT_THAT(refusal(R"({"iteration":1,"total":0})"), HasSubstr("total: "));
  EXPECT_THAT(refusal(R"({"iteration":11,"total":10})"),
              HasSubstr("iteration: must be a whole number from 0 to total, 10"));
  EXPECT_THAT(refusal(R"({"iteration":1.5,"total":10})"), HasSubstr("iteration: "));
  EXPECT_THAT(refusal(R"({"iteration":1,"total":10,"los":1})"),
              HasSubstr("los: unknown key; allowed: iteration, total, loss, time, phase"));
  EXPECT_THAT(refusal(R"({"iteration":1,"total":10,"loss":"low"})"), HasSubstr("loss: "));
  EXPECT_THAT(refusal(R"({"iteration":1,"total":10,"time":"noon"})"), HasSubstr("time: "));
  EXPECT_THAT(refusal(R"({"iteration":1,"total":10,"time":-1})"), HasSubstr("time: "));
  EXPECT_THAT(refusal(R"({"iteration":1,"total":10,"phase":"a b"})"), HasSubstr("phase: "));
  EXPECT_NE(refusal("{"), "taken");
}

TEST(ProgressCodecTest, TheAnnotationIsReadableAndReadAgain) {
  ProgressNote note{1200, 90000, kTime_s, ProgressPoint{800, kTime_s - 60}, 0.35, "warmup"};
  const std::string text = encode_progress(note);
  EXPECT_EQ(text,
            "1200/90000 at 2026-11-22T12:01:00Z, 800 at 2026-11-22T12:00:00Z, loss 0.35, phase "
            "warmup");
  const auto read = read_progress(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(encode_progress(*read), text);
  EXPECT_EQ(read->first->iteration, 800);
  note = {5, 10, kTime_s, {}, {}, {}};
  EXPECT_EQ(encode_progress(note), "5/10 at 2026-11-22T12:01:00Z");
  EXPECT_EQ(read_progress(encode_progress(note))->total, 10);
}

TEST(ProgressCodecTest, OtherTextIsNotProgress) {
  for (const char* text :
       {"", "5", "5/10", "5/10 at noon", "11/10 at 2026-11-22T12:01:00Z", "5 at 6/10",
        "-1/10 at 2026-11-22T12:01:00Z", "5/0 at 2026-11-22T12:01:00Z",
        "5/10 at 2026-11-22T12:01:00Z, 6 at 2026-11-22T12:00:00Z",
        "5/10 at 2026-11-22T12:01:00Z, 4 at 2026-11-22T12:02:00Z",
        "5/10 at 2026-11-22T12:01:00Z, loss nan", "5/10 at 2026-11-22T12:01:00Z, phase a b",
        "5/10 at 2026-11-22T12:01:00Z, "})
    EXPECT_FALSE(read_progress(text)) << text;
}

TEST(ProgressCodecTest, ThePatchIsOfThisVeryJob) {
  EXPECT_EQ(
      encode_progress_patch(Uid("u1"), {5, 10, kTime_s, {}, {}, {}}),
      R"({"metadata":{"uid":"u1","annotations":{"slackline.dev/progress":"5/10 at 2026-11-22T12:01:00Z"}}})");
}

}  // namespace
}  // namespace slackline::wire
