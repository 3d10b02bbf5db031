#include "net/http_client.h"

#include <algorithm>

#include "net/transfer.h"
#include "slackline/base/mutex.h"
#include "slackline/base/text.h"

namespace slackline::net {

struct HttpClient::Impl {
  explicit Impl(TlsOptions options) : tls(std::move(options)) {}

  std::unique_ptr<Transfer> take() {
    {
      MutexLock lock(mutex);
      if (!idle.empty()) {
        auto transfer = std::move(idle.back());
        idle.pop_back();
        return transfer;
      }
    }
    return std::make_unique<Transfer>(tls);
  }

  void give_back(std::unique_ptr<Transfer> transfer) {
    MutexLock lock(mutex);
    idle.push_back(std::move(transfer));
  }

  const TlsOptions tls;
  Mutex mutex;
  std::vector<std::unique_ptr<Transfer>> idle SLACKLINE_GUARDED_BY(mutex);
};

HttpClient::HttpClient(TlsOptions tls) : impl_(std::make_unique<Impl>(std::move(tls))) {}
HttpClient::~HttpClient() = default;

Result<HttpResponse> HttpClient::request(const HttpRequest& request) {
  HttpResponse response;
  const auto on_body = [&](std::string_view piece) -> Status {
    if (response.body.size() + piece.size() > request.max_body_bytes)
      return fail(ErrorCode::kResourceExhausted,
                  format("{} {}: the answer is larger than {} bytes", request.method, request.url,
                         request.max_body_bytes));
    response.body.append(piece);
    return {};
  };
  auto transfer = impl_->take();
  const Status done = transfer->run({.method = request.method,
                                     .url = request.url,
                                     .headers = request.headers,
                                     .bearer_token = request.bearer_token,
                                     .certificate_data = request.certificate_data,
                                     .key_data = request.key_data,
                                     .body = request.body,
                                     .connect_timeout_s = request.timeout_s,
                                     .total_timeout_s = request.timeout_s,
                                     .interrupt = request.interrupt,
                                     .on_body = on_body,
                                     .on_head = {}});
  response.status = transfer->status();
  response.retry_after_s = transfer->retry_after_s();
  response.headers = transfer->take_headers();
  impl_->give_back(std::move(transfer));
  if (!done) return fail(done.error());
  return response;
}

}  // namespace slackline::net
