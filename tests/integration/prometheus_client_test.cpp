// How a Prometheus is asked, over real sockets, and what becomes of every answer that is none. The
// good answers of a real one: tests/e2e/test_usage.py.
#include "telemetry/prometheus_client.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_api_server.h"
#include "support/temporary_folder.h"
#include "telemetry/usage_reader.h"

namespace slackline::telemetry {
namespace {

using test::FakeConnection;
using test::FakeRequest;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kQuery = "POST /prefix/api/v1/query";
constexpr const char* kRange = "POST /prefix/api/v1/query_range";
constexpr const char* kEmpty = R"({"status":"success","data":{"resultType":"vector","result":[]}})";

class PrometheusClientTest : public testing::Test {
 protected:
  PrometheusClientTest() {
    settings_.url = server_.url() + "/prefix/";
    settings_.timeout_s = 5;
  }
  void answer(int status, const std::string& body) {
    server_.always(kQuery, [status, body](const FakeRequest&, FakeConnection& connection) {
      connection.reply(status, body);
    });
  }
  Error failure() {
    auto client = PrometheusClient::make(settings_);
    if (!client) return client.error();
    const auto got = client->query("up", 1.8e9);
    EXPECT_FALSE(got);
    return got ? Error{} : got.error();
  }

  test::FakeApiServer server_;
  test::TemporaryFolder folder_;
  PrometheusSettings settings_;
};

TEST_F(PrometheusClientTest, AQueryIsAFormWithTokenAndTenantBelowThePrefix) {
  settings_.bearer_token_file = folder_.file("token");
  settings_.tenant = "team-a";
  std::ofstream(settings_.bearer_token_file) << "first\n";
  answer(200, kEmpty);
  auto client = PrometheusClient::make(settings_);
  ASSERT_TRUE(client) << client.error().message;
  ASSERT_TRUE(client->query("a{b=\"c d\"} + 1", 1.8e9));
  std::ofstream(settings_.bearer_token_file) << "second\n";
  ASSERT_TRUE(client->query("up", 1.8e9));
  const auto seen = server_.requests(kQuery);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].headers.at("authorization"), "Bearer first");
  EXPECT_EQ(seen[0].headers.at("x-scope-orgid"), "team-a");
  EXPECT_EQ(seen[0].headers.at("content-type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(seen[0].body,
            "query=a%7Bb%3D%22c%20d%22%7D%20%2B%201&time=1800000000.000&timeout=5000ms");
  EXPECT_EQ(seen[1].headers.at("authorization"), "Bearer second") << "tokens are renewed";
}

TEST_F(PrometheusClientTest, AShortTimeoutIsNotRoundedToNone) {
  settings_.timeout_s = 0.4;
  answer(200, kEmpty);
  auto client = PrometheusClient::make(settings_);
  ASSERT_TRUE(client) << client.error().message;
  (void)client->query("up", 1.8e9);  // however long this machine takes
  const auto seen = server_.requests(kQuery);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_THAT(seen[0].body, HasSubstr("&timeout=400ms"));
}

TEST_F(PrometheusClientTest, RefusalsSayWhatToDo) {
  answer(400, R"({"status":"error","errorType":"bad_data","error":"parse error"})");
  EXPECT_EQ(failure().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(failure().message, AllOf(HasSubstr(server_.url() + "/prefix/api/v1/query: HTTP 400"),
                                       HasSubstr("bad_data: parse error")));
  answer(401, "no");
  EXPECT_EQ(failure().code, ErrorCode::kForbidden);
  EXPECT_THAT(failure().message, HasSubstr("bearer token"));
  answer(404, "404 page not found");
  EXPECT_THAT(failure().message, HasSubstr("check its prefix"));
  EXPECT_EQ(failure().code, ErrorCode::kInvalidArgument) << "no lack of data";
  answer(302, "");
  EXPECT_THAT(failure().message, HasSubstr("redirects are not followed"));
  EXPECT_EQ(failure().code, ErrorCode::kInvalidArgument);
  answer(503, R"({"status":"error","errorType":"timeout","error":"query timed out"})");
  EXPECT_EQ(failure().code, ErrorCode::kUnavailable);
  EXPECT_THAT(failure().message, HasSubstr("timeout: query timed out"));
  answer(422, R"({"status":"error","errorType":"execution","error":"too many samples"})");
  EXPECT_EQ(failure().code, ErrorCode::kResourceExhausted);
  answer(429, "");
  EXPECT_EQ(failure().code, ErrorCode::kUnavailable) << "not for its size";
  answer(200, "<html>a login page</html>");
  EXPECT_THAT(failure().message, HasSubstr("not an answer of a Prometheus"));
}

TEST_F(PrometheusClientTest, AnAnswerThatIsTooLongOrNeverComesEnds) {
  settings_.max_body_bytes = 100;
  answer(200, std::string(200, ' '));
  EXPECT_EQ(failure().code, ErrorCode::kResourceExhausted);
  settings_.timeout_s = 0.3;
  server_.always(kQuery, [](const FakeRequest&, FakeConnection& connection) { connection.hang(); });
  EXPECT_EQ(failure().code, ErrorCode::kTimeout);
  server_.stop();
  EXPECT_EQ(failure().code, ErrorCode::kUnavailable);
}

TEST_F(PrometheusClientTest, ATokenIsNeitherLeftOutNorTold) {
  settings_.bearer_token_file = folder_.file("none");
  EXPECT_THAT(failure().message, HasSubstr("cannot be read, or is empty"));
  std::ofstream(settings_.bearer_token_file) << "secret";
  answer(403, "no");
  EXPECT_THAT(failure().message, Not(HasSubstr("secret")));
}

TEST_F(PrometheusClientTest, AUrlThatIsNoneIsSaid) {
  for (const char* url : {"", "prometheus:9090", "ftp://a", "http://", "http:///x", "http://a b",
                          "http://a/?x=1", "http://user:word@a"}) {
    settings_.url = url;
    EXPECT_THAT(failure().message, HasSubstr("write http(s)://HOST[:PORT][/PREFIX]")) << url;
  }
  settings_.url = server_.url();
  settings_.tenant = "a\r\nX-Other: b";
  EXPECT_EQ(failure().code, ErrorCode::kInvalidArgument);
}

TEST_F(PrometheusClientTest, ARunIsReadInStepsAndItsWarningsAreRemarks) {
  server_.always(kRange, [](const FakeRequest&, FakeConnection& connection) {
    connection.reply(
        200, R"({"status":"success","warnings":["a store is away"],"data":{"resultType":"matrix",)"
             R"("result":[{"metric":{"namespace":"ml","pod":"a","container":"c","UUID":"G"},)"
             R"("values":[[1799999940,"0.5"],[1800000000,"0.25"]]}]}})");
  });
  auto client = PrometheusClient::make(settings_);
  ASSERT_TRUE(client);
  UsageReader reader(*client, {});
  const std::vector<MeasuredTask> tasks = {{.task = {"ml", "a"},
                                            .run = Uid("u"),
                                            .window = {1.8e9 - 120, 1.8e9},
                                            .pods = {{.name = "a", .gpus = 1}}}};
  const auto reading = reader.read(tasks, {1.8e9 - 120, 1.8e9});
  ASSERT_TRUE(reading) << reading.error().message;
  ASSERT_EQ(reading->samples.size(), 1u);
  EXPECT_EQ(reading->samples[0].gpu_share->mean, 0.375);
  EXPECT_EQ(reading->samples[0].gpus, UsageQuality::kMeasured);
  EXPECT_THAT(reading->remarks, ::testing::ElementsAre("Prometheus warns: a store is away"));
  const auto seen = server_.requests(kRange);
  ASSERT_EQ(seen.size(), kQuantityCount);
  EXPECT_THAT(seen[0].body, HasSubstr("&start=1799999940.000&end=1800000000.000&step=60.000"));
}

// The answer about the whole cluster would be too large.
TEST_F(PrometheusClientTest, TheManyPodsOfARunAreAskedForInParts) {
  server_.always(kRange, [](const FakeRequest& request, FakeConnection& connection) {
    const bool has_last = request.body.find("p-69%22") != std::string::npos;
    const std::string one = has_last ? "69" : "0";
    connection.reply(200, R"({"status":"success","data":{"resultType":"matrix",)"
                          R"("result":[{"metric":{"namespace":"ml","pod":"p-)" +
                              one + R"(","container":"c","UUID":"G)" + one +
                              R"("},"values":[[1799999940,"0.5"],[1800000000,"0.5"]]}]}})");
  });
  auto client = PrometheusClient::make(settings_);
  ASSERT_TRUE(client);
  UsageReader reader(*client, {});
  std::vector<MeasuredTask> tasks = {
      {.task = {"ml", "a"}, .run = Uid("u"), .window = {1.8e9 - 120, 1.8e9}, .pods = {}}};
  for (int i = 0; i < 70; ++i)
    tasks[0].pods.push_back({.name = "p-" + std::to_string(i), .gpus = 1});
  const auto reading = reader.read(tasks, {1.8e9 - 120, 1.8e9});
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_THAT(reading->remarks, ::testing::IsEmpty());
  EXPECT_EQ(reading->samples.at(0).gpu_share->mean, 0.5);
  const auto seen = server_.requests(kRange);
  ASSERT_EQ(seen.size(), 2 * kQuantityCount);
  EXPECT_THAT(seen[0].body, AllOf(HasSubstr("p-63%22"), Not(HasSubstr("p-64"))));
  EXPECT_THAT(seen[1].body, AllOf(HasSubstr("p-64%7C"), Not(HasSubstr("p-63"))));
}

