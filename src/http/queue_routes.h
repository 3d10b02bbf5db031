// GET /v1/queue
#pragma once

#include "http/router.h"

namespace slackline::control {
class QueueQuery;
}

namespace slackline::http {

// `queue` outlives the router.
void add_queue_routes(Router& router, control::QueueQuery& queue);

}  // namespace slackline::http
