// The aggregated API visibility.slackline.dev/v1: REST for what reads, called by the API server for
// the people who asked it.
//
// The listener demands a client certificate of the front proxy's authority; only then the headers
// that name a user are read. The API server has judged the request by RBAC, and REST's own guard
// judges what it became. Everything else is 404.
#pragma once

#include "http/server/router.h"
#include "message/admission_review.h"
#include "message/front_proxy.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"

namespace slackline::http {

// For whom the front proxy asks. kForbidden: it is not the front proxy, or it names nobody.
Result<Requester> caller_of(const FrontProxy& proxy, const Request& request);

// `rest`: the routes behind it, with their guard; it and `proxy` outlive the router.
void add_visible_routes(Router& router, const Router& rest, const Published<FrontProxy>& proxy);

}  // namespace slackline::http
