// Reflector: keeps one resource of the cache equal to the API server's, as client-go's reflector
// does.
//
//   list (streaming where offered, else pages) -> watch from its resourceVersion -> watch again ...
//   410 or a version from the future -> list again, the first time at once
//   anything else that ends a watch early -> the same watch again, after a backoff
//
// A list replaces: what it does not name is forgotten. A 403 names verb and resource and is tried
// again with the backoff; the other resources go on.
//
// Thread-safety: start() once, then stop() and join(); relist() from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "cluster/api/api_client.h"
#include "cluster/watch/backoff.h"
#include "cluster/watch/cache.h"
#include "cluster/watch/kube_source.h"
#include "cluster/watch/resource.h"
#include "cluster/watch/stream_board.h"
#include "cluster/watch/watch_session.h"
#include "net/interrupt.h"
#include "net/stream.h"
#include "obs/metrics.h"
#include "slackline/base/worker.h"
#include "wire/kube/kube_decode.h"

namespace slackline::cluster {

class Reflector {
 public:
  struct Parts {
    ApiClient& client;
    Cache& cache;
    StreamBoard& board;
    obs::MetricsRegistry& metrics;
    const Clock& clock;
  };

  Reflector(const ResourceSpec& resource, Parts parts, const KubeOptions& options,
            const GpuCatalog& catalog, std::uint64_t seed);
  ~Reflector();  // stop() and join()
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void start() {
    worker_.start([this] { run(); });
  }
  void stop();
  void join() { worker_.join(); }

  // Ends the watch and lists again: the cache was found to differ from the server.
  void relist();

  // The times of the last complete list; nullopt: there was none yet. From any thread.
  std::optional<ClusterSource::ListTimes> listed() const;

 private:
  // How a list or a watch ended. An empty reason: without an error, go on at once.
  struct Outcome {
    std::string_view reason;  // the label of slackline_watch_restarts_total
    bool list_anew = false;
    bool urgent = false;  // the first one in a row without a wait
    double retry_after_s = 0;
    std::string detail;
  };

  void run();
  Outcome list_pages();
  Outcome watch(WatchSession::Mode mode);
  std::string watch_path(WatchSession::Mode mode);
  Outcome judge(const WatchSession& session, bool frame_repeats) const;
  Outcome judge(const ApiFailure& failure, bool opened) const;
  bool streaming_list_failed(const WatchSession& session, bool opened, int status) const;
  void report(const Outcome& outcome);
  void note_listed();

  const ResourceSpec& resource_;
  Parts parts_;
  const KubeOptions options_;
  wire::KubeDecoder decoder_;
  Backoff backoff_;
  std::unique_ptr<net::HttpStream> stream_;

  // Used by the thread only:
  std::string resource_version_;
  std::string bad_version_ = "-";  // the version at which a frame could not be read; "-" = none
  bool listed_ = false;
  double list_began_s_ = 0;
  bool streaming_ = true;  // how the next list is asked for; false: in pages

  mutable Mutex mutex_;
  std::optional<ClusterSource::ListTimes> last_list_ SLACKLINE_GUARDED_BY(mutex_);

  net::Interrupt interrupt_;
  std::atomic<bool> relist_wanted_ = false;
  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::cluster
