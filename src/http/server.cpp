#include "http/server.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <list>
#include <map>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fcntl.h>
#include <sys/socket.h>

#include "http/connection.h"
#include "http/listen.h"
#include "http/pools.h"
#include "http/tls.h"
#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;
using std::chrono::steady_clock;
using Want = Connection::Want;

constexpr milliseconds kTick{100};  // how late a deadline may be noticed
constexpr milliseconds kTlsCheck{2'000};
constexpr std::size_t kMaxAcceptsPerTurn = 64;
constexpr std::size_t kMaxRefusing = 64;  // connections beyond the cap that are being told 503
constexpr std::size_t kBindQueue = 1024;

struct ListenerState;

// A connection with its socket. It stays alive while a handler or a wait refers to it.
struct Session {
  Session(ListenerState& owner, ConnectionEnv& env, const Executor& executor, int socket,
          std::unique_ptr<Transport> transport, std::string peer)
      : listener(owner),
        descriptor(executor),
        connection(env, socket, std::move(transport), std::move(peer)) {}

  ListenerState& listener;
  Descriptor descriptor;
  Connection connection;
  std::list<std::shared_ptr<Session>>::iterator position;
  std::uint64_t wait = 0;  // waits that a deadline has overtaken are recognised by an older number
};

using SessionPtr = std::shared_ptr<Session>;

struct ListenerState {
  ListenerState(const Executor& executor, obs::MetricsRegistry& metrics, const Listener& from,
                BufferPool& buffers, OwnedFd socket)
      : env(metrics, from, buffers),
        port(local_port(socket.get())),
        descriptor(executor, socket.release()) {}

  ConnectionEnv env;
  std::uint16_t port;
  Descriptor descriptor;
  std::optional<TlsContext> tls;
  std::string tls_files;
  std::list<SessionPtr> sessions;
};

OwnedFd open_spare() {
  return OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

// All members belong to the io thread once it runs, but for the pools.
struct Server::Impl {
  Impl(obs::MetricsRegistry& registry, const ServerOptions& options)
      : metrics(registry),
        buffers(options.body_memory),
        bind_pool(options.bind_threads, kBindQueue),
        api_pool(options.api_threads, options.api_queue) {}

  Result<std::unique_ptr<ListenerState>> open(const Listener& listener);
  void wait_for_clients(ListenerState& listener);
  void accept_clients(ListenerState& listener);
  void welcome(ListenerState& listener, Accepted accepted);
  bool make_room(ListenerState& listener, const std::string& newcomer);
  void shed_for_lack_of_files(ListenerState& listener);

  void proceed(const SessionPtr& session, Want want);
  void wait_for(const SessionPtr& session, Descriptor::wait_type type);
  void run_elsewhere(const SessionPtr& session);
  void close(const SessionPtr& session);

  void start_tick();
  void tick();
  void check_certificate(ListenerState& listener);
  void begin_drain(milliseconds grace, milliseconds hard);
  void continue_drain(SteadyTime now);

  obs::MetricsRegistry& metrics;
  asio::io_context io{1};
  BufferPool buffers;
  Timer timer{io.get_executor()};
  std::vector<std::unique_ptr<ListenerState>> listeners;
  OwnedFd spare = open_spare();
  SteadyTime next_tls_check = steady_clock::now() + kTlsCheck;
  std::optional<SteadyTime> close_idle_at;  // set while draining
  SteadyTime cut_at = SteadyTime::max();
  bool listening = true;
  std::thread thread;
  // Last: their threads end before what they refer to.
  ThreadPool bind_pool;
  ThreadPool api_pool;
};

Result<std::unique_ptr<ListenerState>> Server::Impl::open(const Listener& listener) {
  SLACKLINE_TRY(check_exposure(listener));
  std::optional<TlsContext> tls;
  std::string tls_files;
  if (listener.tls) {
    tls_files = TlsContext::fingerprint(*listener.tls);  // first: a change in between is seen later
    auto loaded = TlsContext::load(*listener.tls);
    if (!loaded) return fail(loaded.error().with_context(listener.name + " listener"));
    tls = std::move(*loaded);
  }
  SLACKLINE_ASSIGN(OwnedFd socket, open_listener(listener));
  auto state = std::make_unique<ListenerState>(io.get_executor(), metrics, listener, buffers,
                                               std::move(socket));
  if (tls) state->env.certificate_expiry.set(tls->expires_s());
  state->tls = std::move(tls);
  state->tls_files = std::move(tls_files);
  return state;
}

// --- accepting ---

void Server::Impl::wait_for_clients(ListenerState& listener) {
  listener.descriptor.async_wait(Descriptor::wait_read, [this, &listener](error_code error) {
    if (error || !listener.descriptor.is_open()) return;
    accept_clients(listener);
    wait_for_clients(listener);
  });
}

void Server::Impl::accept_clients(ListenerState& listener) {
  for (std::size_t i = 0; i < kMaxAcceptsPerTurn; ++i) {
    Accepted accepted = accept_one(listener.descriptor.native_handle());
    if (accepted.error == EMFILE || accepted.error == ENFILE)
      return shed_for_lack_of_files(listener);
    if (accepted.error == ECONNABORTED || accepted.error == EINTR) continue;
    if (accepted.error != 0) return;
    welcome(listener, std::move(accepted));
  }
}

// Without a free descriptor the client would stay in the queue and wake us for ever: give up the
// spare one to accept and close it.
void Server::Impl::shed_for_lack_of_files(ListenerState& listener) {
  listener.env.count_refusal("file_descriptors");
  spare = OwnedFd();
  accept_one(listener.descriptor.native_handle());
  spare = open_spare();
}

void Server::Impl::welcome(ListenerState& listener, Accepted accepted) {
  const std::size_t cap = listener.env.listener.limits.max_connections;
  const bool room = listener.sessions.size() < cap || make_room(listener, accepted.peer);
  if (!room && (listener.tls || listener.sessions.size() >= cap + kMaxRefusing)) {
    listener.env.count_refusal("connection_cap");
    return;
  }
  const int fd = accepted.socket.get();
  auto transport =
      listener.tls ? make_tls_transport(fd, listener.tls->get()) : make_plain_transport(fd);
  const auto session = std::make_shared<Session>(listener, listener.env, io.get_executor(), fd,
                                                 std::move(transport), std::move(accepted.peer));
  error_code error;
  session->descriptor.assign(fd, error);
  if (error) return;
  accepted.socket.release();
  session->position = listener.sessions.insert(listener.sessions.end(), session);
  if (room)
    proceed(session, session->connection.advance());
  else
    proceed(session, session->connection.refuse(503, "connection_cap", "too many connections"));
}

// The listener is full: whom to close for the newcomer? Never simply the longest idle one, which is
// kube-scheduler between two pods. First who never completed a request, then an idle one of a peer
// that holds more than the newcomer's; else nobody.
bool Server::Impl::make_room(ListenerState& listener, const std::string& newcomer) {
  SessionPtr victim;
  std::map<std::string, std::size_t> held;
  for (const SessionPtr& session : listener.sessions) {
    ++held[session->connection.peer()];
    if (!victim && session->connection.answered() == 0 && session->connection.is_idle())
      victim = session;
  }
  if (!victim) {
    const auto greediest = std::max_element(
        held.begin(), held.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (greediest == held.end() || greediest->second <= held[newcomer] + 1) return false;
    for (const SessionPtr& session : listener.sessions)
      if (session->connection.peer() == greediest->first && session->connection.is_idle() &&
          (!victim || session->connection.since() < victim->connection.since()))
        victim = session;
  }
  if (!victim) return false;
  listener.env.count_refusal("evicted");
  close(victim);
  return true;
}

// --- connections ---

void Server::Impl::proceed(const SessionPtr& session, Want want) {
  switch (want) {
    case Want::kRead:
      return wait_for(session, Descriptor::wait_read);
    case Want::kWrite:
      return wait_for(session, Descriptor::wait_write);
    case Want::kHandler:
      return run_elsewhere(session);
    case Want::kClose:
      return close(session);
    case Want::kAgain:
      asio::post(io, [this, session] { proceed(session, session->connection.advance()); });
      return;
  }
}

void Server::Impl::wait_for(const SessionPtr& session, Descriptor::wait_type type) {
  const std::uint64_t wait = ++session->wait;
  session->descriptor.async_wait(type, [this, session, wait](error_code) {
    if (wait != session->wait || !session->descriptor.is_open()) return;
    proceed(session, session->connection.advance());
  });
}

void Server::Impl::run_elsewhere(const SessionPtr& session) {
  ThreadPool& pool = session->connection.pool() == Pool::kBind ? bind_pool : api_pool;
  const bool accepted = pool.submit([this, session = session]() mutable {
    Response response = session->connection.run_handler();
    // The session moves along: it must end on the io thread.
    asio::post(io, [this, session = std::move(session), response = std::move(response)]() mutable {
      proceed(session, session->connection.finish(std::move(response)));
    });
  });
  if (!accepted) proceed(session, session->connection.finish_overloaded());
}

void Server::Impl::close(const SessionPtr& session) {
  if (!session->descriptor.is_open()) return;
  // `session` may be the list's own, which erase() ends.
  const SessionPtr keep = session;  // NOLINT(performance-unnecessary-copy-initialization)
  ++keep->wait;
  keep->connection.close();
  error_code ignored;
  keep->descriptor.close(ignored);
  keep->listener.sessions.erase(keep->position);
}

// --- time ---

void Server::Impl::start_tick() {
  timer.expires_after(kTick);
  timer.async_wait([this](error_code error) {
    if (!error) tick();
  });
}

void Server::Impl::tick() {
  const SteadyTime now = steady_clock::now();
  for (const auto& listener : listeners) {
    std::vector<SessionPtr> late;
    for (const SessionPtr& session : listener->sessions)
      if (session->connection.deadline() <= now) late.push_back(session);
    for (const SessionPtr& session : late) {
      ++session->wait;
      error_code ignored;
      session->descriptor.cancel(ignored);
      proceed(session, session->connection.expire());
    }
  }
  if (now >= next_tls_check) {
    next_tls_check = now + kTlsCheck;
    for (const auto& listener : listeners)
      check_certificate(*listener);
  }
  if (close_idle_at) continue_drain(now);
  const bool drained =
      !listening && std::all_of(listeners.begin(), listeners.end(),
                                [](const auto& listener) { return listener->sessions.empty(); });
  if (!drained) start_tick();
}

void Server::Impl::check_certificate(ListenerState& listener) {
  if (!listener.tls) return;
  const TlsOptions& options = *listener.env.listener.tls;
  std::string files = TlsContext::fingerprint(options);
  if (files == listener.tls_files) return;
  listener.tls_files = std::move(files);
  auto loaded = TlsContext::load(options);
  if (!loaded) {
    listener.env.tls_reload_failures.add();
    obs::log_error("tls_reload_failed", {{"listener", listener.env.listener.name},
                                         {"error", loaded.error().message},
                                         {"remedy", "the old certificate stays; mend the files"}});
    return;
  }
  listener.tls = std::move(*loaded);
  listener.env.certificate_expiry.set(listener.tls->expires_s());
  obs::log_info("tls_reloaded", {{"listener", listener.env.listener.name}});
}

// --- the end ---

void Server::Impl::begin_drain(milliseconds grace, milliseconds hard) {
  const SteadyTime now = steady_clock::now();
  close_idle_at = std::min(close_idle_at.value_or(SteadyTime::max()), now + grace);
  cut_at = std::min(cut_at, now + grace + hard);
  for (const auto& listener : listeners)
    listener->env.draining = true;
  continue_drain(now);
}

void Server::Impl::continue_drain(SteadyTime now) {
  if (now < *close_idle_at) return;
  if (listening) {
    listening = false;
    for (const auto& listener : listeners) {
      accept_clients(*listener);  // who already waits is still served
      error_code ignored;
      listener->descriptor.close(ignored);
    }
  }
  for (const auto& listener : listeners) {
    std::vector<SessionPtr> done;
    for (const SessionPtr& session : listener->sessions)
      if (now >= cut_at || session->connection.is_idle()) done.push_back(session);
    for (const SessionPtr& session : done)
      close(session);
  }
}

// --- the public face ---

Server::Server(obs::MetricsRegistry& metrics, ServerOptions options)
    : impl_(std::make_unique<Impl>(metrics, options)) {}

Server::~Server() {
  stop(milliseconds{0}, milliseconds{0});
  join();
}

Status Server::start(const std::vector<Listener>& listeners) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  for (const Listener& listener : listeners) {
    auto state = impl_->open(listener);
    if (!state) {
      impl_->listeners.clear();
      return fail(state.error());
    }
    impl_->listeners.push_back(std::move(*state));
  }
  for (const auto& listener : impl_->listeners)
    impl_->wait_for_clients(*listener);
  impl_->start_tick();
  impl_->thread = std::thread([this] { impl_->io.run(); });
  return {};
}

std::uint16_t Server::port(std::string_view name) const {
  for (const auto& listener : impl_->listeners)
    if (listener->env.listener.name == name) return listener->port;
  return 0;
}

void Server::stop(milliseconds grace, milliseconds hard) {
  asio::post(impl_->io, [this, grace, hard] { impl_->begin_drain(grace, hard); });
}

void Server::join() {
  if (impl_->thread.joinable()) impl_->thread.join();
  impl_->bind_pool.stop();
  impl_->api_pool.stop();
}

}  // namespace slackline::http
