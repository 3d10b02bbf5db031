#include "wire/telemetry/telemetry_checks.h"

#include <algorithm>

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kLongestUrl = 2048;
constexpr std::int64_t kLargestPort = 65535;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

Status check_url(const std::string& url) {
  const auto wrong = [&url](std::string_view what) {
    return fail(ErrorCode::kInvalidArgument,
                format("the URL of Prometheus, \"{}\": {}; write http(s)://HOST[:PORT][/PREFIX]",
                       printable(url), what));
  };
  const bool tls = url.starts_with("https://");
  if (!tls && !url.starts_with("http://")) return wrong("it is neither http:// nor https://");
  if (url.size() > kLongestUrl) return wrong("it is too long");
  const std::string_view rest = std::string_view(url).substr(tls ? 8 : 7);
  if (rest.empty() || rest.front() == '/' || rest.front() == ':') return wrong("it names no host");
  for (const char c : rest)
    if (static_cast<unsigned char>(c) <= ' ' || c == '?' || c == '#')
      return wrong("it has a space, a query or a fragment");
  const std::string_view host = rest.substr(0, rest.find('/'));
  if (host.find('@') != std::string_view::npos)
    return wrong("it has a user in it, which belongs into a token file");
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    const auto port = parse_int(host.substr(colon + 1));
    if (!port || *port < 1 || *port > kLargestPort) return wrong("its port is not of 1 to 65535");
  }
  return {};
}

Status check_tenant(const PrometheusSettings& settings) {
  for (const std::string* text : {&settings.tenant, &settings.tenant_header})
    for (const char c : *text)
      if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f' ||
          (text == &settings.tenant_header && c == ':'))
        return fail(ErrorCode::kInvalidArgument,
                    format("the tenant's header \"{}: {}\" has a character that none may have",
                           printable(settings.tenant_header, 64), printable(settings.tenant, 64)));
  return {};
}

bool is_label_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace slackline::wire
