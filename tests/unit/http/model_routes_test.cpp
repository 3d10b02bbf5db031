// Teaching models over REST, without a socket: the routes on a real database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/routes/api_routes.h"
#include "slackline/base/text.h"
#include "store/database.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/temporary_folder.h"
#include "wire/rest/model_codec.h"

namespace slackline::http {
namespace {

using ::testing::HasSubstr;

class ModelRoutesTest : public ::testing::Test {
 protected:
  ModelRoutesTest() { open(); }

  void open() {
    auto opened =
        control::Models::open({.path = folder_.file("m.db")}, WorkloadProfiles{}, metrics_, clock_);
    EXPECT_TRUE(opened) << opened.error().message;
    models_ = std::move(*opened);
    queries_ = std::make_unique<control::Queries>(options_, models_->known(), source_, nullptr,
                                                  clock_, "test");
    router_ = Router();
    add_model_routes(router_, *queries_, *models_, pages_);
  }

  // Opens the database again with this many descriptions in it, written past everybody: one by one
  // takes minutes.
  void open_with_descriptions_of(int count) {
    queries_.reset();
    models_.reset();
    for (const std::string file : {"m.db", "m.db.mirror"}) {
      auto database = store::Database::open_reader(folder_.file(file), 1);
      ASSERT_TRUE(database) << database.error().message;
      ASSERT_TRUE(database->execute(format(
          "PRAGMA query_only=OFF; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM "
          "n WHERE i < {}) INSERT INTO descriptors SELECT 'net-' || i, '', NULL, NULL, '' "
          "FROM n",
          count)));
    }
    open();
  }

  Response send(const char* method, const char* target, const std::string& body = "",
                const char* type = "application/json", const char* accept = "application/json") {
    Request request;
    request.method = method;
    request.body = body;
    request.content_type = type;
    request.accept = accept;
    return router_.dispatch(request, target);
  }

