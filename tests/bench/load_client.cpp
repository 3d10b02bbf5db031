#include "bench/load_client.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "slackline/base/text.h"

namespace slackline::bench {
namespace {

using std::chrono::steady_clock;

class Caller {
 public:
  explicit Caller(const Target& target)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int one = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(target.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                 (!target.tls || start_tls(*target.tls));
  }
  ~Caller() { close(socket_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  bool connected() const { return connected_; }

  // The size of the answer's body.
  Result<std::size_t> call(std::string_view request) {
    while (!request.empty()) {
      const std::size_t sent = write_some(request);
      if (sent == 0) return lost();
      request.remove_prefix(sent);
    }
    std::size_t received = 0;
    std::size_t head_end = std::string_view::npos;
    while (head_end == std::string_view::npos) {
      if (!read_more(received)) return lost();
      head_end = std::string_view(buffer_.data(), received).find("\r\n\r\n");
    }
    const std::string_view head(buffer_.data(), head_end);
    if (!head.starts_with("HTTP/1.1 200"))
      return fail(ErrorCode::kInternal, "answered: " + printable(head.substr(0, 40)));
    const std::size_t length = content_length(head);
    while (received < head_end + 4 + length)
      if (!read_more(received)) return lost();
    return length;
  }

 private:
  static tl::unexpected<Error> lost() {
    return fail(ErrorCode::kUnavailable, "the connection was lost");
  }

  static std::size_t content_length(std::string_view head) {
    static constexpr std::string_view kName = "Content-Length: ";
    std::size_t length = 0;
    if (const std::size_t at = head.find(kName); at != std::string_view::npos)
      std::from_chars(head.data() + at + kName.size(), head.data() + head.size(), length);
    return length;
  }

  bool start_tls(const Identity& own) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX* context = context_.get();
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    if (SSL_CTX_load_verify_file(context, own.ca_file.c_str()) != 1 ||
        SSL_CTX_use_certificate_file(context, own.cert_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, own.key_file.c_str(), SSL_FILETYPE_PEM) != 1)
      return false;
    ssl_.reset(SSL_new(context));
    SSL_set_fd(ssl_.get(), socket_);
    return SSL_connect(ssl_.get()) == 1;
  }

  // 0: the connection is lost.
  std::size_t write_some(std::string_view bytes) {
    std::size_t sent = 0;
    if (ssl_) return SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent) == 1 ? sent : 0;
    const ssize_t done = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return done > 0 ? static_cast<std::size_t>(done) : 0;
  }
  std::size_t read_some(char* to, std::size_t room) {
    std::size_t got = 0;
    if (ssl_) return SSL_read_ex(ssl_.get(), to, room, &got) == 1 ? got : 0;
    const ssize_t done = recv(socket_, to, room, 0);
    return done > 0 ? static_cast<std::size_t>(done) : 0;
  }

  bool read_more(std::size_t& received) {
    if (received == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    const std::size_t got = read_some(buffer_.data() + received, buffer_.size() - received);
    received += got;
    return got > 0;
  }

  int socket_;
  bool connected_ = false;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{nullptr, SSL_CTX_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, SSL_free};
  std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 20);
};

}  // namespace

Result<Measurement> measure(const Target& target, std::string_view path, std::string_view body,
                            int calls) {
  Caller caller(target);
  if (!caller.connected())
    return fail(ErrorCode::kUnavailable, target.tls
                                             ? "nobody listens there, or the handshake failed"
                                             : "nobody listens there");
  const std::string request = format(
      "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n\r\n{}",
      path, body.size(), body);
  Measurement out;
  for (int i = 0; i < calls / 10 + 1; ++i) {
    SLACKLINE_ASSIGN(out.answer_bytes, caller.call(request));
  }
  std::vector<double> times_us;
  times_us.reserve(static_cast<std::size_t>(calls));
  const auto start = steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    const auto before = steady_clock::now();
    if (auto answered = caller.call(request); !answered) return fail(answered.error());
    times_us.push_back(
        std::chrono::duration<double, std::micro>(steady_clock::now() - before).count());
  }
  out.calls_per_s =
      calls / std::max(1e-9, std::chrono::duration<double>(steady_clock::now() - start).count());
  std::sort(times_us.begin(), times_us.end());
  out.p50_us = times_us[times_us.size() / 2];
  out.p99_us = times_us[times_us.size() * 99 / 100];
  return out;
}

}  // namespace slackline::bench
