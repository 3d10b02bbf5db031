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

TEST(TokenReviewCodecTest, ATokenForAnotherAudienceIsNobodys) {
  EXPECT_EQ(
      encode_token_review("t", "slackline"),
      R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"t","audiences":["slackline"]}})");
  const std::string known = R"({"status":{"authenticated":true,"user":{"username":"jane"})";
  EXPECT_TRUE(*decode_token_review(known + R"(,"audiences":["x","slackline"]}})", "slackline"));
  EXPECT_FALSE(*decode_token_review(known + R"(,"audiences":["x"]}})", "slackline"));
  EXPECT_FALSE(*decode_token_review(known + "}}", "slackline"));
}

TEST(TokenReviewCodecTest, ATokenSaysForWhomItIs) {
  // {"aud":["slackline"]}, {"aud":"slackline"}, {"aud":["api"]}; base64url without padding
  EXPECT_TRUE(names_audience("e30.eyJhdWQiOlsic2xhY2tsaW5lIl19.c2ln", "slackline"));
  EXPECT_TRUE(names_audience("e30.eyJhdWQiOiJzbGFja2xpbmUifQ.c2ln", "slackline"));
  EXPECT_FALSE(names_audience("e30.eyJhdWQiOlsiYXBpIl19.c2ln", "slackline"));
  for (const char* other : {"", ".", "a.b", "a.b.c", "e30.W10.x", "e30.!!.x"})
    EXPECT_FALSE(names_audience(other, "slackline")) << other;
}

}  // namespace
}  // namespace slackline::wire
