// REST off loopback: the right that a request needs, and the answer to a caller without it.
#include "http/routes/api_guard.h"

#include <gmock/gmock.h>

#include "cluster/api/reviewer.h"
#include "slackline/base/text.h"
#include "support/fake_clock.h"

namespace slackline::http {
namespace {

using ::testing::HasSubstr;

// Every token but "stolen..." begins with its owner's name; jane may do anything in team-a, joe may
// delete models. "pod..." is of a pod of team-a, which may do nothing.
class FakeReviewer final : public cluster::Reviewer {
 public:
  Result<std::optional<Requester>> who_is(const std::string& token) override {
    ++asked;
    if (down) return fail(ErrorCode::kUnavailable, "connection refused");
    if (token.starts_with("stolen")) return std::optional<Requester>();
    if (token.starts_with("pod"))
      return std::optional(Requester{
          .name = "system:serviceaccount:team-a:default", .uid = {}, .groups = {}, .extra = {}});
    return std::optional(
        Requester{.name = token.substr(0, token.find('.')), .uid = {}, .groups = {}, .extra = {}});
  }
  Result<bool> may(const Requester& user, const ApiDemand& demand) override {
    if (user.name == "joe") return demand.verb == "delete" && demand.resource == "models";
    return user.name == "jane" && demand.ns == "team-a";
  }
  bool down = false;
  int asked = 0;
};

class ApiGuardTest : public testing::Test {
 protected:
  ApiGuardTest() {
    const auto answer = [](const Request&) { return Response{}; };
    const auto add = [&](const char* method, const char* pattern, const char* parameter) {
      router_.add({.method = method,
                   .pattern = pattern,
                   .handler = answer,
                   .max_body = 100,
                   .namespace_parameter = parameter});
    };
    for (const char* pattern : {"/v1/tasks/{ns}/{name}", "/v1/nodes", "/livez"})
      add("GET", pattern, "");
    for (const char* pattern : {"/v1/queue", "/v1/history"})
      add("GET", pattern, "namespace");
    add("GET", "/v1/scores", "pod");
    add("POST", "/v1/scores", "namespace");
    add("POST", "/v1/models/{model}/samples", "");
    router_.add({.method = "POST",
                 .pattern = "/v1/tasks/{ns}/{name}/progress",
                 .handler = answer,
                 .max_body = 100,
                 .for_workloads = true});
    router_.add({"DELETE", "/v1/models/{model}", answer, 0, Pool::kThreads});
    router_.set_guard(make_api_guard(rights_));
  }

  Response ask(std::string_view target, std::string_view authorization,
               std::string_view method = "GET", std::string_view peer = "10.0.0.1") {
    Request request;
    request.method = method;
    request.peer = peer;
    request.authorization = authorization;
    return router_.dispatch(request, target);
  }

