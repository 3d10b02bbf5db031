// The part of the measured nodes that score_nodes() keeps. Private to src/core.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "slackline/core/verbs/score.h"

namespace slackline::core {

// The smallest rank keys that occur, as many as have a score of their own.
class BestGroups {
 public:
  void add(std::uint64_t group) {
    if (size_ == groups_.size() && group >= groups_.back()) return;
    const auto at = std::lower_bound(groups_.begin(), end(), group);
    if (at != end() && *at == group) return;
    if (size_ < groups_.size()) ++size_;
    std::move_backward(at, end() - 1, end());
    *at = group;
  }

  // How many of them are smaller.
  int rank(std::uint64_t group) const {
    if (size_ > 0 && group > groups_[size_ - 1]) return static_cast<int>(size_);
    return static_cast<int>(std::lower_bound(groups_.begin(), end(), group) - groups_.begin());
  }

 private:
  using Groups = std::array<std::uint64_t, kBestUnplannedScore - 1>;  // the rest scores 1

  Groups::iterator end() { return groups_.begin() + static_cast<std::ptrdiff_t>(size_); }
  Groups::const_iterator end() const {
    return groups_.begin() + static_cast<std::ptrdiff_t>(size_);
  }

  Groups groups_{};
  std::size_t size_ = 0;
};

// The best kMaxScores of many nodes, in one pass: most of them cost a comparison. Planned ones are
// better, then those of a smaller rank key: scores, which are not known yet, go the same way.
class BestNodes {
 public:
  void add(const ScoredNode& node) {
    const Key key{!node.planned, node.order, node.node};
    if (!(key < worst_)) return;
    kept_.push_back(key);
    if (kept_.size() == 2 * kMaxScores) cut();
  }

  std::vector<std::uint32_t> take() {
    std::sort(kept_.begin(), kept_.end());
    if (kept_.size() > kMaxScores) kept_.resize(kMaxScores);
    std::vector<std::uint32_t> nodes;
    for (const Key& key : kept_)
      nodes.push_back(key.node);
    return nodes;
  }

 private:
  struct Key {
    bool unplanned = true;
    std::uint64_t order = std::numeric_limits<std::uint64_t>::max();
    std::uint32_t node = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  void cut() {
    const auto last = kept_.begin() + kMaxScores - 1;
    std::nth_element(kept_.begin(), last, kept_.end());
    worst_ = *last;
    kept_.resize(kMaxScores);
  }

  std::vector<Key> kept_;
  Key worst_;  // that can still be among the best
};

}  // namespace slackline::core
