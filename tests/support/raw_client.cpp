#include "support/raw_client.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bn.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "support/eventually.h"

namespace slackline::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

sockaddr_in loopback(const std::string& address, std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  inet_pton(AF_INET, address.c_str(), &out.sin_addr);
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::optional<RawResponse> parse_head(std::string_view head) {
  RawResponse out;
  if (head.size() < 12 || !head.starts_with("HTTP/1.1 ")) return std::nullopt;
  if (std::from_chars(head.data() + 9, head.data() + 12, out.status).ec != std::errc{})
    return std::nullopt;
  head.remove_prefix(head.find("\r\n") + 2);
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    if (line.empty()) break;
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return std::nullopt;
    out.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
  }
  return out;
}

}  // namespace

RawClient::RawClient(std::uint16_t port, const std::string& from)
    : context_(nullptr, SSL_CTX_free), ssl_(nullptr, SSL_free) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int one = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  const sockaddr_in source = loopback(from, 0);
  const sockaddr_in target = loopback("127.0.0.1", port);
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&source), sizeof source) != 0 ||
      connect(socket_, reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0)
    close();
}

RawClient::~RawClient() {
  close();
}

RawClient::RawClient(RawClient&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      buffer_(std::move(other.buffer_)),
      context_(std::move(other.context_)),
      ssl_(std::move(other.ssl_)) {}

bool RawClient::start_tls(const ClientTls& tls) {
  context_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* context = context_.get();
  if (tls.max_version != 0) {
    SSL_CTX_set_security_level(context, 0);  // else the client's library refuses it first
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context, tls.max_version);
  }
  if (!tls.ciphers.empty()) SSL_CTX_set_cipher_list(context, tls.ciphers.c_str());
  SSL_CTX_load_verify_file(context, tls.ca_file.c_str());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (!tls.cert_file.empty()) {
    SSL_CTX_use_certificate_chain_file(context, tls.cert_file.c_str());
    SSL_CTX_use_PrivateKey_file(context, tls.key_file.c_str(), SSL_FILETYPE_PEM);
  }
  ssl_.reset(SSL_new(context));
  SSL_set_fd(ssl_.get(), socket_);
  return SSL_connect(ssl_.get()) == 1;
}

std::string RawClient::server_serial() const {
  const X509* certificate = SSL_get0_peer_certificate(ssl_.get());
  if (certificate == nullptr) return {};
  BIGNUM* number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr);
  char* text = BN_bn2hex(number);
  std::string out = text;
  OPENSSL_free(text);
  BN_free(number);
  return out;
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const long sent = ssl_ ? SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()))
                           : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawClient::wait_readable(steady_clock::time_point until) const {
  if (ssl_ && SSL_pending(ssl_.get()) > 0) return true;
  const auto left = std::chrono::duration_cast<milliseconds>(until - steady_clock::now()).count();
  pollfd waiter{socket_, POLLIN, 0};
  return poll(&waiter, 1, static_cast<int>(std::max<long>(0, left))) > 0;
}

long RawClient::read_some(steady_clock::time_point until) {
  if (socket_ < 0) return 0;
  if (!wait_readable(until)) return -1;
  // A TLS record may carry no application data (session tickets): then a blocking read would wait
  // on.
  const timeval patience{10, 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::array<char, 65536> chunk;
  const long got = ssl_ ? SSL_read(ssl_.get(), chunk.data(), static_cast<int>(chunk.size()))
                        : recv(socket_, chunk.data(), chunk.size(), 0);
  if (got <= 0) return 0;
  buffer_.append(chunk.data(), static_cast<std::size_t>(got));
  return got;
}

std::optional<RawResponse> RawClient::receive(milliseconds limit, bool head_only) {
  const auto until = steady_clock::now() + patient(limit);
  std::size_t head_end = 0;
  while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos)
    if (read_some(until) <= 0) return std::nullopt;
  auto response = parse_head(std::string_view(buffer_).substr(0, head_end + 4));
  buffer_.erase(0, head_end + 4);
  if (!response || head_only) return response;
  const auto length = response->headers.find("content-length");
  const std::size_t size = length == response->headers.end() ? 0 : std::stoul(length->second);
  while (buffer_.size() < size)
    if (read_some(until) <= 0) return std::nullopt;
  response->body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return response;
}

std::string RawClient::read_until(std::string_view enough, milliseconds limit) {
  const auto until = steady_clock::now() + patient(limit);
  while (buffer_.find(enough) == std::string::npos && read_some(until) > 0) {
  }
  return std::exchange(buffer_, {});
}

bool RawClient::closed_within(milliseconds limit) {
  const auto until = steady_clock::now() + patient(limit);
  for (;;) {
    const long got = read_some(until);
    if (got == 0) return true;
    if (got < 0) return false;
    buffer_.clear();
  }
}

void RawClient::reset() {
  const linger now{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

void RawClient::close() {
  ssl_.reset();
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

std::string post(std::string_view path, std::string_view body, std::string_view more_headers) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(more_headers) + "\r\n" + std::string(body);
}

}  // namespace slackline::test
