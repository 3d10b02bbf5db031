// The guard of REST off loopback: a bearer token, and the right to what is asked for.
//
// Everything under /v1/ is a virtual resource of the group slackline.dev, named by the first
// segment of its path: `get` for GET, `create` for POST, `update` for PUT. The namespace is that of
// the path or, where it limits the answer, of the query; otherwise (lists of all namespaces,
// models, nodes) the right must hold in all namespaces. Health and /openapi.json are free.
//
// 401 without a token that the API server knows, 403 without the right, 503 where it cannot be
// told. The API server is not asked about what is no JSON Web Token, nor about more unknown tokens
// of one peer than a few in two seconds (429).
#pragma once

#include "control/trust/api_rights.h"
#include "http/server/router.h"

namespace slackline::http {

// What a request demands; nullopt: nothing.
std::optional<ApiDemand> demand_of(const Route& route, const Request& request);

// `rights` outlives the router that uses it.
Guard make_api_guard(control::ApiRights& rights);

}  // namespace slackline::http
