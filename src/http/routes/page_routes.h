// The page for browsers: GET / and its files, GET /page/{file}. No token is needed: they hold no
// data, and what the page shows it asks REST for.
//
// A strict Content-Security-Policy goes with every file: scripts and styles only from here, no
// inline script, no frame around it, no request elsewhere. URLs are relative, so that the page also
// works below a proxy's path.
#pragma once

#include "http/server/router.h"

namespace slackline::http {

void add_page_routes(Router& router);

}  // namespace slackline::http
