// NodeNames: the snapshot's nodes by name. Immutable, and shared by successive snapshots while no
// node comes or goes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/name_table.h"
#include "slackline/model/node_state.h"

namespace slackline {

class NodeNames {
 public:
  // Each name at most once.
  explicit NodeNames(const std::vector<NodeStatePtr>& nodes);
  NodeNames(const NodeNames&) = delete;
  NodeNames& operator=(const NodeNames&) = delete;

  std::size_t size() const { return table_.names().size(); }
  std::string_view at(NodeIndex index) const { return table_.names()[index]; }
  std::optional<NodeIndex> find(std::string_view name) const { return table_.find(name); }

 private:
  std::string text_;  // all names side by side: the table's views survive any node
  NameTable table_;
};

}  // namespace slackline
