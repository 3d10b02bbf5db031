#include "client/address.h"

#include <algorithm>

#include "slackline/base/text.h"

namespace slackline::client {
namespace {

constexpr int kHttpPort = 80;
constexpr int kHttpsPort = 443;

tl::unexpected<Error> bad(std::string_view url, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument,
              format("\"{}\" is not the address of a server: {}; write http://HOST:PORT or "
                     "https://HOST:PORT, with a path where a proxy wants one",
                     printable(url, 200), why));
}

bool is_visible_ascii(char c) {
  return c > ' ' && c < 0x7f;
}

}  // namespace

std::string Address::origin() const {
  const bool six = host.find(':') != std::string::npos;
  return format("{}://{}{}{}:{}", tls ? "https" : "http", six ? "[" : "", host, six ? "]" : "",
                port);
}

Result<Address> parse_address(std::string_view url) {
  Address out;
  std::string_view rest = url;
  if (const std::size_t end = rest.find("://"); end != std::string_view::npos) {
    const std::string scheme = to_lower(rest.substr(0, end));
    if (scheme != "http" && scheme != "https") return bad(url, "it is neither http nor https");
    out.tls = scheme == "https";
    rest.remove_prefix(end + 3);
  }
  if (!std::all_of(rest.begin(), rest.end(), is_visible_ascii))
    return bad(url, "it has a space or another character that no URL has");
  if (rest.find_first_of("?#") != std::string_view::npos)
    return bad(url, "it has a query or a fragment");
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  out.prefix = rest.substr(slash);
  while (out.prefix.ends_with('/'))
    out.prefix.pop_back();
  std::string_view host = rest.substr(0, slash);
  if (host.find('@') != std::string_view::npos) return bad(url, "it names a user");
  std::string_view port;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return bad(url, "a ] is missing");
    port = host.substr(end + 1);
    host = host.substr(1, end - 1);
    if (!port.empty() && !port.starts_with(':')) return bad(url, "after ] comes a colon");
  } else if (const std::size_t colon = host.find(':'); colon != std::string_view::npos) {
    port = host.substr(colon);
    host = host.substr(0, colon);
  }
  if (host.empty()) return bad(url, "it names no host");
  out.host = host;
  out.port = out.tls ? kHttpsPort : kHttpPort;
  if (port.empty()) return out;
  const auto number = parse_int(port.substr(1));
  if (!number || *number < 1 || *number > 65535)
    return bad(url, "its port is not a number up to 65535");
  out.port = static_cast<int>(*number);
  return out;
}

}  // namespace slackline::client
