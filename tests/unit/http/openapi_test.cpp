// The description of the API: it knows every route, and the answers are as it says.
#include "http/routes/openapi.h"

#include <cstdlib>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/answers/answer_query.h"
#include "control/journal/decision_log.h"
#include "control/portrait/portraits.h"
#include "control/query/calibration_query.h"
#include "control/query/health.h"
#include "control/query/queue_query.h"
#include "control/query/written_book.h"
#include "http/routes/api_routes.h"
#include "http/routes/health_routes.h"
#include "http/routes/node_routes.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/portrait/family.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"
#include "support/portrait_runs.h"
#include "support/source_path.h"
#include "support/temporary_folder.h"

namespace slackline::http {
namespace {

using nlohmann::json;
using test::a_job;
using test::a_node;
using test::a_pod;

constexpr const char* kPacked = "/v1/portraits?packed=true";

class OpenApiTest : public test::PlanningFixture {
 protected:
  OpenApiTest() {
    auto opened =
        control::Models::open({.path = folder_.file("m.db")}, WorkloadProfiles{}, metrics_, clock_);
    EXPECT_TRUE(opened) << opened.error().message;
    models_ = std::move(*opened);
    auto journal = store::Journal::open({.path = folder_.file("j.db")});
    EXPECT_TRUE(journal) << journal.error().message;
    journal_ = std::move(*journal);
    auto portraits = control::Portraits::open({.path = folder_.file("p.db")}, metrics_, clock_);
    EXPECT_TRUE(portraits) << portraits.error().message;
    portraits_ = std::move(*portraits);
    options_.portraits = &portraits_->known();
    decisions_.catalog = default_gpu_catalog();
    queries_ = std::make_unique<control::Queries>(decisions_, models_->known(), source_,
                                                  journal_.get(), clock_, "test");
    queue_ = std::make_unique<control::QueueQuery>(options_, models_->known(), source_, planner_,
                                                   books_, clock_);
    add_api_routes(router_, *queries_, pages_, {});
    add_node_routes(router_, *queries_, *queue_, pages_);
    add_queue_routes(router_, *queue_, pages_, {});
    answers_ = std::make_unique<control::AnswerQuery>(options_, models_->known(), source_, planner_,
                                                      books_, clock_);
    add_answer_routes(router_, *answers_, pages_, decisions_.catalog, clock_, {},
                      [](const AdmissionReview&) { return AdmissionDecision(); });
    add_progress_routes(router_, progress_);
    add_history_routes(router_, *queries_, clock_, [] {});
    add_model_routes(router_, *queries_, *models_, pages_);
    portrait_query_ = std::make_unique<control::PortraitQuery>(*portraits_);
    add_portrait_routes(router_, *portrait_query_, pages_);
    decisions_.settings = &settings_;
    add_calibration_routes(router_, calibrations_, pages_);
    reports_ = std::make_unique<control::Reports>(*queries_, portraits_->known(), clock_);
    add_report_routes(router_, *reports_, pages_, clock_, [] {});
    add_health_routes(router_, health_, metrics_, [] {});
    add_event_routes(router_, [] { return std::uint64_t{1}; }, clock_);
    document_ = json::parse(openapi_document(router_));
  }

  Response send(const char* method, const std::string& target, const std::string& body = "") {
    Request request;
    request.method = method;
    request.body = body;
    request.content_type = "application/json";
    request.accept = "application/json";
    return router_.dispatch(request, target);
  }

