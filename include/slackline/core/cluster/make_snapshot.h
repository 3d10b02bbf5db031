// make_snapshot: completes a snapshot by what is derived from its parts, so that nobody who
// assembles one forgets something.
#pragma once

#include "slackline/model/snapshot.h"

namespace slackline::core {

// `parts` have everything but `node_table` and `holds`; `node_names` are made where they are null.
// Those given must be of `parts.nodes`. O(nodes + pods). Pure.
ClusterSnapshot make_snapshot(ClusterSnapshot parts);

}  // namespace slackline::core
