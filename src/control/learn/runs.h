// Runs: finished training Jobs become throughput samples (design: "Run time").
//
// Learnt from is a Job that names model, batch-size and iterations, is a gang or a single pod, and
// succeeded; whose pods were all seen running, on nodes of one GPU type, as many as it wanted; and
// whose time was training time: nothing failed, was restarted, resized, or suspended after it had
// begun. Its time counts from the start of its last pod to its completion, less startup_s of the
// profile; at least 20 s, because the API server rounds both to seconds.
//
// A Job that was resumed before we first saw it is not learnt from: how much it had done is not
// known. Memory: at most kMaxRuns Jobs; then the one seen first is forgotten.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "cluster/source.h"
#include "control/learn/known.h"
#include "slackline/base/mutex.h"
#include "slackline/base/result.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::control {

inline constexpr double kLeastTraining_s = 20;
inline constexpr std::size_t kMaxRuns = 20000;

// What was seen of a Job while it ran.
struct RunSeen {
  struct Member {
    NodeName node;
    int gpus = 0;
    double started_s = 0;
  };
  std::map<Uid, Member> pods;
  std::optional<bool> seen_before_start;    // nothing was seen of the Job itself yet
  std::optional<std::int64_t> parallelism;  // since it started
  std::string spoilt;                       // why its time is not training time; empty = it is
  std::uint64_t order = 0;                  // grows from Job to Job
};

// The sample of a finished Job, or why there is none. Pure.
Result<ThroughputSample> sample_of(const Job& job, const RunSeen& seen,
                                   const ClusterSnapshot& snapshot,
                                   const WorkloadProfiles& profiles);

class Runs final : public cluster::ClusterObserver {
 public:
  using Record = std::function<void(FinishedRun)>;

  // `catalog` and `board` outlive it; `record` must not wait.
  Runs(const GpuCatalog& catalog, const KnownBoard& board, Record record);
  // Where node types are looked up. Before the source starts.
  void follow(const cluster::ClusterSource& source) { source_ = &source; }

  void on_pod_bound(const Pod& /*pod*/, double /*seen_s*/) override {}
  void on_pod_running(const Pod& pod) override;
  void on_job(const Job& job) override;
  void on_job_gone(const Uid& job) override;

 private:
  RunSeen& run_of(const Uid& job) SLACKLINE_REQUIRES(mutex_);
  void conclude(const Job& job, const RunSeen& seen) const;

  const GpuCatalog& catalog_;
  const KnownBoard& board_;
  const Record record_;
  const cluster::ClusterSource* source_ = nullptr;

  Mutex mutex_;
  std::unordered_map<Uid, RunSeen> runs_ SLACKLINE_GUARDED_BY(mutex_);
  std::uint64_t next_order_ SLACKLINE_GUARDED_BY(mutex_) = 0;
};

}  // namespace slackline::control
