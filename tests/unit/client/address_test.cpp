#include "client/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/client.h"

namespace slackline::client {
namespace {

using ::testing::HasSubstr;

TEST(Address, HasTheDefaultsOfItsScheme) {
  const auto plain = parse_address("http://gpu.example");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->origin(), "http://gpu.example:80");
  EXPECT_EQ(plain->prefix, "");
  EXPECT_EQ(parse_address("HTTPS://gpu.example/")->origin(), "https://gpu.example:443");
  EXPECT_EQ(parse_address("127.0.0.1:8180")->origin(), "http://127.0.0.1:8180");
  EXPECT_EQ(parse_address("https://[::1]:8443")->origin(), "https://[::1]:8443");
}

TEST(Address, APathStandsBeforeEveryPath) {
  EXPECT_EQ(parse_address("http://h:1/a/b/")->prefix, "/a/b");
  EXPECT_EQ(parse_address("https://h/api/v1/namespaces/s/services/x:y/proxy")->prefix,
            "/api/v1/namespaces/s/services/x:y/proxy");
}

TEST(Address, WhatIsNoServerIsRefused) {
  for (const char* wrong : {"", "ftp://h", "http://", "http://h:0", "http://h:99999", "http://h:x",
                            "http://h/?a=b", "http://h/#x", "http://[::1", "http://[::1]8",
                            "http://me:secret@h", "http://h h", "http://h/\n"}) {
    const auto parsed = parse_address(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_THAT(parsed.error().message, HasSubstr("write http://HOST:PORT")) << wrong;
  }
}

TEST(Client, ATokenStaysOnThisMachineWithoutTls) {
  EXPECT_TRUE(is_open_to_the_network("http://gpu.example:8180"));
  EXPECT_TRUE(is_open_to_the_network("gpu.example:8180"));
  EXPECT_FALSE(is_open_to_the_network("127.0.0.1:8180"));
  EXPECT_FALSE(is_open_to_the_network("https://gpu.example"));
  Client client(
      {.url = "gpu.example:8180", .ca_file = "", .cert_file = "", .key_file = "", .token = "t"});
  const auto answer = client.get("/v1/queue", "*/*");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("in the clear"));
}

}  // namespace
}  // namespace slackline::client
