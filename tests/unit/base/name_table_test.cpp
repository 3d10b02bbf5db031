#include "slackline/base/name_table.h"

#include <string>

#include <gtest/gtest.h>

namespace slackline {
namespace {

TEST(NameTable, KnowsEveryNameOnceByItsPlace) {
  std::vector<std::string> names = {"", "a", "b", "seven-7", "eight-88", "nine-9999"};
  for (int i = 0; i < 3000; ++i)
    names.push_back("gpu-node-" + std::to_string(i) + ".example");
  NameTable table;
  table.reset(names.size());
  for (const std::string& name : names)
    EXPECT_TRUE(table.insert(name)) << name;
  for (const std::string& name : names)
    EXPECT_FALSE(table.insert(std::string(name))) << name;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(table.find(names[i]), i);
    EXPECT_EQ(table.names()[i], names[i]);
  }
  EXPECT_EQ(table.find("gpu-node-3000.example"), std::nullopt);
  EXPECT_EQ(table.find("gpu-node-1.exampl"), std::nullopt) << "a name that another begins with";
}

TEST(NameTable, ForgetsAtReset) {
  NameTable table;
  EXPECT_EQ(table.find("a"), std::nullopt) << "nothing is there before the first reset";
  table.reset(1);
  table.insert("a");
  table.reset(0);
  EXPECT_EQ(table.find("a"), std::nullopt);
  EXPECT_TRUE(table.names().empty());
}

}  // namespace
}  // namespace slackline
