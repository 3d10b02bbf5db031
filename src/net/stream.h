// HttpStream: an endless answer, delivered line by line (Kubernetes watches).
//
// Lines are separated by '\n' and given without it; a last line that was cut off is not delivered.
// A line beyond the limit ends the stream with kResourceExhausted. A stream that stays silent for
// `silence_timeout_s`, or has no head within `head_timeout_s`, ends with kTimeout. TCP's keepalive
// notices a vanished peer earlier (net/transfer.h).
//
// Thread-safety: one run() at a time; the connection is reused by the next. Handlers run on the
// caller's thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_client.h"
#include "net/interrupt.h"
#include "net/tls_options.h"
#include "slackline/base/result.h"

namespace slackline::net {

struct StreamRequest {
  std::string url;
  Headers headers;
  std::string bearer_token;
  // PEM, in place of the client's own certificate and key; empty = those of its TlsOptions.
  std::string certificate_data{};
  std::string key_data{};
  double connect_timeout_s = 10;
  double head_timeout_s = 20;  // for connection and head together
  double silence_timeout_s = 180;
  double total_timeout_s = 660;
  std::size_t max_line_bytes = std::size_t{10} << 20;
  Interrupt* interrupt = nullptr;  // may be null
};

struct StreamHandlers {
  std::function<void()> on_open;                  // a 2xx head is in
  std::function<bool(std::string_view)> on_line;  // false ends the stream
};

// How a stream ended without an error: closed by the peer or by on_line.
struct StreamEnd {
  int status = 0;
  std::string body;  // only of statuses other than 2xx; at most 64 KiB
  std::optional<double> retry_after_s;
  bool ended_by_handler = false;
};

class HttpStream {
 public:
  explicit HttpStream(const TlsOptions& tls);
  ~HttpStream();
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;

  Result<StreamEnd> run(const StreamRequest& request, const StreamHandlers& handlers);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline::net
