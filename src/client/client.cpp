#include "client/client.h"

#include <memory>

#include <httplib.h>

#include "slackline/base/loopback.h"
#include "slackline/base/text.h"
#include "wire/kube_decode.h"

namespace slackline::client {
namespace {

std::unique_ptr<httplib::Client> connect(const ClientOptions& options) {
  auto http = options.cert_file.empty() ? std::make_unique<httplib::Client>(options.url)
                                        : std::make_unique<httplib::Client>(
                                              options.url, options.cert_file, options.key_file);
  const auto timeout = static_cast<time_t>(options.timeout_s);
  http->set_connection_timeout(timeout);
  http->set_read_timeout(timeout);
  http->set_tcp_nodelay(true);
  if (!options.ca_file.empty()) http->set_ca_cert_path(options.ca_file);
  http->enable_server_certificate_verification(true);
  if (!options.token.empty()) http->set_bearer_token_auth(options.token);
  return http;
}

Status check_token(const ClientOptions& options) {
  if (options.token.empty() || !is_open_to_the_network(options.url)) return {};
  return fail(ErrorCode::kInvalidArgument,
              format("the token would go over the network in the clear to {}: use https://, or "
                     "`kubectl port-forward` and http://127.0.0.1",
                     printable(options.url)));
}

Result<std::string> unwrap(const ClientOptions& options, const httplib::Result& result) {
  if (!result)
    return fail(
        ErrorCode::kUnavailable,
        format("no daemon answers at {} ({}); start one with `slackline serve`, or name its "
               "address with --server",
               options.url, httplib::to_string(result.error())));
  if (result->status >= 200 && result->status < 300) return result->body;
  const auto status = wire::decode_status(result->body);
  const std::string reason = status ? status->message : printable(result->body);
  return fail(error_of_http_status(result->status), format("{} (HTTP {})", reason, result->status));
}

}  // namespace

Result<std::string> Client::get(const std::string& path, const std::string& accept) const {
  SLACKLINE_TRY(check_token(options_));
  const auto http = connect(options_);
  return unwrap(options_, http->Get(path, httplib::Headers{{"Accept", accept}}));
}

Result<std::string> Client::post_json(const std::string& path, const std::string& body) const {
  SLACKLINE_TRY(check_token(options_));
  const auto http = connect(options_);
  return unwrap(options_, http->Post(path, body, "application/json"));
}

Result<std::string> Client::remove(const std::string& path) const {
  SLACKLINE_TRY(check_token(options_));
  const auto http = connect(options_);
  return unwrap(options_, http->Delete(path));
}

bool is_open_to_the_network(std::string_view url) {
  return to_lower(url).starts_with("http://") && !is_loopback_url(url);
}

std::string encode_query(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || c == '/';
    if (plain)
      out += c;
    else
      out += format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace slackline::client
