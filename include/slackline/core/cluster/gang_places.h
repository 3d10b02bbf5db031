// GangPlaces: where gangs ran whose pods are all gone, because their controller starts them anew: a
// JobSet that restarts, a group of a LeaderWorkerSet that is made again.
//
// No object remembers such a gang in between, so its nodes are remembered here. Its place is kept
// while its pods end, for ten seconds more, in which its controller makes pods again, and once the
// first of these is there for half a minute, in which all of them come. A gang that asks for as
// much as before then goes on there, before all that waits. What was deleted for good looks the
// same for these ten seconds. A gang of which a pod has succeeded is over.
//
// Deterministic. Times are epoch seconds. For a planner that starts with an empty memory a gang
// that was gone then waits like any other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/queue.h"

namespace slackline::core {

class GangPlaces {
 public:
  struct Place {
    std::shared_ptr<const PlanNote> plan;  // by which it ran
    std::string resource;                  // of its GPUs
    std::optional<double> gone_s{};        // the last time a pod of it ended; nullopt: it runs
    std::optional<double> comes_s{};       // not before: the first pod is there again
    std::map<NodeName, std::int64_t> still_held{};  // GPUs of pods that end
  };

  // O(pods). Before each plan.
  void see(const ClusterSnapshot& snapshot, double now_s);

  // Of a gang that waits to go on there, once its pods have ended; nullptr: it has none.
  const Place* kept_for(const ClusterSnapshot& snapshot, const QueueTask& task) const;

  // The same in terms of its menu; nullopt also where it asks for something else now.
  std::optional<PlannedRun> run_again(const ClusterSnapshot& snapshot, const QueueTask& task,
                                      const PlacementMenu& menu,
                                      const std::vector<QueuePool>& pools) const;

  // Takes the room of places to which nobody has come back from the free GPUs of each pool's nodes.
  // `came`: the gangs that have (lasting_name).
  void keep_room(const ClusterSnapshot& snapshot, const std::vector<QueuePool>& pools,
                 const std::set<Uid>& came, std::vector<std::vector<int>>& gpus) const;

  // When the next place is kept no longer; infinity where none is.
  double next_end_s() const;

 private:
  std::map<Uid, Place> places_;  // by lasting_name
};

}  // namespace slackline::core
