// The REST API, read-only: /v1/{cluster,nodes,tasks,scores,decisions}, placements, /openapi.json.
//
// JSON, or a text table where the client accepts text/plain. Lists take `limit` (1..1000, default
// 500) and `continue`, which continues the same list (pages.h). Errors are Kubernetes Status
// documents with a stable reason.
#pragma once

#include "control/query/queries.h"
#include "http/routes/pages.h"
#include "http/server/router.h"

namespace slackline::http {

// The server's own refusals become Status documents.
void set_error_pages(Router& router);

// `queries` and `pages` outlive the router. Sets the error pages too.
void add_api_routes(Router& router, const control::Queries& queries, Pages& pages);

}  // namespace slackline::http
