#include "wire/format/csv.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

using Cells = std::vector<std::string>;

std::string error_of(std::string_view text) {
  const auto table = read_csv(text);
  return table ? "" : table.error().message;
}

TEST(Csv, ReadsRowsAndTheirLines) {
  const auto table = read_csv("a,b\n1,2\n\n3,4");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->header, (Cells{"a", "b"}));
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0].cells, (Cells{"1", "2"}));
  EXPECT_EQ(table->rows[1].cells, (Cells{"3", "4"}));
  EXPECT_EQ(table->rows[0].line, 2);
  EXPECT_EQ(table->rows[1].line, 4) << "blank lines count";
}

TEST(Csv, ToleratesWhatSpreadsheetsWrite) {
  const auto table = read_csv(
      "\xEF\xBB\xBF"
      "name , n\r\n \"x, \"\"y\"\"\r\nz\" ,7\r\n,\r\nq,8\r\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->header, (Cells{"name", "n"}));
  ASSERT_EQ(table->rows.size(), 3U);
  EXPECT_EQ(table->rows[0].cells, (Cells{"x, \"y\"\r\nz", "7"}));
  EXPECT_EQ(table->rows[1].cells, (Cells{"", ""})) << "empty cells are cells";
  EXPECT_EQ(table->rows[2].line, 5) << "a line break inside quotes is a line too";
}

TEST(Csv, FindsColumnsByName) {
  const auto table = read_csv(",model,batch\n0,m,8\n1,k\n");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->column("batch"), 2U);
  EXPECT_EQ(table->column("gpu"), std::nullopt);
  EXPECT_EQ(table->rows[1].cell(2), "") << "a short row";
  EXPECT_EQ(table->require("gpu_type").error().message,
            "the header has no column \"gpu_type\"; it names , model, batch");
}

TEST(Csv, RefusesWithTheLine) {
  EXPECT_EQ(error_of("a\n\"open\nfor ever"), "line 2: a quote opens here and never closes");
  EXPECT_EQ(error_of("a,b\n1,2\n\"x\"y,2"),
            "line 3: text after a closing quote; write a quote inside a cell twice");
  EXPECT_EQ(error_of("a,b,a\n"), "the header names \"a\" twice");
  EXPECT_EQ(error_of("\r\n\n"), "is empty; the first line names the columns");
  EXPECT_NE(error_of(std::string_view("a\0,\0", 4)).find("UTF-16"), std::string::npos);
  EXPECT_EQ(error_of(std::string(2000, ',')), "line 1: more than 1024 cells");
}

TEST(Csv, WritesWhatItReads) {
  const std::vector<Cells> rows = {
      {"plain", "with, comma", "with \"quotes\""}, {" spaces ", "", "line\r\nbreak"}, {""}};
  std::string text = "x,y,z\n";
  for (const Cells& row : rows)
    append_csv_row(text, row);
  const auto table = read_csv(text);
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->rows.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(table->rows[i].cells, rows[i]);
  EXPECT_EQ(text.substr(0, 12), "x,y,z\nplain,") << "no quotes without need";
}

TEST(Csv, AppendsColumnsAndReplacesThoseOfTheSameName) {
  const auto table = read_csv("a,low,b\n1,x,2\n3\n");
  ASSERT_TRUE(table);
  const std::string text = write_csv_with(*table, {"low", "high"}, {{"5", "6"}, {"7", "8,9"}});
  EXPECT_EQ(text, "a,b,low,high\n1,2,5,6\n3,,7,\"8,9\"\n");
}

TEST(Csv, ListsProblemsUpToACap) {
  RowProblems problems;
  EXPECT_TRUE(problems.empty());
  problems.add(3, "batch", "must be positive");
  EXPECT_EQ(problems.error().message,
            "1 value is wrong, so nothing was read:\n  line 3: batch: must be positive");
  for (int line = 4; line < 40; ++line)
    problems.add(line, "batch", "must be positive");
  const std::string message = problems.error().message;
  EXPECT_TRUE(message.starts_with("37 values are wrong")) << message;
  EXPECT_TRUE(message.ends_with("\n  line 22: batch: must be positive\n  ... and 17 more"))
      << message;
}

}  // namespace
}  // namespace slackline::wire
