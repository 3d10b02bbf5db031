#include "node_lookup.h"

#include "slackline/base/words.h"

namespace slackline::core {

namespace {

constexpr int kWrongInARow = 8;

}  // namespace

std::vector<NodeIndex> find_nodes(const ClusterSnapshot& snapshot, const NodesRequest& request) {
  if (request.known != nullptr && request.known == snapshot.node_names) return request.nodes;
  const std::vector<std::string_view>& names = request.node_names;
  std::vector<NodeIndex> found(names.size(), kUnknownNode);
  if (!snapshot.node_names) return found;
  const NodeNames& known = *snapshot.node_names;
  // kube-scheduler mostly asks in the order in which it listed the nodes, which is by name: guess
  // the next one, until that was wrong several times in a row.
  std::size_t guess = 0;
  int wrong = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (wrong < kWrongInARow && guess < known.size() &&
        same_name(known.at(static_cast<NodeIndex>(guess)), names[i])) {
      found[i] = static_cast<NodeIndex>(guess++);
      wrong = 0;
      continue;
    }
    ++wrong;
    if (const auto index = known.find(names[i])) {
      found[i] = *index;
      guess = *index + std::size_t{1};
    }
  }
  return found;
}

}  // namespace slackline::core
