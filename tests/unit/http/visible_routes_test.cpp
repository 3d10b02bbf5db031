// The aggregated API: its paths, whom it believes, and that REST's guard judges who asks.
#include "http/routes/visible_routes.h"

#include <gmock/gmock.h>

#include "cluster/api/reviewer.h"
#include "http/routes/api_guard.h"
#include "http/routes/visible_paths.h"
#include "slackline/base/text.h"
#include "support/fake_clock.h"

namespace slackline::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kRoot(kVisibilityRoot);

std::string rest_of(const std::string& path, std::string_view method = "GET") {
  return rest_target(method, kRoot + path).value_or("nothing");
}

TEST(VisiblePaths, TheNamespaceIsThatOfThePath) {
  EXPECT_EQ(rest_of("/namespaces/team-a/tasks/train"), "/v1/tasks/team-a/train");
  EXPECT_EQ(rest_of("/namespaces/team-a/tasks/train/explain?node=a1"),
            "/v1/tasks/team-a/train/explain?node=a1");
  EXPECT_EQ(rest_of("/namespaces/team-a/tasks?output=table"),
            "/v1/tasks?namespace=team-a&output=table");
  EXPECT_EQ(rest_of("/namespaces/team-a/reports/shadow"), "/v1/reports/shadow?namespace=team-a");
  EXPECT_EQ(rest_of("/namespaces/team-a/scores/train-0"), "/v1/scores?pod=team-a/train-0");
  EXPECT_EQ(rest_of("/namespaces/team-a/quote", "POST"), "/v1/quote?namespace=team-a");
  EXPECT_EQ(rest_of("/nodes"), "/v1/nodes");
  EXPECT_EQ(rest_of("/models/resnet50/samples"), "/v1/models/resnet50/samples");
  EXPECT_EQ(rest_of("/readyz?verbose"), "/readyz?verbose");
}

TEST(VisiblePaths, NothingElseIsThere) {
  for (const char* path :
       {"", "/", "/events", "/webhook/mutate", "/namespaces", "/namespaces/team-a",
        "/namespaces/team-a/", "/namespaces/team-a/nodes", "/namespaces/team-a/metrics",
        "/namespaces/a&all=true/queue", "/namespaces/a%2Fb/queue", "/namespaces/team-a/scores",
        "/namespaces/team-a/scores/a&pod=team-b/x", "/tasks/team-b/train", "/readyz/x"})
    EXPECT_EQ(rest_of(path), "nothing") << path;
  for (const char* path :
       {"/queue", "/models/m/samples", "/namespaces/team-a/tasks/train/progress"})
    EXPECT_EQ(rest_of(path, "POST"), "nothing") << path;
  EXPECT_EQ(rest_of("/models/m", "DELETE"), "nothing");
  EXPECT_EQ(rest_target("GET", "/v1/tasks"), std::nullopt);
}

TEST(VisiblePaths, WhatThePluginAsksComesOutAgain) {
  for (const char* path :
       {"/v1/tasks/team-a/train/eta?output=json", "/v1/queue?namespace=team-a&output=table",
        "/v1/queue?output=table", "/v1/scores?pod=team-a/train-0&output=csv",
        "/v1/decisions?verb=bind", "/v1/reports/shadow?namespace=team-a&since=7d",
        "/v1/models/m/samples?limit=5", "/v1/nodes", "/readyz?verbose", "/metrics"}) {
    const auto there = visible_target("GET", path);
    ASSERT_TRUE(there) << path;
    EXPECT_EQ(rest_target("GET", *there), path);
  }
  EXPECT_EQ(visible_target("GET", "/v1/queue?all=true&namespace=team-a&name=x"),
            kRoot + "/namespaces/team-a/queue?all=true&name=x");
  EXPECT_EQ(visible_target("POST", "/v1/scores?namespace=team-a"),
            kRoot + "/namespaces/team-a/scores");
  EXPECT_EQ(visible_target("DELETE", "/v1/models/m"), std::nullopt);
  EXPECT_EQ(visible_target("GET", "/v1/events"), std::nullopt);
}

const FrontProxy kProxy{.client_ca = "PEM", .allowed_names = {"front-proxy-client"}};

struct Asks {
  std::string_view head =
      "GET / HTTP/1.1\r\nHost: x\r\nx-remote-user: jane\r\nX-Remote-Group: a\r\n"
      "X-Remote-Group:  b \r\nX-Remote-Groups: c\r\n\r\n";
  std::string_view tls_peer = "front-proxy-client";

  Request request() const {
    Request request;
    request.method = "GET";
    request.head = head;
    request.tls_peer = tls_peer;
    return request;
  }
};

