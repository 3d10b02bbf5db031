#include "net/transfer.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "slackline/base/clock.h"
#include "slackline/base/loopback.h"
#include "slackline/base/text.h"

namespace slackline::net {

void Interrupt::interrupt() {
  interrupted_ = true;
  MutexLock lock(mutex_);
  for (void* multi : multis_)
    curl_multi_wakeup(static_cast<CURLM*>(multi));
}

void Interrupt::watch(void* multi) {
  MutexLock lock(mutex_);
  multis_.push_back(multi);
}

void Interrupt::unwatch(void* multi) {
  MutexLock lock(mutex_);
  std::erase(multis_, multi);
}

namespace {

constexpr const char* kUserAgent = "slackline/" SLACKLINE_VERSION;

void start_library() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

curl_blob blob_of(const std::string& data) {
  return {const_cast<char*>(data.data()), data.size(), CURL_BLOB_NOCOPY};
}

void apply_tls(CURL* easy, const TlsOptions& tls) {
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, 0L);  // a replaced CA file counts at once
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, tls.insecure_skip_verify ? 0L : 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, tls.insecure_skip_verify ? 0L : 2L);
  if (!tls.ca_data.empty() || !tls.ca_file.empty())
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);  // else the system's CAs count, too
  if (!tls.ca_data.empty()) {
    curl_blob blob = blob_of(tls.ca_data);
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
  } else if (!tls.ca_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, tls.ca_file.c_str());
  }
  if (!tls.certificate_data.empty()) {
    curl_blob blob = blob_of(tls.certificate_data);
    curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &blob);
  } else if (!tls.certificate_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_SSLCERT, tls.certificate_file.c_str());
  }
  if (!tls.key_data.empty()) {
    curl_blob blob = blob_of(tls.key_data);
    curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &blob);
  } else if (!tls.key_file.empty()) {
    curl_easy_setopt(easy, CURLOPT_SSLKEY, tls.key_file.c_str());
  }
}

constexpr long kKeepIdle_s = 15;
constexpr long kKeepInterval_s = 10;
constexpr int kKeepProbes = 3;

// libcurl sets idle time and interval, but the number of probes only from 8.9 on.
int limit_keepalive(void* /*self*/, curl_socket_t socket, curlsocktype /*purpose*/) {
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &kKeepProbes, sizeof(kKeepProbes));
  return CURL_SOCKOPT_OK;
}

long milliseconds(double seconds) {
  return std::max(1L, static_cast<long>(seconds * 1000));
}

ErrorCode code_of(CURLcode code) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return ErrorCode::kTimeout;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return ErrorCode::kInvalidArgument;
    default:
      return ErrorCode::kUnavailable;
  }
}

}  // namespace

Transfer::Transfer(const TlsOptions& tls) : tls_(tls) {
  start_library();
  multi_ = curl_multi_init();
  easy_ = curl_easy_init();
  if (multi_ == nullptr || easy_ == nullptr) std::abort();  // out of memory
}

Transfer::~Transfer() {
  curl_easy_cleanup(easy_);
  curl_multi_cleanup(multi_);
}

int Transfer::status() const {
  long status = 0;
  curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
  return static_cast<int>(status);
}

void Transfer::configure(const Plan& plan, curl_slist* headers) {
  curl_easy_reset(easy_);
  error_text_[0] = '\0';
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_text_);
  curl_easy_setopt(easy_, CURLOPT_URL, plan.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy_, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy_, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  // Like Go's client: a proxy of the environment is never used for this machine.
  if (is_loopback_url(plan.url)) curl_easy_setopt(easy_, CURLOPT_PROXY, "");
  // One exchange per connection at a time: HTTP/2 would add nothing but its own flow control.
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPIDLE, kKeepIdle_s);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPINTVL, kKeepInterval_s);
  curl_easy_setopt(easy_, CURLOPT_SOCKOPTFUNCTION, &limit_keepalive);
  curl_easy_setopt(easy_, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy_, CURLOPT_USERAGENT, kUserAgent);
  curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(plan.connect_timeout_s));
  curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, milliseconds(plan.total_timeout_s));
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Transfer::write_body);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, &Transfer::read_header);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  if (plan.method != "GET") curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, plan.method.c_str());
  if (!plan.body.empty()) {
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(plan.body.size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, plan.body.c_str());
  }
  if (!plan.bearer_token.empty()) {
    curl_easy_setopt(easy_, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
    curl_easy_setopt(easy_, CURLOPT_XOAUTH2_BEARER, plan.bearer_token.c_str());
  }
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers);
  apply_tls(easy_, tls_);
  if (plan.certificate_data.empty()) return;
  curl_blob certificate = blob_of(plan.certificate_data);
  curl_easy_setopt(easy_, CURLOPT_SSLCERT_BLOB, &certificate);
  curl_blob key = blob_of(plan.key_data);
  curl_easy_setopt(easy_, CURLOPT_SSLKEY_BLOB, &key);
}

