// LostMembers: a gang that runs, but not all of it. A node of it is gone or does not answer, a pod
// of it is ending, or a pod was lost and the one that replaces it has no node yet.
//
// For answers alone: what is planned does not follow from it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "slackline/core/cluster/queue.h"

namespace slackline::core {

struct LostMembers {
  std::int64_t of = 0;             // pods of the gang that should run
  std::int64_t run = 0;            // that are on nodes that answer, and do not end
  std::int64_t not_made = 0;       // of a Job: pods that its controller has not made again
  std::set<std::string> ending{};  // names of pods
  std::set<std::string> silent{};  // names of nodes
};

// Of a task that runs by a plan; nullopt: it runs whole, starts, or has no pod that runs. A pod of
// a gang without a Job that was lost more than ten minutes ago counts no more. O(pods on its
// nodes).
std::optional<LostMembers> lost_members(const ClusterSnapshot& snapshot, const QueueTask& task,
                                        double now_steady_s);

// "1 of 2 pods run; no answer from n2; ending: train-1"
std::string text_of(const LostMembers& lost);

}  // namespace slackline::core
