#include "slackline/model/band.h"

#include <gtest/gtest.h>

namespace slackline {
namespace {

TEST(PriorityBandTest, TwentyNamesAndNoOthers) {
  for (int level = 1; level <= kHighestBandLevel; ++level)
    for (const bool is_private : {true, false}) {
      const std::string name = PriorityBand{is_private, level}.name();
      const auto band = band_named(name);
      ASSERT_TRUE(band) << name;
      EXPECT_EQ(band->is_private, is_private);
      EXPECT_EQ(band->level, level);
    }
  for (const char* other : {"", "private-", "private-0", "private-11", "public-01", "public-5 ",
                            "Public-5", "system-cluster-critical"})
    EXPECT_FALSE(band_named(other)) << other;
}

}  // namespace
}  // namespace slackline
