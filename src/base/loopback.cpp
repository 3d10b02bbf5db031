#include "slackline/base/loopback.h"

#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "slackline/base/text.h"

namespace slackline {

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

bool is_loopback_url(std::string_view url) {
  if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos)
    url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  // The part before an '@' is a user.
  return is_loopback_host(url.substr(url.rfind('@') + 1));
}

}  // namespace slackline
