#include "wire/kube/version_codec.h"

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

TEST(VersionCodec, TheMinorVersionIsReadWithWhateverVendorsAppend) {
  for (const char* minor : {"36", "36+", "36-eks"}) {
    const auto read = decode_server_minor(R"({"major":"1","minor":")" + std::string(minor) + "\"}");
    ASSERT_TRUE(read) << minor;
    EXPECT_EQ(*read, 36);
  }
}

TEST(VersionCodec, AVersionThatIsEmulatedIsTheOneThatIsServed) {
  const auto read = decode_server_minor(
      R"({"major":"1","minor":"36","emulationMajor":"1","emulationMinor":"33"})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, 33);
}

TEST(VersionCodec, WhatIsNoVersionSaysSo) {
  for (const char* body :
       {"{}", R"({"major":"1","minor":"+"})", R"({"major":"2","minor":"0"})", "["})
    EXPECT_FALSE(decode_server_minor(body)) << body;
}

}  // namespace
}  // namespace slackline::wire
