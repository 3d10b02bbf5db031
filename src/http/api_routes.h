// The REST API, read-only: /v1/{cluster,nodes,tasks,scores,decisions}, placements, /openapi.json.
//
// JSON, or a text table where the client accepts text/plain. Lists take `limit` (1..1000, default
// 500) and `continue`. Errors are Kubernetes Status documents with a stable reason.
#pragma once

#include "control/query/queries.h"
#include "http/router.h"

namespace slackline::http {

// `queries` outlives the router.
void add_api_routes(Router& router, const control::Queries& queries);

}  // namespace slackline::http
