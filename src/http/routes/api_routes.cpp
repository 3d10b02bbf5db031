#include "http/routes/api_routes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/routes/answers.h"
#include "slackline/base/text.h"
#include "wire/kube/manifest.h"
#include "wire/rest/optional_cells.h"
#include "wire/rest/rest_encode.h"
#include "wire/rest/rest_text.h"
#include "wire/rest/status_codec.h"

namespace slackline {

// src/http/routes/openapi.json, compiled in.
extern const std::vector<std::pair<std::string_view, std::string_view>> kOpenApi;

namespace http {
namespace {

constexpr std::size_t kMaxManifest = std::size_t{1} << 20;
constexpr std::size_t kMaxProblem = 200;

Result<ObjectKey> object_key(std::string_view text, std::string_view field) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size() ||
      text.find('/', slash + 1) != std::string_view::npos)
    return fail(ErrorCode::kInvalidArgument,
                format("{}=\"{}\": expected NAMESPACE/NAME", field, printable(text, 64)));
  return ObjectKey{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

Response get_cluster(const control::Queries& queries, Pages&, const Request& request) {
  const ClusterView view = queries.cluster();
  return one(request, wire::encode_one(view), wire::text_of(view));
}

Response list_tasks(const control::Queries& queries, Pages& pages, const Request& request) {
  return list(request, pages, [&] { return queries.tasks(given(request, "namespace")); });
}

std::string task_text(const TaskView& view) {
  std::string text = wire::table_of(std::vector<TaskView>{view}).str();
  for (const std::string& problem : view.problems)
    text += printable(problem, kMaxProblem) + "\n";
  return text;
}

ObjectKey path_key(const Request& request) {
  return {request.params.at("ns"), request.params.at("name")};
}

Response get_task(const control::Queries& queries, Pages&, const Request& request) {
  const auto view = queries.task(path_key(request));
  if (!view) return failure(view.error());
  return one(request, wire::encode_one(*view), task_text(*view));
}

Response list_placements(const control::Queries& queries, Pages& pages, const Request& request) {
  return show_page(request, pages, [&]() -> Result<Listing<PlacementRow>> {
    SLACKLINE_ASSIGN(PlacementsView view, queries.placements(path_key(request)));
    Listing<PlacementRow> listing{std::move(view.rows)};
    listing.facts = {{"task", view.task.str()}, {"model", view.model}, {"note", view.note}};
    listing.preface = view.note + "\n";
    return listing;
  });
}

Result<Listing<ScoreView>> listing_of(Result<ScoresView> view) {
  if (!view) return fail(view.error());
  Listing<ScoreView> listing{std::move(view->nodes)};
  listing.facts = {
      {"pod", view->pod.str()},     {"uid", view->uid.str()},
      {"policy", view->policy},     {"schemaVersion", std::int64_t{kDecisionSchemaVersion}},
      {"model", view->model},       {"note", view->note},
      {"problems", view->problems}, {"deadline", wire::time_text(view->deadline_s)}};
  listing.preface = format("{} {}\n", view->model.empty() ? "no model" : view->model, view->note);
  for (const std::string& problem : view->problems)
    listing.preface += printable(problem, kMaxProblem) + "\n";
  return listing;
}

Response get_scores(const control::Queries& queries, Pages& pages, const Request& request) {
  const auto pod = request.query.find("pod");
  if (pod == request.query.end())
    return failure({ErrorCode::kInvalidArgument, "name the pod: /v1/scores?pod=NAMESPACE/NAME"});
  const auto key = object_key(pod->second, "pod");
  if (!key) return failure(key.error());
  return show_page(request, pages, [&] { return listing_of(queries.scores(*key)); });
}

Response post_scores(const control::Queries& queries, Pages& pages, const Request& request) {
  const auto ns = request.query.find("namespace");
  const auto pod = wire::read_manifest(
      request.body, ns == request.query.end() ? "default" : ns->second, queries.catalog());
  if (!pod) return failure(pod.error());
  return show_page(request, pages, [&] { return listing_of(queries.scores(*pod)); });
}

Result<JournalQuery> journal_query(const Request& request) {
  JournalQuery query;
  SLACKLINE_ASSIGN(const std::int64_t limit, number(request, "limit", 100, 1, kMaxLimit));
  if (const auto from = request.query.find("continue");
      from != request.query.end() && !from->second.empty()) {
    SLACKLINE_ASSIGN(query.before_id, number(request, "continue", 0, 0, std::int64_t{1} << 62));
  }
  query.limit = static_cast<std::size_t>(limit);
  if (const auto pod = request.query.find("pod"); pod != request.query.end()) {
    SLACKLINE_ASSIGN(const ObjectKey key, object_key(pod->second, "pod"));
    query.ns = key.ns;
    query.pod = key.name;
  }
  if (const auto verb = request.query.find("verb"); verb != request.query.end()) {
    if (!parse_verb(verb->second))
      return fail(ErrorCode::kInvalidArgument, format("verb=\"{}\": expected one of {}",
                                                      printable(verb->second, 64), verb_names()));
    query.verb = verb->second;
  }
  return query;
}

Response list_decisions(const control::Queries& queries, Pages&, const Request& request) {
  const auto query = journal_query(request);
  if (!query) return failure(query.error());
  const auto page = queries.decisions(*query);
  if (!page) return failure(page.error());
  // Rows never change and a new one has a greater id, so an id marks where the list continues.
  const std::string next = page->next_before_id > 0 ? std::to_string(page->next_before_id) : "";
  return show(request, Listing<DecisionRow>{page->rows}, Rest{next});
}

}  // namespace

void add_api_routes(Router& router, const control::Queries& queries, Pages& pages) {
  const auto get = [&router, &queries, &pages](
                       const char* pattern, std::vector<std::string> parameters,
                       Response (*handler)(const control::Queries&, Pages&, const Request&)) {
    Route route{"GET", pattern, [handler, &queries, &pages](const Request& request) {
                  return handler(queries, pages, request);
                }};
    route.parameters = std::move(parameters);
    router.add(std::move(route));
  };
  get("/v1/cluster", {"output"}, get_cluster);
  get("/v1/nodes", {"output", "limit", "continue"},
      [](const control::Queries& queries_, Pages& pages_, const Request& request) {
        return list(request, pages_, [&] { return queries_.nodes(); });
      });
  get("/v1/tasks", {"output", "limit", "continue", "namespace"}, list_tasks);
  get("/v1/tasks/{ns}/{name}", {"output"}, get_task);
  get("/v1/tasks/{ns}/{name}/placements", {"output", "limit", "continue"}, list_placements);
  get("/v1/scores", {"output", "limit", "continue", "pod"}, get_scores);
  Route tried{
      "POST", "/v1/scores",
      [&queries, &pages](const Request& request) { return post_scores(queries, pages, request); },
      kMaxManifest};
  tried.parameters = {"output", "limit", "continue", "namespace"};
  router.add(std::move(tried));
  get("/v1/decisions", {"output", "limit", "continue", "pod", "verb"}, list_decisions);
  router.add({"GET", "/openapi.json",
              [](const Request&) { return json(std::string(kOpenApi.front().second)); }, 0,
              Pool::kThreads});
  router.set_error_page([](int status, std::string_view message) {
    std::string reason(reason_phrase(status));  // as Kubernetes writes it: "NotFound"
    std::erase(reason, ' ');
    Response response = json(wire::encode_status_error(status, reason, message));
    response.status = status;
    return response;
  });
}

}  // namespace http
}  // namespace slackline
