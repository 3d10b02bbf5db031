#include "http/server/site.h"

#include <string>

#include "slackline/base/text.h"

namespace slackline::http {

Refusal check_site(const RequestHead& head) {
  if (!head.host.empty() && !is_loopback_host(head.host))
    return {421,
            "this listener is on the loopback address and does not serve that Host; call it "
            "localhost, 127.0.0.1 or [::1]"};
  const bool writes = head.method != "GET" && head.method != "HEAD" && head.method != "OPTIONS";
  const std::size_t scheme_end = head.origin.find("://");
  const bool own_page = scheme_end != std::string::npos &&
                        to_lower(head.origin.substr(scheme_end + 3)) == to_lower(head.host);
  if (writes && !head.origin.empty() && !own_page)
    return {403, "a page of another site may not write here"};
  return {};
}

}  // namespace slackline::http
