// NodeTable: the columns that filter and score read of every node, side by side in memory. A
// request covers thousands of nodes, and following pointers to each would cost more than the
// decision.
//
// Derived from the nodes of a snapshot whenever one is published, O(nodes).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/model/node_state.h"

namespace slackline {

struct NodeRow {
  std::int64_t cpu_milli = 0;  // allocatable
  std::int64_t memory_bytes = 0;
  std::int64_t cpu_milli_free = 0;  // less what the pods use; negative where over-committed
  std::int64_t memory_bytes_free = 0;
  std::int64_t pods_free = 0;
  std::uint32_t type = 0;  // index into NodeTable::types
  bool readable = true;    // no problems
  bool profiler = false;   // label slackline.dev/profiler=true
};

// One GPU resource of one node.
struct GpuCell {
  std::int64_t allocatable = 0;
  std::int64_t free = 0;
};

struct NodeTable {
  std::vector<GpuType> types;  // those that occur, each once
  std::vector<NodeRow> rows;   // by NodeIndex
  bool any_profiler = false;
  // By resource name, each once; cells by NodeIndex.
  std::vector<std::pair<std::string, std::vector<GpuCell>>> gpus;

  // nullptr where no node has the resource.
  const std::vector<GpuCell>* cells(std::string_view resource) const;

  // Of Resources::others, the names of which any node has one.
  std::vector<std::string> others;
  bool lists(std::string_view other) const;
};

NodeTable make_node_table(const std::vector<NodeStatePtr>& nodes);

}  // namespace slackline
