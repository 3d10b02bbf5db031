#include "http/site.h"

#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "slackline/base/text.h"

namespace slackline::http {

bool is_loopback_host(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    in6_addr address{};
    return end != std::string_view::npos && (end + 1 == host.size() || host[end + 1] == ':') &&
           inet_pton(AF_INET6, std::string(host.substr(1, end - 1)).c_str(), &address) == 1 &&
           IN6_IS_ADDR_LOOPBACK(&address);
  }
  const std::string name = to_lower(host.substr(0, host.find(':')));
  in_addr address{};
  if (inet_pton(AF_INET, name.c_str(), &address) == 1) return (ntohl(address.s_addr) >> 24) == 127;
  return name == "localhost" || name == "localhost.";
}

Refusal check_site(const RequestHead& head) {
  if (!head.host.empty() && !is_loopback_host(head.host))
    return {421,
            "this listener is on the loopback address and is not known by that Host; call it "
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
