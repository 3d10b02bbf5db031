#include "slackline/base/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/saturating.h"

namespace slackline {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct Known {
  const char* text;
  std::int64_t whole;
  std::int64_t milli;
};

class KnownQuantity : public ::testing::TestWithParam<Known> {};

TEST_P(KnownQuantity, IsReadAsKubernetesReadsIt) {
  EXPECT_EQ(parse_quantity(GetParam().text).value(), GetParam().whole);
  EXPECT_EQ(parse_quantity_milli(GetParam().text).value(), GetParam().milli);
}

INSTANTIATE_TEST_SUITE_P(
    Quantity, KnownQuantity,
    ::testing::Values(Known{"0", 0, 0}, Known{"4", 4, 4000}, Known{"+4", 4, 4000},
                      Known{"-0", 0, 0}, Known{"500m", 1, 500}, Known{"1500m", 2, 1500},
                      Known{"0.1", 1, 100}, Known{".5", 1, 500}, Known{"5.", 5, 5000},
                      Known{"1k", 1000, 1000000}, Known{"0.5Gi", 536870912, 536870912000},
                      Known{"1.5Gi", 1610612736, 1610612736000}, Known{"2e3", 2000, 2000000},
                      Known{"2E3", 2000, 2000000}, Known{"2e+3", 2000, 2000000},
                      Known{"25e-1", 3, 2500}, Known{"1u", 1, 1}, Known{"1n", 1, 1},
                      Known{"100n", 1, 1}, Known{"1000001u", 2, 1001}, Known{"0.0000000001", 1, 1},
                      Known{"0e99", 0, 0}, Known{"0.00000000000000000000000000000", 0, 0}));

TEST(Quantity, ReachesTheEndsOfItsRangeExactly) {
  EXPECT_EQ(parse_quantity("9223372036854775807").value(), kMax);
  EXPECT_EQ(parse_quantity("7Ei").value(), std::int64_t{7} << 60);
  EXPECT_EQ(parse_quantity("1E").value(), 1000000000000000000);
  EXPECT_EQ(parse_quantity_milli("9223372036854775.807").value(), kMax);
}

class BadQuantity : public ::testing::TestWithParam<const char*> {};

TEST_P(BadQuantity, IsRefusedWithItsTextAndAnExample) {
  for (const auto& result : {parse_quantity(GetParam()), parse_quantity_milli(GetParam())}) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(result.error().message, HasSubstr(GetParam()));
    EXPECT_THAT(result.error().message, HasSubstr("1.5Gi"));
  }
}

// The list of F44, and its neighbours.
INSTANTIATE_TEST_SUITE_P(Quantity, BadQuantity,
                         ::testing::Values("", "-1", "1e999", "9223372036854775808", "1Mi1", "Gi",
                                           ".", "+", "1.2.3", "1 Gi", " 1", "0x10", "1e", "1e+",
                                           "1e--3", "1e-+3", "1e+-5", "1E++5", "8Ei", "1e19", "1KI",
                                           "1ki", "nan", "1000000000000000000000000000000000"));

TEST(Quantity, OfWhatIsThereIsRoundedDown) {
  EXPECT_EQ(parse_quantity("4.5", Rounding::kDown).value(), 4);
  EXPECT_EQ(parse_quantity("4.5").value(), 5);
  EXPECT_EQ(parse_quantity("999m", Rounding::kDown).value(), 0);
  EXPECT_EQ(parse_quantity("1n", Rounding::kDown).value(), 0);
  EXPECT_EQ(parse_quantity("8", Rounding::kDown).value(), 8);
  EXPECT_EQ(parse_quantity_milli("1000001u", Rounding::kDown).value(), 1000);
}

TEST(Quantity, ThatOnlyFitsInWholeUnitsIsRefusedInThousandths) {
  EXPECT_TRUE(parse_quantity("9223372036854775807").has_value());
  EXPECT_FALSE(parse_quantity_milli("9223372036854775807").has_value());
}

TEST(Saturating, ArithmeticStopsAtTheEnds) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(saturating_add(2, 3), 5);
  EXPECT_EQ(saturating_add(kMax, 1), kMax);
  EXPECT_EQ(saturating_add(kMin, -1), kMin);
  EXPECT_EQ(saturating_sub(2, 3), -1);
  EXPECT_EQ(saturating_sub(kMin, 1), kMin);
  EXPECT_EQ(saturating_sub(kMax, -1), kMax);
  EXPECT_EQ(saturating_sub(0, kMin), kMax);
  EXPECT_EQ(saturating_mul(-2, 3), -6);
  EXPECT_EQ(saturating_mul(kMax, 2), kMax);
  EXPECT_EQ(saturating_mul(kMin, -1), kMax);
  EXPECT_EQ(saturating_mul(kMax, -2), kMin);
  EXPECT_EQ(saturating_int(-7), -7);
  EXPECT_EQ(saturating_int(kMax), std::numeric_limits<int>::max());
  EXPECT_EQ(saturating_int(kMin), std::numeric_limits<int>::min());
}

}  // namespace
}  // namespace slackline
