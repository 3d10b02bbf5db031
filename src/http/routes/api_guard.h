// The guard of REST off loopback: it requires a bearer token, or a caller whom the API server
// names, and the right to the request.
//
// Everything under /v1/ is a virtual resource of the group slackline.dev, named by the first
// segment of its path: `get` for GET, `create` for POST, `update` for PUT. The namespace is that of
// the path or, where it limits the answer, of the query; otherwise (lists of all namespaces,
// models, nodes) the right must hold in all namespaces. Health and /openapi.json are free. A route
// for workloads needs no right, but a ServiceAccount of its namespace.
//
// 401 without a token that the API server knows, 403 without the right, 503 if this cannot be
// decided. The API server is not asked about text that is not a JSON Web Token, nor about more than
// a few unknown tokens of one peer in two seconds (429).
#pragma once

#include "control/answers/viewer.h"
#include "control/trust/rights.h"
#include "http/server/router.h"

namespace slackline::http {

// The right that a request needs; nullopt: none.
std::optional<ApiDemand> demand_of(const Route& route, const Request& request);

// `rights` outlives the router that uses it.
Guard make_api_guard(control::Rights& rights);

// What the sender of a request may see of others: `get` on `tasks` of each namespace, and `use` of
// the class urgent. It may wait for the API server. `rights` outlives it.
control::Viewer viewer_of(control::Rights& rights, const Request& request);

}  // namespace slackline::http
