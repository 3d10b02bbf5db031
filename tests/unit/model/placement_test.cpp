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

}  // namespace
}  // namespace slackline
