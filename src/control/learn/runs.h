// Runs: follows the runs of GPU Jobs from their first pod to their end. It reports once
// how long a Job waited and once that it is over, and makes throughput samples of finished training
// Jobs.
//
// A Job is learnt from if it names model, batch-size and iterations, is a gang or a single pod, and
// succeeded; if all the pods that it wanted were seen running, on nodes of one GPU type; and if its
// time was training time: nothing failed, was restarted, resized, or suspended after it had begun.
// Its time counts from the start of its last pod to its completion, less startup_s of the profile;
// at least 20 s, because the API server rounds both to seconds. A pod starts with its container
// that has the GPUs: before that its image was pulled, and its init containers ran.
//
// A Job that was resumed before it was first seen is not learnt from, because how much it had done
// is not known. Nor is one that had ended by then.
//
// How long a Job waited is told of those that were seen before they began, when the last of their
// pods has started. Jobs that are listed as finished before all pods are listed are concluded by
// settle(), which every later event calls too.
//
// A Job that is deleted after a pod of it has run is over then, as it was seen last.
//
// Memory: at most kMaxRuns Jobs; then the one seen first is forgotten.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cluster/watch/source.h"
#include "control/learn/known.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::control {

struct Settings;

inline constexpr double kLeastTraining_s = 20;
inline constexpr std::size_t kMaxRuns = 50000;

// What was seen of a Job while it ran.
struct RunSeen {
  struct Member {
    NodeName node;
    std::int64_t gpus = 0;  // of the resource that counts for shapes
    bool whole = false;     // they are whole ones
    bool shared = false;    // they are those of other pods, too
    double started_s = 0;
    std::optional<double> ended_s;  // nullopt: it runs
    std::string name{};
    bool out_of_memory = false;  // ever
    bool gpu_out_of_memory = false;
    std::string image_digest{};  // empty = not known
    std::optional<ContainerAmounts> amounts{};
    double began_s = 0;  // when its container with GPUs started, if that was seen
  };
  // While it waits for its first start.
  struct Waiting {
    double since_s = 0;
    std::string queue;
    std::string qos_class;
    std::size_t pods = 0;
  };
  std::map<Uid, Member> pods;
  std::optional<bool> seen_before_start;    // nothing was seen of the Job itself yet
  std::optional<std::int64_t> parallelism;  // since it started
  std::optional<Waiting> waiting;
  std::shared_ptr<const Job> job{};  // as it was seen last since it began; null: it has not
  std::string spoilt;                // why its time is not training time; empty = it is
  bool retried = false;              // stopped while it ran, or a container of it was restarted
  std::uint64_t order = 0;           // grows from Job to Job
  bool learnt = false;               // its end was told, and is told again
};

// As history and metrics name it: "prior"; "calibration" of a calibration run.
std::string_view class_name_of(const Job& job);

// The sample of a finished Job, or why there is none. Pure.
Result<ThroughputSample> sample_of(const Job& job, const RunSeen& seen,
                                   const ClusterSnapshot& snapshot,
                                   const WorkloadProfiles& profiles);

class Runs final : public cluster::ClusterObserver {
 public:
  using Record = std::function<void(ThroughputSample)>;
  // Who else is told; must not wait.
  class Listener {
   public:
    virtual ~Listener() = default;
    // A Job began `waited_s` after its creation.
    virtual void on_began(const std::string& queue, const std::string& qos_class,
                          double waited_s) = 0;
    // A Job is over, or, where it is not finished, was deleted. False: it cannot be taken now, and
    // is told again with the next list.
    virtual bool on_ended(const Job& job, const RunSeen& seen) = 0;
    // Right-sizing has taken back what it gave this Job; told more than once.
    virtual void on_rolled_back(const Job& /*job*/) {}
  };

  // `catalog`, `known` and `clock` outlive it; `record` must not wait.
  Runs(const GpuCatalog& catalog, const Published<Known>& known, Record record,
       const Clock& clock = system_clock());
  // Before the source starts; it outlives this. All are told, in their order.
  void add_listener(Listener& listener) { listeners_.push_back(&listener); }
  // Where node types are looked up. Before the source starts.
  void follow(const cluster::ClusterSource& source) { source_ = &source; }
  // Says whether runs are learnt from; without it they are. Before the source starts; it outlives
  // this. Calibration runs, which were made for it, always are.
  void obey(const Published<Settings>& settings) { settings_ = &settings; }

  void on_pod_bound(const Pod& /*pod*/, double /*seen_s*/) override {}
  void on_pod_running(const Pod& pod) override;
  void on_pod_ended(const Pod& pod) override;
  void on_job(const Job& job) override;
  void on_job_gone(const Uid& job) override;

  // Concludes Jobs that were listed as finished before the cluster was known as a whole.
  void settle();
  // Jobs of which something was seen, and that are not over.
  std::size_t followed();

 private:
  RunSeen& run_of(const Uid& job) SLACKLINE_REQUIRES(mutex_);
  // Null where the pod is none of a Job's, or asks for no GPU.
  RunSeen* note_pod(const Pod& pod) SLACKLINE_REQUIRES(mutex_);
  // Its Job is gone, and was told of.
  bool is_left_over(const Pod& pod, const ClusterSnapshot& snapshot) const
      SLACKLINE_REQUIRES(mutex_);
  void tell_began(const RunSeen::Waiting& waited, double began_s) const;
  void see_pod(const Pod& pod, bool ended);
  void follow_job(const Job& job) SLACKLINE_REQUIRES(mutex_);
  void end(const Job& job);
  // False: a listener could not take it.
  bool conclude(const Job& job, const RunSeen& seen);
  void learn(const Job& job, const RunSeen& seen) const;

  const GpuCatalog& catalog_;
  const Published<Known>& known_;
  const Record record_;
  const Clock& clock_;
  const cluster::ClusterSource* source_ = nullptr;
  const Published<Settings>* settings_ = nullptr;
  std::vector<Listener*> listeners_;

  Mutex mutex_;
  std::unordered_map<Uid, RunSeen> runs_ SLACKLINE_GUARDED_BY(mutex_);
  std::uint64_t next_order_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  std::unordered_set<Uid> ended_ SLACKLINE_GUARDED_BY(mutex_);       // that are still listed
  std::unordered_map<Uid, Job> early_ SLACKLINE_GUARDED_BY(mutex_);  // to be concluded
};

}  // namespace slackline::control
