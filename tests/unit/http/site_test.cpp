#include "http/server/site.h"

#include <string>

#include <gtest/gtest.h>

namespace slackline::http {
namespace {

int status_of(const std::string& method, const std::string& host, const std::string& origin) {
  RequestHead head;
  head.method = method;
  head.host = host;
  head.origin = origin;
  return check_site(head).status;
}

TEST(Site, KnowsLoopbackNames) {
  for (const char* host : {"localhost", "LocalHost:80", "localhost.", "127.0.0.1:8181", "127.9.9.9",
                           "[::1]", "[::1]:8180"})
    EXPECT_TRUE(is_loopback_host(host)) << host;
  for (const char* host : {"", ":80", "evil.example", "localhost.evil.example", "127.0.0.1.evil",
                           "127.1", "10.0.0.1", "[::1", "[::1]x", "[::2]", "::1", "0.0.0.0"})
    EXPECT_FALSE(is_loopback_host(host)) << host;
}

TEST(Site, OnlyItsOwnPagesWrite) {
  EXPECT_EQ(status_of("POST", "localhost:1", ""), 0) << "no browser";
  EXPECT_EQ(status_of("POST", "localhost:1", "http://localhost:1"), 0);
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"})
    for (const char* origin : {"http://evil.example", "null", "http://localhost:2", "localhost:1"})
      EXPECT_EQ(status_of(method, "localhost:1", origin), 403) << method << " " << origin;
  EXPECT_EQ(status_of("GET", "localhost:1", "http://evil.example"), 0);
  EXPECT_EQ(status_of("GET", "evil.example", ""), 421);
}

}  // namespace
}  // namespace slackline::http
