#include "http/routes/history_routes.h"

#include <string>
#include <utility>

#include "http/routes/answers.h"
#include "http/routes/openapi.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"

namespace slackline::http {
namespace {

// A point in time, or how long ago that was.
Result<double> since_of(const std::string& text, double now_s) {
  if (text.empty()) return 0.0;
  if (const auto ago_s = parse_duration_s(text)) return now_s - *ago_s;
  if (const auto time_s = parse_rfc3339_s(text)) return *time_s;
  return fail(ErrorCode::kInvalidArgument,
              format("since=\"{}\": expected a duration such as 24h, or a time such as "
                     "2026-11-21T12:00:00Z",
                     printable(text, 64)));
}

Result<HistoryQuery> history_query(const Request& request, double now_s) {
  HistoryQuery query;
  SLACKLINE_ASSIGN(const std::int64_t limit, number(request, "limit", 100, 1, kMaxLimit));
  SLACKLINE_ASSIGN(query.since_s, since_of(given(request, "since"), now_s));
  query.limit = static_cast<std::size_t>(limit);
  query.ns = given(request, "namespace");
  query.queue = given(request, "queue");
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
                   {.name = "queue"},
                   {.name = "since",
                    .about = "Only those that ended since then: a duration (24h) or a time (RFC "
                             "3339)"}}),
              .namespace_parameter = "namespace",
              .operation = answers_list<FinishedTask>(
                  "listHistory", "Jobs that are over, by their end, newest first",
                  "A page of the history", {{400}, {503}})});
}

}  // namespace slackline::http
