#include "http/server/request_head.h"

#include <string>

#include <gtest/gtest.h>

namespace slackline::http {
namespace {

Refusal parse(const std::string& head, RequestHead& out) {
  return parse_head(head, 100, out);
}

int status_of(const std::string& head) {
  RequestHead out;
  return parse(head, out).status;
}

TEST(RequestHead, KeepsWhatHandlersNeed) {
  RequestHead head;
  ASSERT_EQ(
      parse("POST /filter?a=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 42\r\nAccept: text/plain\r\n"
            "Content-Type: application/json\r\nAuthorization: Bearer t\r\n\r\n",
            head)
          .status,
      0);
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.target, "/filter?a=1");
  EXPECT_EQ(head.content_length, 42U);
  EXPECT_EQ(head.accept, "text/plain");
  EXPECT_EQ(head.content_type, "application/json");
  EXPECT_EQ(head.authorization, "Bearer t");
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.expects_continue);
}

TEST(RequestHead, KnowsWhenTheConnectionEnds) {
  RequestHead head;
  ASSERT_EQ(parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", head).status, 0);
  EXPECT_FALSE(head.keep_alive);
  ASSERT_EQ(parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", head).status, 0);
  EXPECT_FALSE(head.keep_alive) << "HTTP/1.0 is always closed";
}

TEST(RequestHead, OfAnAbsoluteTargetTheHostCounts) {
  RequestHead head;
  ASSERT_EQ(
      parse("GET HTTP://a:80/x?y=1 HTTP/1.1\r\nHost: b\r\nOrigin: http://c\r\n\r\n", head).status,
      0);
  EXPECT_EQ(head.target, "/x?y=1");
  EXPECT_EQ(head.host, "a:80");
  EXPECT_EQ(head.origin, "http://c");
  ASSERT_EQ(parse("GET http://a HTTP/1.1\r\nHost: b\r\n\r\n", head).status, 0);
  EXPECT_EQ(head.target, "/");
  ASSERT_EQ(parse("GET http://a?q HTTP/1.1\r\nHost: b\r\n\r\n", head).status, 0);
  EXPECT_EQ(head.target, "/?q");
  EXPECT_EQ(status_of("GET http:///x HTTP/1.1\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET http://user@a/x HTTP/1.1\r\nHost: b\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET http://a/x HTTP/1.1\r\n\r\n"), 400) << "Host is needed all the same";
}

TEST(RequestHead, AnEmptyLineBeforeItMeansNothing) {
  const std::string bytes = "\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n";
  for (std::size_t seen = 0; seen < bytes.size(); ++seen)
    EXPECT_EQ(find_head_end(bytes, seen), bytes.size()) << seen;
  for (std::size_t seen = 0; seen < bytes.size(); ++seen)
    EXPECT_EQ(check_start(bytes.substr(0, seen)).status, 0) << seen;
  EXPECT_EQ(status_of(bytes), 0);
  EXPECT_EQ(find_head_end("\r\n\r\n", 0), std::string_view::npos);
  EXPECT_EQ(check_start("\r\n\r\n").status, 400) << "one is enough";
}

TEST(RequestHead, RefusesWhatSmugglingIsMadeOf) {
  const std::string start = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(status_of(start + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Content-Length: 3\r\nContent-Length: 3\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Content-Length: 3, 3\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Content-Length: +3\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Content-Length: -3\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Content-Length: 99999999999999999999\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Content-Length: 3\r\n X: folded\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Content-Length : 3\r\n\r\n"), 400);
  EXPECT_EQ(status_of(start + "Host: other\r\nContent-Length: 3\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of(std::string("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", 29)), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n"), 400);
}

TEST(RequestHead, WantsALengthAndTheBodyAsItIs) {
  const std::string start = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(status_of(start + "\r\n"), 411);
  EXPECT_EQ(status_of(start + "Transfer-Encoding: chunked\r\n\r\n"), 411);
  EXPECT_EQ(status_of(start + "Content-Length: 3\r\nContent-Encoding: gzip\r\n\r\n"), 415);
  EXPECT_EQ(status_of(start + "Content-Length: 3\r\nContent-Encoding: Identity\r\n\r\n"), 0);
  EXPECT_EQ(status_of(start + "Content-Length: 3\r\nExpect: a-pony\r\n\r\n"), 417);
  EXPECT_EQ(status_of(start + "Content-Length: 0\r\n\r\n"), 0);
}

TEST(RequestHead, CountsFields) {
  std::string head = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 100; ++i)
    head += "X-" + std::to_string(i) + ": y\r\n";
  EXPECT_EQ(status_of(head + "\r\n"), 431);
}

TEST(RequestHead, FindsTheValuesOfAField) {
  const std::string head =
      "GET /a?x-b: 0 HTTP/1.1\r\nHost: h\r\nX-B:1\r\nX-BC: 2\r\nx-b: a: b \r\n\r\nX-B: body\r\n";
  const std::string_view whole = std::string_view(head).substr(0, find_head_end(head, 0));
  EXPECT_EQ(field_values(whole, "x-b"), (std::vector<std::string>{"1", "a: b"}));
  EXPECT_TRUE(field_values(whole, "X-C").empty());
  EXPECT_TRUE(field_values("", "X-B").empty());
}

TEST(RequestHead, FindsItsEndAcrossPieces) {
  const std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n\r\nrest";
  for (std::size_t seen = 0; seen <= 27; ++seen)
    EXPECT_EQ(find_head_end(bytes, std::min<std::size_t>(seen, 26)), 27U) << seen;
  EXPECT_EQ(find_head_end("GET / HTTP/1.1\r\n\r", 0), std::string_view::npos);
}

TEST(RequestHead, TellsAtOnceWhatIsNotHttp) {
  EXPECT_EQ(check_start("").status, 0);
  EXPECT_EQ(check_start("GET / HT").status, 0);
  EXPECT_EQ(check_start("GET / HTTP/1.1\r\nHo").status, 0);
  EXPECT_EQ(check_start("\x16\x03\x01").status, 400);
  EXPECT_EQ(check_start("GET /\r\n").status, 400);
  EXPECT_EQ(check_start("GET / HTTP/1.1\nHost: h\n").status, 400);
  EXPECT_EQ(check_start("PRI * HTTP/2.0\r\n").status, 505);
}

}  // namespace
}  // namespace slackline::http
