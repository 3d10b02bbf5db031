// Whether a request may come from its stated origin, on a listener of the loopback address.
//
// A page of any site can make its reader's browser send requests to 127.0.0.1, also through
// `kubectl port-forward`; with a name of its own that suddenly means 127.0.0.1 (DNS rebinding) it
// could even read the answers. A browser always sends the name that it was given (Host) and, for
// writes, the page's site (Origin). Off loopback a client certificate or a token proves a request.
#pragma once

#include "http/server/request_head.h"
#include "slackline/base/loopback.h"

namespace slackline::http {

// status 0: nothing to refuse. 421: the Host is not a loopback name. 403: a page of another site
// tries to write.
Refusal check_site(const RequestHead& head);

}  // namespace slackline::http
