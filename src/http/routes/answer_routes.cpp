#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "http/routes/answers.h"
#include "http/routes/api_routes.h"
#include "http/routes/openapi.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/admission/admission_codec.h"
#include "wire/kube/manifest.h"

namespace slackline::http {
namespace {

constexpr double kLongestDays = 14;

// Everything that the handlers need.
struct Answering {
  control::AnswerQuery& answers;
  Pages& pages;
  const GpuCatalog& catalog;
  const Clock& clock;
  ViewerOf viewer_of;
  Foretell foretell;

  control::Viewer viewer(const Request& request) const {
    return viewer_of ? viewer_of(request) : control::Viewer();
  }
};

ObjectKey task_in(const Request& request) {
  return {request.params.at("ns"), request.params.at("name")};
}

Response get_eta(const Answering& on, const Request& request) {
  const auto view = on.answers.eta(task_in(request));
  if (!view) return failure(view.error());
  return one(request, wire::encode_one(*view), wire::text_of(*view));
}

Response get_explain(const Answering& on, const Request& request) {
  const auto view =
      on.answers.explain(task_in(request), given(request, "node"), on.viewer(request));
  if (!view) return failure(view.error());
  return one(request, wire::encode_one(*view), wire::text_of(*view));
}

// A time, or how long from now.
Result<std::optional<double>> deadline_of(const std::string& text, double now_s) {
  if (text.empty()) return std::optional<double>();
  if (const auto after_s = parse_duration_s(text)) return std::optional(now_s + *after_s);
  if (const auto time_s = parse_rfc3339_s(text)) return std::optional(*time_s);
  return fail(ErrorCode::kInvalidArgument,
              format("deadline=\"{}\": expected a duration such as 24h, or a time such as "
                     "2026-11-21T12:00:00Z",
                     printable(text, 64)));
}

Result<control::PostedTask> posted_task(const Answering& on, const Request& request,
                                        wire::PostedObject object) {
  control::PostedTask task;
  SLACKLINE_ASSIGN(task.deadline_s, deadline_of(given(request, "deadline"), on.clock.wall_s()));
  if (object.job)
    task.job = std::move(object.job);
  else
    task.pod = std::make_shared<const Pod>(std::move(object.pod));
  return task;
}

// The rows of a view as a list, with what it says of all of them.
template <class Row, class View>
Listing<Row> listing_of_answers(View view) {
  Listing<Row> listing;
  listing.facts = wire::encode_one(view);
  listing.preface = wire::preface_of(view);
  listing.rows = std::move(view.rows);
  return listing;
}

void tell_of(const AdmissionDecision& decision, QuoteView& view) {
  if (decision.refusal)
    view.refusal = format("{} ({})", decision.refusal->message, decision.refusal->reason.str());
  for (const std::string& warning : decision.warnings)
    if (std::find(view.problems.begin(), view.problems.end(), warning) == view.problems.end())
      view.problems.push_back(warning);
}

Response post_quote(const Answering& on, const Request& request) {
  return show_page(request, on.pages, [&]() -> Result<Listing<QuoteRowView>> {
    const auto named = request.query.find("namespace");
    const std::string ns = named == request.query.end() ? "default" : named->second;
    SLACKLINE_ASSIGN(wire::PostedObject object, wire::read_posted(request.body, ns, on.catalog));
    SLACKLINE_ASSIGN(const AdmissionReview review,
                     wire::review_of_creation(object.written, ns, on.catalog));
    SLACKLINE_ASSIGN(const control::PostedTask task, posted_task(on, request, std::move(object)));
    SLACKLINE_ASSIGN(QuoteView view, on.answers.quote(task, on.viewer(request)));
    if (view.is_reviewed) tell_of(on.foretell(review), view);
    return listing_of_answers<QuoteRowView>(std::move(view));
  });
}

Response get_what_if(const Answering& on, const Request& request) {
  return show_page(request, on.pages, [&]() -> Result<Listing<WhatIfRow>> {
    const control::WhatIfQuestion question{given(request, "drain"), given(request, "add"),
                                           given(request, "policy")};
    SLACKLINE_ASSIGN(WhatIfView view, on.answers.what_if(question, on.viewer(request)));
    return listing_of_answers<WhatIfRow>(std::move(view));
  });
}

Response get_advice(const Answering& on, const Request& request) {
  return show_page(request, on.pages, [&]() -> Result<Listing<AdviceView>> {
    SLACKLINE_ASSIGN(auto rows, on.answers.advice(task_in(request)));
    return Listing<AdviceView>{std::move(rows)};
  });
}

Response get_calendar(const Answering& on, const Request& request) {
  return show_page(request, on.pages, [&]() -> Result<Listing<CalendarRow>> {
    control::CalendarQuestion question;
    question.gpu_type = given(request, "type");
    SLACKLINE_ASSIGN(const std::int64_t days,
                     number(request, "days", 3, 1, static_cast<std::int64_t>(kLongestDays)));
    question.days = static_cast<double>(days);
    SLACKLINE_ASSIGN(auto rows, on.answers.calendar(question));
    return Listing<CalendarRow>{std::move(rows)};
  });
}

// The routes of the answers; every one keeps `on`.
struct AnswerTable {
  Router& router;
  std::shared_ptr<const Answering> on;

