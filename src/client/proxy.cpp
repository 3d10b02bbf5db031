#include "client/proxy.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <arpa/inet.h>

#include "slackline/base/loopback.h"
#include "slackline/base/text.h"

namespace slackline::client {
namespace {

std::string first_of(const Environment& environment, const char* lower, const char* upper) {
  std::string value = environment(lower);
  return value.empty() ? environment(upper) : value;
}

// The bytes of an IPv4 or IPv6 address; empty for a name.
std::vector<std::uint8_t> bytes_of(const std::string& host) {
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET, host.c_str(), bytes.data()) == 1)
    return {bytes.begin(), bytes.begin() + 4};
  if (inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) return {bytes.begin(), bytes.end()};
  return {};
}

bool in_range_of_addresses(const std::string& host, const std::string& range) {
  const std::size_t slash = range.find('/');
  const auto network = bytes_of(range.substr(0, slash));
  const auto address = bytes_of(host);
  const auto given = parse_int(std::string_view(range).substr(slash + 1));
  if (network.empty() || network.size() != address.size() || !given || *given < 0 ||
      *given > static_cast<std::int64_t>(8 * network.size()))
    return false;
  const auto bits = static_cast<std::size_t>(*given);
  for (std::size_t i = 0; i < bits; ++i) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> (i % 8));
    if ((network[i / 8] & mask) != (address[i / 8] & mask)) return false;
  }
  return true;
}

bool exempts(std::string entry, const Address& address) {
  entry = to_lower(trim(entry));
  if (entry == "*") return true;
  if (entry.find('/') != std::string::npos) return in_range_of_addresses(address.host, entry);
  const std::string port = format(":{}", address.port);
  if (bytes_of(entry).empty() && entry.ends_with(port)) entry.resize(entry.size() - port.size());
  if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  if (entry.starts_with("*.")) entry.erase(0, 1);
  if (entry.empty()) return false;
  const std::string host = to_lower(address.host);
  const auto bytes = bytes_of(host);
  if (!bytes.empty()) return bytes == bytes_of(entry);
  if (entry.starts_with('.')) return host.ends_with(entry);
  return host == entry || host.ends_with("." + entry);
}

bool is_exempt(const Address& address, std::string_view list) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (exempts(std::string(list.substr(0, comma)), address)) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

}  // namespace

Result<std::optional<Proxy>> proxy_for(const Address& address, const Environment& environment) {
  std::string url = address.tls ? first_of(environment, "https_proxy", "HTTPS_PROXY")
                                : first_of(environment, "http_proxy", "HTTP_PROXY");
  if (url.empty() || is_loopback_url(address.origin()) ||
      is_exempt(address, first_of(environment, "no_proxy", "NO_PROXY")))
    return std::optional<Proxy>();
  Proxy proxy;
  const std::size_t scheme = url.find("://");
  const std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  if (const std::size_t at = url.rfind('@'); at != std::string::npos && at >= begin) {
    const std::string who = url.substr(begin, at - begin);
    const std::size_t colon = who.find(':');
    proxy.user = who.substr(0, colon);
    if (colon != std::string::npos) proxy.password = who.substr(colon + 1);
    url.erase(begin, at + 1 - begin);
  }
  const auto parsed = parse_address(url);
  if (!parsed || parsed->tls)
    return fail(ErrorCode::kInvalidArgument,
                format("{} names a proxy that is not http://HOST:PORT; set it to one, or name the "
                       "server in NO_PROXY",
                       address.tls ? "HTTPS_PROXY" : "HTTP_PROXY"));
  proxy.host = parsed->host;
  proxy.port = parsed->port;
  return std::optional(proxy);
}

}  // namespace slackline::client
