// HttpClient: one request, one answer, with a deadline and a size limit (libcurl behind it).
//
// http and https only, no redirects, no netrc, no cookies; TLS 1.2 or newer. Answers of any status
// are values; only a failed exchange is an Error: kTimeout (the request may have had its effect),
// kUnavailable (refused, reset, TLS, interrupted), kResourceExhausted (answer beyond the limit).
// Proxies are taken from the environment as usual, but never for loopback addresses.
//
// Thread-safety: request() from any thread. Connections are kept open and reused, one per request
// in flight.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/interrupt.h"
#include "net/tls_options.h"
#include "slackline/base/result.h"

namespace slackline::net {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  Headers headers;
  std::string bearer_token;  // empty = none; never logged
  // PEM, in place of the client's own certificate and key; empty = those of its TlsOptions.
  std::string certificate_data{};
  std::string key_data{};
  std::string body;
  double timeout_s = 10;  // connection, TLS and answer together
  std::size_t max_body_bytes = std::size_t{64} << 20;
  Interrupt* interrupt = nullptr;  // may be null
};

struct HttpResponse {
  int status = 0;
  std::string body;
  std::optional<double> retry_after_s;  // the header, in seconds
  Headers headers;                      // names in lower case
};

class HttpClient {
 public:
  explicit HttpClient(TlsOptions tls);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  Result<HttpResponse> request(const HttpRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline::net
