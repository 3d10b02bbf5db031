// let_go: the writes after which nothing of ours holds anything back: our suspended Jobs run, our
// nominations are gone, our gates lifted. Pods that appear gated afterwards are for the next call.
#pragma once

#include <vector>

#include "slackline/model/own_write.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// In the snapshot's order, Jobs first. A gate behind somebody else's stays: that one holds the pod.
std::vector<OwnWrite> let_go(const ClusterSnapshot& snapshot);

}  // namespace slackline::core
