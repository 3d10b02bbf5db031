// RealRuns: what really happens to the Jobs that queue as one task (core/shadow/stock_queue.h),
// derived from the changes between snapshots.
//
//   arrived --> started --> ended
//      |           |
//      +-----------+------> gone    (deleted before it ended)
//
// A Job has started when as many of its pods as it wants have a start time: at that of the last. It
// has ended where its conditions say so. A Job that begins and ends between two snapshots is seen
// without a start. Events have the time of the snapshot; runs have the API server's times.
//
// Pure: no clock. One entry for every Job that is there; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "slackline/core/shadow/stock_queue.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

struct RealRun {
  struct Member {
    Uid pod;
    NodeName node;
    GpuType gpu_type;
    std::int64_t gpus = 0;
    double started_s = 0;
  };

  JobPtr job;                   // as it was last seen
  bool began_unseen = false;    // some of its pods were on nodes before the first snapshot
  std::vector<Member> members;  // that have started, at most as many as it wants: the last ones
  std::optional<double> started_s;
  std::optional<double> ended_s;
  bool succeeded = false;
  // When as many pods as it wants had started for the first time: what failed and was tried again
  // since then took its time too.
  std::optional<double> first_started_s{};

  // From its first start to the end; nullopt: it has not succeeded, or its start was not seen.
  std::optional<double> length_s() const {
    if (!ended_s || !succeeded || !first_started_s || began_unseen) return std::nullopt;
    return std::max(0.0, *ended_s - *first_started_s);
  }
};

enum class RealChange { kArrived, kStarted, kEnded, kGone };

struct RealEvent {
  RealChange change = RealChange::kArrived;
  Uid job;
};

class RealRuns {
 public:
  explicit RealRuns(StockScope scope = StockScope::kManaged) : scope_(scope) {}

  // In the order of the diagram; of one kind in the order of the snapshot. Jobs that had ended
  // before they were first seen are not reported.
  std::vector<RealEvent> observe(const ClusterSnapshot& snapshot, double now_s);

  // nullptr: no such Job, or it is gone; a Job of a kGone event can be found until the next
  // snapshot.
  const RealRun* find(const Uid& job) const;

 private:
  void observe_jobs(const ClusterSnapshot& snapshot, std::vector<RealEvent>& events);
  void observe_pods(const ClusterSnapshot& snapshot);

  struct Entry {
    RealRun run;
    std::uint64_t look = 0;  // when it was last there
    bool reported = false;   // false: it was over when it was first seen
  };
  StockScope scope_;
  std::unordered_map<Uid, Entry> runs_;
  std::uint64_t look_ = 0;
};

}  // namespace slackline::core
