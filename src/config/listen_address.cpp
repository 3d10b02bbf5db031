#include "config/listen_address.h"

#include <string_view>

#include <arpa/inet.h>

#include "slackline/base/text.h"

namespace slackline::config {
namespace {

bool is_ip(const std::string& host, int family) {
  in6_addr room{};
  return ::inet_pton(family, host.c_str(), &room) == 1;
}

bool is_any(const std::string& host) {
  return host.empty() || host == "0.0.0.0" || host == "::";
}

}  // namespace

Result<Address> parse_address(const std::string& text) {
  const auto wrong = [] {
    return fail(ErrorCode::kInvalidArgument,
                "it must be HOST:PORT, [IPv6]:PORT or :PORT with a port of 0 to 65535");
  };
  const std::size_t colon = text.rfind(':');
  const bool bracketed = !text.empty() && text.front() == '[';
  if (colon == std::string::npos || (bracketed && (colon < 2 || text[colon - 1] != ']')) ||
      (!bracketed && text.find(':') != colon))
    return wrong();
  const auto port = parse_int(std::string_view(text).substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) return wrong();
  Address address{bracketed ? text.substr(1, colon - 2) : text.substr(0, colon),
                  static_cast<int>(*port)};
  const bool known = bracketed ? is_ip(address.host, AF_INET6)
                               : address.host.empty() || address.host == "localhost" ||
                                     is_ip(address.host, AF_INET);
  if (known) return address;
  return fail(ErrorCode::kInvalidArgument,
              "its host must be an IP address, localhost, or nothing for every interface");
}

bool clash(const Address& a, const Address& b) {
  const auto numeric = [](const std::string& host) {
    return host == "localhost" ? std::string("127.0.0.1") : host;
  };
  return a.port != 0 && a.port == b.port &&
         (numeric(a.host) == numeric(b.host) || is_any(a.host) || is_any(b.host));
}

}  // namespace slackline::config