  // What in `value` is not as its schema says, with its path.
  void compare(const json& value, const json& asked, const std::string& path) {
    const json& schema = asked.contains("$ref") ? resolved(asked["$ref"]) : asked;
    const std::string type = schema.value("type", "");
    if (value.is_null()) {
      EXPECT_TRUE(schema.value("nullable", false)) << path;
    } else if (type == "object") {
      ASSERT_TRUE(value.is_object()) << path;
      if (!schema.contains("properties") && !schema.contains("additionalProperties"))
        return;  // any object
      for (const json& name : schema.value("required", json::array()))
        EXPECT_TRUE(value.contains(name.get<std::string>())) << path << " lacks " << name;
      for (const auto& [name, member] : value.items()) {
        const bool known = schema.contains("properties") && schema["properties"].contains(name);
        ASSERT_TRUE(known || schema.contains("additionalProperties")) << path << "." << name;
        compare(member, known ? schema["properties"][name] : schema["additionalProperties"],
                path + "." + name);
      }
    } else if (type == "array") {
      ASSERT_TRUE(value.is_array()) << path;
      for (const json& item : value)
        compare(item, schema["items"], path + "[]");
    } else if (type == "integer") {
      EXPECT_TRUE(value.is_number_integer()) << path;
    } else if (type == "number") {
      EXPECT_TRUE(value.is_number()) << path;
    } else if (type == "boolean") {
      EXPECT_TRUE(value.is_boolean()) << path;
    } else {
      ASSERT_TRUE(value.is_string()) << path;
      if (schema.contains("enum")) {
        EXPECT_THAT(schema["enum"], testing::Contains(value)) << path;
      }
    }
  }

  const json& resolved(const std::string& reference) {
    return document_.at(json::json_pointer(reference.substr(1)));
  }

  // Compares the answer to the schema of an operation.
  void check(const char* method, const std::string& pattern, const std::string& target,
             const std::string& body = "") {
    const Response answer = send(method, target, body);
    ASSERT_EQ(answer.status, 200) << target << answer.body;
    const json& operation = document_["paths"][pattern][to_lower(method)];
    compare(json::parse(answer.body),
            operation["responses"]["200"]["content"]["application/json"]["schema"], target);
  }

  // Something of everything that is kept.
  void fill() {
    control::Settings settings = *settings_.get();
    settings.queues.named["research"].shares = {{"A100", {1, 1}}};
    settings_.set(settings);
    const PortraitIdentity nightly =
        core::identity_of(*source_.snapshot()->find_job("team", "train"));
    for (int number = 1; number <= 3; ++number) {
      PortraitRun run = test::a_run(number);
      run.finished_s = clock_.wall_s() - 86400 * number;
      portraits_->observe({{nightly, run.usage}});
      portraits_->add_run(nightly, run);
    }
    ASSERT_TRUE(portraits_->settle());
    FinishedTask finished;
    finished.key = {"team", "nightly-1"};
    finished.uid = Uid("u-1");
    finished.family = core::portrait_key(nightly);
    finished.gpus = 4;
    finished.asked_gpus = 4;
    finished.gpu_hours = 8;
    finished.succeeded = true;
    finished.created_s = clock_.wall_s() - 9000;
    finished.started_s = clock_.wall_s() - 7200;
    finished.finished_s = clock_.wall_s();
    finished.use = MeasuredUse{0.5, 0.25, 3600, 2, 3600};
    finished.shadow = ShadowRun{clock_.wall_s() - 8000, clock_.wall_s() - 800, 4};
    ASSERT_TRUE(journal_->append(finished));
    DecisionRow filtered;
    filtered.time_s = clock_.wall_s();
    filtered.pod = {"team", "single"};
    filtered.nodes_asked = 1;
    filtered.result = "passed 1 of 1";
    filtered.candidates = {{"a1", 10, {{"free_gpus_after", 3}}}};
    ASSERT_TRUE(journal_->append(filtered));
    ASSERT_TRUE(journal_->flush(10));
  }

  static bool recording() { return std::getenv("SLACKLINE_RECORD") != nullptr; }

  static void record(const std::string& name, const json& value) {
    std::ofstream(test::source_path("src/http/routes/examples/" + name + ".json"), std::ios::binary)
        << value.dump(1) << "\n";
  }

  // What one daemon answers is sent to another one.
  void record_portraits() {
    const json answer = json::parse(send("GET", kPacked).body);
    json items = json::array();
    for (const json& one : answer["items"])
      items.emplace_back()["packed"] = one["packed"];
    json body;
    body["items"] = items;
    record("requests/putPortraits", body);
  }

