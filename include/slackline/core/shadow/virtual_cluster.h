// VirtualCluster: what would have happened if the planner had released the arriving Jobs. Shadow
// mode plays it next to the real cluster; nothing of it is ever written.
//
// It plays the Jobs that start as a whole (core/shadow/stock_queue.h) and of which no pod ran at
// the first snapshot. Their arrivals, deletions and lengths are real, as are all nodes and all
// other pods: these take their room first, and no played run is stopped for them. The planning
// functions are those of active mode, make_queue(), plan() and begin_starts(), on a snapshot in
// which played Jobs wait or run as those functions say.
//
//            look             plan               length over
//   (real) -------> waiting --------> running -----------------> over
//                      ^                 |
//                      +-- its node is --+     deleted in reality: over, from anywhere
//                          gone
//
// A run takes as long as its Job really ran, with what failed and was tried again, but for what a
// lost node took with it, times what the models say of the planned placement over the real one (1
// where they do not know both). So virtual time waits for reality: it never passes a moment that
// depends on a length that is not known yet.
//
//   time <= start of a run + (what its Job has really run so far) x ratio      while the Job runs
//
// Where it would be more than kMostLag_s behind, the runs that it waits for are taken to last as
// predicted. Their verdict is `censored`, as of Jobs that ran at the first look, fail, are deleted,
// or whose real start was not seen.
//
// Not played: ResourceQuotas, back-offs, an autoscaler, the seconds from a release to the start.
// Dependencies on Jobs that are not played are looked up as they are now.
//
// Pure: no clock, no randomness. Not thread-safe. At most kMostVirtualJobs Jobs and kMostSteps
// snapshots ahead of virtual time are kept; beyond that the owner starts again (is_full()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "slackline/base/duration.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/core/handover/begin_starts.h"
#include "slackline/core/planning/policy.h"
#include "slackline/core/shadow/real_runs.h"
#include "slackline/model/finished_task.h"

namespace slackline::core {

inline constexpr double kMostLag_s = 86400;
inline constexpr std::size_t kMostVirtualJobs = 20000;
inline constexpr std::size_t kMostSteps = 200000;  // changes of a node count too
inline constexpr int kStepsPerAdvance = 50;

enum class DeadlineVerdict : std::uint8_t { kMet, kMissed, kCensored };

// The outcome of a Job.
struct VirtualEnd {
  Uid job;
  std::string queue;
  bool had_deadline = true;
  DeadlineVerdict planned = DeadlineVerdict::kCensored;
  DeadlineVerdict real = DeadlineVerdict::kCensored;  // censored where `planned` is
  std::optional<ShadowRun> run{};                     // nullopt: censored
};

struct VirtualStart {
  double at_s = 0;  // virtual time, epoch
  OwnWrite write;   // what active mode would have written
};

struct VirtualNews {
  std::vector<VirtualStart> starts;
  std::vector<VirtualEnd> ends;
};

class VirtualCluster {
 public:
  explicit VirtualCluster(StockScope scope = StockScope::kManaged) : runs_(scope) {}

  // A snapshot of the real cluster, later than the last one.
  void look(const ClusterSnapshot& real, double now_s);
  // Plays on as far as is known now, at most kStepsPerAdvance plans. `asked` says how the queue is
  // read; its times are ignored.
  VirtualNews advance(const QueueOptions& asked, const Policy& policy, double now_s);

  double time_s() const { return time_s_; }  // 0 before the first look
  std::size_t waiting() const { return count(Phase::kWaiting); }
  std::size_t running() const { return count(Phase::kRunning); }
  bool is_full() const { return played_.size() > kMostVirtualJobs || changes_ > kMostSteps; }

 private:
  enum class Phase : std::uint8_t { kComing, kWaiting, kRunning, kOver };

  // A node with everybody else's pods; null: it is gone.
  using GroundChange = std::pair<std::string, NodeStatePtr>;

  // The changes of one snapshot.
  struct Step {
    double time_s = 0;
    std::vector<GroundChange> ground;
    std::vector<Uid> arrived;
    std::vector<Uid> deleted;
  };

  struct SeenNode {
    NodeStatePtr real;
    NodeStatePtr ground;  // of it: without the pods of played Jobs
  };

  struct Played {
    JobPtr job;  // as it waits or runs in the virtual cluster
    Phase phase = Phase::kComing;
    std::string queue;
    std::optional<double> deadline_s;
    // Its real outcome.
    RealRun real;
    std::optional<double> deleted_s;
    // Of the run.
    double started_s = 0;
    double predicted_s = 0;
    std::int64_t gpus = 0;
    bool guessed = false;  // it is taken to last as predicted
    std::optional<double> ratio;
    std::shared_ptr<const PlanNote> plan;
    std::vector<PodPtr> pods;
  };

  bool is_played(const Uid& job) const { return played_.contains(job); }
  std::size_t count(Phase phase) const;
  void take(const RealEvent& event, Step& step, double now_s);
  void watch_ground(const ClusterSnapshot& real, bool anew, Step& step);

  double held_until_s(const QueueOptions& asked, double now_s);
  double next_s(const QueueOptions& asked);
  // When it ends as far as that is known; kNever: it is not.
  double end_s(Played& played, const QueueOptions& asked) const;
  double ratio(Played& played, const QueueOptions& asked) const;
  // The first moment at which it may end, as far as is known; kNever: it is known when it ends.
  double may_end_s(Played& played, const QueueOptions& asked, double now_s) const;
  void guess(const QueueOptions& asked, double now_s);
  void perform_steps();
  void perform(Step& step);
  void end_runs(const QueueOptions& asked, VirtualNews& news);
  void end(Played& played, double ended_s, VirtualNews& news);
  void stop_runs_on(const std::string& node);
  void plan_starts(const QueueOptions& asked, const Policy& policy, VirtualNews& news);
  void note_promises(const Queue& queue);
  void start(const Uid& uid, const std::shared_ptr<const PlanNote>& plan, const Queue& queue,
             TaskIndex index, const Run& run);
  ClusterSnapshot snapshot();

  RealRuns runs_;
  bool looked_ = false;
  std::map<Uid, Played> played_;
  std::vector<VirtualEnd> censored_;  // at the first snapshot, to be reported
  std::vector<JobPtr> others_;        // as they are now
  std::vector<std::shared_ptr<const ResourceQuota>> quotas_;  // the same
  std::map<std::string, SeenNode> seen_;                      // nodes at the last look
  std::deque<Step> steps_;                                    // that virtual time has not reached
  std::size_t changes_ = 0;                                   // in them
  std::map<std::string, NodeStatePtr> ground_;                // at virtual time
  std::shared_ptr<const NodeNames> names_;                    // of it; null: to be made
  double time_s_ = 0;
  double wake_s_ = kNever;
  TaskMenus menus_;
  PlanStamp stamp_;
};

}  // namespace slackline::core
