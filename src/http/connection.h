// One HTTP/1.1 connection as a state machine that never waits: handshake, head, body, handler,
// answer, and again. What it waits for is its result; the server waits.
//
// Everything runs on the io thread, except run_handler() between kHandler and finish().
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/buffers.h"
#include "http/request_head.h"
#include "http/router.h"
#include "http/server.h"
#include "http/transport.h"
#include "obs/metrics.h"

namespace slackline::http {

using SteadyTime = std::chrono::steady_clock::time_point;

// What the connections of one listener share.
struct ConnectionEnv {
  ConnectionEnv(obs::MetricsRegistry& registry, const Listener& from, BufferPool& pool);

  void count_answer(int status) const;
  void count_refusal(std::string_view reason) const;

  Listener listener;
  const bool loopback;  // reached from this machine only, which browsers on it are too
  BufferPool& buffers;
  bool draining = false;
  obs::Gauge connections;
  obs::Gauge certificate_expiry;
  obs::Counter tls_reload_failures;

 private:
  obs::MetricsRegistry& registry_;
  std::array<obs::Counter, 5> answers_;
};

class Connection {
 public:
  enum class Want { kRead, kWrite, kHandler, kAgain, kClose };

  Connection(ConnectionEnv& env, int socket, std::unique_ptr<Transport> transport,
             std::string peer);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Goes on as far as it can without waiting.
  Want advance();
  // deadline() has passed.
  Want expire();
  // Answers now, without reading, and closes (the listener is full).
  Want refuse(int status, std::string_view reason, std::string_view message);

  // After kHandler: where to run the handler, running it (any thread), and its answer. Meanwhile
  // the request stays as it is, even if the connection is closed.
  Pool pool() const { return found_.route->pool; }
  Response run_handler() const { return env_.listener.router->run(*found_.route, request_); }
  Want finish(Response response);
  Want finish_overloaded();

  // Counts it as closed and drops its buffer; the socket is the caller's.
  void close();

  // Ready to be closed without loss: between two requests, with nothing unread.
  bool is_idle() const;
  bool is_busy() const { return state_ != State::kHead || in_.size() > 0; }
  std::uint64_t answered() const { return answered_; }
  SteadyTime since() const { return since_; }
  SteadyTime deadline() const { return deadline_; }
  const std::string& peer() const { return peer_; }

 private:
  enum class State { kHandshake, kHead, kBody, kHandling, kAnswer, kLinger, kClosed };
  using Step = std::optional<Want>;  // nothing: the state has changed, go on

  Step handshake();
  Step read_head();
  Step take_head(std::size_t head_size);
  Step read_body();
  Step call_handler();
  Step write_answer();
  Step after_answer();
  Step linger();

  Step wait_or_close(IoStatus status);
  Step reject(Refusal refusal);
  void answer(Response response);
  void enter(State state, milliseconds time);

  ConnectionEnv& env_;
  const int socket_;
  std::unique_ptr<Transport> transport_;
  const std::string peer_;
  State state_ = State::kHandshake;
  SteadyTime since_;
  SteadyTime deadline_;
  std::uint64_t answered_ = 0;

  InputBuffer in_;
  std::size_t scanned_ = 0;  // bytes of the head in which its end was not found
  std::size_t head_size_ = 0;
  RequestHead head_;
  Router::Resolution found_;
  Request request_;
  std::string tls_peer_;

  std::string out_head_;
  std::string out_body_;
  std::size_t written_ = 0;
  bool close_after_ = false;
  std::size_t discarded_ = 0;
};

}  // namespace slackline::http
