#include "wire/rest/list_parts.h"

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

TEST(ListParts, ItemsOfAllPartsUnderTheFirstOnesFacts) {
  const auto all =
      join_list_parts({R"({"note":"n","items":[{"b":1,"a":2.5}],"metadata":{"continue":"x.1"}})",
                       R"({"note":"n","items":[{"b":"ü"},3],"metadata":{"continue":""}})"});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(*all,
            R"({"note":"n","items":[{"b":1,"a":2.5},{"b":"ü"},3],"metadata":{"continue":""}})");
}

TEST(ListParts, OnePartStaysAsItIs) {
  EXPECT_EQ(join_list_parts({"{ }"}).value(), "{ }");
}

TEST(ListParts, WhatIsNoListIsRefused) {
  const std::string list = R"({"items":[]})";
  for (const std::string wrong : {"", "[]", "{}", R"({"items":{}})", R"({"items":[)"}) {
    EXPECT_FALSE(join_list_parts({list, wrong})) << wrong;
    EXPECT_FALSE(join_list_parts({wrong, list})) << wrong;
  }
  EXPECT_FALSE(join_list_parts({}));
}

}  // namespace
}  // namespace slackline::wire
