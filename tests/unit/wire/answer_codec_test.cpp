// Where a task stands, as the command line reads it, and calendars for calendar programs.
#include "wire/rest/answer_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

using ::testing::HasSubstr;

TEST(AnswerCodec, WhatIsWrittenIsRead) {
  EtaView eta;
  eta.standing = "misses";
  EXPECT_EQ(standing_in_answer(encode_one(eta)), "misses");
  ExplainView view;
  view.eta.standing = "unknown";
  EXPECT_EQ(standing_in_answer(encode_one(view)), "unknown");
  for (const char* text : {"{}", "[]", "{\"standing\":\"x\"}", "not JSON"})
    EXPECT_FALSE(standing_in_answer(text)) << text;
}

TEST(AnswerCodec, AQuoteIsInTimeWhereAnAcceptedRowIsLikelyTo) {
  QuoteView facts;
  facts.deadline_s = 1.8e9;
  QuoteRowView row;
  row.start = {1.7e9, 1.7e9};
  row.chance = 0.6;
  const auto standing = [&](const std::vector<QuoteRowView>& rows) {
    return *standing_in_quote(encode_list(rows, "", encode_one(facts)));
  };
  EXPECT_EQ(standing({row}), "in time");
  QuoteRowView other = row;
  other.accepted = false;
  EXPECT_EQ(standing({other}), "late") << "somebody else's type is no help";
  row.chance = 0.3;
  EXPECT_EQ(standing({row}), "late");
  row.chance = std::nullopt;
  EXPECT_EQ(standing({row}), "unknown");
  facts.deadline_s = std::nullopt;
  EXPECT_EQ(standing({row}), "in time") << "it starts, and has no deadline";
  row.start = {};
  EXPECT_EQ(standing({row}), "late") << "it never starts";
  EXPECT_FALSE(standing_in_quote("{}"));
}

TEST(AnswerCodec, WhatIsCutShortStartsAndIsNotInTime) {
  QuoteRowView row;
  row.written = row.cut_short = true;
  row.start = {1.7e9, 1.7e9};
  row.why_not = "its time limit ends it after 1h00m";
  const std::string json = encode_list(std::vector<QuoteRowView>{row}, "", encode_one(QuoteView()));
  EXPECT_EQ(standing_in_quote(json), "late");
  const auto said = as_written_in_quote(json, 1.7e9);
  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->text, "starts now, and is cut short: its time limit ends it after 1h00m");
  EXPECT_EQ(said->standing, Standing::kTooLate);
}

TEST(AnswerCodec, ATaskAsItIsWrittenStandsWhereItsOwnRowDoes) {
  const double now_s = 1.7e9;
  QuoteView facts;
  facts.deadline_s = now_s + 7200;
  facts.before = 4;
  QuoteRowView other;
  other.start = {now_s, now_s};
  other.chance = 1;
  QuoteRowView row;
  row.written = true;
  row.start = {now_s + 600, now_s + 900};
  row.finish = {now_s + 3600, now_s + 4200};
  row.chance = 0.93;
  row.delayed = 2;
  const auto said = [&] {
    return *as_written_in_quote(
        encode_list(std::vector<QuoteRowView>{other, row}, "", encode_one(facts)), now_s);
  };
  EXPECT_EQ(said().text,
            "starts 2023-11-14T22:23:20Z (in 10m00s), is done 2023-11-14T23:13:20Z (in 1h00m), "
            "9 times of 10 by 2023-11-14T23:23:20Z, in time by 1h00m, chance to be in time 93 %, "
            "behind 4 tasks; "
            "2 tasks end later for it");
  EXPECT_EQ(said().standing, Standing::kInTime);
  row.chance = 0.2;
  EXPECT_EQ(said().standing, Standing::kTooLate);
  row.chance = std::nullopt;
  EXPECT_EQ(said().standing, Standing::kUnknown);
  facts.deadline_s = std::nullopt;
  facts.before = 0;
  row.start.p50_s = now_s;
  row.finish = {};
  row.delayed = 0;
  EXPECT_EQ(said().text, "starts now, its run time is unknown");
  EXPECT_EQ(said().standing, Standing::kInTime);
  row.start = {};
  row.why_not = "BeyondHorizon";
  EXPECT_EQ(said().text, "does not start: BeyondHorizon");
  EXPECT_EQ(said().standing, Standing::kTooLate);
  facts.note = "its 8 pods start one by one";
  EXPECT_EQ(said().note, facts.note);
  facts.refusal = "slackline.dev/deadline: it is in the past (DeadlinePast)";
  facts.problems = {"slackline.dev/modle: unknown"};
  EXPECT_EQ(said().text,
            "would be refused: slackline.dev/deadline: it is in the past (DeadlinePast)");
  EXPECT_EQ(said().standing, Standing::kTooLate);
  EXPECT_EQ(said().problems, facts.problems);
  EXPECT_FALSE(as_written_in_quote("{}", now_s));
}

TEST(AnswerCodec, ACalendarJoinsEqualSlotsAndLeavesOutFullOnes) {
  const double at_s = 1800000000;
  const std::vector<CalendarRow> rows = {{"A,B", at_s, at_s + 3600, 8, 0, 0},
                                         {"A,B", at_s + 3600, at_s + 7200, 8, 4, 2},
                                         {"A,B", at_s + 7200, at_s + 10800, 8, 4, 2},
                                         {"K80", at_s, at_s + 3600, 4, 4, 4}};
  const auto read = decode_calendar(encode_list(rows, ""));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 4U);
  EXPECT_EQ((*read)[1].free_p90, 2);
  EXPECT_EQ((*read)[3].begins_s, at_s);
  const std::string text = to_icalendar(*read, at_s);
  EXPECT_THAT(text, HasSubstr("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"));
  EXPECT_THAT(text, HasSubstr("DTSTART:20270115T090000Z\r\nDTEND:20270115T110000Z\r\n"
                              "SUMMARY:4 GPUs of type A\\,B free\\, 2 for sure\r\n"));
  std::size_t events = 0;
  for (std::size_t at = 0; (at = text.find("BEGIN:VEVENT", at)) != std::string::npos; ++at)
    ++events;
  EXPECT_EQ(events, 2U);
  EXPECT_FALSE(decode_calendar("[]"));
}

}  // namespace
}  // namespace slackline::wire
