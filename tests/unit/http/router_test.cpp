#include "http/server/router.h"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace slackline::http {
namespace {

// Answers with what it was given, so that the tests read it back.
Response describe(const Request& request) {
  Response response;
  for (const auto& [key, value] : request.params)
    response.body += key + "=" + value + ";";
  for (const auto& [key, value] : request.query)
    response.body += "?" + key + "=" + value + ";";
  return response;
}

Handler says(std::string text) {
  return [text = std::move(text)](const Request&) { return Response{200, "", text, {}}; };
}

class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    router_.add({"GET", "/", says("root"), 0, Pool::kThreads});
    router_.add({"GET", "/v1/tasks", describe, 0, Pool::kThreads});
    router_.add({"GET", "/v1/tasks/{ns}/{name}", describe, 0, Pool::kThreads});
    router_.add({"GET", "/v1/tasks/{ns}/all", says("fixed"), 0, Pool::kThreads});
    router_.add({"PUT", "/v1/tasks", says("put"), 10, Pool::kThreads});
    router_.add({"POST", "/filter", says("filter"), 1 << 20, Pool::kHot});
  }

  Response ask(std::string_view method, std::string_view target) const {
    Request request;
    request.method = method;
    return router_.dispatch(request, target);
  }
  int status(std::string_view target) const { return ask("GET", target).status; }

  Router router_;
};

TEST_F(RouterTest, FindsFixedPathsAndNames) {
  EXPECT_EQ(ask("GET", "/").body, "root");
  EXPECT_EQ(ask("POST", "/filter").body, "filter");
  EXPECT_EQ(ask("GET", "/v1/tasks/team-a/train-1").body, "name=train-1;ns=team-a;");
}

TEST_F(RouterTest, AFixedSegmentWinsOverAName) {
  EXPECT_EQ(ask("GET", "/v1/tasks/team-a/all").body, "fixed");
}

TEST_F(RouterTest, ANameWithSlashesIsTakenWhereTheRouteTakesThem) {
  for (const auto& [method, pattern] :
       {std::pair("GET", "/v1/models/{model}"), std::pair("DELETE", "/v1/models/{model}"),
        std::pair("GET", "/v1/models/{model}/samples")}) {
    Route route{method, pattern, describe};
    route.takes_slashes = true;
    router_.add(std::move(route));
  }
  EXPECT_EQ(ask("GET", "/v1/models/llama").body, "model=llama;");
  EXPECT_EQ(ask("GET", "/v1/models/meta/llama/8B").body, "model=meta/llama/8B;");
  EXPECT_EQ(ask("DELETE", "/v1/models/meta/llama").body, "model=meta/llama;");
  const auto route = [this](std::string_view method, std::string_view target) {
    const Router::Resolution found = router_.resolve(method, target);
    return found.route == nullptr ? std::to_string(found.refusal.status) : found.route->pattern;
  };
  for (const char* path : {"/v1/models/llama/samples", "/v1/models/meta/llama/samples"}) {
    EXPECT_EQ(route("GET", path), "/v1/models/{model}/samples") << path;
    EXPECT_EQ(route("DELETE", path), "405") << path;
  }
  EXPECT_EQ(ask("GET", "/v1/models/meta/llama/samples").body, "model=meta/llama;");
  for (const char* path : {"/v1/models/a//b", "/v1/models/a/", "/v1/models//a", "/v1/models/"})
    EXPECT_EQ(status(path), 404) << path;
  for (const char* path : {"/v1/models/a/../b", "/v1/models/a%2fb", "/v1/models/a/%2e%2e"})
    EXPECT_EQ(status(path), 400) << path;
}

TEST_F(RouterTest, HeadIsAnsweredByGet) {
  EXPECT_EQ(ask("HEAD", "/").status, 200);
}

TEST_F(RouterTest, AnotherMethodIsToldWhichOnesThereAre) {
  const Response response = ask("DELETE", "/v1/tasks");
  EXPECT_EQ(response.status, 405);
  ASSERT_EQ(response.headers.size(), 1U);
  EXPECT_EQ(response.headers[0], (std::pair<std::string, std::string>("Allow", "GET, PUT")));
}

TEST_F(RouterTest, UnknownPathsAreNotFound) {
  for (const char* path : {"/nope", "/v1", "/v1/tasks/", "/v1/tasks/a", "/v1/tasks/a/b/c", "//",
                           "/v1//tasks", "/v1/tasks//b", "/FILTER"})
    EXPECT_EQ(status(path), 404) << path;
}

