// TunnelProxy: an HTTP proxy that answers one CONNECT after the other: it tunnels to a port of this
// machine, whatever was asked for, or refuses. It keeps everything that it received in the clear.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "slackline/base/mutex.h"

namespace slackline::test {

class TunnelProxy {
 public:
  // to 0: it refuses.
  explicit TunnelProxy(std::uint16_t to) : to_(to) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 8);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~TunnelProxy() {
    stopping_ = true;
    thread_.join();
    ::close(listener_);
  }
  TunnelProxy(const TunnelProxy&) = delete;
  TunnelProxy& operator=(const TunnelProxy&) = delete;

  std::uint16_t port() const { return port_; }
  std::string heads() const {
    MutexLock lock(mutex_);
    return heads_;
  }

 private:
  static constexpr int kLookMilliseconds = 20;

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }

  bool readable(int socket) const {
    pollfd wait{socket, POLLIN, 0};
    while (!stopping_)
      if (::poll(&wait, 1, kLookMilliseconds) > 0) return true;
    return false;
  }

  static void say(int socket, std::string_view text) {
    static_cast<void>(::send(socket, text.data(), text.size(), MSG_NOSIGNAL));
  }

  void serve() {
    while (readable(listener_)) {
      const int client = ::accept(listener_, nullptr, nullptr);
      std::array<char, 4096> head{};
      if (readable(client))
        if (const ssize_t count = ::recv(client, head.data(), head.size(), 0); count > 0) {
          MutexLock lock(mutex_);
          heads_.append(head.data(), static_cast<std::size_t>(count));
        }
      if (to_ == 0)
        say(client, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
      else
        tunnel(client);
      ::close(client);
    }
  }

  void tunnel(int client) const {
    const int server = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = loopback(to_);
    ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    say(client, "HTTP/1.1 200 Connection established\r\n\r\n");
    std::array<pollfd, 2> ends = {{{client, POLLIN, 0}, {server, POLLIN, 0}}};
    for (bool open = true; open && !stopping_;) {
      if (::poll(ends.data(), ends.size(), kLookMilliseconds) <= 0) continue;
      for (std::size_t i = 0; i < ends.size(); ++i) {
        if (ends[i].revents == 0) continue;
        std::array<char, 4096> piece{};
        const ssize_t count = ::recv(ends[i].fd, piece.data(), piece.size(), 0);
        open = open && count > 0;
        if (count > 0) say(ends[1 - i].fd, {piece.data(), static_cast<std::size_t>(count)});
      }
    }
    ::close(server);
  }

  const std::uint16_t to_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  mutable Mutex mutex_;
  std::string heads_ SLACKLINE_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace slackline::test
