#include "cluster/api/api_client.h"

#include <utility>

#include "slackline/base/text.h"
#include "wire/kube/kube_decode.h"
#include "wire/kube/version_codec.h"

namespace slackline::cluster {
namespace {

constexpr int kUnauthorized = 401;

ApiFailure no_answer(const Error& error) {
  return {.status = 0, .code = error.code, .reason = "", .message = error.message};
}

bool is_success(int status) {
  return status >= 200 && status < 300;
}

template <class Request>
void show(const Credentials::Credential& credential, Request& request) {
  request.bearer_token = credential.token;
  request.certificate_data = credential.certificate;
  request.key_data = credential.key;
}

}  // namespace

bool ApiFailure::too_large_version() const {
  return message.find("Too large resource version") != std::string::npos;
}

ApiFailure failure_of(int status, std::string_view body, double retry_after_s) {
  ApiFailure failure{.status = status,
                     .code = error_of_http_status(status),
                     .reason = "",
                     .message = "",
                     .retry_after_s = retry_after_s};
  if (const auto answer = wire::decode_status(body)) {
    failure.reason = answer->reason;
    failure.message = printable(answer->message, 512);
    if (failure.retry_after_s <= 0) failure.retry_after_s = answer->retry_after_s;
  } else {
    failure.message = printable(body, 200);  // a proxy's page, for example
  }
  failure.message = format("HTTP {}: {}", status, failure.message);
  return failure;
}

ApiClient::ApiClient(KubeEndpoint endpoint, const Clock& clock)
    : endpoint_(std::move(endpoint)),
      clock_(clock),
      credentials_(endpoint_, clock),
      http_(endpoint_.tls) {}

Status ApiClient::await_credential() {
  const auto credential = credentials_.await();
  return credential ? Status() : fail(credential.error());
}

ApiResult<net::HttpResponse> ApiClient::send(net::HttpRequest request) {
  request.url = endpoint_.server + request.url;
  const double until_s = clock_.steady_s() + request.timeout_s;
  for (bool again = false;; again = true) {
    const auto credential = credentials_.current(until_s - clock_.steady_s());
    if (!credential) return tl::unexpected(no_answer(credential.error()));
    show(*credential, request);
    request.timeout_s = until_s - clock_.steady_s();
    auto response = http_.request(request);
    if (!response) return tl::unexpected(no_answer(response.error()));
    if (is_success(response->status)) return *std::move(response);
    if (response->status != kUnauthorized || again)
      return tl::unexpected(
          failure_of(response->status, response->body, response->retry_after_s.value_or(0)));
    credentials_.refuse(*credential);
  }
}

ApiResult<void> ApiClient::stream(net::HttpStream& stream, net::StreamRequest request,
                                  const net::StreamHandlers& handlers) {
  request.url = endpoint_.server + request.url;
  for (bool again = false;; again = true) {
    const auto credential = credentials_.current(request.head_timeout_s);
    if (!credential) return tl::unexpected(no_answer(credential.error()));
    show(*credential, request);
    const auto end = stream.run(request, handlers);
    if (!end) return tl::unexpected(no_answer(end.error()));
    if (is_success(end->status)) return {};
    if (end->status != kUnauthorized || again)
      return tl::unexpected(failure_of(end->status, end->body, end->retry_after_s.value_or(0)));
    credentials_.refuse(*credential);
  }
}

std::unique_ptr<net::HttpStream> ApiClient::make_stream() const {
  return std::make_unique<net::HttpStream>(endpoint_.tls);
}

Result<std::unique_ptr<ApiClient>> connect(const KubeAccess& access) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  return std::make_unique<ApiClient>(std::move(endpoint), system_clock());
}

Result<int> server_minor(ApiClient& client) {
  net::HttpRequest request;
  request.url = "/version";
  request.timeout_s = 3;
  const auto answer = client.send(std::move(request));
  if (!answer) return fail(answer.error().error().with_context("asking for the server's version"));
  return wire::decode_server_minor(answer->body);
}

std::string path_segment(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      encoded.push_back(c);
    } else {
      encoded += format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace slackline::cluster
