// The gateway of `slackline page`: the page on a port of this machine, and REST behind it, asked
// with the credentials of whoever started it.
//
// Every process of this machine reaches the port, and so does each site that a browser shows. So
// REST is only passed on for who sends a secret as bearer token, which the start-up line has in the
// fragment of its URL: no browser sends that part to anybody. Only what the page asks is passed on.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "http/server/router.h"
#include "slackline/base/result.h"

namespace slackline::http {

// A request to the daemon: path and query as they came.
struct Onward {
  std::string_view method;
  std::string_view target;
  std::string_view body;
};

// The body of its answer 2xx. Called from several threads.
using Forward = std::function<Result<std::string>(const Onward&)>;

// The page, REST, metrics and readiness. There are no server-sent events: the page polls.
void add_gateway_routes(Router& router, Forward forward);

Guard make_secret_guard(std::string secret);

}  // namespace slackline::http
