// GET /livez, /readyz[?verbose] and /metrics, in the form Kubernetes' own components answer.
#pragma once

#include <functional>

#include "control/query/health.h"
#include "http/server/router.h"
#include "obs/metrics.h"

namespace slackline::http {

// `before_scrape` brings gauges up to date. All references outlive the router.
void add_health_routes(Router& router, const control::Health& health,
                       const obs::MetricsRegistry& metrics, std::function<void()> before_scrape);

}  // namespace slackline::http
