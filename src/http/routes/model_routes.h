// REST for throughput models: GET /v1/models and /v1/models/{model}, POST .../samples, PUT,
// DELETE.
//
// Errors as in api_routes.h; 415 where a body is neither JSON nor, for samples, CSV; 503 with the
// remedy while the model database cannot be written.
#pragma once

#include "control/learn/models.h"
#include "control/query/queries.h"
#include "http/routes/pages.h"
#include "http/server/router.h"

namespace slackline::http {

inline constexpr std::size_t kMaxSamplesBody = std::size_t{2} << 20;
inline constexpr std::size_t kMaxDescriptorBody = std::size_t{64} << 10;

// Posted samples longer than `max_samples` bytes are answered with 413. `queries`, `models` and
// `pages` outlive the router.
void add_model_routes(Router& router, const control::Queries& queries, control::Models& models,
                      Pages& pages, std::size_t max_samples = kMaxSamplesBody);

}  // namespace slackline::http
