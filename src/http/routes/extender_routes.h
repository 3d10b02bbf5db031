// The extender listener: POST /v1/extender/{filter,prioritize,preempt,bind}.
//
// Undecodable JSON is 400 with the reason; what decodes but cannot be answered is 200 with `Error`,
// because kube-scheduler never reads the body of another status.
#pragma once

#include <cstddef>

#include "control/serve/extender.h"
#include "http/server/router.h"
#include "obs/metrics.h"

namespace slackline::http {

struct ExtenderRouteOptions {
  std::size_t max_body = std::size_t{16} << 20;  // bytes; a longer request is answered with 413
};

// All references outlive the router.
void add_extender_routes(Router& router, control::Extender& extender, const GpuCatalog& catalog,
                         obs::MetricsRegistry& metrics, const ExtenderRouteOptions& options = {});

}  // namespace slackline::http
