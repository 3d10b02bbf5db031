#include "http/server/listener_loop.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <fcntl.h>

#include "obs/log.h"

namespace slackline::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::steady_clock;

constexpr milliseconds kTick{100};  // how late a deadline may be noticed
constexpr milliseconds kTlsCheck{2'000};
constexpr std::size_t kMaxAcceptsPerTurn = 64;
constexpr std::size_t kGuardThreads = 16;
constexpr std::size_t kGuardQueue = 64;
// How long a client that has begun to connect may take once there are no new ones.
constexpr milliseconds kLastCall{200};
// How long a client has to send its first request before a drain closes it.
constexpr milliseconds kFirstWord{1'000};

OwnedFd open_spare() {
  return OwnedFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

bool lacks_files(int error) {
  return error == EMFILE || error == ENFILE;
}

}  // namespace

Result<std::unique_ptr<ListenerLoop>> ListenerLoop::open(const Listener& listener,
                                                         obs::MetricsRegistry& metrics) {
  SLACKLINE_TRY(check_exposure(listener));
  std::optional<LiveTls> tls;
  if (listener.tls) {
    auto loaded = LiveTls::load(*listener.tls);
    if (!loaded) return fail(loaded.error().with_context(listener.name + " listener"));
    tls = std::move(*loaded);
  }
  SLACKLINE_ASSIGN(OwnedFd socket, open_listener(listener));
  return std::unique_ptr<ListenerLoop>(
      new ListenerLoop(listener, metrics, std::move(socket), std::move(tls)));
}

ListenerLoop::ListenerLoop(const Listener& listener, obs::MetricsRegistry& metrics, OwnedFd socket,
                           std::optional<LiveTls> tls)
    : env_(metrics, listener),
      turnstile_(listener.limits.handshakes_per_s),
      descriptor_(io_.get_executor()),
      port_(local_port(socket.get())),
      tls_(std::move(tls)),
      spare_(open_spare()),
      next_look_(steady_clock::now() + kTlsCheck),
      handlers_(listener.limits.threads, listener.limits.queue),
      guards_(kGuardThreads, kGuardQueue) {
  descriptor_.assign(socket.release());
  if (tls_) env_.certificate_expiry.set(tls_->expires_s());
  env_.free_bytes = [this](const Peers::Seat& asking, std::size_t bytes) {
    return free_bytes(asking, bytes);
  };
}

ListenerLoop::~ListenerLoop() {
  join();
}

void ListenerLoop::start() {
  thread_ = std::thread([this] { run(); });
}

// If memory runs out in a step of one connection, that one is closed (go_on). If it runs out in a
// step of the listener, that step is lost, and the listener goes on.
void ListenerLoop::run() {
  for (;;) {
    try {
      if (!awaits_clients_ && descriptor_.is_open()) wait_for_clients();
      if (!ticks_) start_tick();
      io_.run();
      return;
    } catch (const std::bad_alloc&) {
      count_lack_of_memory("nobody in particular");
    }
  }
}

void ListenerLoop::count_lack_of_memory(const std::string& peer) {
  try {
    env_.count_refusal("no_memory", peer);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): not even memory for a message
  }
}

void ListenerLoop::stop(milliseconds grace, milliseconds hard) {
  asio::post(io_, [this, grace, hard] { begin_drain(grace, hard); });
}

void ListenerLoop::join() {
  if (thread_.joinable()) thread_.join();
  handlers_.stop();
  guards_.stop();
  io_.restart();
  io_.poll();  // what they freed since: connections that were cut
}

// --- accepting ---

void ListenerLoop::wait_for_clients() {
  descriptor_.async_wait(Descriptor::wait_read, [this](error_code error) {
    awaits_clients_ = false;
    if (error || !descriptor_.is_open()) return;
    accept_clients();
    if (!short_of_files_) wait_for_clients();
  });
  awaits_clients_ = true;
}

void ListenerLoop::accept_clients() {
  for (std::size_t i = 0; i < kMaxAcceptsPerTurn; ++i) {
    Accepted accepted = accept_one(descriptor_.native_handle());
    if (lacks_files(accepted.error)) return accept_with_spare();
    if (accepted.error == ECONNABORTED || accepted.error == EINTR) continue;
    if (accepted.error != 0) return;
    welcome(std::move(accepted));
  }
}

// Without a free descriptor the client would stay in the queue and wake this thread forever: it
// gets the spare one, and keeps it if another connection gives way. Where somebody else in the
// process has taken that meanwhile, a connection gives way first, or clients wait for the next
// tick.
void ListenerLoop::accept_with_spare() {
  spare_ = OwnedFd();
  Accepted accepted = accept_one(descriptor_.native_handle());
  if (lacks_files(accepted.error) && make_room_for(""))
    accepted = accept_one(descriptor_.native_handle());
  short_of_files_ = lacks_files(accepted.error);
  if (accepted.error == 0 && make_room_for(accepted.peer)) {
    spare_ = open_spare();
    return welcome(std::move(accepted));
  }
  if (accepted.error == 0 || short_of_files_) env_.count_refusal("file_descriptors", accepted.peer);
  accepted.socket = OwnedFd();
  spare_ = open_spare();
}

void ListenerLoop::welcome(Accepted accepted) {
  const bool room = env_.peers.may_connect(accepted.peer) || make_room_for(accepted.peer);
  if (!room && (tls_ || sessions_.size() >=
                            env_.listener.limits.connections + env_.listener.limits.refusing)) {
    env_.count_refusal("connection_cap", accepted.peer);
    return;
  }
  const int fd = accepted.socket.get();
  auto transport = tls_ ? make_tls_transport(fd, tls_->get()) : make_plain_transport(fd);
  const auto session =
      std::make_shared<Session>(env_, io_.get_executor(), fd, std::move(transport), accepted.peer);
  error_code error;
  session->descriptor.assign(fd, error);
  if (error) return;
  accepted.socket.release();
  session->position = sessions_.insert(sessions_.end(), session);
  if (!room)
    return go_on(session, [](Connection& connection) {
      return connection.refuse(503, "connection_cap", "too many connections");
    });
  if (tls_ && !turnstile_.pass(accepted.peer, steady_clock::now())) {
    env_.count_refusal("handshake_rate", accepted.peer);
    waiting_.push_back({session, accepted.peer});
    return;
  }
  go_on(session, &Connection::advance);
}

// Handshakes that have waited for their turn; their time to finish runs all the while.
void ListenerLoop::admit_waiting(SteadyTime now) {
  std::deque<Waiting> still;
  for (Waiting& one : std::exchange(waiting_, {})) {
    const SessionPtr session = one.session.lock();
    if (!session || !session->descriptor.is_open()) continue;
    if (turnstile_.pass(one.address, now))
      go_on(session, &Connection::advance);
    else
      still.push_back(std::move(one));
  }
  waiting_ = std::move(still);
  turnstile_.forget(now);
}

// --- making room ---

// Closes the connection that `choose` picks; an idle one that has just sent something stays.
template <class Choose>
bool ListenerLoop::evict(const Choose& choose) {
  std::vector<Candidate> candidates;
  std::vector<SessionPtr> those;
  candidates.reserve(sessions_.size());
  those.reserve(sessions_.size());
  for (const SessionPtr& session : sessions_) {
    candidates.push_back(session->connection.candidate());
    those.push_back(session);
  }
  for (;;) {
    const std::optional<std::size_t> victim = choose(candidates);
    if (!victim) return false;
    const SessionPtr& session = those[*victim];
    if (candidates[*victim].stage == Stage::kIdle && !session->connection.is_idle()) {
      candidates[*victim].stage = Stage::kUntouched;
      continue;
    }
    env_.count_refusal("evicted", session->connection.seat().name());
    close(session);
    return true;
  }
}

bool ListenerLoop::make_room_for(const std::string& address) {
  const Peer* newcomer = env_.peers.find(address);
  return evict([newcomer](const std::vector<Candidate>& candidates) {
    return evict_for_connection(candidates, newcomer);
  });
}

bool ListenerLoop::free_bytes(const Peers::Seat& asking, std::size_t bytes) {
  while (!env_.peers.may_keep(asking, bytes))
    if (!evict([&](const std::vector<Candidate>& candidates) {
          return evict_for_bytes(candidates, asking.peer(), bytes);
        }))
      return false;
  return true;
}

// --- connections ---

// Takes a step of one connection; without memory for it, only this connection ends.
template <class Step>
void ListenerLoop::go_on(const SessionPtr& session, const Step& step) {
  try {
    proceed(session, std::invoke(step, session->connection));
  } catch (const std::bad_alloc&) {
    count_lack_of_memory(session->connection.seat().name());
    close(session);
  }
}

void ListenerLoop::proceed(const SessionPtr& session, Want want) {
  switch (want) {
    case Want::kRead:
      return wait_for(session, Descriptor::wait_read);
    case Want::kWrite:
      return wait_for(session, Descriptor::wait_write);
    case Want::kGuard:
      return run_elsewhere(session, guards_);
    case Want::kHandler:
      return run_elsewhere(session, handlers_);
    case Want::kClose:
      return close(session);
    case Want::kAgain:
      asio::post(io_, [this, session] { go_on(session, &Connection::advance); });
      return;
  }
}

void ListenerLoop::wait_for(const SessionPtr& session, Descriptor::wait_type type) {
  const std::uint64_t wait = ++session->wait;
  session->descriptor.async_wait(type, [this, session, wait](error_code) {
    if (wait != session->wait || !session->descriptor.is_open()) return;
    go_on(session, &Connection::advance);
  });
}

void ListenerLoop::run_elsewhere(const SessionPtr& session, ThreadPool& pool) {
  Session* const one = session.get();
  one->elsewhere = session;
  const bool accepted = pool.submit(session->connection.seat().name(), [this, one] {
    try {
      one->ran = one->connection.run();
    } catch (const std::bad_alloc&) {
      one->ran.reset();  // not even memory for an answer
    }
    hand_back(one);
  });
  if (accepted) return;
  one->elsewhere.reset();
  proceed(session, session->connection.finish_overloaded());
}

// On a thread of a pool: it has no other way, so it tries until there is memory for this one.
void ListenerLoop::hand_back(Session* one) {
  for (;;) {
    try {
      asio::post(io_, [this, one] {
        const SessionPtr session = std::exchange(one->elsewhere, nullptr);
        go_on(session, [one](Connection& connection) {
          return one->ran ? connection.finish(*std::move(one->ran)) : Want::kClose;
        });
      });
      return;
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kTick);
    }
  }
}

