// GangRuns: follows the runs of gangs whose pods no Job makes, from their first pod to their end,
// for the history. Jobs are those of Runs, also the Jobs of a JobSet: one by one.
//
// A gang is the pods of one label `gang`, or that a controller makes as a gang (docs/GANGS.md).
// Nothing says that it is over: the object of its controller is not read. It is, once all of its
// pods that were seen have ended, the cluster has no other one, and kGangOver_s have passed:
// meanwhile a controller makes again what failed. Pods of it that run later are another run.
//
//   failed     a pod failed, and none was started after it: also one without GPUs, a launcher
//   succeeded  a pod succeeded, and the others were deleted within kCleanUp_s, as controllers do
//   deleted    else
//
// What has ended while nobody looked is told as far as its pods are still there. A run is known by
// the uid of its first pod, and by its time where that pod is no longer listed.
//
// Memory: at most kMaxRuns gangs; then the one seen first is forgotten.
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
#include <tuple>
#include <unordered_set>
#include <vector>

#include "cluster/watch/source.h"
#include "control/learn/runs.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"

namespace slackline::control {

inline constexpr double kGangOver_s = 10;
inline constexpr double kCleanUp_s = 60;

// The run of a gang that is over.
struct GangRun {
  std::string kind;  // of its controller; "Gang": of a label's
  ObjectKey key;
  std::shared_ptr<const Pod> first;  // of its pods with GPUs
  RunSeen seen;                      // these pods
  double created_s = 0;              // the first of them; epoch seconds, as all of these
  double finished_s = 0;
  bool succeeded = false;
  bool deleted = false;
  std::string id{};  // which gang of this kind and name: the controller's uid, and its part
};

class GangRuns final : public cluster::ClusterObserver {
 public:
  // Must not wait. False: it cannot be taken now, and is told again.
  using Tell = std::function<bool(const GangRun&)>;

  // `catalog` and `clock` outlive it.
  GangRuns(const GpuCatalog& catalog, Tell tell, const Clock& clock = system_clock())
      : catalog_(catalog), tell_(std::move(tell)), clock_(clock) {}
  // Before the source starts; it outlives this.
  void follow(const cluster::ClusterSource& source) { source_ = &source; }

  void on_pod_bound(const Pod& /*pod*/, double /*seen_s*/) override {}
  void on_pod_running(const Pod& pod) override { see(pod, false); }
  void on_pod_ended(const Pod& pod) override { see(pod, true); }

  // Tells of the gangs that are over by now; pods of gangs that come and go do it, too.
  void settle();

 private:
  // Kind, namespace, name, the controller's uid, part.
  using Name = std::tuple<std::string, std::string, std::string, Uid, std::string>;
  enum class End : std::uint8_t { kNone, kSucceeded, kFailed, kDeleted };
  struct Member {
    double started_s = 0;
    double ended_s = 0;
    End end = End::kNone;
  };
  struct Gang {
    GangRun run;
    std::map<Uid, Member> members;  // those without GPUs, too
    double last_end_s = 0;          // steady
    std::uint64_t order = 0;        // grows from gang to gang
  };

  static std::optional<Name> name_of(const Pod& pod, const Job* job);
  static Name name_of(const std::string& ns, const OwnerGang& gang);
  static bool runs(const Gang& gang);
  static GangRun concluded(Gang gang);
  void see(const Pod& pod, bool ended);
  Gang& gang_of(const Name& name) SLACKLINE_REQUIRES(mutex_);
  void note(Gang& gang, const Pod& pod, bool ended) const;
  std::map<Name, Gang> take_over(const ClusterSnapshot& snapshot) SLACKLINE_REQUIRES(mutex_);

  const GpuCatalog& catalog_;
  const Tell tell_;
  const Clock& clock_;
  const cluster::ClusterSource* source_ = nullptr;

  Mutex mutex_;
  std::map<Name, Gang> gangs_ SLACKLINE_GUARDED_BY(mutex_);
  std::uint64_t next_order_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  double next_look_s_ SLACKLINE_GUARDED_BY(mutex_) = 0;        // steady
  std::unordered_set<Uid> told_ SLACKLINE_GUARDED_BY(mutex_);  // pods, which every list repeats
};

}  // namespace slackline::control
