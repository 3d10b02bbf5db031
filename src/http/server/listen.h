// Addresses and listening sockets.
#pragma once

#include <cstdint>
#include <string>

#include "http/server/server.h"
#include "slackline/base/result.h"

namespace slackline::http {

// A file descriptor that closes itself.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept;
  ~OwnedFd();

  int get() const { return fd_; }
  int release();

 private:
  int fd_ = -1;
};

// Bound and listening, non-blocking. An address in use is an error that names it and the listener.
Result<OwnedFd> open_listener(const Listener& listener);

// Its address is a loopback one: other machines cannot reach it.
bool is_loopback(const Listener& listener);

// No new client can begin to connect; those that have begun are accepted as before. Call it a
// moment before closing the socket, which would reset the clients in its queue. A kernel that
// cannot do this is not an error.
void refuse_newcomers(int listening_socket);

std::uint16_t local_port(int socket);

struct Accepted {
  OwnedFd socket;    // non-blocking, without Nagle's delay; empty if accepting failed
  std::string peer;  // the peer's IP address
  int error = 0;     // errno if the socket is empty; EAGAIN: no client waits
};
Accepted accept_one(int listening_socket);

}  // namespace slackline::http
