// What people ask of the queue's future: eta, explain, quote, what-if, calendar.
#pragma once

#include <functional>

#include "control/answers/answer_query.h"
#include "http/routes/pages.h"
#include "http/server/router.h"
#include "slackline/base/clock.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::http {

// What the one who sent the request may see (routes/api_guard.h); everything where nobody guards
// the listener.
using ViewerOf = std::function<control::Viewer(const Request&)>;

// All references outlive the router.
void add_answer_routes(Router& router, control::AnswerQuery& answers, Pages& pages,
                       const GpuCatalog& catalog, const Clock& clock, ViewerOf viewer_of);

}  // namespace slackline::http
