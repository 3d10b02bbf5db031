// Members of a gang that its controller makes only once others of it run: the second Job of a
// JobSet that starts in order. Others would run for nothing without them, so they are planned
// together, and the plan keeps nodes for those that do not exist yet (PlanNote::later).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {

// How long room is kept for them, from when the plan of those that run was first seen.
inline constexpr double kComeWithin_s = 3600;

// One for each that comes later than those of `parts` (is_to_come()) and asks for the kind of GPUs
// that `first` asks for, which is one of `parts`; where they differ from it only in what admission
// adds, they are like it. Empty where no GPU type has as many GPUs as all of them ask for.
std::vector<PodPtr> later_members(const ClusterSnapshot& snapshot, const TaskParts& parts,
                                  const Pod& first);

// O(plans).
bool any_to_come(const ClusterSnapshot& snapshot);

// When the room that the pod's plan keeps for others is kept no longer; steady. nullopt: it keeps
// none.
std::optional<double> keeps_room_until_s(const ClusterSnapshot& snapshot, const Pod& pod);

}  // namespace slackline::core
