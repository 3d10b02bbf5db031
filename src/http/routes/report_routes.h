// GET /v1/reports
#pragma once

#include <functional>

#include "control/query/reports.h"
#include "http/routes/pages.h"
#include "http/server/router.h"
#include "slackline/base/clock.h"

namespace slackline::http {

// `before` is called before each answer, so that it includes all ended tasks. All outlive the
// router.
void add_report_routes(Router& router, const control::Reports& reports, Pages& pages,
                       const Clock& clock, std::function<void()> before);

}  // namespace slackline::http
