// GET /v1/history
#pragma once

#include <functional>

#include "control/query/queries.h"
#include "http/server/router.h"
#include "slackline/base/clock.h"

namespace slackline::http {

// `before` is called before each answer, so that it includes all ended tasks. `queries` and `clock`
// outlive the router.
void add_history_routes(Router& router, const control::Queries& queries, const Clock& clock,
                        std::function<void()> before);

}  // namespace slackline::http
