#include "slackline/base/spelling.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace slackline {
namespace {

std::string nearest(std::string_view typed) {
  static constexpr std::array<std::string_view, 6> kWords = {
      "deadline", "deadline-after", "gpu-types", "queue", "gang", "gang-size"};
  return std::string(nearest_spelling(typed, kWords).value_or("none"));
}

TEST(Spelling, FindsWhatWasMeant) {
  EXPECT_EQ(nearest("deadlin-after"), "deadline-after");
  EXPECT_EQ(nearest("gpu-type"), "gpu-types");
  EXPECT_EQ(nearest("quque"), "queue");
  EXPECT_EQ(nearest("gangsize"), "gang-size");
  EXPECT_EQ(nearest("queue"), "queue");
}

TEST(Spelling, SaysNothingOfWordsThatAreLikeNone) {
  EXPECT_EQ(nearest("zebra"), "none");
  EXPECT_EQ(nearest(""), "none");
  EXPECT_EQ(nearest("q"), "none");
  EXPECT_EQ(nearest(std::string(1000, 'q')), "none");
}

}  // namespace
}  // namespace slackline
