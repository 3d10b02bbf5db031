// REST for what families of tasks use: GET /v1/portraits and /v1/portraits/{family}, POST (an
// import), DELETE.
//
// Errors as in api_routes.h; 415 where a body is no JSON; 503 with the remedy while the portrait
// database cannot be written.
#pragma once

#include "control/portrait/portrait_query.h"
#include "http/routes/pages.h"
#include "http/server/router.h"

namespace slackline::http {

inline constexpr std::size_t kMaxPortraitsBody = std::size_t{16} << 20;

// `portraits` and `pages` outlive the router.
void add_portrait_routes(Router& router, control::PortraitQuery& portraits, Pages& pages);

}  // namespace slackline::http