  FakeReviewer reviewer_;
  test::FakeClock clock_;
  control::Rights rights_{&reviewer_, clock_};
  Router router_;
};

TEST_F(ApiGuardTest, TheNamespaceIsThatOfThePathOrTheQuery) {
  for (const char* target : {"/v1/queue?namespace=team-a", "/v1/history?queue=x&namespace=team-a",
                             "/v1/tasks/team-a/train", "/v1/scores?pod=team-a%2Ftrain-0"})
    EXPECT_EQ(ask(target, "Bearer jane.b.c").status, 200) << target;
  for (const char* target :
       {"/v1/queue", "/v1/queue?namespace=team-b", "/v1/history", "/v1/history?queue=team-a",
        "/v1/tasks/team-b/train", "/v1/nodes", "/v1/scores?pod=team-b%2Ftrain-0",
        "/v1/queue?namespace=", "/v1/scores?pod=team-b%2Ftrain-0&namespace=team-a",
        "/v1/queue?pod=team-a%2Fx", "/v1/nodes?namespace=team-a",
        "/v1/tasks/team-b/train?namespace=team-a"})
    EXPECT_EQ(ask(target, "Bearer jane.b.c").status, 403) << target;
}

TEST_F(ApiGuardTest, AManifestIsJudgedInTheNamespaceOfTheQuery) {
  EXPECT_EQ(ask("/v1/scores?namespace=team-a", "Bearer jane.b.c", "POST").status, 200);
  for (const char* target :
       {"/v1/scores", "/v1/scores?namespace=team-b", "/v1/scores?pod=team-a/x"})
    EXPECT_EQ(ask(target, "Bearer jane.b.c", "POST").status, 403) << target;
}

TEST_F(ApiGuardTest, WorkloadsNeedTheirNamespaceAndNoRight) {
  const auto tell = [&](const char* ns, const char* token) {
    return ask(format("/v1/tasks/{}/train/progress", ns), token, "POST");
  };
  EXPECT_EQ(tell("team-a", "Bearer pod.b.c").status, 200);
  const Response elsewhere = tell("team-b", "Bearer pod.b.c");
  EXPECT_EQ(elsewhere.status, 403);
  EXPECT_THAT(elsewhere.body, HasSubstr("is not a ServiceAccount of the namespace team-b; send"));
  EXPECT_EQ(tell("team-a", "Bearer jane.b.c").status, 403) << "people are no workloads";
  EXPECT_EQ(ask("/v1/tasks/team-a/train", "Bearer pod.b.c").status, 403);
}

TEST_F(ApiGuardTest, ARefusalSaysWhatToDo) {
  EXPECT_THAT(ask("/v1/tasks/team-b/train", "bearer jane.b.c").body,
              HasSubstr("jane may not get tasks.slackline.dev in the namespace team-b"));
  EXPECT_THAT(ask("/v1/models/m/samples", "Bearer jane.b.c", "POST").body,
              HasSubstr("jane may not create models.slackline.dev in all namespaces"));
  const Response nobody = ask("/v1/queue", "");
  EXPECT_EQ(nobody.status, 401);
  EXPECT_THAT(nobody.body, HasSubstr("kubectl create token"));
  EXPECT_EQ(nobody.headers.front().first, "WWW-Authenticate");
}

TEST_F(ApiGuardTest, ToDeleteAModelIsARightOfItsOwn) {
  const Response refused = ask("/v1/models/m", "Bearer jane.b.c", "DELETE");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("jane may not delete models.slackline.dev"));
  EXPECT_EQ(ask("/v1/models/m", "Bearer joe.b.c", "DELETE").status, 200);
  EXPECT_EQ(ask("/v1/models/m/samples", "Bearer joe.b.c", "POST").status, 403);
}

TEST_F(ApiGuardTest, OnlyATokenThatTheApiServerKnowsIsSomebody) {
  for (const char* authorization : {"Bearer stolen.b.c", "Basic amFuZTpqYW5l", "Bearer ", "jane"})
    EXPECT_EQ(ask("/v1/queue?namespace=team-a", authorization).status, 401) << authorization;
}

TEST_F(ApiGuardTest, TheApiServerIsNotAskedAboutWhatCannotBeAToken) {
  const std::string absurd = "Bearer a.b." + std::string(20'000, 'c');
  for (const std::string authorization :
       {"Bearer jane", "Bearer a.b", "Bearer a..c", "Bearer a.b.c.d", "Bearer a.b.c\xff",
        "Bearer sha256~secret.b.c", absurd.c_str()})
    EXPECT_EQ(ask("/v1/queue", authorization).status, 401) << authorization.substr(0, 40);
  EXPECT_EQ(reviewer_.asked, 0);
}

TEST_F(ApiGuardTest, APeerThatTriesManyTokensIsAskedToWaitAndNobodyElse) {
  for (int i = 0; i < 100; ++i)
    ask("/v1/queue", "Bearer stolen" + std::to_string(i) + ".b.c");
  EXPECT_EQ(reviewer_.asked, 16);
  EXPECT_EQ(ask("/v1/queue", "Bearer stolen-too.b.c").status, 429);
  EXPECT_EQ(ask("/v1/queue?namespace=team-a", "Bearer jane.b.c", "GET", "10.0.0.2").status, 200);
  EXPECT_EQ(ask("/v1/queue?namespace=team-a", "Bearer jane.b.c").status, 200)
      << "who is known already may come from there too";
  clock_.advance(3);
  EXPECT_EQ(ask("/v1/queue", "Bearer stolen-too.b.c").status, 401);
}

TEST_F(ApiGuardTest, WhileTheApiServerIsAwayNothingIsShown) {
  reviewer_.down = true;
  EXPECT_EQ(ask("/v1/queue?namespace=team-a", "Bearer jane.b.c").status, 503);
}

TEST_F(ApiGuardTest, HealthIsForEverybody) {
  EXPECT_EQ(ask("/livez", "").status, 200);
}

}  // namespace
}  // namespace slackline::http
