#include "http/server/transport.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace slackline::http {
namespace {

IoResult from_errno(IoStatus blocked) {
  const bool again = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return IoResult{again ? blocked : IoStatus::kClosed, 0};
}

IoResult receive(int socket, char* data, std::size_t size) {
  const ssize_t got = recv(socket, data, size, 0);
  if (got > 0) return IoResult{IoStatus::kDone, static_cast<std::size_t>(got)};
  return got == 0 ? IoResult{IoStatus::kClosed, 0} : from_errno(IoStatus::kWantRead);
}

IoResult receive_and_drop(int socket) {
  std::array<char, 16384> sink;
  return receive(socket, sink.data(), sink.size());
}

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(int socket) : socket_(socket) {}

  IoResult handshake() override { return {}; }
  IoResult read(char* data, std::size_t size) override { return receive(socket_, data, size); }

  IoResult write(std::string_view first, std::string_view second) override {
    std::array<iovec, 2> parts = {iovec{const_cast<char*>(first.data()), first.size()},
                                  iovec{const_cast<char*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = sendmsg(socket_, &message, MSG_NOSIGNAL);
    if (sent < 0) return from_errno(IoStatus::kWantWrite);
    return IoResult{IoStatus::kDone, static_cast<std::size_t>(sent)};
  }

  void shutdown_write() override { shutdown(socket_, SHUT_WR); }
  IoResult discard() override { return receive_and_drop(socket_); }
  bool has_buffered() const override { return false; }
  std::string peer_name() const override { return {}; }

 private:
  int socket_;
};

class TlsTransport final : public Transport {
 public:
  TlsTransport(int socket, SSL_CTX* context) : socket_(socket), ssl_(SSL_new(context), SSL_free) {
    if (ssl_ != nullptr) SSL_set_fd(ssl_.get(), socket);
  }

  IoResult handshake() override {
    if (ssl_ == nullptr) return IoResult{IoStatus::kClosed, 0};
    ERR_clear_error();
    return result(SSL_accept(ssl_.get()), 0);
  }

  IoResult read(char* data, std::size_t size) override {
    ERR_clear_error();
    std::size_t got = 0;
    const int ok = SSL_read_ex(ssl_.get(), data, size, &got);
    return result(ok, got);
  }

  IoResult write(std::string_view first, std::string_view second) override {
    // A record is encrypted as a whole: a short first part travels with the start of the second.
    std::array<char, 16384> record;
    std::string_view bytes = first.empty() ? second : first;
    if (!first.empty() && !second.empty() && first.size() < record.size()) {
      char* end = std::copy(first.begin(), first.end(), record.begin());
      const std::size_t room = static_cast<std::size_t>(record.end() - end);
      end = std::copy_n(second.begin(), std::min(room, second.size()), end);
      bytes = std::string_view(record.data(), static_cast<std::size_t>(end - record.begin()));
    }
    ERR_clear_error();
    std::size_t sent = 0;
    const int ok = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
    return result(ok, sent);
  }

  void shutdown_write() override {
    ERR_clear_error();
    if (SSL_is_init_finished(ssl_.get()) == 1) SSL_shutdown(ssl_.get());
    shutdown(socket_, SHUT_WR);
  }

  IoResult discard() override { return receive_and_drop(socket_); }
  bool has_buffered() const override { return SSL_has_pending(ssl_.get()) == 1; }

  std::string peer_name() const override {
    const X509* certificate = SSL_get0_peer_certificate(ssl_.get());
    if (certificate == nullptr || SSL_get_verify_result(ssl_.get()) != X509_V_OK) return {};
    std::array<char, 256> name{};
    const int length = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                                 name.data(), static_cast<int>(name.size()));
    if (length <= 0) return {};
    std::string text(name.data(), static_cast<std::size_t>(length));
    return text.find('\0') == std::string::npos ? text : std::string();
  }

 private:
  IoResult result(int ok, std::size_t bytes) const {
    if (ok == 1) return IoResult{IoStatus::kDone, bytes};
    switch (SSL_get_error(ssl_.get(), ok)) {
      case SSL_ERROR_WANT_READ:
        return IoResult{IoStatus::kWantRead, 0};
      case SSL_ERROR_WANT_WRITE:
        return IoResult{IoStatus::kWantWrite, 0};
      default:
        return IoResult{IoStatus::kClosed, 0};
    }
  }

  int socket_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
};

}  // namespace

std::unique_ptr<Transport> make_plain_transport(int socket) {
  return std::make_unique<PlainTransport>(socket);
}

std::unique_ptr<Transport> make_tls_transport(int socket, SSL_CTX* context) {
  return std::make_unique<TlsTransport>(socket, context);
}

bool has_pending_input(int socket) {
  char byte = 0;
  return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

}  // namespace slackline::http
