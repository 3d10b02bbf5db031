// Requested names to node indices, many at once. Private to src/core.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr NodeIndex kUnknownNode = std::numeric_limits<NodeIndex>::max();

// The index of each name, kUnknownNode where the snapshot has no such node. A pass of its own,
// because look-ups that do not wait for each other overlap their cache misses.
std::vector<NodeIndex> find_nodes(const ClusterSnapshot& snapshot,
                                  const std::vector<std::string_view>& names);

}  // namespace slackline::core