  test::TemporaryFolder folder_;
  obs::MetricsRegistry metrics_;
  test::FakeClock clock_;
  control::DecisionOptions options_;
  test::FakeSource source_{test::a_cluster().build()};
  std::unique_ptr<control::Models> models_;
  std::unique_ptr<control::Queries> queries_;
  Pages pages_{clock_};
  Router router_;
};

constexpr const char* kPath = "/v1/models/newnet/samples";
constexpr const char* kRun =
    R"({"gpuType":"T4","batch":32,"placement":"2x1","throughputSamplesPerS":700.5,"modelParallel":2,)"
    R"("origin":"run","source":"Job a/b","run":"uid-1","namespace":"a"})";
constexpr const char* kSample =
    R"({"samples":[{"gpuType":"T4","batch":64,"placement":"1x2","throughputSamplesPerS":800}]})";

TEST_F(ModelRoutesTest, WhatIsPostedIsShown) {
  EXPECT_EQ(send("GET", "/v1/models/newnet").status, 404);
  const Response posted = send("POST", kPath, kSample);
  EXPECT_EQ(posted.status, 200) << posted.body;
  EXPECT_THAT(posted.body, HasSubstr("\"accepted\":1"));
  EXPECT_THAT(send("GET", "/v1/models/newnet").body, HasSubstr("\"samples\":1"));
  EXPECT_THAT(send("GET", "/v1/models").body, HasSubstr("\"items\":[{\"model\":\"newnet\""));
  const Response table = send("GET", "/v1/models", "", "", "text/plain");
  EXPECT_THAT(table.body, HasSubstr("newnet"));
  EXPECT_EQ(table.content_type, "text/plain; charset=utf-8");
}

TEST_F(ModelRoutesTest, WhatWasPostedIsListedAndCanBePostedElsewhere) {
  EXPECT_EQ(send("GET", kPath).status, 404);
  EXPECT_EQ(send("POST", kPath, kSample).status, 200);
  EXPECT_EQ(send("POST", kPath, format(R"({{"samples":[{}]}})", kRun)).status, 200);
  const Response listed = send("GET", kPath);
  ASSERT_EQ(listed.status, 200) << listed.body;
  EXPECT_THAT(listed.body, HasSubstr(kRun));
  const auto samples = wire::read_listed_samples(listed.body, "newnet");
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(*samples, *models_->samples("newnet"));
  EXPECT_EQ(samples->size(), 2U);
  EXPECT_THAT(send("GET", kPath, "", "", "text/plain").body, HasSubstr("SAMPLES/S"));
}

TEST_F(ModelRoutesTest, ARunHasOneSampleHoweverOftenItIsPosted) {
  const std::string body = format(R"({{"samples":[{},{}]}})", kRun, kRun);
  EXPECT_THAT(send("POST", kPath, body).body, HasSubstr("\"accepted\":1"));
  EXPECT_THAT(send("POST", kPath, body).body, HasSubstr("\"accepted\":0"));
  EXPECT_EQ(models_->samples("newnet")->size(), 1U);
}

TEST_F(ModelRoutesTest, CsvIsTakenByItsMediaType) {
  const std::string csv =
      "model,gpu_type,batch,placement,throughput_samples_per_s\nnewnet,T4,64,1x2,800\n";
  EXPECT_EQ(send("POST", kPath, csv, "text/csv; charset=utf-8").status, 200);
  const Response undeclared = send("POST", kPath, csv);
  EXPECT_EQ(undeclared.status, 400);
  EXPECT_THAT(undeclared.body, HasSubstr("CSV needs the Content-Type text/csv"));
  EXPECT_EQ(send("POST", kPath, csv, "application/xml").status, 415);
}

TEST_F(ModelRoutesTest, WhatAnyPageMaySendUnaskedIsNotTaken) {
  for (const char* type : {"", "application/x-www-form-urlencoded", "text/plain"}) {
    const Response refused = send("POST", kPath, kSample, type);
    EXPECT_EQ(refused.status, 415) << type;
    EXPECT_THAT(refused.body, HasSubstr("must be application/json or text/csv; with curl: -H"));
    EXPECT_EQ(send("PUT", "/v1/models/newnet", "{}", type).status, 415) << type;
  }
  EXPECT_EQ(send("GET", "/v1/models/newnet").status, 404);
}

TEST_F(ModelRoutesTest, NothingIsStoredHalfway) {
  const Response refused = send("POST", kPath, R"({"samples":[
      {"gpuType":"T4","batch":64,"placement":"1x2","throughputSamplesPerS":800},
      {"gpuType":"T4","batch":64,"placement":"1x2","throughputSamplesPerS":-800}]})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("samples[1].throughputSamplesPerS"));
  EXPECT_EQ(send("GET", "/v1/models/newnet").status, 404);
}

TEST_F(ModelRoutesTest, ADescriptionIsReplacedWhole) {
  EXPECT_EQ(send("PUT", "/v1/models/newnet", R"({"family":"a","parameters":5})").status, 200);
  const Response second = send("PUT", "/v1/models/newnet", R"({"description":"b"})");
  EXPECT_EQ(second.status, 200);
  EXPECT_THAT(second.body, HasSubstr("\"family\":\"\""));
  EXPECT_THAT(second.body, ::testing::Not(HasSubstr("parameters")));
}

TEST_F(ModelRoutesTest, AModelIsForgotten) {
  ASSERT_EQ(send("POST", kPath, kSample).status, 200);
  ASSERT_EQ(send("PUT", "/v1/models/newnet", R"({"family":"a"})").status, 200);
  const Response gone = send("DELETE", "/v1/models/newnet");
  EXPECT_EQ(gone.status, 200);
  EXPECT_THAT(gone.body, HasSubstr("\"status\":\"Success\""));
  EXPECT_EQ(send("GET", "/v1/models/newnet").status, 404);
  const Response again = send("DELETE", "/v1/models/newnet");
  EXPECT_EQ(again.status, 404);
  EXPECT_THAT(again.body, HasSubstr("no model is named newnet"));
}

