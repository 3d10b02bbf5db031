#include "http/queue_routes.h"

#include "control/query/queue_query.h"
#include "wire/queue_codec.h"
// After the codec: its list() is to find encode() and text_of() of the queue.
#include "http/answers.h"

namespace slackline::http {

void add_queue_routes(Router& router, control::QueueQuery& queue) {
  const auto get = [&queue](const Request& request) {
    const auto ns = request.query.find("namespace");
    return list(request, queue.rows(ns == request.query.end() ? "" : ns->second));
  };
  router.add({"GET", "/v1/queue", get, 0, Pool::kApi});
}

}  // namespace slackline::http
