// PreemptionMeters: how long it takes until the GPUs of a stopped Job are free, and until it runs
// again. Only stops for other tasks count, and only those that this leader has seen from their
// beginning: what a restart or another leader misses is not in the histograms.
//
// Not thread-safe, but for the scrape.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "obs/metrics.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/model/snapshot.h"

namespace slackline::control {

class PreemptionMeters {
 public:
  explicit PreemptionMeters(obs::MetricsRegistry& metrics) : metrics_(metrics) {}

  // Another term: the stops that the next snapshot shows are of an unknown age.
  void forget();
  // `snapshot` has own writes laid over it; those of `unanswered` Jobs may still fail. O(Jobs).
  void see(const ClusterSnapshot& snapshot, const core::Queue& queue,
           const std::unordered_set<Uid>& unanswered, double now_steady_s);

 private:
  struct Stop {
    std::int64_t count = 0;           // PreemptionNote::count: another one is another stop
    std::optional<double> since_s{};  // steady; unset: it is not measured (any more)
    bool freed = false;
  };

  void see(const Job& job, double now_s);
  void free_gpus(const ClusterSnapshot& snapshot, double now_s);
  void run_again(const core::Queue& queue, double now_s);

  obs::MetricsRegistry& metrics_;
  bool met_ = false;                     // a snapshot of this term
  std::unordered_map<Uid, Stop> stops_;  // by Job, of those that were ever stopped
};

}  // namespace slackline::control
