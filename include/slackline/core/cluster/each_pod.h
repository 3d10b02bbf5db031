// Every pod that waits for a node or has one of the snapshot's, in that order.
#pragma once

#include "slackline/model/snapshot.h"

namespace slackline::core {

template <class Look>
void each_pod(const ClusterSnapshot& snapshot, const Look& look) {
  for (const PodPtr& pod : snapshot.unbound)
    look(*pod);
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      look(*pod);
}

}  // namespace slackline::core
