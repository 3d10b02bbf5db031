// Placement: the shape of a task, d_node nodes with d_gpn GPUs on each (000 eq 3), written "2x4".
// Layout: the general case, a number of GPUs on each node, written "4+2+1".
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"

namespace slackline {

// No node has more GPUs of one resource, shares of GPUs included: a node that claims more is not
// believed.
inline constexpr int kMaxGpusPerNode = 4096;
inline constexpr int kMaxNodesOfShape = 65536;

// The GPUs to plan with when somebody wrote this number: 0..kMaxGpusPerNode.
constexpr int countable_gpus(std::int64_t gpus) {
  if (gpus < 0) return 0;
  return gpus < kMaxGpusPerNode ? static_cast<int>(gpus) : kMaxGpusPerNode;
}

// Invariant: d_node is 1..kMaxNodesOfShape, d_gpn 1..kMaxGpusPerNode, so that gpus() is an int.
struct Placement {
  int d_node = 1;
  int d_gpn = 1;

  int gpus() const { return d_node * d_gpn; }
  std::string str() const;
  friend auto operator<=>(const Placement&, const Placement&) = default;
};

// "2x4".
Result<Placement> parse_placement(std::string_view text);

// For numbers that somebody wrote. Numbers beyond the invariant become its nearest bound: such a
// shape is as large as possible, and fits nowhere.
Placement clamped_placement(std::int64_t d_node, std::int64_t d_gpn);

// The properties of a layout that a throughput model uses. Equal spreads have equal predictions.
struct Spread {
  int gpus = 1;           // M
  int nodes = 1;          // N
  int most_per_node = 1;  // g: GPUs on the fullest node

  Spread() = default;
  Spread(Placement shape)  // NOLINT(google-explicit-constructor): every shape is a spread
      : gpus(shape.gpus()), nodes(shape.d_node), most_per_node(shape.d_gpn) {}
  friend auto operator<=>(const Spread&, const Spread&) = default;
};

// Invariant: at least one node, every node 1..4096 GPUs, descending: permuted nodes are one
// layout.
class Layout {
 public:
  Layout() : gpus_per_node_{1} {}
  explicit Layout(Placement shape)
      : gpus_per_node_(static_cast<std::size_t>(shape.d_node), shape.d_gpn) {}
  static Result<Layout> of(std::vector<int> gpus_per_node);

  const std::vector<int>& gpus_per_node() const { return gpus_per_node_; }
  bool symmetric() const { return gpus_per_node_.front() == gpus_per_node_.back(); }
  Spread spread() const;
  std::string str() const;  // "2x4" where symmetric, else "4+2+1"
  friend auto operator<=>(const Layout&, const Layout&) = default;

 private:
  std::vector<int> gpus_per_node_;
};

// "2x4" or "4+2+1", at most 4096 nodes.
Result<Layout> parse_layout(std::string_view text);

}  // namespace slackline
