// One HTTP/1.1 connection as a state machine that never waits: handshake, head, guard, body,
// handler, answer, and again. It returns what it waits for; the listener's loop waits.
//
// Everything runs on the io thread, except run() between kGuard or kHandler and finish().
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "http/server/buffers.h"
#include "http/server/eviction.h"
#include "http/server/peers.h"
#include "http/server/request_head.h"
#include "http/server/router.h"
#include "http/server/server.h"
#include "http/server/transport.h"
#include "obs/log_limit.h"
#include "obs/metrics.h"

namespace slackline::http {

using SteadyTime = std::chrono::steady_clock::time_point;

// The state that the connections of one listener share.
struct ConnectionEnv {
  ConnectionEnv(obs::MetricsRegistry& registry, const Listener& from);

  void count_answer(int status) const;
  // Also logs it, at most once in ten seconds for each reason.
  void count_refusal(std::string_view reason, const std::string& peer);

  const Listener listener;
  const bool loopback;  // reached from this machine only, but also by its browsers
  Peers peers;
  BufferPool buffers;
  // Closes connections of peers that hold more, until this one may keep this many bytes more.
  std::function<bool(const Peers::Seat&, std::size_t)> free_bytes;
  bool draining = false;
  std::size_t streams = 0;  // open ones
  obs::Gauge connections;
  obs::Gauge certificate_expiry;
  obs::Counter tls_reload_failures;

 private:
  obs::MetricsRegistry& registry_;
  std::array<obs::Counter, 5> answers_;
  std::map<std::string, obs::LogLimit, std::less<>> lines_;  // by reason
};

class Connection {
 public:
  enum class Want { kRead, kWrite, kGuard, kHandler, kAgain, kClose };
  using Ran = std::variant<GuardAnswer, Response>;

  Connection(ConnectionEnv& env, int socket, std::unique_ptr<Transport> transport,
             const std::string& address);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Goes on as far as it can without waiting.
  Want advance();
  // deadline() has passed.
  Want expire();
  // Answers at once, without reading, and closes (the listener is full).
  Want refuse(int status, std::string_view reason, std::string_view message);

  // After kGuard and kHandler: the part that may wait, on any thread, and then its answer.
  // Meanwhile the request stays as it is, even if the connection is closed.
  Ran run() const;
  Want finish(Ran answer);
  Want finish_overloaded();
  // Accepts no requests after the present one, and closes in order now if there is none: the client
  // sees the end of the stream, not a reset.
  Want say_goodbye();

  // Of a stream: whether it has more to send, or is to end. Then advance() goes on.
  bool has_news();

  // Counts it as closed and drops its buffer; the socket is the caller's.
  void close();

  // Ready to be closed without loss: between two requests, with nothing unread.
  bool is_idle() const;
  Candidate candidate() const;
  std::uint64_t answered() const { return answered_; }
  SteadyTime since() const { return since_; }
  SteadyTime deadline() const { return deadline_; }
  const Peers::Seat& seat() const { return seat_; }

 private:
  enum class State {
    kHandshake,
    kHead,
    kGuarding,
    kBody,
    kHandling,
    kAnswer,
    kStream,
    kLinger,
    kClosed
  };
  using Step = std::optional<Want>;  // nothing: the state has changed, go on

  Step handshake();
  Step read_head();
  Step take_head(std::size_t head_size);
  Step ask_guard();
  Step pass_guard(GuardAnswer answer);
  Step read_body();
  Step call_handler();
  Step write_answer();
  Step after_answer();
  void open_stream(Response& response);
  Step go_on_streaming();
  void end_stream();
  Step linger();

  Step wait_or_close(IoStatus status);
  Step reject(Refusal refusal);
  bool keep(std::size_t bytes);
  bool is_busy() const { return state_ != State::kHead || in_.size() > 0; }
  std::size_t request_size() const {
    return head_size_ + static_cast<std::size_t>(head_.content_length);
  }
  void answer(Response response);
  void enter(State state, milliseconds time);

  ConnectionEnv& env_;
  const int socket_;
  std::unique_ptr<Transport> transport_;
  Peers::Seat seat_;
  State state_ = State::kHandshake;
  SteadyTime since_;
  SteadyTime deadline_;
  std::uint64_t answered_ = 0;

  InputBuffer in_;
  std::size_t scanned_ = 0;  // bytes of the head already searched for its end
  std::size_t head_size_ = 0;
  RequestHead head_;
  Router::Resolution found_;
  Request request_;
  bool guarding_ = false;  // what run() does
  std::string tls_peer_;

  std::string out_head_;
  std::string out_body_;
  std::size_t written_ = 0;
  bool close_after_ = false;
  bool is_stream_ = false;                              // counted in env_.streams
  std::function<std::optional<std::string>()> follow_;  // of a stream that goes on
  std::string news_;                                    // what it sends next
  SteadyTime stream_until_;
  std::size_t discarded_ = 0;
};

}  // namespace slackline::http
