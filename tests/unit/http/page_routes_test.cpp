// The page's files, and the gateway that passes REST on to who knows its secret.
#include "http/routes/page_routes.h"

#include <gmock/gmock.h>

#include "http/routes/api_routes.h"
#include "http/routes/gateway_routes.h"
#include "support/fake_clock.h"
#include "web/page_files.h"

namespace slackline::http {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string header(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return {};
}

Response get(const Router& router, std::string_view target, std::string_view token = "") {
  Request request;
  request.method = "GET";
  request.authorization = token;
  return router.dispatch(request, target);
}

TEST(PageRoutes, EveryFileComesWithItsTypeAndAPolicyWithoutInlineScripts) {
  Router router;
  set_error_pages(router);
  add_page_routes(router);
  ASSERT_FALSE(web::page_files().empty());
  for (const web::PageFile& file : web::page_files()) {
    const Response answer = get(router, "/page/" + std::string(file.name));
    EXPECT_EQ(answer.status, 200) << file.name;
    EXPECT_EQ(answer.body, file.content);
    EXPECT_EQ(answer.content_type, file.content_type);
    EXPECT_THAT(header(answer, "Content-Security-Policy"), HasSubstr("script-src 'self';"));
    EXPECT_THAT(header(answer, "Content-Security-Policy"), Not(HasSubstr("unsafe")));
  }
  EXPECT_THAT(get(router, "/").body, StartsWith("<!doctype html>"));
  EXPECT_EQ(get(router, "/page/app.map").status, 404);
}

TEST(PageRoutes, ThePageIsSmallAndAsksNobodyElse) {
  std::size_t bytes = 0;
  for (const web::PageFile& file : web::page_files()) {
    bytes += file.content.size();
    EXPECT_THAT(std::string(file.content), Not(HasSubstr("https://"))) << file.name;
    EXPECT_THAT(std::string(file.content), Not(HasSubstr("innerHTML"))) << file.name;
  }
  EXPECT_LT(bytes, 100'000U) << "before compression";
}

TEST(GatewayRoutes, PassOnlyForWhoKnowsTheSecret) {
  Router router;
  set_error_pages(router);
  std::string asked;
  add_gateway_routes(router, [&](const Onward& onward) -> Result<std::string> {
    asked = std::string(onward.target);
    if (onward.target.starts_with("/v1/tasks")) return fail(ErrorCode::kNotFound, "no such task");
    return std::string("{}");
  });
  router.set_guard(make_secret_guard("s3cret"));
  EXPECT_EQ(get(router, "/").status, 200) << "the page holds no data";
  for (const char* wrong : {"", "Bearer", "Bearer s3cre", "Bearer s3cret2", "s3cret"})
    EXPECT_EQ(get(router, "/v1/queue", wrong).status, 401) << wrong;
  EXPECT_EQ(asked, "");
  const Response queue = get(router, "/v1/queue?search=a%20b&limit=2", "Bearer s3cret");
  EXPECT_EQ(queue.status, 200);
  EXPECT_EQ(queue.content_type, "application/json");
  EXPECT_EQ(asked, "/v1/queue?search=a%20b&limit=2") << "as it came";
  EXPECT_EQ(get(router, "/v1/tasks/team/x", "Bearer s3cret").status, 404);
  EXPECT_EQ(get(router, "/v1/events", "Bearer s3cret").status, 404) << "the page polls";
  EXPECT_EQ(get(router, "/livez", "Bearer s3cret").status, 404) << "not asked by the page";
}

class EventRoutesTest : public testing::Test {
 protected:
  EventRoutesTest() {
    add_event_routes(router_, [this] { return version_; }, clock_);
  }

  std::string id_of(const std::string& event) { return event.substr(4, event.find('\n') - 4); }

  test::FakeClock clock_;
  std::uint64_t version_ = 1;
  Router router_;
};

TEST_F(EventRoutesTest, AChangeIsToldOnceAndAtMostOnceInASecond) {
  const Response stream = get(router_, "/v1/events");
  ASSERT_TRUE(stream.follow);
  EXPECT_EQ(stream.content_type, "text/event-stream");
  EXPECT_THAT(*stream.follow(), HasSubstr("event: change")) << "who knows nothing is told at once";
  EXPECT_EQ(*stream.follow(), "");
  version_ = 2;
  EXPECT_EQ(*stream.follow(), "") << "too soon after the last";
  clock_.advance(1.1);
  EXPECT_THAT(*stream.follow(), HasSubstr("event: change"));
  clock_.advance(15.1);
  EXPECT_THAT(*stream.follow(), StartsWith(":")) << "a comment keeps the connection";
}

TEST_F(EventRoutesTest, WhoResumesIsToldOnlyWhatHeMissed) {
  const std::string last = id_of(*get(router_, "/v1/events").follow());
  const Response same = get(router_, "/v1/events?since=" + last);
  EXPECT_THAT(*same.follow(), Not(HasSubstr("event: change")));
  version_ = 2;
  EXPECT_THAT(*get(router_, "/v1/events?since=" + last).follow(), HasSubstr("event: change"));
  EXPECT_THAT(*get(router_, "/v1/events?since=other.1").follow(), HasSubstr("event: change"))
      << "an id of another daemon";
}

}  // namespace
}  // namespace slackline::http