void ListenerLoop::close(const SessionPtr& session) {
  if (!session->descriptor.is_open()) return;
  // `session` may be the list's own, which erase() ends.
  const SessionPtr keep = session;  // NOLINT(performance-unnecessary-copy-initialization)
  ++keep->wait;
  keep->connection.close();
  error_code ignored;
  keep->descriptor.close(ignored);
  sessions_.erase(keep->position);
}

// --- time ---

void ListenerLoop::start_tick() {
  timer_.expires_after(kTick);
  timer_.async_wait([this](error_code error) {
    ticks_ = false;
    if (!error) tick();
  });
  ticks_ = true;
}

void ListenerLoop::tick() {
  const SteadyTime now = steady_clock::now();
  expire_late(now);
  send_news();
  if (tls_) admit_waiting(now);
  if (tls_ && now >= next_look_) {
    next_look_ = now + kTlsCheck;
    look_at_certificate();
  }
  if (spare_.get() < 0) spare_ = open_spare();
  if (std::exchange(short_of_files_, false) && !awaits_clients_ && descriptor_.is_open())
    wait_for_clients();
  if (close_idle_at_) continue_drain(now);
  if (descriptor_.is_open() || !sessions_.empty()) start_tick();
}

void ListenerLoop::expire_late(SteadyTime now) {
  std::vector<SessionPtr> late;
  for (const SessionPtr& session : sessions_)
    if (session->connection.deadline() <= now) late.push_back(session);
  for (const SessionPtr& session : late) {
    ++session->wait;
    error_code ignored;
    session->descriptor.cancel(ignored);
    go_on(session, &Connection::expire);
  }
}