TEST(VisibleCaller, IsWhomTheFrontProxyNames) {
  const auto caller = caller_of(kProxy, Asks().request());
  ASSERT_TRUE(caller) << caller.error().message;
  EXPECT_EQ(caller->name, "jane");
  EXPECT_THAT(caller->groups, ElementsAre("a", "b"));
  FrontProxy any = kProxy;
  any.allowed_names.clear();
  EXPECT_TRUE(caller_of(any, Asks{.tls_peer = "other"}.request()));
}

TEST(VisibleCaller, NobodyElseIsBelieved) {
  for (const char* peer : {"", "other", "front-proxy-client2"})
    EXPECT_FALSE(caller_of(kProxy, Asks{.tls_peer = peer}.request())) << peer;
  FrontProxy any = kProxy;
  any.allowed_names.clear();
  EXPECT_FALSE(caller_of(any, Asks{.tls_peer = ""}.request())) << "without a certificate";
  EXPECT_FALSE(caller_of(FrontProxy(), Asks().request())) << "while it is not known";
  const auto nobody =
      caller_of(kProxy, Asks{.head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"}.request());
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::kForbidden);
}

// Those of group a may get tasks in team-a, of whatever name they are.
class GroupReviewer final : public cluster::Reviewer {
 public:
  Result<std::optional<Requester>> who_is(const std::string&) override {
    ADD_FAILURE() << "there is no token";
    return std::optional<Requester>();
  }
  Result<bool> may(const Requester& user, const ApiDemand& demand) override {
    return !user.groups.empty() && user.groups[0] == "a" && demand.ns == "team-a" &&
           demand.resource == "tasks";
  }
};

class VisibleRoutesTest : public testing::Test {
 protected:
  VisibleRoutesTest() {
    rest_.add({.method = "GET",
               .pattern = "/v1/tasks",
               .handler =
                   [this](const Request& request) {
                     control::Viewer viewer = viewer_of(rights_, request);
                     Response response;
                     response.body = format("{} {} {}", request.target, viewer.sees("team-a"),
                                            viewer.sees("team-b"));
                     return response;
                   },
               .namespace_parameter = "namespace"});
    rest_.set_guard(make_api_guard(rights_));
    add_visible_routes(router_, rest_, proxy_);
  }

  Response ask(const std::string& path, const Asks& asks = {}) {
    Request request = asks.request();
    request.authorization = "Bearer a.b.c";
    return router_.dispatch(request, kRoot + path);
  }

  GroupReviewer reviewer_;
  test::FakeClock clock_;
  control::Rights rights_{&reviewer_, clock_};
  Published<FrontProxy> proxy_{kProxy};
  Router rest_;
  Router router_;
};

TEST_F(VisibleRoutesTest, TheGuardJudgesTheCallerAndSoDoTheViews) {
  const Response mine = ask("/namespaces/team-a/tasks");
  EXPECT_EQ(mine.status, 200) << mine.body;
  EXPECT_EQ(mine.body, "/v1/tasks?namespace=team-a true false");
  const Response theirs = ask("/namespaces/team-b/tasks");
  EXPECT_EQ(theirs.status, 403);
  EXPECT_THAT(theirs.body, HasSubstr("jane may not get tasks.slackline.dev"));
  EXPECT_EQ(ask("/tasks").status, 403) << "in all namespaces";
  EXPECT_EQ(ask("/namespaces/team-a/tasks?namespace=team-b").status, 400);
}

TEST_F(VisibleRoutesTest, WithoutTheFrontProxysCertificateNobodyIsAsked) {
  EXPECT_EQ(ask("/namespaces/team-a/tasks", {.tls_peer = ""}).status, 403);
  EXPECT_EQ(ask("/namespaces/team-a/tasks", {.tls_peer = "jane"}).status, 403);
  proxy_.set(FrontProxy());
  EXPECT_EQ(ask("/namespaces/team-a/tasks").status, 403);
}

TEST_F(VisibleRoutesTest, WhatIsThereCannotBeListedByControllers) {
  const Response list = ask("");
  EXPECT_EQ(list.status, 200);
  EXPECT_THAT(list.body, HasSubstr(R"("kind":"APIResourceList")"));
  EXPECT_THAT(list.body, HasSubstr(R"("name":"quote")"));
  EXPECT_THAT(list.body, Not(HasSubstr(R"("list")")));
  EXPECT_THAT(list.body, Not(HasSubstr("delete")));
  const Response none = ask("/secrets");
  EXPECT_EQ(none.status, 404);
  EXPECT_THAT(none.body, HasSubstr(R"("kind":"Status")"));
}

}  // namespace
}  // namespace slackline::http
