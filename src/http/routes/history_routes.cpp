#include <optional>
#include <utility>

#include "http/routes/answers.h"
#include "http/routes/api_routes.h"
#include "http/routes/openapi.h"

namespace slackline::http {
namespace {

Result<HistoryQuery> history_query(const Request& request, double now_s) {
  HistoryQuery query;
  SLACKLINE_ASSIGN(const std::int64_t limit, number(request, "limit", 100, 1, kMaxLimit));
  SLACKLINE_ASSIGN(const std::optional<double> since_s, moment(request, "since", now_s));
  query.since_s = since_s.value_or(0);
  query.limit = static_cast<std::size_t>(limit);
  query.ns = given(request, "namespace");
  query.queue = given(request, "queue");
  query.name = given(request, "name");
  query.continue_from = given(request, "continue");
  return query;
}

Response list_history(const control::Queries& queries, double now_s, const Request& request) {
  const auto query = history_query(request, now_s);
  if (!query) return failure(query.error());
  auto page = queries.history(*query);
  if (!page) return failure(page.error());
  // A row is never changed, so the place behind it is where the list goes on.
  return show(request, Listing<FinishedTask>{std::move(page->rows)}, Rest{page->next});
}

}  // namespace

void add_history_routes(Router& router, const control::Queries& queries, const Clock& clock,
                        std::function<void()> before) {
  router.add({.method = "GET",
              .pattern = "/v1/history",
              .handler =
                  [&queries, &clock, before = std::move(before)](const Request& request) {
                    before();
                    return list_history(queries, clock.wall_s(), request);
                  },
              .parameters = journal_parameters(
                  {namespace_parameter(),
                   {.name = "name", .about = "Only tasks of this name"},
                   {.name = "queue"},
                   {.name = "since",
                    .about = "Only those that ended since then: a duration (24h), a date "
                             "(2026-11-21) or a time (RFC 3339)"}}),
              .namespace_parameter = "namespace",
              .operation = answers_list<FinishedTask>(
                  "listHistory", "Jobs that are over, by their end, newest first",
                  "A page of the history", {{400}, {503}})});
}

}  // namespace slackline::http
