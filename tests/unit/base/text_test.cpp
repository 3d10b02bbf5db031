#include "slackline/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/clock.h"
#include "slackline/base/strong_id.h"
#include "slackline/base/visible.h"

namespace slackline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Text, SplitKeepsEmptyPiecesAndTrims) {
  EXPECT_THAT(split("A100, V100 ,,K80", ','), ElementsAre("A100", "V100", "", "K80"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_EQ(trim(" \t a b \n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
}

TEST(Text, WhatIsCountedHasItsNumber) {
  EXPECT_EQ(counted(0, "GPU"), "0 GPUs");
  EXPECT_EQ(counted(1, "GPU"), "1 GPU");
  EXPECT_EQ(counted(1, "task waits", "tasks wait"), "1 task waits");
  EXPECT_EQ(counted(2, "task waits", "tasks wait"), "2 tasks wait");
}

TEST(Text, NumbersAreTheWholeTextOrNothing) {
  EXPECT_EQ(parse_int("-42").value(), -42);
  EXPECT_DOUBLE_EQ(parse_number("1e3").value(), 1000);
  for (const char* text : {"", "1 ", "+1", "9223372036854775808", "1.0", "0x1"})
    EXPECT_FALSE(parse_int(text).has_value()) << text;
  for (const char* text : {"", "inf", "nan", "1e999", "1,5"})
    EXPECT_FALSE(parse_number(text).has_value()) << text;
}

TEST(Text, GlobsMatchTheWholeText) {
  EXPECT_TRUE(glob_matches("nvidia.com/mig-*", "nvidia.com/mig-1g.5gb"));
  EXPECT_TRUE(glob_matches("*-A100*", "NVIDIA-A100-SXM4-40GB"));
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*b*c", "a--b--b-c"));
  EXPECT_FALSE(glob_matches("nvidia.com/gpu", "nvidia.com/gpu.shared"));
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_FALSE(glob_matches("", "a"));
}

TEST(Text, ForeignTextIsMadePrintable) {
  EXPECT_EQ(printable("a\nb\x7f"), "a\\x0ab\\x7f");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  const std::string whole(1000, 'x');
  EXPECT_EQ(printable_lines(whole + "\n\x1b[2Jb\n\nc\u202e"), whole + "\n\\x1b[2Jb\n\nc\\u202e");
  EXPECT_EQ(printable_lines("a\n"), "a\n");
  EXPECT_EQ(to_lower("A100-Ä"), "a100-Ä");
}

// A terminal obeys C1 as it obeys ESC [, and a change of direction makes a line say something else.
TEST(Text, WhatCannotBeSeenIsMadeVisible) {
  EXPECT_EQ(printable("m\u009b31mX\u202e"), "m\\u009b31mX\\u202e");
  EXPECT_EQ(printable("a\u200bb\ufeffc\u2066d\u2028"), "a\\u200bb\\ufeffc\\u2066d\\u2028");
  EXPECT_EQ(printable("\xff\xc2"), "\\xff\\xc2");
  EXPECT_EQ(printable("Ä 漢 💥"), "Ä 漢 💥");
  EXPECT_EQ(printable("漢字漢字", 4), "漢字...") << "never half a character";
  EXPECT_TRUE(has_unprintable("T4\u200d"));
  EXPECT_TRUE(has_unprintable("T4\n"));
  EXPECT_TRUE(has_unprintable("T4\xff"));
  EXPECT_FALSE(has_unprintable("Tesla Ä-漢 💥"));
}

TEST(Text, FingerprintsAreStable) {
  EXPECT_EQ(fingerprint(""), 14695981039346656037ULL);
  EXPECT_EQ(fingerprint("a"), 0xaf63dc4c8601ec8cULL);
}

TEST(StrongId, OfOneKindCompareByText) {
  using Name = StrongId<struct NameTag>;
  EXPECT_LT(Name("a"), Name("b"));
  EXPECT_EQ(Name("a"), Name(std::string_view("a")));
  EXPECT_TRUE(Name().empty());
}

TEST(Error, GathersContextOnTheWayUp) {
  const auto read = [](std::string_view text) -> Result<std::int64_t> {
    const auto value = parse_int(text);
    if (!value) return fail(value.error().with_context("batch-size"));
    return *value;
  };
  const auto twice = [&](std::string_view text) -> Result<std::int64_t> {
    SLACKLINE_ASSIGN(const std::int64_t value, read(text));
    return 2 * value;
  };
  EXPECT_EQ(twice("21").value(), 42);
  EXPECT_THAT(twice("many").error().message, HasSubstr("batch-size: \"many\""));
  EXPECT_EQ(to_string(twice("many").error().code), "InvalidArgument");
}

TEST(Clock, OfTheMachineGoesOn) {
  const double before_s = system_clock().steady_s();
  EXPECT_GE(system_clock().steady_s(), before_s);
  EXPECT_GT(system_clock().wall_s(), 1.7e9);
}

}  // namespace
}  // namespace slackline