void ListenerLoop::send_news() {
  std::vector<SessionPtr> streams;
  for (const SessionPtr& session : sessions_)
    if (session->connection.has_news()) streams.push_back(session);
  for (const SessionPtr& session : streams) {
    ++session->wait;
    error_code ignored;
    session->descriptor.cancel(ignored);
    go_on(session, &Connection::advance);
  }
}

void ListenerLoop::look_at_certificate() {
  switch (tls_->look()) {
    case LiveTls::Change::kNone:
      return;
    case LiveTls::Change::kRefused:
      env_.tls_reload_failures.add();
      obs::log_error("tls_reload_failed",
                     {{"listener", std::string_view(name())},
                      {"error", std::string_view(tls_->refusal())},
                      {"remedy", "the old certificate stays in use; fix the files"}});
      return;
    case LiveTls::Change::kTaken:
      env_.certificate_expiry.set(tls_->expires_s());
      obs::log_info("tls_reloaded", {{"listener", std::string_view(name())}});
  }
}

// --- the end ---

void ListenerLoop::begin_drain(milliseconds grace, milliseconds hard) {
  const SteadyTime now = steady_clock::now();
  close_idle_at_ = std::min(close_idle_at_.value_or(SteadyTime::max()), now + grace);
  cut_at_ = std::min(cut_at_, now + grace + hard);
  env_.draining = true;
  continue_drain(now);
}

// Closing a socket resets the clients in its queue, and a closed connection may meet a request on
// its way. So first no new clients may come, then those that came have time to send, and idle ones
// get an orderly end.
void ListenerLoop::continue_drain(SteadyTime now) {
  if (now < *close_idle_at_) return;
  if (!listen_until_) {
    refuse_newcomers(descriptor_.native_handle());
    listen_until_ = std::min(cut_at_, now + kLastCall);
  }
  if (descriptor_.is_open() && now >= *listen_until_) {
    accept_clients();
    error_code ignored;
    descriptor_.close(ignored);
  }
  std::vector<SessionPtr> idle;
  std::vector<SessionPtr> cut;
  for (const SessionPtr& session : sessions_) {
    const Connection& connection = session->connection;
    const bool has_spoken = connection.answered() > 0 || now >= connection.since() + kFirstWord;
    if (now >= cut_at_)
      cut.push_back(session);
    else if (has_spoken && connection.is_idle())
      idle.push_back(session);
  }
  for (const SessionPtr& session : cut)
    close(session);
  for (const SessionPtr& session : idle) {
    ++session->wait;
    error_code ignored;
    session->descriptor.cancel(ignored);
    go_on(session, &Connection::say_goodbye);
  }
}

}  // namespace slackline::http