TEST_F(PrometheusClientTest, ImpossibleValuesAreCountedInRemarks) {
  server_.always(kRange, [](const FakeRequest&, FakeConnection& connection) {
    connection.reply(
        200, R"({"status":"success","data":{"resultType":"matrix",)"
             R"("result":[{"metric":{"namespace":"ml","pod":"a","container":"c","UUID":"G"},)"
             R"("values":[[1799999940,"0.5"],[1800000000,"42949672.95"]]}]}})");
  });
  auto client = PrometheusClient::make(settings_);
  ASSERT_TRUE(client);
  UsageReader reader(*client, {});
  const std::vector<MeasuredTask> tasks = {{.task = {"ml", "a"},
                                            .run = Uid("u"),
                                            .window = {1.8e9 - 120, 1.8e9},
                                            .pods = {{.name = "a", .gpus = 1}}}};
  const auto reading = reader.read(tasks, {1.8e9 - 120, 1.8e9});
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->samples[0].gpu_share->mean, 0.5);
  EXPECT_EQ(reading->samples[0].gap_s, 60);
  EXPECT_THAT(reading->remarks,
              ::testing::Contains("impossible values of DCGM_FI_DEV_GPU_UTIL or "
                                  "DCGM_FI_PROF_GR_ENGINE_ACTIVE (dcgm-exporter), which measure "
                                  "nothing: 1"));
}

TEST_F(PrometheusClientTest, AFailedQueryLeavesNothingKnown) {
  answer(503, "");
  auto client = PrometheusClient::make(settings_);
  ASSERT_TRUE(client);
  UsageReader reader(*client, {});
  const std::vector<MeasuredTask> tasks = {{.task = {"ml", "a"},
                                            .run = Uid("u"),
                                            .window = {1.8e9 - 60, 1.8e9},
                                            .pods = {{.name = "a", .gpus = 1}}}};
  EXPECT_FALSE(reader.read(tasks, {1.8e9 - 60, 1.8e9}));
  EXPECT_EQ(server_.count(kQuery), 1u) << "a server in trouble is not asked for the rest";
}

}  // namespace
}  // namespace slackline::telemetry
