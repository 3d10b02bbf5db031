// Bytes over a non-blocking socket, plain or TLS, behind one interface.
//
// No call waits: one that would block returns what to wait for. The socket still belongs to its
// owner. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <openssl/types.h>

namespace slackline::http {

enum class IoStatus { kDone, kWantRead, kWantWrite, kClosed };

struct IoResult {
  IoStatus status = IoStatus::kDone;
  std::size_t bytes = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual IoResult handshake() = 0;
  virtual IoResult read(char* data, std::size_t size) = 0;
  // Sends part of `first` followed by `second`, in one call if the transport can.
  virtual IoResult write(std::string_view first, std::string_view second) = 0;
  // Ends the server's side; the peer sees an orderly end.
  virtual void shutdown_write() = 0;
  // Reads and drops raw bytes, after shutdown_write().
  virtual IoResult discard() = 0;
  // Bytes that were read from the socket and wait inside: polling the socket would not show them.
  virtual bool has_buffered() const = 0;
  // The common name of the verified client certificate, or empty.
  virtual std::string peer_name() const = 0;
};

std::unique_ptr<Transport> make_plain_transport(int socket);
std::unique_ptr<Transport> make_tls_transport(int socket, SSL_CTX* context);

// Something lies in the socket's receive buffer.
bool has_pending_input(int socket);

}  // namespace slackline::http