Status Transfer::run(const Plan& plan) {
  curl_slist* headers = curl_slist_append(nullptr, "Expect:");  // never wait for "100 Continue"
  for (const auto& [name, value] : plan.headers)
    headers = curl_slist_append(headers, (name + ": " + value).c_str());
  plan_ = &plan;
  body_status_ = {};
  retry_after_s_.reset();
  headers_.clear();
  configure(plan, headers);
  if (plan.interrupt != nullptr) plan.interrupt->watch(multi_);
  curl_multi_add_handle(multi_, easy_);
  Status result = drive(plan);
  curl_multi_remove_handle(multi_, easy_);
  if (plan.interrupt != nullptr) plan.interrupt->unwatch(multi_);
  curl_slist_free_all(headers);
  plan_ = nullptr;
  return result;
}

Status Transfer::drive(const Plan& plan) {
  const Clock& clock = system_clock();
  const double began_s = clock.steady_s();
  last_byte_s_ = began_s;
  head_is_in_ = false;
  for (;;) {
    if (plan.interrupt != nullptr && plan.interrupt->interrupted())
      return fail(ErrorCode::kUnavailable, "interrupted");
    int running = 0;
    if (const CURLMcode code = curl_multi_perform(multi_, &running); code != CURLM_OK)
      return fail(ErrorCode::kInternal, curl_multi_strerror(code));
    int queued = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &queued))
      if (message->msg == CURLMSG_DONE) return outcome(message->data.result, plan);
    int wait_ms = 1000;
    if (plan.silence_timeout_s > 0) {
      const double left_s = last_byte_s_ + plan.silence_timeout_s - clock.steady_s();
      if (left_s <= 0)
        return fail(ErrorCode::kTimeout, format("silent for {:.0f} s", plan.silence_timeout_s));
      wait_ms = std::min(wait_ms, static_cast<int>(left_s * 1000) + 1);
    }
    if (plan.head_timeout_s > 0 && !head_is_in_) {
      const double left_s = began_s + plan.head_timeout_s - clock.steady_s();
      if (left_s <= 0)
        return fail(ErrorCode::kTimeout, format("no answer within {:.0f} s", plan.head_timeout_s));
      wait_ms = std::min(wait_ms, static_cast<int>(left_s * 1000) + 1);
    }
    curl_multi_poll(multi_, nullptr, 0, wait_ms, nullptr);
  }
}

Status Transfer::outcome(CURLcode code, const Plan& plan) const {
  if (!body_status_) return body_status_;
  if (code == CURLE_OK) return {};
  const char* text = error_text_[0] != '\0' ? error_text_ : curl_easy_strerror(code);
  return fail(code_of(code), format("{} {}: {}", plan.method, plan.url, printable(text)));
}

std::size_t Transfer::write_body(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.last_byte_s_ = system_clock().steady_s();
  transfer.body_status_ = transfer.plan_->on_body({data, size * count});
  return transfer.body_status_ ? size * count : 0;
}

std::size_t Transfer::read_header(char* data, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.last_byte_s_ = system_clock().steady_s();
  const std::string_view line = trim({data, size * count});
  if (line.starts_with("HTTP/")) {  // a new head, after 1xx
    transfer.retry_after_s_.reset();
    transfer.headers_.clear();
  }
  if (const auto colon = line.find(':'); colon != std::string_view::npos) {
    const auto& [name, value] = transfer.headers_.emplace_back(to_lower(line.substr(0, colon)),
                                                               trim(line.substr(colon + 1)));
    // Only seconds: API servers do not send dates here.
    if (name == "retry-after")
      if (auto seconds = parse_number(value); seconds && *seconds >= 0)
        transfer.retry_after_s_ = *seconds;
  }
  if (line.empty() && transfer.status() >= 200) {
    transfer.head_is_in_ = true;
    if (transfer.plan_->on_head) transfer.plan_->on_head();
  }
  return size * count;
}

}  // namespace slackline::net
