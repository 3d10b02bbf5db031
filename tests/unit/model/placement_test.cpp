#include "slackline/model/placement.h"

#include <gtest/gtest.h>

namespace slackline {
namespace {

TEST(Layout, ReadsBothWritings) {
  EXPECT_EQ(parse_layout("2x4")->gpus_per_node(), (std::vector{4, 4}));
  EXPECT_EQ(parse_layout("1+4+2")->gpus_per_node(), (std::vector{4, 2, 1}));
  EXPECT_EQ(parse_layout("3")->gpus_per_node(), (std::vector{3}));
}

TEST(Layout, IsTheSameForPermutedNodesAndEqualWritings) {
  EXPECT_EQ(*parse_layout("4+2+1"), *parse_layout("1+2+4"));
  EXPECT_EQ(*parse_layout("4+4"), *parse_layout("2x4"));
}

TEST(Layout, WritesTheShortestForm) {
  EXPECT_EQ(parse_layout("4+4")->str(), "2x4");
  EXPECT_EQ(parse_layout("1+4")->str(), "4+1");
}

TEST(Layout, TellsItsSpread) {
  const Spread spread = parse_layout("4+2+1")->spread();
  EXPECT_EQ(spread.gpus, 7);
  EXPECT_EQ(spread.nodes, 3);
  EXPECT_EQ(spread.most_per_node, 4);
  EXPECT_EQ(parse_layout("2x4")->spread(), Spread(Placement{2, 4}));
}

TEST(Layout, RefusesWhatIsNone) {
  for (const char* text : {"", "x", "2x", "0x4", "4+", "4+0", "-1", "4+x", "2x4+1", "65537",
                           "5000x1", "99999999999999999999"})
    EXPECT_FALSE(parse_layout(text)) << text;
  EXPECT_FALSE(Layout::of({}));
}

TEST(Placement, OfTheLargestNumbersStillHasACountOfGpus) {
  const auto largest = parse_placement("65536x4096");
  ASSERT_TRUE(largest);
  EXPECT_EQ(largest->gpus(), 1 << 28);
  for (const char* text : {"65537x1", "1x4097", "65536x65536", "0x1", "1x0"})
    EXPECT_FALSE(parse_placement(text)) << text;
}

TEST(Placement, OfWhateverSomebodyWroteIsOneOfThem) {
  EXPECT_EQ(clamped_placement(2, 4), (Placement{2, 4}));
  EXPECT_EQ(clamped_placement(1'000'000'000'000, std::int64_t{1} << 50), (Placement{65536, 4096}));
  EXPECT_EQ(clamped_placement(-1, 0), (Placement{1, 1}));
  EXPECT_EQ(countable_gpus(-3), 0);
  EXPECT_EQ(countable_gpus(8), 8);
  EXPECT_EQ(countable_gpus(4294967304), 4096) << "not 8, its lower half";
}

}  // namespace
}  // namespace slackline
