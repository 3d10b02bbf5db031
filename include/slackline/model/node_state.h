// NodeState: a node and what runs on it. Immutable once in a snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "slackline/model/node.h"
#include "slackline/model/pod.h"

namespace slackline {

using PodPtr = std::shared_ptr<const Pod>;

// A node and every non-terminal pod bound to it, whoever bound it.
struct NodeState {
  std::shared_ptr<const Node> node;
  std::vector<PodPtr> pods;  // sorted by uid
  Resources used;            // sum of the pods' requests

  Resources free() const { return node->allocatable - used; }
};

using NodeStatePtr = std::shared_ptr<const NodeState>;
using NodeIndex = std::uint32_t;  // place in the snapshot's list of nodes

}  // namespace slackline
