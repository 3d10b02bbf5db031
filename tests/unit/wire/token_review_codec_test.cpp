#include "wire/kube/token_review_codec.h"

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

TEST(TokenReviewCodecTest, TheTokenIsAskedFor) {
  EXPECT_EQ(
      encode_token_review("a\"b"),
      R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"a\"b"}})");
}

TEST(TokenReviewCodecTest, AUserIsReadWithAllThatAReviewOfRightsNeeds) {
  const auto read = decode_token_review(
      R"({"status":{"authenticated":true,"user":{"username":"jane","uid":"7","groups":["a","b"],)"
      R"("extra":{"k":["v"]}}}})");
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->name, "jane");
  EXPECT_EQ((*read)->uid, "7");
  EXPECT_EQ((*read)->groups, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ((*read)->extra.size(), 1U);
  EXPECT_EQ((*read)->extra[0].first, "k");
}

TEST(TokenReviewCodecTest, WithoutAWordOfTheApiServerNobodyIsAnybody) {
  const auto unknown =
      decode_token_review(R"({"status":{"user":{"username":"jane"},"error":"token expired"}})");
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(*unknown);
  EXPECT_FALSE(decode_token_review(R"({"kind":"Status"})"));
  EXPECT_FALSE(decode_token_review("{"));
}

}  // namespace
}  // namespace slackline::wire