TEST_F(ModelRoutesTest, OneModelTooManyIsToldWhatToDoAndTheOthersGoOnLearning) {
  open_with_descriptions_of(2000);
  const auto refused = [](const Response& answer) {
    return answer.status == 403 && answer.body.find(
                                       "2000 models are known, and no more are kept: "
                                       "delete some") != std::string::npos;
  };
  EXPECT_TRUE(refused(send("POST", kPath, kSample)));
  EXPECT_TRUE(refused(send("PUT", "/v1/models/newnet", "{}")));
  EXPECT_EQ(send("GET", "/v1/models/newnet").status, 404);
  EXPECT_EQ(send("POST", "/v1/models/net-7/samples", kSample).status, 200);
  EXPECT_EQ(send("PUT", "/v1/models/net-2000", R"({"family":"a"})").status, 200);
  EXPECT_EQ(send("DELETE", "/v1/models/net-8").status, 200);
  EXPECT_EQ(send("POST", kPath, kSample).status, 200) << "there is room for one again";
  EXPECT_TRUE(refused(send("PUT", "/v1/models/net-8", "{}")));
}

TEST_F(ModelRoutesTest, ANameMayHaveSlashesAsThoseOfHuggingFaceDo) {
  constexpr const char* kModel = "/v1/models/meta-llama/Llama-3.1-8B";
  constexpr const char* kSamples = "/v1/models/meta-llama/Llama-3.1-8B/samples";
  EXPECT_EQ(send("GET", kModel).status, 404);
  const Response posted = send("POST", kSamples, kSample);
  EXPECT_EQ(posted.status, 200) << posted.body;
  EXPECT_EQ(send("PUT", kModel, R"({"family":"llama"})").status, 200);
  EXPECT_THAT(send("GET", kModel).body, HasSubstr(R"("model":"meta-llama/Llama-3.1-8B")"));
  EXPECT_EQ(send("GET", kSamples).status, 200);
  EXPECT_EQ(send("DELETE", kModel).status, 200);
  EXPECT_EQ(send("GET", kModel).status, 404);
}

TEST_F(ModelRoutesTest, AbsurdNumbersAndHiddenCharactersAreRefusedWithTheRange) {
  const auto refusal = [&](const std::string& field) {
    const Response answer =
        send("POST", kPath,
             R"({"samples":[{"gpuType":"T4","batch":64,)" + field + R"("placement":"1x2"}]})");
    EXPECT_EQ(answer.status, 400);
    return answer.body;
  };
  EXPECT_THAT(refusal(R"("throughputSamplesPerS":1e308,)"),
              HasSubstr("samples[0].throughputSamplesPerS: must be a number from 1e-06 to 1e+12"));
  EXPECT_THAT(refusal(R"("throughputSamplesPerS":1,"source":"a\u001b[2J",)"),
              HasSubstr("samples[0].source: must not contain control characters"));
  EXPECT_THAT(refusal(R"("throughputSamplesPerS":1,"source":"a\u202eb",)"),
              HasSubstr("samples[0].source"));
  const Response type = send("POST", kPath, R"({"samples":[{"gpuType":"A\n","batch":1e300,
      "placement":"1x2","throughputSamplesPerS":1}]})");
  EXPECT_THAT(type.body, HasSubstr("samples[0].gpuType: must not contain control characters"));
  EXPECT_THAT(type.body, HasSubstr("samples[0].batch: must be a number from 1 to 1e+09"));
  EXPECT_EQ(send("PUT", "/v1/models/new%c2%9bnet", "{}").status, 400);
  EXPECT_EQ(send("PUT", "/v1/models/newnet", R"({"parameters":1e308})").status, 400);
}

TEST_F(ModelRoutesTest, WhileItStopsTheAnswerIs503) {
  models_->stop();
  const Response refused = send("POST", kPath, kSample);
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("ServiceUnavailable"));
}

}  // namespace
}  // namespace slackline::http
