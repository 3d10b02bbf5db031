// FakeApiServer: a small API server over plain HTTP that can be made to misbehave.
//
// Left alone it behaves: paged lists, streaming lists, watches from a resourceVersion, 410 for
// versions it has forgotten, chunked frames. next() replaces the answer to one coming request,
// always() to all; such an answer may do anything to the connection, or call serve() after
// preparing it (cut it, split it).
//
// Requests are named by what they do and the resource's path: "list", "watch", "initial" (a
// streaming list), else the method in capitals: "watch /api/v1/pods", "POST
// /api/v1/namespaces/ml/pods/a/binding".
//
// Thread-safety: all methods. One thread per connection; the destructor ends them all.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "slackline/base/mutex.h"

namespace slackline::test {

inline const std::string kNodesPath = "/api/v1/nodes";
inline const std::string kPodsPath = "/api/v1/pods";
inline const std::string kJobsPath = "/apis/batch/v1/jobs";
inline const std::string kBudgetsPath = "/apis/policy/v1/poddisruptionbudgets";

struct FakeRequest {
  std::string method;
  std::string path;
  std::map<std::string, std::string> query;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::string name;  // see above
};

// The server's side of one connection.
class FakeConnection {
 public:
  explicit FakeConnection(int socket) : socket_(socket) {}

  void reply(int status, std::string_view body, std::string_view headers = "");
  void reply_status(int status, std::string_view reason, std::string_view message,
                    std::string_view headers = "");
  void begin_stream();
  void frame(std::string_view json);  // a line, as a chunk of its own
  void end_stream();
  void send(std::string_view bytes);
  void close();
  // Says nothing more and does not close, until the peer does or the server stops.
  void hang();

  // From now on every byte goes out by itself.
  void split_every_byte() { piece_ = 1; }
  // Closes the connection once this many bytes have been sent.
  void cut_after(std::size_t bytes) { left_ = bytes; }
  bool open() const { return !closed_; }

 private:
  friend class FakeApiServer;
  bool read_request(FakeRequest& request);
  bool peer_is_gone() const;

  const int socket_;
  std::string buffer_;
  std::size_t piece_ = std::string::npos;
  std::size_t left_ = std::string::npos;
  std::atomic<bool> closed_ = false;
};

class FakeApiServer {
 public:
  using Answer = std::function<void(const FakeRequest&, FakeConnection&)>;

  // port 0: any free one.
  explicit FakeApiServer(std::uint16_t port = 0);
  ~FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;

  // Ends all connections and threads; the destructor does it too.
  void stop();

  std::string url() const;
  std::uint16_t port() const { return port_; }
  // A kubeconfig (JSON) with this server and the token file; written into `folder`, its path.
  std::string write_kubeconfig(const std::string& folder, const std::string& token_file = "") const;

  // The truth. `object` holds "@RV@" where its resourceVersion goes.
  void put(const std::string& path, const std::string& key, std::string object);
  void remove(const std::string& path, const std::string& key);
  void bookmark(const std::string& path);
  // Forgets the history: watches from older versions, and continue tokens, get 410.
  void compact();
  // As after a restore from a backup: versions start over below the old ones; all connections
  // break.
  void restore_older();
  // Takes an object away without any event, as no server should.
  void lose_silently(const std::string& path, const std::string& key);
  // Closes all connections.
  void break_connections();

  void offer_streaming_lists(bool offered) { streaming_lists_ = offered; }
  void next(const std::string& name, Answer answer);
  void next(const std::string& name, int status, const std::string& body);
  void always(const std::string& name, Answer answer);
  // The well-behaved answer.
  void serve(const FakeRequest& request, FakeConnection& connection);

  std::size_t count(const std::string& name) const;
  std::vector<FakeRequest> seen() const;
  std::vector<FakeRequest> requests(const std::string& name) const;

 private:
  struct Event {
    std::uint64_t serial = 0;  // of all events, bookmarks included
    std::int64_t version = 0;
    std::string type;
    std::string object;
  };
  struct Resource {
    std::map<std::string, std::string> objects;
    std::deque<Event> events;
  };
  struct Peer {
    std::unique_ptr<FakeConnection> connection;
    std::thread thread;
    std::atomic<bool> done = false;
  };

  void accept_loop();
  void talk(Peer& peer);
  Answer answer_to(const FakeRequest& request);
  void serve_list(const FakeRequest& request, FakeConnection& connection);
  void serve_watch(const FakeRequest& request, FakeConnection& connection, bool initial);
  void log(const std::string& path, const std::string& type, std::string object)
      SLACKLINE_REQUIRES(mutex_);
  std::int64_t record(const std::string& path, const std::string& type, std::string object)
      SLACKLINE_REQUIRES(mutex_);

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> streaming_lists_ = true;
  mutable Mutex mutex_;
  CondVar happened_;
  std::int64_t version_ SLACKLINE_GUARDED_BY(mutex_) = 1000;
  std::uint64_t serial_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  std::int64_t oldest_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Resource> resources_ SLACKLINE_GUARDED_BY(mutex_);
  std::map<std::string, std::deque<Answer>> next_ SLACKLINE_GUARDED_BY(mutex_);
  std::map<std::string, Answer> always_ SLACKLINE_GUARDED_BY(mutex_);
  std::vector<FakeRequest> seen_ SLACKLINE_GUARDED_BY(mutex_);
  std::list<Peer> peers_ SLACKLINE_GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace slackline::test
