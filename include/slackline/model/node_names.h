// NodeNames: the snapshot's nodes by name, and their names as one text, as kube-scheduler may send
// it and gets it back. Immutable, and shared by successive snapshots while no node comes or goes.
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
  // Each name at most once. `key`: see NameTable.
  explicit NodeNames(const std::vector<NodeStatePtr>& nodes, const HashKey& key = {});
  NodeNames(const NodeNames&) = delete;
  NodeNames& operator=(const NodeNames&) = delete;

  std::size_t size() const { return table_.names().size(); }
  std::string_view at(NodeIndex index) const { return table_.names()[index]; }
  std::optional<NodeIndex> find(std::string_view name) const { return table_.find(name); }

  // Names in quotes with commas between, as the items of a JSON array: from `first` to `last`, both
  // included. Only where plain().
  std::string_view quoted(NodeIndex first, NodeIndex last) const {
    const char* begin = at(first).data() - 1;
    return {begin, static_cast<std::size_t>(at(last).data() + at(last).size() + 1 - begin)};
  }
  // No name needs an escape within quotes. True of all names that an API server accepts (RFC 1123).
  bool plain() const { return plain_; }

 private:
  std::string text_;  // "a","b",... : the table's views survive any node
  NameTable table_;
  bool plain_ = true;
};

}  // namespace slackline
