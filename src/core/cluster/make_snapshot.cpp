#include "slackline/core/cluster/make_snapshot.h"

#include <memory>

#include "slackline/core/cluster/holds.h"

namespace slackline::core {

ClusterSnapshot make_snapshot(ClusterSnapshot parts) {
  if (parts.node_names == nullptr)
    parts.node_names = std::make_shared<const NodeNames>(parts.nodes);
  parts.node_table = make_node_table(parts.nodes);
  parts.holds = derive_holds(parts);
  return parts;
}

}  // namespace slackline::core
