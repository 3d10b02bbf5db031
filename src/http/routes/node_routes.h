// GET /v1/nodes: nodes, with what the queue says of the runs on them.
#pragma once

#include "control/query/queries.h"
#include "control/query/queue_query.h"
#include "http/routes/pages.h"
#include "http/server/router.h"

namespace slackline::http {

// As add_api_routes (api_routes.h).
void add_node_routes(Router& router, const control::Queries& queries, control::QueueQuery& queue,
                     Pages& pages);

}  // namespace slackline::http
