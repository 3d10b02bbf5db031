#include "http/server/connection.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "http/server/listen.h"
#include "http/server/site.h"
#include "obs/log.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"

namespace slackline::http {
namespace {

constexpr std::size_t kLingerBytes = std::size_t{1} << 20;
constexpr milliseconds kLingerTime{500};
constexpr double kQuiet_s = 10;  // between two log lines of one reason
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// Label values of slackline_http_refused_total.
std::string_view refusal_reason(int status) {
  switch (status) {
    case 403:
      return "origin";
    case 408:
      return "timeout";
    case 411:
      return "length_required";
    case 413:
      return "body_too_large";
    case 415:
      return "content_encoding";
    case 417:
      return "expectation";
    case 421:
      return "host";
    case 431:
      return "head_too_large";
    case 503:
      return "overload";
    case 505:
      return "version";
    default:
      return "malformed";
  }
}

bool is_safe_header(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

std::string render_head(const Response& response, bool close) {
  std::string out = format("HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  if (response.status != 204 && response.status != 304 && !response.follow)
    out += format("Content-Length: {}\r\n", response.body.size());
  if (!response.content_type.empty() && is_safe_header(response.content_type))
    out += format("Content-Type: {}\r\n", response.content_type);
  for (const auto& [name, value] : response.headers)
    if (is_safe_header(name) && is_safe_header(value)) out += format("{}: {}\r\n", name, value);
  if (close) out += "Connection: close\r\n";
  out += "\r\n";
  return out;
}

std::array<obs::Counter, 5> answer_counters(obs::MetricsRegistry& registry,
                                            const std::string& listener) {
  const auto of = [&](std::string_view code_class) {
    return registry.counter("slackline_http_requests_total",
                            {{"listener", listener}, {"code_class", code_class}});
  };
  return {of("1xx"), of("2xx"), of("3xx"), of("4xx"), of("5xx")};
}

}  // namespace

ConnectionEnv::ConnectionEnv(obs::MetricsRegistry& registry, const Listener& from)
    : listener(from),
      loopback(is_loopback(from)),
      peers(from.limits.connections, from.limits.memory),
      connections(registry.gauge("slackline_http_connections", {{"listener", from.name}})),
      certificate_expiry(
          registry.gauge("slackline_tls_certificate_expiry_seconds", {{"listener", from.name}})),
      tls_reload_failures(
          registry.counter("slackline_tls_reload_failures_total", {{"listener", from.name}})),
      registry_(registry),
      answers_(answer_counters(registry, from.name)) {}

void ConnectionEnv::count_answer(int status) const {
  const int code_class = std::clamp(status / 100, 1, 5);
  answers_[static_cast<std::size_t>(code_class - 1)].add();
}

void ConnectionEnv::count_refusal(std::string_view reason, const std::string& peer) {
  registry_
      .counter("slackline_http_refused_total", {{"listener", listener.name}, {"reason", reason}})
      .add();
  obs::LogLimit& lines = lines_.try_emplace(std::string(reason), 1, kQuiet_s).first->second;
  if (const auto left_out = lines.admit(system_clock().steady_s()))
    obs::log_warning("http_refused", {{"listener", std::string_view(listener.name)},
                                      {"reason", reason},
                                      {"peer", std::string_view(peer)},
                                      {"since_last_line", *left_out + 1}});
}

Connection::Connection(ConnectionEnv& env, int socket, std::unique_ptr<Transport> transport,
                       const std::string& address)
    : env_(env), socket_(socket), transport_(std::move(transport)), seat_(env.peers, address) {
  enter(State::kHandshake, env_.listener.limits.handshake_time);
  env_.connections.add(1);
}

Connection::~Connection() {
  close();
}

Connection::Want Connection::advance() {
  for (;;) {
    Step step;
    switch (state_) {
      case State::kHandshake:
        step = handshake();
        break;
      case State::kHead:
        step = read_head();
        break;
      case State::kBody:
        step = read_body();
        break;
      case State::kGuarding:
        return Want::kGuard;
      case State::kHandling:
        return Want::kHandler;
      case State::kAnswer:
        step = write_answer();
        break;
      case State::kStream:
        step = go_on_streaming();
        break;
      case State::kLinger:
        step = linger();
        break;
      case State::kClosed:
        return Want::kClose;
    }
    if (step) return *step;
  }
}

Connection::Step Connection::handshake() {
  const IoResult result = transport_->handshake();
  if (result.status != IoStatus::kDone) {
    if (result.status == IoStatus::kClosed) env_.count_refusal("tls", seat_.name());
    return wait_or_close(result.status);
  }
  tls_peer_ = transport_->peer_name();
  if (!tls_peer_.empty()) seat_.identify(tls_peer_);
  // A silent new connection is cheap and may be one that Go opened in advance: it is closed first
  // when the listener is full, but has the whole idle time until then.
  enter(State::kHead, env_.listener.limits.idle_time);
  return std::nullopt;
}

Connection::Step Connection::read_head() {
  const Limits& limits = env_.listener.limits;
  for (;;) {
    if (in_.size() > scanned_) {
      const std::string_view bytes = in_.bytes().substr(0, limits.head);
      if (scanned_ == 0) enter(State::kHead, limits.head_time);
      if (const Refusal refusal = check_start(bytes); refusal.status != 0) return reject(refusal);
      const std::size_t end = find_head_end(bytes, std::min(scanned_, bytes.size()));
      if (end != std::string_view::npos) return take_head(end);
      if (in_.size() >= limits.head) return reject({431, "the request head is too large"});
      scanned_ = in_.size();
    }
    env_.buffers.make_room(in_, limits.head);
    const IoResult result = transport_->read(in_.free_space(), in_.free_size());
    if (result.status != IoStatus::kDone) {
      if (in_.size() == 0) env_.buffers.give_back(in_);
      return wait_or_close(result.status);
    }
    in_.add(result.bytes);
    if (!keep(in_.size())) return reject({503, "too many requests are being received"});
  }
}

Connection::Step Connection::take_head(std::size_t head_size) {
  const Listener& listener = env_.listener;
  head_size_ = head_size;
  const Refusal refusal =
      parse_head(in_.bytes().substr(0, head_size), listener.limits.fields, head_);
  if (refusal.status != 0) return reject(refusal);
  if (env_.loopback)
    if (const Refusal foreign = check_site(head_); foreign.status != 0) return reject(foreign);
  found_ = listener.router->resolve(head_.method, head_.target);
  if (found_.route == nullptr) {
    // The body, if any, stays unread: such a connection cannot go on.
    close_after_ = !head_.keep_alive || head_.content_length > 0;
    answer(std::move(found_.refusal));
    return std::nullopt;
  }
  if (head_.content_length > found_.route->max_body)
    return reject({413, found_.route->max_body == 0
                            ? "this path takes no body"
                            : "the body is larger than this path accepts; the limit is "
                              "limits.maxBody of the listener in the configuration"});
  request_ = Request();
  request_.method = head_.method;
  request_.path = found_.path;
  request_.target = head_.target;
  request_.params = std::move(found_.params);
  request_.query = std::move(found_.query);
  request_.accept = head_.accept;
  request_.content_type = head_.content_type;
  request_.authorization = head_.authorization;
  request_.peer = seat_.name();
  request_.tls_peer = tls_peer_;
  return ask_guard();
}

// A caller without the right is refused before the body is read.
Connection::Step Connection::ask_guard() {
  if (auto known = env_.listener.router->recall(*found_.route, request_))
    return pass_guard(*std::move(known));
  state_ = State::kGuarding;
  guarding_ = true;
  deadline_ = SteadyTime::max();  // guards bound their own time, as handlers do
  return Want::kGuard;
}

Connection::Step Connection::pass_guard(GuardAnswer said) {
  const bool whole = in_.size() >= request_size();
  if (said.refusal) {
    close_after_ = !head_.keep_alive || !whole;
    answer(*std::move(said.refusal));
    return std::nullopt;
  }
  if (head_.expects_continue && !whole &&
      transport_->write(kContinue, {}).bytes != kContinue.size())
    return Want::kClose;
  if (!whole) enter(State::kBody, env_.listener.limits.body_time);
  state_ = State::kBody;
  return std::nullopt;
}

Connection::Step Connection::read_body() {
  while (in_.size() < request_size()) {
    env_.buffers.make_room(in_, request_size());
    const IoResult result = transport_->read(in_.free_space(), in_.free_size());
    if (result.status != IoStatus::kDone) return wait_or_close(result.status);
    in_.add(result.bytes);
    if (!keep(in_.size())) return reject({503, "too many requests are being received"});
  }
  return call_handler();
}

Connection::Step Connection::call_handler() {
  request_.body = in_.bytes().substr(head_size_, static_cast<std::size_t>(head_.content_length));
  request_.head = in_.bytes().substr(0, head_size_);
  request_.received_s = system_clock().steady_s();
  close_after_ = !head_.keep_alive;
  state_ = State::kHandling;
  guarding_ = false;
  deadline_ = SteadyTime::max();  // handlers bound their own time
  if (found_.route->pool_for(request_.body.size()) != Pool::kHot) return Want::kHandler;
  answer(env_.listener.router->run(*found_.route, request_));
  return std::nullopt;
}

Connection::Ran Connection::run() const {
  const Router& router = *env_.listener.router;
  if (guarding_) return router.ask(*found_.route, request_);
  return router.run(*found_.route, request_);
}

Connection::Want Connection::finish(Ran ran) {
  if (state_ == State::kGuarding) {
    if (const Step step = pass_guard(std::get<GuardAnswer>(std::move(ran)))) return *step;
    return advance();
  }
  if (state_ != State::kHandling) return Want::kClose;
  answer(std::get<Response>(std::move(ran)));
  return advance();
}

Connection::Want Connection::finish_overloaded() {
  env_.count_refusal(refusal_reason(503), seat_.name());
  Response full = env_.listener.router->error(503, "too many requests are waiting; try again");
  if (state_ == State::kGuarding) return finish(GuardAnswer{std::move(full)});
  return finish(std::move(full));
}

Connection::Want Connection::say_goodbye() {
  close_after_ = true;
  end_stream();
  return advance();
}

void Connection::answer(Response response) {
  if (response.follow) open_stream(response);
  close_after_ = close_after_ || env_.draining;
  out_head_ = render_head(response, close_after_);
  out_body_ = std::move(response.body);
  if (head_.method == "HEAD" || response.status == 204 || response.status == 304) out_body_.clear();
  written_ = 0;
  env_.count_answer(response.status);
  enter(State::kAnswer, env_.listener.limits.write_time);
}

Connection::Step Connection::write_answer() {
  const std::size_t total = out_head_.size() + out_body_.size();
  while (written_ < total) {
    const std::string_view head = out_head_;
    const std::string_view body = out_body_;
    const std::size_t head_done = std::min(written_, head.size());
    const IoResult result =
        transport_->write(head.substr(head_done), body.substr(written_ - head_done));
    // An answer that its reader does not take at once is memory that the peer holds.
    if (result.status == IoStatus::kWantWrite && !keep(in_.size() + total)) {
      env_.count_refusal("answers", seat_.name());
      return Want::kClose;
    }
    if (result.status != IoStatus::kDone) return wait_or_close(result.status);
    written_ += result.bytes;
  }
  return after_answer();
}

Connection::Step Connection::after_answer() {
  out_body_ = std::string();
  ++answered_;
  if (is_stream_ && follow_) {
    env_.buffers.give_back(in_);
    seat_.keep(0);
    state_ = State::kStream;
    since_ = std::chrono::steady_clock::now();
    deadline_ = stream_until_;
    return std::nullopt;
  }
  if (close_after_) {
    end_stream();
    return std::nullopt;
  }
  in_.remove_front(request_size());
  seat_.keep(in_.size());
  scanned_ = 0;
  head_.method.clear();
  enter(State::kHead, env_.listener.limits.idle_time);
  // One request at a time: a client that pipelines thousands must not keep the others waiting.
  if (in_.size() > 0) return Want::kAgain;
  env_.buffers.give_back(in_);
  return transport_->has_buffered() ? Want::kAgain : Want::kRead;
}

void Connection::open_stream(Response& response) {
  if (head_.method == "HEAD") {
    response.follow = nullptr;
    return;
  }
  if (env_.streams >= env_.listener.limits.streams) {
    env_.count_refusal("streams", seat_.name());
    response = env_.listener.router->error(503, "too many streams are open; ask now and then");
    return;
  }
  ++env_.streams;
  is_stream_ = true;
  follow_ = response.follow;
  stream_until_ = std::chrono::steady_clock::now() + env_.listener.limits.stream_time;
  close_after_ = true;
}

bool Connection::has_news() {
  if (state_ != State::kStream) return false;
  std::optional<std::string> more;
  try {
    if (follow_ && !env_.draining) more = follow_();
  } catch (const std::exception& exception) {
    obs::log_error("stream_failed", {{"error", exception.what()}});
  }
  if (!more) {
    follow_ = nullptr;
    return true;
  }
  news_ = *std::move(more);
  return !news_.empty();
}

Connection::Step Connection::go_on_streaming() {
  if (!follow_) {
    end_stream();
    return std::nullopt;
  }
  if (!news_.empty()) {
    out_head_.clear();
    out_body_ = std::exchange(news_, {});
    written_ = 0;
    enter(State::kAnswer, env_.listener.limits.write_time);
    return std::nullopt;
  }
  // The client has nothing more to say: whatever it sends ends the stream, as its leaving does.
  std::array<char, 256> ignored{};
  const IoResult result = transport_->read(ignored.data(), ignored.size());
  if (result.status != IoStatus::kDone) return wait_or_close(result.status);
  follow_ = nullptr;
  end_stream();
  return std::nullopt;
}

void Connection::end_stream() {
  transport_->shutdown_write();
  env_.buffers.give_back(in_);
  seat_.keep(0);
  enter(State::kLinger, kLingerTime);
}

// Closing with unread input would send a reset, which may overtake the answer.
Connection::Step Connection::linger() {
  while (discarded_ < kLingerBytes) {
    const IoResult result = transport_->discard();
    if (result.status != IoStatus::kDone) return wait_or_close(result.status);
    discarded_ += result.bytes;
  }
  return Want::kClose;
}

Connection::Want Connection::expire() {
  switch (state_) {
    case State::kHandshake:
      env_.count_refusal("tls_timeout", seat_.name());
      break;
    case State::kHead:
      if (in_.size() == 0) break;
      reject({408, "the request head took too long"});
      return advance();
    case State::kBody:
      reject({408, "the request body took too long"});
      return advance();
    case State::kAnswer:
      env_.count_refusal("slow_reader", seat_.name());
      break;
    case State::kStream:
      follow_ = nullptr;
      end_stream();
      return advance();
    case State::kGuarding:
    case State::kHandling:
    case State::kLinger:
    case State::kClosed:
      break;
  }
  return Want::kClose;
}

Connection::Want Connection::refuse(int status, std::string_view reason, std::string_view message) {
  env_.count_refusal(reason, seat_.name());
  close_after_ = true;
  answer(env_.listener.router->error(status, message));
  return advance();
}

Connection::Step Connection::reject(Refusal refusal) {
  env_.count_refusal(refusal_reason(refusal.status), seat_.name());
  close_after_ = true;
  answer(env_.listener.router->error(refusal.status, refusal.message));
  return std::nullopt;
}

bool Connection::keep(std::size_t bytes) {
  if (seat_.keep(bytes)) return true;
  return env_.free_bytes(seat_, bytes - seat_.bytes()) && seat_.keep(bytes);
}

bool Connection::is_idle() const {
  return !is_busy() && !has_pending_input(socket_);
}

Candidate Connection::candidate() const {
  Stage stage = is_busy() ? Stage::kPartial : Stage::kIdle;
  if (answered_ == 0) stage = Stage::kUnproven;
  if (state_ == State::kGuarding || state_ == State::kHandling) stage = Stage::kUntouched;
  return {&seat_.peer(), stage, seat_.bytes(), since_};
}

Connection::Step Connection::wait_or_close(IoStatus status) {
  if (status == IoStatus::kWantRead) return Want::kRead;
  if (status == IoStatus::kWantWrite) return Want::kWrite;
  return Want::kClose;
}

void Connection::enter(State state, milliseconds time) {
  state_ = state;
  since_ = std::chrono::steady_clock::now();
  deadline_ = since_ + time;
}

void Connection::close() {
  if (state_ == State::kClosed) return;
  env_.connections.add(-1);
  if (is_stream_) --env_.streams;
  seat_.leave();
  // A running handler still reads the buffer, which is then freed with the connection.
  if (state_ != State::kHandling && state_ != State::kGuarding) {
    env_.buffers.give_back(in_);
    seat_.keep(0);
  }
  state_ = State::kClosed;
}

}  // namespace slackline::http
