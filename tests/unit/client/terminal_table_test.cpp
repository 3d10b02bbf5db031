#include "client/terminal_table.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"

namespace slackline::client {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

double at(const char* time) {
  return *parse_rfc3339_s(time);
}

std::tm two_hours_east(double epoch_s) {
  const auto seconds = static_cast<std::time_t>(epoch_s + 7200);
  std::tm time{};
  gmtime_r(&seconds, &time);
  return time;
}

TerminalStyle style(std::size_t width) {
  return {width, false, false, at("2026-11-22T20:00:00Z"), two_hours_east};
}

wire::Cells queue() {
  wire::TextTable table({"NAME", "~CLASS", "NOTE", "STARTS", "PLAN"});
  table.add({"team-a/resnet-nightly", "normal", "LATE", "2026-11-22T20:59:38Z", "plan-1"});
  table.add({"team-b/h100", "urgent", "BLOCKED", "Never", ""});
  return *wire::decode_cells(wire::encode_cells(table, 4, "nobody plans\n", ""));
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (const std::string_view line : split(text, '\n'))
    if (!line.starts_with("not shown")) longest = std::max(longest, line.size());
  return longest;
}

TEST(TerminalTable, TimesAreThoseOfThePersonsDay) {
  const TerminalStyle here = style(0);
  EXPECT_EQ(local_time(at("2026-11-22T20:59:38Z"), here, true), "22:59 in 59m");
  EXPECT_EQ(local_time(at("2026-11-22T18:30:00Z"), here, true), "20:30 1h30m ago");
  EXPECT_EQ(local_time(at("2026-11-22T20:00:20Z"), here, true), "22:00 now");
  EXPECT_EQ(local_time(at("2026-11-22T22:30:00Z"), here, true), "Mon 00:30 in 2h30m")
      << "midnight is that of the person";
  EXPECT_EQ(local_time(at("2026-11-26T08:00:00Z"), here, true), "Thu 10:00");
  EXPECT_EQ(local_time(at("2027-03-01T08:00:00Z"), here, true), "2027-03-01 10:00");
  EXPECT_EQ(local_time(at("2026-11-22T20:59:38Z"), here, false), "22:59");
}

TEST(TerminalTable, GivesUpWhatMattersLeastToFit) {
  const std::string roomy = terminal_table(queue(), style(80));
  EXPECT_THAT(roomy, HasSubstr("22:59 in 59m"));
  EXPECT_THAT(roomy, HasSubstr("CLASS"));
  EXPECT_THAT(roomy, Not(HasSubstr("PLAN"))) << "a wide column";
  EXPECT_THAT(roomy, Not(HasSubstr("not shown")));
  EXPECT_THAT(terminal_table(queue(), style(50)), HasSubstr("normal  LATE     22:59\n"));
  EXPECT_THAT(terminal_table(queue(), style(40)), HasSubstr("not shown: CLASS; -o wide"));
  for (const std::size_t width : {80U, 50U, 40U, 36U})
    EXPECT_LE(longest_line(terminal_table(queue(), style(width))), width) << width;
}

TEST(TerminalTable, WideShowsEverythingWhateverTheWidth) {
  TerminalStyle wide = style(30);
  wide.wide = true;
  const std::string text = terminal_table(queue(), wide);
  EXPECT_THAT(text, HasSubstr("plan-1"));
  EXPECT_THAT(text, HasSubstr("team-a/resnet-nightly"));
}

TEST(TerminalTable, WithoutRowsSaysSo) {
  wire::Cells nothing = queue();
  nothing.rows.clear();
  EXPECT_EQ(terminal_table(nothing, style(80)), "nobody plans\nnothing to show\n");
}

TEST(TerminalTable, ColoursOnlyWhatItSaysInWordsToo) {
  EXPECT_THAT(terminal_table(queue(), style(80)), Not(HasSubstr("\x1b")));
  TerminalStyle colour = style(80);
  colour.colour = true;
  EXPECT_THAT(terminal_table(queue(), colour), HasSubstr("\x1b[1;31mLATE\x1b[0m"));
  EXPECT_THAT(terminal_table(queue(), colour), HasSubstr("\x1b[1;33mBLOCKED\x1b[0m"));
}

}  // namespace
}  // namespace slackline::client
