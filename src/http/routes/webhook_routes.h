// The webhook listener: POST /v1/webhook/{mutate,validate}, AdmissionReview in and out.
//
// A body that cannot be decoded as a review is 400, which the API server counts as a failure of the
// webhook: with failurePolicy Ignore the object is admitted as it is. After an exception while
// deciding, the answer is "allowed, unchanged" with a warning.
#pragma once

#include <cstddef>

#include "control/serve/webhook.h"
#include "http/server/router.h"
#include "obs/metrics.h"
#include "wire/admission/admission_codec.h"

namespace slackline::http {

// A review longer than `max_body` is answered with 413. All references outlive the router.
void add_webhook_routes(Router& router, control::Webhook& webhook, const GpuCatalog& catalog,
                        obs::MetricsRegistry& metrics,
                        std::size_t max_body = wire::kMaxAdmissionBytes);

}  // namespace slackline::http
