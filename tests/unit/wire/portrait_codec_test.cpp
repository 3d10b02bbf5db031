// Files of portraits, as `slackline portraits --packed` writes them.
#include "wire/rest/portrait_codec.h"

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

constexpr std::size_t kMost = 2;

std::string why_not(std::string_view text) {
  const auto packed = read_packed_portraits(text, kMost);
  return packed ? "" : packed.error().message;
}

TEST(PortraitCodec, AFileOfPortraitsIsJsonOrCsv) {
  const std::vector<std::string> both = {"AQI=", "+w=="};
  EXPECT_EQ(read_packed_portraits(write_posted_portraits(both), kMost), both);
  EXPECT_EQ(read_packed_portraits("name,packed,runs\nnightly,AQI=,3\n\"a, b\",+w==,1\n", kMost),
            both);
}

TEST(PortraitCodec, AListIsWrittenAsCsvThatReadsBack) {
  const auto csv = packed_portraits_csv(
      R"({"items":[{"namespace":"lab","name":"a, b","packed":"AQI=","runs":3}]})");
  ASSERT_TRUE(csv) << csv.error().message;
  EXPECT_EQ(*csv, "namespace,family,packed\nlab,\"a, b\",AQI=\n");
  EXPECT_EQ(read_packed_portraits(*csv, kMost), std::vector<std::string>{"AQI="});
}

TEST(PortraitCodec, AReplicaMayHaveNone) {
  const auto none = read_listed_portraits(R"({"items":[]})", kMost);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->empty());
  EXPECT_EQ(read_posted_portraits(R"({"items":[]})").error().message,
            "items: is empty; there is nothing to store");
}

TEST(PortraitCodec, AFileThatIsNoneIsRefusedWithTheRemedy) {
  EXPECT_NE(why_not("name,runs\nnightly,3\n").find("--packed -o csv"), std::string::npos);
  EXPECT_EQ(why_not("name,packed\n"), "0 portraits; expected 1 to 2");
  EXPECT_EQ(why_not("packed\nAA==\nAQ==\nAg==\n"), "3 portraits; expected 1 to 2");
  EXPECT_NE(why_not(R"({"items": [{"name": "nightly"}]})").find("items[0].packed"),
            std::string::npos);
}

}  // namespace
}  // namespace slackline::wire
