// A client that sends exactly the given bytes, over TCP or TLS: for faults that no well-behaved
// client commits. Blocking, one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace slackline::test {

struct RawResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

struct ClientTls {
  std::string ca_file;  // verifies the server
  std::string cert_file;
  std::string key_file;
  int max_version = 0;  // 0: the newest
  std::string ciphers;  // of TLS 1.2; empty: the usual ones
};

class RawClient {
 public:
  // from: the source address, so that one machine looks like several peers.
  explicit RawClient(std::uint16_t port, const std::string& from = "127.0.0.1");
  ~RawClient();
  RawClient(RawClient&& other) noexcept;
  RawClient& operator=(RawClient&&) = delete;

  bool connected() const { return socket_ >= 0; }
  // False if the server or this client refuses the handshake.
  bool start_tls(const ClientTls& tls);
  // The serial number of the server's certificate, in hexadecimal.
  std::string server_serial() const;

  // False once the peer has gone.
  bool send(std::string_view bytes);
  // Limits are those of an idle machine (patient, eventually.h). Nothing on a timeout, at the end
  // of the stream and on a malformed answer. `head_only` for HEAD.
  std::optional<RawResponse> receive(std::chrono::milliseconds limit = std::chrono::seconds(10),
                                     bool head_only = false);
  std::optional<RawResponse> call(std::string_view bytes) {
    send(bytes);
    return receive();
  }
  // All that comes until `enough` is part of it, the stream ends, or that time is over.
  std::string read_until(std::string_view enough, std::chrono::milliseconds limit);
  // True if the server closes within that time; what it still sends is dropped.
  bool closed_within(std::chrono::milliseconds limit);
  // Closes with a reset instead of an orderly end.
  void reset();
  void close();

 private:
  bool wait_readable(std::chrono::steady_clock::time_point until) const;
  // Bytes read, 0 at the end of the stream, negative on a timeout.
  long read_some(std::chrono::steady_clock::time_point until);

  int socket_ = -1;
  std::string buffer_;
  std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)> context_;
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> ssl_;
};

std::string get(std::string_view path);
std::string post(std::string_view path, std::string_view body, std::string_view more_headers = "");

}  // namespace slackline::test