  // The route comes without its handler.
  void add(Response (*answer)(const Answering&, const Request&), Route route) const {
    route.handler = [on = on, answer](const Request& request) { return answer(*on, request); };
    router.add(std::move(route));
  }
};

void add_task_routes(const AnswerTable& table) {
  table.add(get_eta,
            {.method = "GET",
             .pattern = "/v1/tasks/{ns}/{name}/eta",
             .handler = {},
             .parameters = std::vector{output_parameter()},
             .operation = answers_one<EtaView>(
                 "getEta", "When a task starts and finishes, with the chance to be in time",
                 "Medians and 90 % quantiles", {{404}, {503}})});
  table.add(get_explain,
            {.method = "GET",
             .pattern = "/v1/tasks/{ns}/{name}/explain",
             .handler = {},
             .parameters = std::vector{output_parameter(),
                                       Parameter{.name = "node",
                                                 .about = "Also what keeps it off this node",
                                                 .example = "a1"}},
             .operation = answers_one<ExplainView>(
                 "explainTask", "Everything that a task waits for, and what would help it",
                 "Blockers, nodes by constraint, changes", {{404}, {503}})});
  table.add(get_advice,
            {.method = "GET",
             .pattern = "/v1/tasks/{ns}/{name}/advice",
             .handler = {},
             .parameters = list_parameters({}),
             .operation = answers_list<AdviceView>(
                 "getAdvice", "What a Job should ask for, by what the runs of its family used",
                 "A row for each resource, on every GPU type with evidence",
                 {{400}, {404}, {503}, list_is_gone()})});
}

void add_quote_route(const AnswerTable& table) {
  Parameter ns = namespace_parameter("Namespace of the manifest");
  ns.schema = R"({"type":"string","default":"default"})";
  Operation quotes = answers_list<QuoteRowView>(
      "quoteManifest",
      "What a task that is not submitted would get on every GPU type; nothing is created",
      "Placements, as written first", {{400}, {503}, list_is_gone()},
      wire::members_of<QuoteView>());
  quotes.body = kManifestBody;
  table.add(post_quote,
            {.method = "POST",
             .pattern = "/v1/quote",
             .handler = {},
             .max_body = kMaxManifest,
             .parameters = list_parameters(
                 {ns,
                  {.name = "deadline",
                   .about = "In place of its own: a duration from now (24h) or a time (RFC 3339)",
                   .example = "24h"}}),
             .namespace_parameter = "namespace",
             .operation = std::move(quotes)});
}

void add_what_if_route(const AnswerTable& table) {
  table.add(get_what_if,
            {.method = "GET",
             .pattern = "/v1/whatif",
             .handler = {},
             .parameters = list_parameters(
                 {namespace_parameter("Of the one who asks, where the right is not for all"),
                  {.name = "drain", .about = "Nodes, separated by commas"},
                  {.name = "add", .about = "NODESxTYPExGPUS", .example = "4xA100x8"},
                  {.name = "policy", .about = "A policy with its options"}}),
             .namespace_parameter = "namespace",
             .operation = answers_list<WhatIfRow>(
                 "whatIf", "Who gains and who loses by a change of the cluster or the policy",
                 "Tasks whose end changes, the greatest change first",
                 {{400}, {404}, {503}, list_is_gone()}, wire::members_of<WhatIfView>())});
}

void add_calendar_route(const AnswerTable& table) {
  table.add(get_calendar,
            {.method = "GET",
             .pattern = "/v1/calendar",
             .handler = {},
             .parameters = list_parameters(
                 {namespace_parameter("Of the one who asks, where the right is not for all"),
                  {.name = "type", .about = "Only this GPU type"},
                  {.name = "days",
                   .about = "How far ahead",
                   .schema = R"({"type":"integer","minimum":1,"maximum":14,"default":3})"}}),
             .namespace_parameter = "namespace",
             .operation = answers_list<CalendarRow>(
                 "getCalendar", "GPUs that are predicted to be free, by type and time",
                 "Slots of an hour or more", {{400}, {404}, {503}, list_is_gone()})});
}

}  // namespace

void add_answer_routes(Router& router, control::AnswerQuery& answers, Pages& pages,
                       const GpuCatalog& catalog, const Clock& clock, ViewerOf viewer_of,
                       Foretell foretell) {
  const AnswerTable table{
      router, std::make_shared<const Answering>(Answering{
                  answers, pages, catalog, clock, std::move(viewer_of), std::move(foretell)})};
  add_task_routes(table);
  add_quote_route(table);
  add_what_if_route(table);
  add_calendar_route(table);
}

}  // namespace slackline::http
