// GET /v1/queue
#pragma once

#include "http/routes/pages.h"
#include "http/server/router.h"

namespace slackline::control {
class QueueQuery;
}

namespace slackline::http {

// `queue` and `pages` outlive the router.
void add_queue_routes(Router& router, control::QueueQuery& queue, Pages& pages);

}  // namespace slackline::http
