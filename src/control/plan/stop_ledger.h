// StopLedger: the stops of the last day for which somebody pays, kept in a ConfigMap. A stop is
// booked before it is written; whoever leads next reads the book before it plans. So a charge is
// not lost with the Job that was stopped, nor with this process, and a stop that is tried again is
// charged once (core/cluster/stop_book.h).
//
// It also watches the tasks for which others were stopped: where one makes no use of its room, the
// stops count twice, and its account is barred for a while.
//
// Memory: at most kMostBooked stops; beyond, those that lost least are forgotten first.
//
// Thread-safe. book() and load() wait for the API server.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cluster/api/stop_store.h"
#include "cluster/watch/source.h"
#include "obs/metrics.h"
#include "obs/said_once.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/result.h"
#include "slackline/core/cluster/stop_book.h"

namespace slackline::control {

class StopLedger final : public cluster::ClusterObserver {
 public:
  static constexpr std::size_t kMostBooked = 4000;

  // All outlive it.
  StopLedger(cluster::StopStore& store, obs::MetricsRegistry& metrics, const Clock& clock);

  // Another term: what others have booked meanwhile is not known.
  void forget();
  // Reads it, once a term. False: not now, which is logged; nothing should be planned. Where the
  // right to read it is missing, the memory of this process must do.
  bool load();
  // To be called before the write is sent. An error: it must not be sent.
  Status book(const OwnWrite& write);
  // It was not made, for certain.
  void take_back(const OwnWrite& write);

  // What counts now by `planned`, which has own writes laid over it, after a look at the tasks that
  // others were stopped for: as the watch has `shown` them, because a release may still fail.
  // `protect_s`: what they are expected to run at least.
  core::StopBook read(const ClusterSnapshot& shown, const ClusterSnapshot& planned,
                      std::unordered_set<Uid> refused, double protect_s);

  void on_pod_bound(const Pod& /*pod*/, double /*seen_s*/) override {}
  void on_job(const Job& job) override;

 private:
  using Occasion = std::pair<ObjectKey, double>;  // an asker, and when it asked

  void put(const BookedStop& stop) SLACKLINE_REQUIRES(mutex_);
  void watch(BookedStop& stop) SLACKLINE_REQUIRES(mutex_);
  void drop(const BookedStop& stop) SLACKLINE_REQUIRES(mutex_);
  void judge(const ClusterSnapshot& snapshot, double protect_s) SLACKLINE_REQUIRES(mutex_);
  Status keep() SLACKLINE_REQUIRES(writing_);
  Status merge() SLACKLINE_REQUIRES(writing_);

  cluster::StopStore& store_;
  obs::MetricsRegistry& metrics_;
  const Clock& clock_;

  Mutex writing_;  // taken first; held over calls to the API server
  std::string resource_version_ SLACKLINE_GUARDED_BY(writing_);
  obs::SaidOnce failures_ SLACKLINE_GUARDED_BY(writing_);
  bool loaded_ SLACKLINE_GUARDED_BY(writing_) = false;

  Mutex mutex_;
  std::vector<BookedStop> stops_ SLACKLINE_GUARDED_BY(mutex_);
  std::uint64_t changes_ SLACKLINE_GUARDED_BY(mutex_) = 0;  // bookings
  std::uint64_t kept_ SLACKLINE_GUARDED_BY(mutex_) = 0;     // of these the API server has
  std::map<Occasion, core::Asker> askers_ SLACKLINE_GUARDED_BY(mutex_);  // not yet judged
};

}  // namespace slackline::control
