// Mover: after a plan, looks for running tasks that should go on elsewhere (core/cluster/moves.h).
// It tells of each once, carries out what the queues leave to Slackline, and remembers the reports
// of progress by which runs are judged. It begins with an empty memory.
//
//   MoveSuggested   Normal    on the Job that would gain; once for each run
//   NodeSlow        Warning   on a node on which task after task was slow
//   (core/cluster/slow_nodes.h) slackline_slow_nodes{node}   1 while it is
//
// Not thread-safe.
#pragma once

#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cluster/watch/source.h"
#include "control/state/settings.h"
#include "obs/metrics.h"
#include "slackline/core/cluster/moves.h"
#include "slackline/core/cluster/run_speeds.h"
#include "slackline/core/cluster/slow_nodes.h"
#include "slackline/core/planning/plan.h"
#include "slackline/model/own_write.h"

namespace slackline::control {

class Mover {
 public:
  // False where the Event cannot be taken now: it is offered again.
  using Post = std::function<bool(TaskEvent)>;

  explicit Mover(obs::MetricsRegistry& metrics) : metrics_(&metrics) {}  // which outlives it

  // Before a plan: the nodes that it should avoid.
  core::SlowNodesPtr see_slow_nodes(const ClusterSnapshot& snapshot, const Settings& settings,
                                    const Post& post);
  // The latest; null: none.
  const core::SlowNodesPtr& slow_nodes() const { return slow_; }

  // After it: the writes of the moves that begin now. `queue` is as `plan` has left it.
  std::vector<OwnWrite> look(const ClusterSnapshot& snapshot, const core::QueueOptions& options,
                             const core::Queue& queue, const core::Plan& plan,
                             const Settings& settings, const Post& post);

  // Another replica may have planned meanwhile.
  void forget();

  // By the Job or pod that would gain: what look() found last.
  const std::unordered_map<Uid, MoveAdvice>& advised() const { return advised_; }

 private:
  void tell(const core::Queue& queue, const std::vector<core::Move>& moves, const Post& post);

  void tell_of_nodes(const ClusterSnapshot& snapshot, const std::unordered_set<NodeName>& slow,
                     const Post& post);

  obs::MetricsRegistry* metrics_;
  core::RunSpeeds speeds_;
  core::SpeedsByJob running_;             // by what look() saw last
  core::SlowNodesPtr slow_;               // null: none
  std::unordered_set<NodeName> told_of_;  // slow nodes
  std::map<NodeName, obs::Gauge> shown_;  // that are slow, or were
  std::unordered_map<Uid, MoveAdvice> advised_;
  std::unordered_map<Uid, double> told_;  // of which task, and when its run had started
};

}  // namespace slackline::control
