#include "wire/format/cells.h"

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

TEST(Cells, ATableComesBackAsItWas) {
  TextTable table({"NAME", ">~SLACK", "PLAN"});
  table.add({"a \"quoted\"\n name", "1h", "p1"});
  table.add({"b"});
  const auto cells = decode_cells(encode_cells(table, 2, "above\n", "next"));
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_EQ(cells->preface, "above\n");
  EXPECT_TRUE(cells->more);
  ASSERT_EQ(cells->columns.size(), 3U);
  EXPECT_EQ(cells->columns[1].column.name, "SLACK");
  EXPECT_TRUE(cells->columns[1].column.right);
  EXPECT_TRUE(cells->columns[1].column.lesser);
  EXPECT_FALSE(cells->columns[1].wide);
  EXPECT_TRUE(cells->columns[2].wide);
  EXPECT_EQ(cells->rows[0], (std::vector<std::string>{"a \"quoted\"\n name", "1h", "p1"}));
  EXPECT_EQ(cells->rows[1], (std::vector<std::string>{"b", "", ""}));
}

TEST(Cells, WhatIsNoTableIsRefused) {
  for (const char* text : {"", "[]", "{}", R"({"columns":[],"items":1})", R"({"items":[]})"})
    EXPECT_FALSE(decode_cells(text)) << text;
  const auto odd = decode_cells(R"({"columns":[{"name":7},3],"items":[["a","b"],9,[1]]})");
  ASSERT_TRUE(odd);
  for (const auto& row : odd->rows)
    EXPECT_EQ(row.size(), odd->columns.size());
}

}  // namespace
}  // namespace slackline::wire
