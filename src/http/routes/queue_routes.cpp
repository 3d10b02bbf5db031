#include <utility>

#include "control/query/queue_query.h"
#include "http/routes/answers.h"
#include "http/routes/api_routes.h"
#include "http/routes/openapi.h"

namespace slackline::http {
namespace {

Listing<QueueRow> listing_of(QueueView view) {
  Listing<QueueRow> listing;
  listing.facts = wire::encode_one(view);
  listing.preface = wire::preface_of(view);
  listing.rows = std::move(view.rows);
  return listing;
}

// Only its row if a task is named.
Result<QueueView> asked_view(control::QueueQuery& queue, const Request& request) {
  const std::string ns = given(request, "namespace");
  const std::string name = given(request, "name");
  if (!name.empty() && ns.empty())
    return fail(ErrorCode::kInvalidArgument, "name: say which namespace too: namespace=NAMESPACE");
  SLACKLINE_ASSIGN(const bool all, given_flag(request, "all"));
  SLACKLINE_ASSIGN(QueueView view, queue.ask(ns, all));
  if (name.empty()) return view;
  std::erase_if(view.rows, [&](const QueueRow& row) { return row.key.name != name; });
  if (view.rows.empty()) return fail(queue.missing({ns, name}));
  return view;
}

Response get_queue(control::QueueQuery& queue, Pages& pages, const ViewerOf& viewer_of,
                   const Request& request) {
  return show_page(request, pages, [&]() -> Result<Listing<QueueRow>> {
    SLACKLINE_ASSIGN(QueueView view, asked_view(queue, request));
    if (viewer_of) control::hide_from(viewer_of(request), view);
    SLACKLINE_TRY(control::arrange(view.rows, arrangement_of(request)));
    return listing_of(std::move(view));
  });
}

Response get_shares(control::QueueQuery& queue, Pages& pages, const Request& request) {
  return show_page(request, pages, [&]() -> Result<Listing<ShareLine>> {
    SLACKLINE_ASSIGN(ShareLedger ledger, queue.shares());
    Listing<ShareLine> listing;
    listing.facts = wire::encode_one(ledger);
    listing.preface = wire::preface_of(ledger);
    listing.rows = std::move(ledger.lines);
    return listing;
  });
}

}  // namespace

void add_queue_routes(Router& router, control::QueueQuery& queue, Pages& pages,
                      const ViewerOf& viewer_of) {
  router.add(
      {.method = "GET",
       .pattern = "/v1/queue",
       .handler =
           [&queue, &pages, viewer_of](const Request& request) {
             return get_queue(queue, pages, viewer_of, request);
           },
       .parameters = arranged_parameters<QueueRow>(
           {namespace_parameter(),
            {.name = "name", .about = "Only this task of the namespace"},
            {.name = "all", .about = "true: also what waits and Slackline does not plan"}}),
       .namespace_parameter = "namespace",
       .operation = answers_list<QueueRow>(
           "listQueue", "The queue: tasks with a plan, then those that wait, by predicted start",
           "A page of the queue", {{400}, {404}, {503}, list_is_gone()},
           wire::members_of<QueueView>())});
  router.add({.method = "GET",
              .pattern = "/v1/shares",
              .handler = [&queue, &pages](
                             const Request& request) { return get_shares(queue, pages, request); },
              .parameters = list_parameters({}),
              .operation = answers_list<ShareLine>(
                  "listShares", "What queues use of their shares, by queue and GPU type",
                  "A page of shares and what is in use", {{400}, {503}, list_is_gone()},
                  wire::members_of<ShareLedger>())});
}

}  // namespace slackline::http
