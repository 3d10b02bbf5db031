#include "slackline/base/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slackline {
namespace {

TEST(Duration, IsReadLikeGoWritesIt) {
  EXPECT_DOUBLE_EQ(parse_duration_s("0").value(), 0);
  EXPECT_DOUBLE_EQ(parse_duration_s("90s").value(), 90);
  EXPECT_DOUBLE_EQ(parse_duration_s("3h30m").value(), 12600);
  EXPECT_DOUBLE_EQ(parse_duration_s("1.5h").value(), 5400);
  EXPECT_DOUBLE_EQ(parse_duration_s("250ms").value(), 0.25);
  EXPECT_DOUBLE_EQ(parse_duration_s("1m1us").value(), 60.000001);
}

TEST(Duration, HasDaysAndWeeksAsItIsShown) {
  EXPECT_DOUBLE_EQ(parse_duration_s("1d").value(), 86400);
  EXPECT_DOUBLE_EQ(parse_duration_s("1d17h").value(), 147600);
  EXPECT_DOUBLE_EQ(parse_duration_s("2w").value(), 1209600);
  for (const double shown_s : {45.0, 750.0, 12600.0, 187200.0, 400 * 86400.0})
    EXPECT_DOUBLE_EQ(parse_duration_s(format_duration(shown_s)).value(), shown_s);
}

TEST(Duration, ThatLacksAUnitIsToldWhich) {
  const auto advice = [](const char* text) {
    EXPECT_FALSE(parse_duration_s(text).has_value()) << text;
    return duration_advice(text);
  };
  EXPECT_EQ(advice("3600"), "it has no unit: write 3600s or 1h (units: ms, s, m, h, d, w)");
  EXPECT_EQ(advice("90"), "it has no unit: write 90s or 90m (units: ms, s, m, h, d, w)");
  EXPECT_EQ(advice("172800"), "it has no unit: write 172800s or 2d (units: ms, s, m, h, d, w)");
  for (const char* text : {"2 hours", "PT2H", "02:00:00", ""})
    EXPECT_EQ(advice(text), "write it with units, as in 90s, 45m, 3h30m, 1d12h or 2w") << text;
}

TEST(Duration, ThatIsTooLongIsToldTheLimit) {
  for (const char* text : {"5000w", "1000000h", "3651d", "3650d1s", "9999999999999999999999w"}) {
    EXPECT_FALSE(parse_duration_s(text).has_value()) << text;
    EXPECT_EQ(duration_advice(text), "it is too long: ten years (3650d) is the most") << text;
  }
  EXPECT_TRUE(parse_duration_s("3650d").has_value());
}

TEST(Duration, ThatIsNoneIsRefused) {
  for (const char* text : {"", "5", "s", "-5s", "1y", "1h 30m", "1..5s", "inf", "nans", "1e9h",
                           "99999999999h", "3h30"})
    EXPECT_FALSE(parse_duration_s(text).has_value()) << text;
}

TEST(Duration, IsShownForPeople) {
  EXPECT_EQ(format_duration(0), "0s");
  EXPECT_EQ(format_duration(59.6), "1m00s");
  EXPECT_EQ(format_duration(750), "12m30s");
  EXPECT_EQ(format_duration(12600), "3h30m");
  EXPECT_EQ(format_duration(187200), "2d04h");
  EXPECT_EQ(format_duration(-90), "-1m30s");
  EXPECT_EQ(format_duration(1e300), ">10y");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::quiet_NaN()), ">10y");
}

TEST(Time, IsReadWithOffsetsAndFractions) {
  EXPECT_DOUBLE_EQ(parse_rfc3339_s("1970-01-01T00:00:00Z").value(), 0);
  EXPECT_DOUBLE_EQ(parse_rfc3339_s("2026-11-21T12:00:00Z").value(), 1795262400);
  EXPECT_DOUBLE_EQ(parse_rfc3339_s("2026-11-21T14:00:00+02:00").value(), 1795262400);
  EXPECT_DOUBLE_EQ(parse_rfc3339_s("2026-11-21T06:30:00-05:30").value(), 1795262400);
  EXPECT_DOUBLE_EQ(parse_rfc3339_s("2026-11-21T12:00:00.250Z").value(), 1795262400.25);
  EXPECT_DOUBLE_EQ(parse_rfc3339_s("2024-02-29T00:00:00Z").value(), 1709164800);
  EXPECT_DOUBLE_EQ(parse_rfc3339_s("1969-12-31T23:59:59Z").value(), -1);
}

TEST(Time, ThatIsNoneIsRefused) {
  for (const char* text :
       {"", "tomorrow", "2026-11-21", "2026-11-21T12:00:00", "2026-13-01T00:00:00Z",
        "2025-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T12:60:00Z",
        "2026-11-21T12:00:00+0200", "2026-11-21T12:00:00Zjunk", "2026-11-21T12:00:00.Z"})
    EXPECT_FALSE(parse_rfc3339_s(text).has_value()) << text;
}

TEST(Time, SurvivesARoundTrip) {
  for (const double epoch_s : {0.0, 951782400.0, 1795262400.0, 4107542399.0, -86400.0})
    EXPECT_DOUBLE_EQ(parse_rfc3339_s(format_rfc3339(epoch_s)).value(), epoch_s);
  EXPECT_EQ(format_rfc3339(1795262400.9), "2026-11-21T12:00:00Z");
}

}  // namespace
}  // namespace slackline
