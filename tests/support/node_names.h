// NodeNames of nodes that have nothing but a name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slackline/model/node_names.h"

namespace slackline::test {

inline std::shared_ptr<const NodeNames> node_names(const std::vector<std::string>& names) {
  std::vector<NodeStatePtr> nodes;
  for (const std::string& name : names) {
    const auto node = std::make_shared<Node>();
    node->name = NodeName(name);
    const auto state = std::make_shared<NodeState>();
    state->node = node;
    nodes.push_back(state);
  }
  return std::make_shared<const NodeNames>(nodes);
}

}  // namespace slackline::test
