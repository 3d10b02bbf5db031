#include "wire/kube/key_codec.h"

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

TEST(KeyCodecTest, ASecretIsReadAsItWasWritten) {
  const KeySecretDto written{"42", {{1700000000.5, std::string("new\0key", 7)}, {12, "old"}}};
  const auto read = decode_key_secret(encode_key_patch(written));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->resource_version, "42");
  EXPECT_EQ(read->keys, written.keys);
}

TEST(KeyCodecTest, WhatIsNoKeyIsLeftOut) {
  // "12 b2xk\nnonsense\n13 \nx b2xk\n"
  const auto read = decode_key_secret(
      R"({"metadata":{"resourceVersion":"1"},"data":{"keys":"MTIgYjJ4awpub25zZW5zZQoxMyAKeCBiMnhrCg=="}})");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->keys.size(), 1u);
  EXPECT_EQ(read->keys[0].bytes, "old");
  EXPECT_TRUE(decode_key_secret(R"({"metadata":{"resourceVersion":"1"}})")->keys.empty());
  EXPECT_FALSE(decode_key_secret(R"({"kind":"Status"})"));
}

}  // namespace
}  // namespace slackline::wire