  // The path and the query that an operation shows.
  static std::string example_target(std::string path, const json& operation) {
    std::string query;
    for (const json& one : operation["parameters"]) {
      if (!one.contains("example")) continue;
      const std::string name = one["name"];
      const std::string value = one["example"];
      if (one["in"] == "path")
        path.replace(path.find("{" + name + "}"), name.size() + 2, value);
      else
        query += (query.empty() ? "?" : "&") + name + "=" + value;
    }
    return path + query;
  }

  void try_example(const std::string& method, const std::string& pattern, const json& operation) {
    const json& content = operation["responses"]["200"]["content"];
    if (!content.contains("application/json")) return;
    const json& media = content["application/json"];
    const std::string target = example_target(pattern, operation);
    SCOPED_TRACE(method + " " + target);
    std::string body;
    if (operation.contains("requestBody")) {
      const json& taken = operation["requestBody"]["content"]["application/json"];
      ASSERT_TRUE(taken.contains("example"));
      compare(taken["example"], taken["schema"], "request");
      body = taken["example"].dump();
    }
    const Response answer = send(to_upper(method).c_str(), target, body);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const json said = json::parse(answer.body);
    compare(said, media["schema"], "answer");
    if (said.contains("items")) {
      EXPECT_FALSE(said["items"].empty()) << "an example shows a row";
    }
    if (recording()) return record("answers/" + operation["operationId"].get<std::string>(), said);
    EXPECT_EQ(media.value("example", json()), said);
  }

  // Calibration runs may be made of it.
  static Job a_template() {
    Job job = a_job("team/nets").of(1).gang().gpus(1).waiting().trains("net", 64, 1000).build();
    job.calibration = CalibrationMark::kAllowed;
    return job;
  }

  static Job a_training() {
    auto job = a_job("team/train").created(1.8e9 - 600).gpus(3).waiting().trains("bert", 64, 1000);
    job.intent().family = "nightly";
    return job.build();
  }

