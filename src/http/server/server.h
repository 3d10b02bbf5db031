// The HTTP/1.1 server: many listeners, an io thread for each, no thread per connection.
//
// Listeners share nothing: a flood of one, or its busy threads, does not affect the others
// (decision 0021).
//
// Boost.Beast parses, Boost.Asio waits, OpenSSL encrypts; none of them is visible here.
// Requirements: docs/decisions/0001-beast-serves-httplib-calls.md; faults: docs/RELIABILITY.md,
// F07-F13, F35, F36. Every method is thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/server/router.h"
#include "obs/metrics.h"
#include "slackline/base/result.h"

namespace slackline::http {

using std::chrono::milliseconds;

// PEM files, checked every two seconds: a new certificate serves new connections, a broken, expired
// or mismatched one is refused, logged and counted, and the old one stays.
struct TlsOptions {
  std::string cert_file;  // the chain, leaf first
  std::string key_file;
  std::string client_ca_file;  // if given, every client must present a certificate of this CA
  // If given, one that names one of these (subjectAltName; without any its common name).
  std::vector<std::string> client_names = {};
};

// Of one listener. share.h and eviction.h divide it between peers.
struct Limits {
  std::size_t head = std::size_t{64} << 10;  // request line and fields, bytes
  std::size_t fields = 100;
  std::size_t connections = 1024;
  std::size_t refusing = 64;  // connections beyond these, which are answered with 503
  // Bytes of requests and of answers that are not read yet, of all connections together.
  std::size_t memory = std::size_t{256} << 20;
  std::size_t threads = 64;  // for handlers that may wait; started as needed
  std::size_t queue = 1024;  // requests that wait for such a thread; more are answered with 503
  double handshakes_per_s = 100;    // TLS, for each peer; the burst of three seconds passes at once
  milliseconds head_time{5'000};    // from the first byte of a request to the end of its head
  milliseconds body_time{5'000};    // absolute, not per read
  milliseconds write_time{10'000};  // for a client that does not read its answer
  milliseconds handshake_time{5'000};  // TLS
  milliseconds idle_time{120'000};     // longer than the 90 s after which Go drops its side
  std::size_t streams = 64;            // answers without an end; one more is refused with 503
  milliseconds stream_time{300'000};   // then a stream ends, and its client must ask again
};

struct Listener {
  std::string name;  // label of its metrics: "extender", "api", "metrics"
  std::string
      address;  // "127.0.0.1:8181", "[::1]:0", ":8443" (every interface); port 0: any free one
  const Router* router = nullptr;  // outlives the server
  std::optional<TlsOptions> tls;
  Limits limits;
  bool plain_anywhere = false;  // may listen off loopback without TLS: holds no secret (metrics)
  // Off loopback it requires a client CA or a guarded router, because it shows and does what only
  // known peers may (decisions 0010, 0023).
  bool known_peers_only = false;
};

// Refuses a listener that would speak plain HTTP to the network.
Status check_exposure(const Listener& listener);

class Server {
 public:
  explicit Server(obs::MetricsRegistry& metrics);
  ~Server();  // stop({}, {}) and join()
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds every listener, or none: on an error (address in use, unreadable certificate) nothing
  // runs. In the whole process it ignores SIGPIPE and raises the limit of file descriptors; where
  // that is still too low for `listeners`, each may hold less (descriptors.h), and the log says so.
  Status start(const std::vector<Listener>& listeners);

  // The port in use; 0 for a name that is not a listener.
  std::uint16_t port(std::string_view listener) const;

  // Begins to drain and returns at once. Answers carry "Connection: close" from now on; after
  // `grace` the listeners and idle connections close; `hard` later the busy ones are cut. Make the
  // daemon unready first: Go shows a close that races with its POST as EOF, hence the grace.
  void stop(milliseconds grace = milliseconds{5'000}, milliseconds hard = milliseconds{10'000});

  // Returns when the drain is over and every handler has returned.
  void join();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline::http
