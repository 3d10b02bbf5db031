// One listener with all its connections, on a thread of its own.
//
// It accepts, waits, gives handlers to its threads, closes late connections, makes room when it is
// full, follows its certificate and drains. If there is no memory for a connection, that connection
// is closed. Everything runs on the io thread, except open(), start(), stop() and join().
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "http/server/connection.h"
#include "http/server/listen.h"
#include "http/server/thread_pool.h"
#include "http/server/tls.h"
#include "http/server/turnstile.h"

namespace slackline::http {

class ListenerLoop {
 public:
  // Binds; an address in use or an unreadable certificate is an error.
  static Result<std::unique_ptr<ListenerLoop>> open(const Listener& listener,
                                                    obs::MetricsRegistry& metrics);
  ~ListenerLoop();

  void start();
  // As Server::stop(); from any thread.
  void stop(milliseconds grace, milliseconds hard);
  void join();

  const std::string& name() const { return env_.listener.name; }
  std::uint16_t port() const { return port_; }

 private:
  using Executor = boost::asio::io_context::executor_type;
  using Descriptor = boost::asio::posix::basic_stream_descriptor<Executor>;
  using Timer = boost::asio::basic_waitable_timer<
      std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;
  using Want = Connection::Want;

  // A connection with its socket. It stays alive while a handler or a wait refers to it.
  struct Session {
    Session(ConnectionEnv& env, const Executor& executor, int socket,
            std::unique_ptr<Transport> transport, const std::string& address)
        : descriptor(executor), connection(env, socket, std::move(transport), address) {}

    Descriptor descriptor;
    Connection connection;
    std::list<std::shared_ptr<Session>>::iterator position;
    // While a thread of a pool has it: itself, because it must end on the io thread. Then its
    // result; nothing if memory ran out.
    std::shared_ptr<Session> elsewhere;
    std::optional<Connection::Ran> ran;
    std::uint64_t wait =
        0;  // waits that a deadline has overtaken are recognised by an older number
  };
  using SessionPtr = std::shared_ptr<Session>;

  // A client whose handshake waits for its turn.
  struct Waiting {
    std::weak_ptr<Session> session;
    std::string address;
  };

  ListenerLoop(const Listener& listener, obs::MetricsRegistry& metrics, OwnedFd socket,
               std::optional<LiveTls> tls);

  void run();
  void count_lack_of_memory(const std::string& peer);

  void wait_for_clients();
  void accept_clients();
  void accept_with_spare();
  void welcome(Accepted accepted);
  void admit_waiting(SteadyTime now);
  bool make_room_for(const std::string& address);
  bool free_bytes(const Peers::Seat& asking, std::size_t bytes);
  template <class Choose>
  bool evict(const Choose& choose);

  template <class Step>
  void go_on(const SessionPtr& session, const Step& step);
  void proceed(const SessionPtr& session, Want want);
  void wait_for(const SessionPtr& session, Descriptor::wait_type type);
  void run_elsewhere(const SessionPtr& session, ThreadPool& pool);
  void hand_back(Session* one);
  void close(const SessionPtr& session);

  void start_tick();
  void tick();
  void expire_late(SteadyTime now);
  void send_news();
  void look_at_certificate();
  void begin_drain(milliseconds grace, milliseconds hard);
  void continue_drain(SteadyTime now);

  ConnectionEnv env_;
  Turnstile turnstile_;
  boost::asio::io_context io_{1};
  Timer timer_{io_.get_executor()};
  Descriptor descriptor_;
  const std::uint16_t port_;
  std::optional<LiveTls> tls_;
  bool awaits_clients_ = false;
  bool ticks_ = false;
  bool short_of_files_ = false;  // until the next tick: not even the spare one was left
  std::list<SessionPtr> sessions_;
  std::deque<Waiting> waiting_;
  OwnedFd spare_;
  SteadyTime next_look_;
  std::optional<SteadyTime> close_idle_at_;  // set while draining
  std::optional<SteadyTime> listen_until_;   // no new clients
  SteadyTime cut_at_ = SteadyTime::max();
  std::thread thread_;
  // Last: their threads end before what they refer to.
  ThreadPool handlers_;
  ThreadPool guards_;
};

}  // namespace slackline::http
