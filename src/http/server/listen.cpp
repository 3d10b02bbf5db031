#include "http/server/listen.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "slackline/base/text.h"

namespace slackline::http {
namespace {

constexpr int kBacklog = 1024;  // the kernel cuts it to net.core.somaxconn

struct Endpoint {
  sockaddr_storage address{};
  socklen_t size = 0;
  bool loopback = false;
};

tl::unexpected<Error> bad_address(const Listener& listener) {
  return fail(ErrorCode::kInvalidArgument,
              format("{} listener: \"{}\" is not an address; write IP:PORT, [IPv6]:PORT, or :PORT "
                     "for every interface",
                     listener.name, printable(listener.address)));
}

Endpoint ipv4(in_addr host, std::uint16_t port) {
  Endpoint out;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr = host;
  address.sin_port = htons(port);
  std::memcpy(&out.address, &address, sizeof address);
  out.size = sizeof address;
  out.loopback = (ntohl(host.s_addr) >> 24) == 127;
  return out;
}

Endpoint ipv6(const in6_addr& host, std::uint16_t port) {
  Endpoint out;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = host;
  address.sin6_port = htons(port);
  std::memcpy(&out.address, &address, sizeof address);
  out.size = sizeof address;
  out.loopback = IN6_IS_ADDR_LOOPBACK(&host);
  return out;
}

Result<Endpoint> parse_address(const Listener& listener) {
  const std::size_t colon = listener.address.rfind(':');
  if (colon == std::string::npos) return bad_address(listener);
  std::string host = listener.address.substr(0, colon);
  const auto port = parse_int(std::string_view(listener.address).substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) return bad_address(listener);
  const auto port16 = static_cast<std::uint16_t>(*port);
  if (host == "localhost") host = "127.0.0.1";
  if (host.empty()) return ipv6(in6addr_any, port16);
  if (host.starts_with('[') && host.ends_with(']')) {
    in6_addr address{};
    if (inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) == 1)
      return ipv6(address, port16);
    return bad_address(listener);
  }
  in_addr address{};
  if (inet_pton(AF_INET, host.c_str(), &address) != 1) return bad_address(listener);
  return ipv4(address, port16);
}

tl::unexpected<Error> cannot_listen(const Listener& listener, int error) {
  const std::string where = format("{} listener: {}", listener.name, printable(listener.address));
  if (error == EADDRINUSE)
    return fail(ErrorCode::kUnavailable,
                where + " is in use by another process; stop that one or choose another address");
  return fail(ErrorCode::kUnavailable, format("{}: {}", where, std::strerror(error)));
}

void set_flag(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof value);
}

std::string ip_of(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
  } else {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof v6);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  }
  return text.data();
}

}  // namespace

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = other.release();
  }
  return *this;
}

OwnedFd::~OwnedFd() {
  if (fd_ >= 0) close(fd_);
}

int OwnedFd::release() {
  return std::exchange(fd_, -1);
}

Status check_exposure(const Listener& listener) {
  SLACKLINE_ASSIGN(const Endpoint endpoint, parse_address(listener));
  if (endpoint.loopback || listener.plain_anywhere) return {};
  const bool knows_peers = (listener.tls && !listener.tls->client_ca_file.empty()) ||
                           (listener.router != nullptr && listener.router->guarded());
  if (listener.tls && listener.known_peers_only && !knows_peers)
    return fail(
        ErrorCode::kInvalidArgument,
        format("{} listener: {} is reachable from the network and is only for known peers; give it "
               "a client CA (clientCAFile), or listen on 127.0.0.1",
               listener.name, printable(listener.address)));
  if (listener.tls) return {};
  return fail(ErrorCode::kInvalidArgument,
              format("{} listener: {} is reachable from the network and has no TLS; give it a "
                     "certificate and key, or listen on 127.0.0.1",
                     listener.name, printable(listener.address)));
}

bool is_loopback(const Listener& listener) {
  const Result<Endpoint> endpoint = parse_address(listener);
  return endpoint && endpoint->loopback;
}

Result<OwnedFd> open_listener(const Listener& listener) {
  SLACKLINE_ASSIGN(const Endpoint endpoint, parse_address(listener));
  OwnedFd socket(
      ::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return cannot_listen(listener, errno);
  set_flag(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  // ":PORT" serves IPv4 and IPv6 on one socket.
  if (endpoint.address.ss_family == AF_INET6) set_flag(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  sockaddr_storage address = endpoint.address;
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), endpoint.size) != 0 ||
      listen(socket.get(), kBacklog) != 0)
    return cannot_listen(listener, errno);
  return socket;
}

// A filter sees the segment from its TCP header on: byte 13 holds the flags. The beginning of a
// connection (SYN without ACK) is dropped, so that the client tries again and is then refused.
void refuse_newcomers(int listening_socket) {
  constexpr std::uint32_t kFlags = 13;
  constexpr std::uint32_t kSynAndAck = 0x12;
  constexpr std::uint32_t kSyn = 0x02;
  std::array<sock_filter, 5> program = {
      {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kFlags), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kSynAndAck),
       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kSyn, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),
       BPF_STMT(BPF_RET | BPF_K, 0xffffffff)}};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  setsockopt(listening_socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

std::uint16_t local_port(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  sockaddr_in v4{};  // the port is at the same place in both families
  std::memcpy(&v4, &address, sizeof v4);
  return ntohs(v4.sin_port);
}

Accepted accept_one(int listening_socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const int fd = accept4(listening_socket, reinterpret_cast<sockaddr*>(&address), &size,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) return Accepted{OwnedFd(), {}, errno};
  set_flag(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  return Accepted{OwnedFd(fd), ip_of(address), 0};
}

}  // namespace slackline::http
