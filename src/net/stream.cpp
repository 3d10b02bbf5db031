#include "net/stream.h"

#include "net/transfer.h"
#include "slackline/base/text.h"

namespace slackline::net {
namespace {

constexpr std::size_t kMaxErrorBody = std::size_t{64} << 10;

// Cuts a byte stream into lines; keeps at most one unfinished line.
class LineSplitter {
 public:
  LineSplitter(std::size_t limit, const std::function<bool(std::string_view)>& on_line)
      : limit_(limit), on_line_(on_line) {}

  bool stopped() const { return stopped_; }

  Status take(std::string_view piece) {
    while (!piece.empty()) {
      const auto end = piece.find('\n');
      const std::string_view part = piece.substr(0, end);
      if (rest_.size() + part.size() > limit_)
        return fail(ErrorCode::kResourceExhausted,
                    format("a line is longer than {} bytes", limit_));
      if (end == std::string_view::npos) {
        rest_.append(part);
        return {};
      }
      piece.remove_prefix(end + 1);
      // Most lines arrive whole: then there is nothing to copy.
      const bool go_on = rest_.empty() ? deliver(part) : deliver(rest_.append(part));
      rest_.clear();
      if (!go_on) {
        stopped_ = true;
        return fail(ErrorCode::kInternal, "stopped by the handler");
      }
    }
    return {};
  }

 private:
  bool deliver(std::string_view line) { return trim(line).empty() || on_line_(line); }

  const std::size_t limit_;
  const std::function<bool(std::string_view)>& on_line_;
  std::string rest_;
  bool stopped_ = false;
};

bool is_success(int status) {
  return status >= 200 && status < 300;
}

}  // namespace

struct HttpStream::Impl {
  explicit Impl(const TlsOptions& tls) : transfer(tls) {}
  Transfer transfer;
};

HttpStream::HttpStream(const TlsOptions& tls) : impl_(std::make_unique<Impl>(tls)) {}
HttpStream::~HttpStream() = default;

Result<StreamEnd> HttpStream::run(const StreamRequest& request, const StreamHandlers& handlers) {
  static const std::string kGet = "GET";
  static const std::string kNoBody;
  Transfer& transfer = impl_->transfer;
  LineSplitter lines(request.max_line_bytes, handlers.on_line);
  StreamEnd end;
  const auto on_head = [&] {
    if (is_success(transfer.status()) && handlers.on_open) handlers.on_open();
  };
  const auto on_body = [&](std::string_view piece) -> Status {
    if (is_success(transfer.status())) return lines.take(piece);
    end.body.append(piece.substr(0, kMaxErrorBody - end.body.size()));
    return {};
  };
  const Status done = transfer.run({.method = kGet,
                                    .url = request.url,
                                    .headers = request.headers,
                                    .bearer_token = request.bearer_token,
                                    .certificate_data = request.certificate_data,
                                    .key_data = request.key_data,
                                    .body = kNoBody,
                                    .connect_timeout_s = request.connect_timeout_s,
                                    .total_timeout_s = request.total_timeout_s,
                                    .head_timeout_s = request.head_timeout_s,
                                    .silence_timeout_s = request.silence_timeout_s,
                                    .interrupt = request.interrupt,
                                    .on_body = on_body,
                                    .on_head = on_head});
  end.status = transfer.status();
  end.retry_after_s = transfer.retry_after_s();
  end.ended_by_handler = lines.stopped();
  if (!done && !end.ended_by_handler) return fail(done.error());
  return end;
}

}  // namespace slackline::net
