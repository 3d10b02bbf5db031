#include "telemetry/prometheus_client.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "slackline/base/text.h"
#include "wire/telemetry/telemetry_checks.h"

namespace slackline::telemetry {
namespace {

constexpr int kOk = 200;
constexpr int kBadRequest = 400;
constexpr int kNotAuthenticated = 401;
constexpr int kNotAllowed = 403;
constexpr int kNotThere = 404;
constexpr int kUnprocessable = 422;
constexpr int kTooOften = 429;

bool is_plain(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '.' || c == '~';
}

// A value of a form, percent-encoded.
std::string form_value(std::string_view text) {
  std::string out;
  out.reserve(text.size() * 2);
  for (const char c : text) {
    if (is_plain(c))
      out += c;
    else
      out += format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

Result<std::string> read_token(const std::string& file) {
  if (file.empty()) return std::string();
  std::ifstream in(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  const std::string_view token = trim(content);
  if (token.empty())
    return fail(ErrorCode::kForbidden,
                format("the bearer token file {} cannot be read, or is empty", printable(file)));
  return std::string(token);
}

// What an answer without a result means, and what to do about it.
Error refusal(const net::HttpResponse& response) {
  const std::string said = wire::decode_query_error(response.body);
  const std::string what = format("HTTP {}{}{}", response.status, said.empty() ? "" : ": ", said);
  switch (response.status) {
    case kBadRequest:
      return {ErrorCode::kInvalidArgument, what};
    case kNotAuthenticated:
    case kNotAllowed:
      return {ErrorCode::kForbidden,
              what + "; it wants a bearer token (a token file), another one, or a tenant"};
    case kNotThere:
      return {ErrorCode::kInvalidArgument,
              what + "; no Prometheus is at this path: check its prefix"};
    case kUnprocessable:
      return {ErrorCode::kResourceExhausted, what};
    case kTooOften:
      return {ErrorCode::kUnavailable, what};  // later it may be answered as it is
    default:
      break;
  }
  if (response.status >= 300 && response.status < 400)
    return {ErrorCode::kInvalidArgument, what + "; redirects are not followed: write the last URL"};
  return {error_of_http_status(response.status), what};
}

}  // namespace

Result<PrometheusClient> PrometheusClient::make(PrometheusSettings settings) {
  while (settings.url.ends_with('/'))
    settings.url.pop_back();
  SLACKLINE_TRY(wire::check_url(settings.url));
  SLACKLINE_TRY(wire::check_tenant(settings));
  return PrometheusClient(std::move(settings));
}

PrometheusClient::PrometheusClient(PrometheusSettings settings)
    : settings_(std::move(settings)), http_([this] {
        net::TlsOptions tls;
        tls.ca_file = settings_.ca_file;
        return std::make_unique<net::HttpClient>(std::move(tls));
      }()) {}

Result<wire::QueryAnswer> PrometheusClient::query(const std::string& promql, double time_s,
                                                  net::Interrupt* interrupt) {
  return ask("/api/v1/query", format("query={}&time={:.3f}", form_value(promql), time_s),
             interrupt);
}

Result<wire::QueryAnswer> PrometheusClient::query_range(const std::string& promql,
                                                        const TimeGrid& grid,
                                                        net::Interrupt* interrupt) {
  return ask("/api/v1/query_range",
             format("query={}&start={:.3f}&end={:.3f}&step={:.3f}", form_value(promql),
                    grid.start_s, grid.end_s, grid.step_s),
             interrupt);
}

Result<wire::QueryAnswer> PrometheusClient::ask(const std::string& path, std::string form,
                                                net::Interrupt* interrupt) {
  const auto at = [this, &path](const Error& error) {
    return fail(error.with_context(format("Prometheus at {}{}", settings_.url, path)));
  };
  net::HttpRequest request;
  auto token = read_token(settings_.bearer_token_file);
  if (!token) return at(token.error());
  request.method = "POST";
  request.url = settings_.url + path;
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                     {"Accept", "application/json"}};
  if (!settings_.tenant.empty())
    request.headers.emplace_back(settings_.tenant_header, settings_.tenant);
  request.bearer_token = *std::move(token);
  request.body =
      format("{}&timeout={:.0f}ms", std::move(form), std::max(1.0, 1000 * settings_.timeout_s));
  request.timeout_s = settings_.timeout_s;
  request.max_body_bytes = settings_.max_body_bytes;
  request.interrupt = interrupt;
  const auto response = http_->request(request);
  if (!response) return fail(response.error().with_context("Prometheus"));  // it says the URL
  if (response->status != kOk) return at(refusal(*response));
  auto answer = wire::decode_query_answer(response->body);
  if (!answer) return at(answer.error());
  return answer;
}

}  // namespace slackline::telemetry
