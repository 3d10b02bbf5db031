// The description of the API: it knows every route, and the answers are as it says.
#include "http/routes/openapi.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "control/journal/decision_log.h"
#include "control/query/health.h"
#include "control/query/queue_query.h"
#include "control/query/written_book.h"
#include "http/routes/api_routes.h"
#include "http/routes/health_routes.h"
#include "http/routes/history_routes.h"
#include "http/routes/model_routes.h"
#include "http/routes/progress_routes.h"
#include "http/routes/queue_routes.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"
#include "support/temporary_folder.h"

namespace slackline::http {
namespace {

using nlohmann::json;
using test::a_job;
using test::a_node;
using test::a_pod;

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
    decisions_.catalog = default_gpu_catalog();
    queries_ = std::make_unique<control::Queries>(decisions_, models_->known(), source_,
                                                  journal_.get(), clock_, "test");
    queue_ = std::make_unique<control::QueueQuery>(options_, models_->known(), source_, planner_,
                                                   books_, clock_);
    add_api_routes(router_, *queries_, pages_);
    add_queue_routes(router_, *queue_, pages_);
    add_progress_routes(router_, progress_);
    add_history_routes(router_, *queries_, clock_, [] {});
    add_model_routes(router_, *queries_, *models_, pages_);
    add_health_routes(router_, health_, metrics_, [] {});
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

  test::TemporaryFolder folder_;
  obs::MetricsRegistry metrics_;
  test::FakeClock clock_;
  control::DecisionOptions decisions_;
  test::FakeSource source_{test::a_cluster()
                               .with(a_node("a1").of("A100", 4))
                               .with(a_job("team/train").gpus(2).waiting().trains("bert", 64, 1000))
                               .with(a_pod("team/single").gpus(1))
                               .build()};
  Published<control::PlannerView> planner_;
  Published<control::WrittenBook> books_;
  control::DecisionLog log_{nullptr, metrics_};
  Published<std::string> no_problem_;
  control::Health health_{source_, no_problem_, log_};
  std::unique_ptr<control::Models> models_;
  std::unique_ptr<store::Journal> journal_;
  std::unique_ptr<control::Queries> queries_;
  std::unique_ptr<control::QueueQuery> queue_;
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
  for (const char* list : {"/v1/cluster", "/v1/nodes", "/v1/tasks", "/v1/queue", "/v1/history",
                           "/v1/models", "/v1/decisions"})
    check("GET", list, list);
  check("GET", "/v1/tasks/{ns}/{name}", "/v1/tasks/team/train");
  check("GET", "/v1/tasks/{ns}/{name}/placements", "/v1/tasks/team/train/placements");
  check("GET", "/v1/scores", "/v1/scores?pod=team/single");
  check("POST", "/v1/tasks/{ns}/{name}/progress", "/v1/tasks/team/train/progress",
        R"({"iteration":3,"total":10,"loss":0.5,"phase":"warmup"})");
  check("POST", "/v1/models/{model}/samples", "/v1/models/newnet/samples",
        R"({"samples":[{"gpuType":"T4","batch":64,"placement":"1x2","throughputSamplesPerS":8}]})");
  check("PUT", "/v1/models/{model}", "/v1/models/newnet", R"({"family":"net"})");
  check("GET", "/v1/models/{model}", "/v1/models/newnet");
  check("GET", "/v1/models", "/v1/models");
  check("DELETE", "/v1/models/{model}", "/v1/models/newnet");
}

}  // namespace
}  // namespace slackline::http