TEST_F(RouterTest, PathsThatClimbOrHideBytesAreRefused) {
  for (const char* path :
       {"/../etc/passwd", "/v1/../filter", "/v1/%2e%2e/filter", "/v1/.%2E/x", "/./filter", "/%00",
        "/v1/tasks/a%00b/c", "/v1/tasks/a%2fb/c", "/v1/tasks/a%5cb/c", "/%0a", "/%zz", "/%4",
        "filter", "http://host/filter", "*", "", "/filter#x"})
    EXPECT_EQ(status(path), 400) << path;
}

TEST_F(RouterTest, DecodesThePathAndTheQuery) {
  EXPECT_EQ(ask("GET", "/v1/tasks/team%2Da/b+c").body, "name=b+c;ns=team-a;");
  EXPECT_EQ(ask("GET", "/v1/tasks?pod=ns%2Fa&q=x+y&flag&empty=").body,
            "?empty=;?flag=;?pod=ns/a;?q=x y;");
}

TEST_F(RouterTest, QueriesAreBounded) {
  EXPECT_EQ(status("/v1/tasks?q=" + std::string(4'000, 'x')), 200);
  EXPECT_EQ(status("/v1/tasks?q=" + std::string(5'000, 'x')), 400);
  EXPECT_EQ(status("/v1/tasks?a=1&a=2"), 400);
  EXPECT_EQ(status("/v1/tasks?a=%00"), 400);
  EXPECT_EQ(status("/v1/tasks?a=%g1"), 400);
  std::string many = "/v1/tasks?";
  for (int i = 0; i < 40; ++i)
    many += "k" + std::to_string(i) + "=1&";
  EXPECT_EQ(status(many), 400);
  EXPECT_EQ(status("/" + std::string(2'000, 'x')), 400);
}

TEST_F(RouterTest, AParameterThatTheRouteDoesNotKnowIsRefusedWhereItSaysWhichItKnows) {
  Route lists{"GET", "/v1/nodes", describe};
  lists.parameters = {Parameter{"limit"}, Parameter{"output"}};
  router_.add(std::move(lists));
  EXPECT_EQ(status("/v1/nodes?limit=3"), 200);
  const Response refused = ask("GET", "/v1/nodes?limt=3");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.body, "unknown parameter \"limt\"; /v1/nodes takes limit, output\n");
  EXPECT_EQ(status("/v1/tasks?whatever=1"), 200) << "this one takes any";
}

TEST_F(RouterTest, AnExceptionIsA500ThatRepeatsNothing) {
  router_.add({"GET", "/throws",
               [](const Request&) -> Response { throw std::runtime_error("secret 4711"); }, 0,
               Pool::kThreads});
  router_.add(
      {"GET", "/throws-odd", [](const Request&) -> Response { throw 7; }, 0, Pool::kThreads});
  const Response response = ask("GET", "/throws");
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body.find("4711"), std::string::npos);
  EXPECT_EQ(status("/throws-odd"), 500);
}

TEST_F(RouterTest, ErrorsLookAsTheOwnerLikes) {
  router_.set_error_page([](int code, std::string_view message) {
    return Response{code, "application/json", "{\"message\":\"" + std::string(message) + "\"}", {}};
  });
  EXPECT_EQ(ask("GET", "/nope").body, R"({"message":"no such path"})");
}

TEST_F(RouterTest, TwoRoutesForOnePathAreABug) {
  EXPECT_DEATH(router_.add({"GET", "/", says("again"), 0, Pool::kThreads}), "two routes for GET /");
}

TEST(RouterAlone, WithoutWritesOnlyWhatReadsIsAnswered) {
  Router router;
  const auto yes = [](const Request&) { return Response(); };
  router.add({"GET", "/v1/models/{model}", yes});
  router.add({"PUT", "/v1/models/{model}", yes});
  router.add({"POST", "/v1/models/{model}/samples", yes});
  router.drop_writes();
  EXPECT_NE(router.resolve("GET", "/v1/models/a").route, nullptr);
  EXPECT_NE(router.resolve("HEAD", "/v1/models/a").route, nullptr);
  EXPECT_EQ(router.resolve("PUT", "/v1/models/a").refusal.status, 405);
  EXPECT_EQ(router.resolve("POST", "/v1/models/a/samples").refusal.status, 404);
}

TEST(RouterAlone, A404SaysWhatListenerItIs) {
  Router router;
  EXPECT_EQ(router.resolve("GET", "/v1/queue").refusal.body, "no such path\n");
  router.set_about("this is another listener");
  EXPECT_EQ(router.resolve("GET", "/v1/queue").refusal.body,
            "no such path: this is another listener\n");
}

}  // namespace
}  // namespace slackline::http
