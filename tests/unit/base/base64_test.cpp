#include "slackline/base/base64.h"

#include <gtest/gtest.h>

namespace slackline {
namespace {

TEST(Base64Test, TheVectorsOfTheRfc) {
  const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(encode_base64(bytes), text);
    EXPECT_EQ(decode_base64(text), bytes);
  }
}

TEST(Base64Test, EveryByteSurvives) {
  std::string bytes;
  for (int i = 255; i >= 0; --i)
    bytes.push_back(static_cast<char>(i));
  EXPECT_EQ(decode_base64(encode_base64(bytes)), bytes);
}

TEST(Base64Test, ForeignCharactersAreRefused) {
  EXPECT_FALSE(decode_base64("Zm9v!"));
}

}  // namespace
}  // namespace slackline
