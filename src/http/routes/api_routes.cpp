#include "http/routes/api_routes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/routes/answers.h"
#include "http/routes/openapi.h"
#include "slackline/base/text.h"
#include "slackline/model/object_key.h"
#include "wire/kube/manifest.h"
#include "wire/rest/status_codec.h"

namespace slackline::http {
namespace {

constexpr std::size_t kMaxProblem = 400;

Result<ObjectKey> pod_of(const std::string& text) {
  auto key = parse_object_key(text);
  if (key) return key;
  return fail(key.error().code, "pod=" + key.error().message);
}

Response get_cluster(const control::Queries& queries, Pages&, const Request& request) {
  const ClusterView view = queries.cluster();
  return one(request, wire::encode_one(view), wire::text_of(view));
}

Response list_tasks(const control::Queries& queries, Pages& pages, const Request& request) {
  return arranged<ListedTask>(request, pages,
                              [&] { return queries.tasks(given(request, "namespace")); });
}

std::string task_text(const ListedTask& row) {
  std::string text = wire::table_of(std::vector<ListedTask>{row}).str();
  for (const auto* lines : {&row.task.intent.problems, &row.hints})
    for (const std::string& line : *lines)
      text += printable(line, kMaxProblem) + "\n";
  return text;
}

ObjectKey path_key(const Request& request) {
  return {request.params.at("ns"), request.params.at("name")};
}

Response get_task(const control::Queries& queries, Pages&, const Request& request) {
  const auto row = queries.task(path_key(request));
  if (!row) return failure(row.error());
  return one(request, wire::encode_one(*row), task_text(*row));
}

Response list_placements(const control::Queries& queries, Pages& pages, const Request& request) {
  return show_page(request, pages, [&]() -> Result<Listing<PlacementRow>> {
    SLACKLINE_ASSIGN(PlacementsView view, queries.placements(path_key(request)));
    return Listing<PlacementRow>{std::move(view.rows), wire::encode_one(view), view.note + "\n"};
  });
}

Result<Listing<ScoreView>> listing_of(Result<ScoresView> view) {
  if (!view) return fail(view.error());
  Listing<ScoreView> listing{std::move(view->nodes), wire::encode_one(*view)};
  listing.preface = format("{} {}\n", view->model.empty() ? "no model" : view->model, view->note);
  for (const std::string& problem : view->problems)
    listing.preface += printable(problem, kMaxProblem) + "\n";
  return listing;
}

Response get_scores(const control::Queries& queries, Pages& pages, const Request& request) {
  const auto pod = request.query.find("pod");
  if (pod == request.query.end())
    return failure({ErrorCode::kInvalidArgument, "name the pod: /v1/scores?pod=NAMESPACE/NAME"});
  const auto key = pod_of(pod->second);
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
    SLACKLINE_ASSIGN(const ObjectKey key, pod_of(pod->second));
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

Response list_decisions(const control::Queries& queries, const ViewerOf& viewer_of,
                        const Request& request) {
  const auto query = journal_query(request);
  if (!query) return failure(query.error());
  auto page = queries.decisions(*query);
  if (!page) return failure(page.error());
  if (viewer_of) control::hide_from(viewer_of(request), *page);
  // Rows never change and a new one has a greater id, so an id marks where the list continues.
  const std::string next = page->next_before_id > 0 ? std::to_string(page->next_before_id) : "";
  return show(request, Listing<DecisionRow>{page->rows}, Rest{next});
}

// The same for a pod that exists and for a manifest.
Operation judges_nodes(std::string id, std::string summary,
                       std::vector<Operation::Failure> failures) {
  return answers_list<ScoreView>(std::move(id), std::move(summary), "Nodes, best first",
                                 std::move(failures), wire::members_of<ScoresView>());
}

Parameter verb_parameter() {
  std::string names;
  for (const Verb verb : kVerbs)
    names += format("{}\"{}\"", names.empty() ? "" : ",", to_string(verb));
  return {.name = "verb", .schema = format(R"({{"type":"string","enum":[{}]}})", names)};
}

using QueryAnswer = Response (*)(const control::Queries&, Pages&, const Request&);

// `bind` makes a handler of an answer.
template <class Bind>
void add_cluster_route(Router& router, const Bind& bind) {
  router.add(
      {.method = "GET",
       .pattern = "/v1/cluster",
       .handler = bind(get_cluster),
       .parameters = std::vector{output_parameter()},
       .operation = answers_one<ClusterView>("getCluster", "The cluster as the daemon sees it",
                                             "Totals, GPU pools, cache state")});
}

template <class Bind>
void add_task_routes(Router& router, const Bind& bind) {
  router.add({.method = "GET",
              .pattern = "/v1/tasks",
              .handler = bind(list_tasks),
              .parameters = arranged_parameters<ListedTask>({namespace_parameter()}),
              .namespace_parameter = "namespace",
              .operation = answers_list<ListedTask>("listTasks", "GPU tasks: Jobs, gangs, pods",
                                                    "A page of tasks", {{503}, list_is_gone()})});
  router.add(
      {.method = "GET",
       .pattern = "/v1/tasks/{ns}/{name}",
       .handler = bind(get_task),
       .parameters = std::vector{output_parameter()},
       .operation = answers_one<ListedTask>("getTask", "One task", "The task", {{404}, {503}})});
  router.add(
      {.method = "GET",
       .pattern = "/v1/tasks/{ns}/{name}/placements",
       .handler = bind(list_placements),
       .parameters = list_parameters(),
       .operation = answers_list<PlacementRow>(
           "listPlacements", "Every shape and GPU type: Lat, throughput, cost, CER, feasible",
           "Shapes, best CER first", {{404}, {503}, list_is_gone()},
           wire::members_of<PlacementsView>())});
}

template <class Bind>
void add_score_routes(Router& router, const Bind& bind) {
  Parameter pod = pod_parameter();
  pod.required = true;
  router.add({.method = "GET",
              .pattern = "/v1/scores",
              .handler = bind(get_scores),
              .parameters = list_parameters({pod}),
              .namespace_parameter = "pod",
              .operation = judges_nodes("getScores",
                                        "How filter and prioritize judge every node for a pod now",
                                        {{400}, {404}, {503}, list_is_gone()})});
  Parameter ns = namespace_parameter("Namespace of the manifest");
  ns.schema = R"({"type":"string","default":"default"})";
  Operation tries = judges_nodes("tryManifest",
                                 "How filter and prioritize would judge every node for a "
                                 "manifest; nothing is created or journalled",
                                 {{400}, {503}, list_is_gone()});
  tries.body = kManifestBody;
  router.add({.method = "POST",
              .pattern = "/v1/scores",
              .handler = bind(post_scores),
              .max_body = kMaxManifest,
              .parameters = list_parameters({ns}),
              .namespace_parameter = "namespace",
              .operation = std::move(tries)});
}

void add_decision_route(Router& router, const control::Queries& queries,
                        const ViewerOf& viewer_of) {
  router.add(
      {.method = "GET",
       .pattern = "/v1/decisions",
       .handler =
           [&queries, viewer_of](const Request& request) {
             return list_decisions(queries, viewer_of, request);
           },
       .parameters = journal_parameters({pod_parameter(), verb_parameter()}),
       .namespace_parameter = "pod",
       .operation = answers_list<DecisionRow>("listDecisions", "The decision journal, newest first",
                                              "A page of decisions", {{400}, {503}})});
}

}  // namespace

void add_api_routes(Router& router, const control::Queries& queries, Pages& pages,
                    const ViewerOf& viewer_of) {
  const auto always = [&queries, &pages](QueryAnswer answer) {
    return [answer, &queries, &pages](const Request& request) {
      return answer(queries, pages, request);
    };
  };
  const auto once_read = [&queries, &pages](QueryAnswer answer) {
    return [answer, &queries, &pages](const Request& request) {
      const Status readable = queries.readable();
      return readable ? answer(queries, pages, request) : failure(readable.error());
    };
  };
  add_cluster_route(router, always);
  add_task_routes(router, once_read);
  add_score_routes(router, once_read);
  add_decision_route(router, queries, viewer_of);
  set_error_pages(router);
}

void set_error_pages(Router& router) {
  router.set_error_page([](int status, std::string_view message) {
    std::string reason(reason_phrase(status));  // as Kubernetes writes it: "NotFound"
    std::erase(reason, ' ');
    Response response = json(wire::encode_status_error(status, reason, message));
    response.status = status;
    return response;
  });
}

}  // namespace slackline::http
