// POST /v1/tasks/{ns}/{name}/progress: a training Job tells how far it is (docs/PROGRESS.md).
//
// Off loopback for ServiceAccounts of the namespace (api_guard.h). Errors as in api_routes.h; 415
// where the body is not JSON, 429 with Retry-After over the rate of the task.
#pragma once

#include "control/learn/progress_reports.h"
#include "http/server/router.h"

namespace slackline::http {

// `progress` outlives the router.
void add_progress_routes(Router& router, control::ProgressReports& progress);

}  // namespace slackline::http
