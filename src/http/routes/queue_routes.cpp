#include "http/routes/queue_routes.h"

#include <utility>

#include "control/query/queue_query.h"
#include "http/routes/answers.h"
#include "slackline/base/duration.h"
#include "wire/rest/queue_codec.h"

namespace slackline::http {
namespace {

constexpr double kOld_s = 30;
constexpr const char* kNotRead =
    "the first list of the cluster is not complete yet: ask again soon; /readyz says why";

std::string leader_text(const QueueView& view) {
  if (!view.active)
    return "this is what active mode would do; in this mode nothing is released, and "
           "kube-scheduler starts tasks in its own order";
  if (view.leader.empty()) return "no replica is the leader: no waiting task is started";
  return format("{} is the leader{}", view.leader, view.leads ? "" : "; another replica answers");
}

Listing<QueueRow> listing_of(QueueView view) {
  const bool forecast = view.forecast_s > 0;
  const double age_s = forecast ? view.now_s - view.forecast_s : 0;
  Listing<QueueRow> listing;
  listing.rows = std::move(view.rows);
  listing.facts = {{"leader", view.leader},
                   {"problem", view.read ? "" : kNotRead},
                   {"forecastTime", forecast ? format_rfc3339(view.forecast_s) : ""},
                   {"forecastAge", forecast ? format_duration(age_s) : ""},
                   {"unknownRuns", view.unknown_runs > 0 ? format("{}", view.unknown_runs) : ""}};
  const double now_s = view.now_s;
  listing.wide_table = [now_s](const auto& rows) { return wire::wide_table_of(rows, now_s); };
  // The preface only has what a person needs to know.
  if (age_s > kOld_s) listing.preface = format("forecasts are {} old\n", format_duration(age_s));
  if (view.unknown_runs > 0)
    listing.preface += format(
        "running pods without model and iterations, or expected-duration: {}; their ends are "
        "guesses\n",
        view.unknown_runs);
  if (!view.read)
    listing.preface += format("{}\n", kNotRead);
  else if (!view.leads)
    listing.preface += leader_text(view) + "\n";
  return listing;
}

// Only its row if a task is named.
Result<QueueView> asked_view(control::QueueQuery& queue, const Request& request) {
  const std::string ns = given(request, "namespace");
  const std::string name = given(request, "name");
  if (!name.empty() && ns.empty())
    return fail(ErrorCode::kInvalidArgument, "name: say which namespace too: namespace=NAMESPACE");
  QueueView view = queue.ask(ns);
  if (name.empty() || !view.read) return view;
  std::erase_if(view.rows, [&](const QueueRow& row) { return row.key.name != name; });
  if (view.rows.empty())
    return fail(ErrorCode::kNotFound,
                format("no task {}/{} waits or has a plan; /v1/tasks lists all of the cluster",
                       printable(ns, 64), printable(name, 64)));
  return view;
}

Response get_queue(control::QueueQuery& queue, Pages& pages, const Request& request) {
  return show_page(request, pages, [&]() -> Result<Listing<QueueRow>> {
    SLACKLINE_ASSIGN(QueueView view, asked_view(queue, request));
    return listing_of(std::move(view));
  });
}

}  // namespace

void add_queue_routes(Router& router, control::QueueQuery& queue, Pages& pages) {
  Route route{"GET", "/v1/queue", [&queue, &pages](const Request& request) {
                return get_queue(queue, pages, request);
              }};
  route.parameters = {"output", "limit", "continue", "namespace", "name"};
  router.add(std::move(route));
}

}  // namespace slackline::http
