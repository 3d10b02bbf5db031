// Transfer: one libcurl handle with its connections, and the loop that drives it. Private to this
// layer.
//
// The multi interface is used for one handle at a time because only it can be woken from another
// thread; the easy interface would check for an interrupt once a second.
//
// TCP asks a silent peer for a sign of life after 15 s and gives it up 30 s later: a half-open
// connection (the peer was restarted, a NAT dropped it) ends within 45 s.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <curl/curl.h>

#include "net/http_client.h"
#include "net/interrupt.h"
#include "net/tls_options.h"
#include "slackline/base/result.h"

namespace slackline::net {

class Transfer {
 public:
  explicit Transfer(const TlsOptions& tls);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  struct Plan {
    const std::string& method;
    const std::string& url;
    const Headers& headers;
    const std::string& bearer_token;
    const std::string& certificate_data;  // these two: empty, or in place of those of TlsOptions
    const std::string& key_data;
    const std::string& body;
    double connect_timeout_s = 0;
    double total_timeout_s = 0;
    double head_timeout_s = 0;     // 0 = none
    double silence_timeout_s = 0;  // the same
    Interrupt* interrupt = nullptr;
    // Takes a piece of the body; an Error ends the transfer and is its result.
    std::function<Status(std::string_view)> on_body;
    std::function<void()> on_head;  // the final head is in; status() may be asked
  };

  Status run(const Plan& plan);

  int status() const;
  std::optional<double> retry_after_s() const { return retry_after_s_; }
  Headers take_headers() { return std::move(headers_); }  // of the final head

 private:
  void configure(const Plan& plan, curl_slist* headers);
  Status drive(const Plan& plan);
  Status outcome(CURLcode code, const Plan& plan) const;
  static std::size_t write_body(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t read_header(char* data, std::size_t size, std::size_t count, void* self);

  TlsOptions tls_;
  CURLM* multi_;
  CURL* easy_;
  const Plan* plan_ = nullptr;
  Status body_status_;
  double last_byte_s_ = 0;
  bool head_is_in_ = false;
  std::optional<double> retry_after_s_;
  Headers headers_;
  char error_text_[CURL_ERROR_SIZE] = {};
};

}  // namespace slackline::net
