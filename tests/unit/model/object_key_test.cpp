#include "slackline/model/object_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slackline {
namespace {

TEST(ParseObjectKey, TakesNamespaceAndName) {
  EXPECT_EQ(parse_object_key("team/train").value(), (ObjectKey{"team", "train"}));
}

TEST(ParseObjectKey, RefusesWhatIsNotTwoParts) {
  for (const char* text : {"", "/", "train", "team/", "/train", "team/train/0", "team//train"}) {
    const auto key = parse_object_key(text);
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(key.error().message, testing::HasSubstr("expected NAMESPACE/NAME"));
  }
}

}  // namespace
}  // namespace slackline
