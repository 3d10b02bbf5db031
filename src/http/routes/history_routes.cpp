#include "http/routes/history_routes.h"

#include <string>
#include <utility>

#include "http/routes/answers.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/rest/history_codec.h"

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
  Listing<FinishedTask> listing;
  listing.rows = std::move(page->rows);
  listing.wide_table = [](const auto& rows) { return wire::wide_table_of(rows); };
  // A row is never changed, so the place behind it is where the list goes on.
  return show(request, listing, Rest{page->next});
}

}  // namespace

void add_history_routes(Router& router, const control::Queries& queries, const Clock& clock,
                        std::function<void()> before) {
  Route route{"GET", "/v1/history",
              [&queries, &clock, before = std::move(before)](const Request& request) {
                before();
                return list_history(queries, clock.wall_s(), request);
              }};
  route.parameters = {"output", "limit", "continue", "namespace", "queue", "since"};
  router.add(std::move(route));
}

}  // namespace slackline::http