  test::TemporaryFolder folder_;
  obs::MetricsRegistry metrics_;
  test::FakeClock clock_;
  control::DecisionOptions decisions_;
  test::FakeSource source_{test::a_cluster()
                               .with(a_node("a1").of("A100", 4))
                               .add(a_training())
                               .with(a_pod("team/single").gpus(1))
                               .add(a_template())
                               .build()};
  Published<control::PlannerView> planner_;
  Published<control::WrittenBook> books_;
  control::DecisionLog log_{nullptr, metrics_};
  control::Health health_{source_, log_};
  std::unique_ptr<control::Models> models_;
  std::unique_ptr<store::Journal> journal_;
  std::unique_ptr<control::Queries> queries_;
  std::unique_ptr<control::QueueQuery> queue_;
  std::unique_ptr<control::AnswerQuery> answers_;
  std::unique_ptr<control::Portraits> portraits_;
  std::unique_ptr<control::Reports> reports_;
  std::unique_ptr<control::PortraitQuery> portrait_query_;
  control::CalibrationQuery calibrations_{decisions_, known_, source_,
                                          [](const std::string&) { return Status(); }, clock_};
  control::ProgressReports progress_{source_, nullptr, metrics_, clock_};
  Pages pages_{clock_};
  Router router_;
  json document_;
};

TEST_F(OpenApiTest, EveryRouteIsDescribedUnderANameOfItsOwn) {
  std::set<std::string> ids;
  for (const Route* route : router_.routes()) {
    const json& operation = document_["paths"][route->pattern][to_lower(route->method)];
    ASSERT_TRUE(operation.is_object()) << route->method << " " << route->pattern;
    EXPECT_TRUE(ids.insert(operation["operationId"].get<std::string>()).second) << operation;
    EXPECT_FALSE(operation["responses"]["200"]["description"].get<std::string>().empty());
  }
}

TEST_F(OpenApiTest, ATokenOfTheClusterIsTheWayIn) {
  EXPECT_EQ(document_["components"]["securitySchemes"]["token"]["scheme"], "bearer");
  EXPECT_EQ(document_["security"], json::parse(R"([{}, {"token": []}])")) << "on loopback without";
}

TEST_F(OpenApiTest, EveryReferenceLeadsSomewhere) {
  const json flat = document_.flatten();
  for (const auto& [path, value] : flat.items())
    if (path.ends_with("/$ref")) {
      EXPECT_TRUE(resolved(value).is_object()) << path;
    }
}

TEST_F(OpenApiTest, ARouteThatTakesANamespaceIsLimitedByIt) {
  for (const Route* route : router_.routes()) {
    if (!route->parameters) continue;
    std::string limit;
    for (const Parameter& parameter : *route->parameters)
      if (parameter.name == "namespace" || parameter.name == "pod") limit = parameter.name;
    EXPECT_EQ(route->namespace_parameter, limit) << route->method << " " << route->pattern;
  }
}

TEST_F(OpenApiTest, AnswersAreAsTheDocumentSays) {
  fill();
  for (const char* list : {"/v1/nodes", "/v1/tasks", "/v1/queue"})
    check("GET", list, std::string(list) + "?sort=-name&search=a&limit=1&offset=0");
  check("POST", "/v1/quote", "/v1/quote?namespace=team&deadline=2h",
        document_["paths"]["/v1/quote"]["post"]["requestBody"]["content"]["application/json"]
                 ["example"]
                     .dump());
  check("GET", "/v1/reports", "/v1/reports?by=family&since=2000-01-01&compareSince=1h");
  check("GET", "/v1/portraits", kPacked);
}

// SLACKLINE_RECORD=1 in the environment writes the examples of answers again.
TEST_F(OpenApiTest, EveryExampleOfAnAnswerIsWhatItsExampleOfARequestGets) {
  fill();
  if (recording()) record_portraits();
  for (const char* method : {"post", "put", "get", "delete"})  // what is told can be asked for
    for (const auto& [pattern, operations] : document_["paths"].items())
      if (operations.contains(method)) try_example(method, pattern, operations[method]);
}

TEST_F(OpenApiTest, TheExampleOfAFailureIsOne) {
  json said = json::parse(send("GET", "/v1/tasks/team/nobody/eta").body);
  EXPECT_EQ(document_["components"]["schemas"]["Status"]["example"], said);
}

TEST_F(OpenApiTest, AQuestionThatIsWrongSaysHow) {
  const auto said = [&](const char* method, const std::string& target, const std::string& body,
                        int status) {
    const Response answer = send(method, target, body);
    EXPECT_EQ(answer.status, status) << target << answer.body;
    return answer.body;
  };
  EXPECT_THAT(said("POST", "/v1/quote?deadline=soon", "{\"kind\":\"Pod\"}", 400),
              testing::HasSubstr("expected a duration such as 24h"));
  EXPECT_THAT(said("POST", "/v1/quote", "{\"kind\":\"Service\"}", 400),
              testing::HasSubstr("expected a Pod or a Job"));
  EXPECT_THAT(said("GET", "/v1/whatif", "", 400), testing::HasSubstr("say one of drain"));
  EXPECT_THAT(said("GET", "/v1/calendar?days=15", "", 400), testing::HasSubstr("days"));
  EXPECT_THAT(said("GET", "/v1/calendar?type=H100", "", 404), testing::HasSubstr("H100"));
  said("GET", "/v1/tasks/team/nobody/eta", "", 404);
}

TEST_F(OpenApiTest, AClusterThatIsNotReadYetIsNotCalledEmpty) {
  source_.show(ClusterSnapshot{});
  for (const char* target :
       {"/v1/nodes", "/v1/tasks", "/v1/tasks/team/train", "/v1/tasks/team/train/placements",
        "/v1/tasks/team/train/eta", "/v1/scores?pod=team/single", "/v1/queue",
        "/v1/queue?namespace=team&name=train", "/v1/calendar", "/v1/models/net/calibration"}) {
    const Response answer = send("GET", target);
    EXPECT_EQ(answer.status, 503) << target << answer.body;
    EXPECT_THAT(answer.body, testing::HasSubstr("/readyz says why")) << target;
  }
  for (const char* target : {"/v1/cluster", "/v1/decisions", "/v1/history", "/v1/models"})
    EXPECT_EQ(send("GET", target).status, 200) << target;
}

}  // namespace
}  // namespace slackline::http
