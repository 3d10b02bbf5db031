// Members of a gang that its controller makes only once others of it run: the second Job of a
// JobSet that starts in order. Others would run for nothing without them, so they are planned
// together, and the plan keeps nodes for those that do not exist yet (PlanNote::later).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {

// How long room is kept for them, from when the plan of those that run was first seen.
inline constexpr double kComeWithin_s = 3600;

// Those that come later than those that are there (is_to_come()) and ask for the kind of GPUs that
// these ask for.
struct LaterPods {
  std::int64_t count = 0;
  std::int64_t most_gpus = 0;  // that one of them asks for
  // As many; one of each stage where the usable nodes of no GPU type have as many GPUs as the whole
  // gang asks for: a controller may be told to make a million.
  std::vector<PodPtr> pods{};
  bool too_many = false;
};

// `first` is one of `parts`. Where they differ from it only in what admission adds, they are like
// it.
LaterPods later_members(const ClusterSnapshot& snapshot, const TaskParts& parts, const Pod& first);

// O(plans).
bool any_to_come(const ClusterSnapshot& snapshot);

// When the room that the pod's plan keeps for others is kept no longer; steady. nullopt: it keeps
// none.
std::optional<double> keeps_room_until_s(const ClusterSnapshot& snapshot, const Pod& pod);

}  // namespace slackline::core
