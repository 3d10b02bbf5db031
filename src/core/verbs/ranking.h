// The ranks and places that rank_nodes() keeps. Private to src/core.
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

// The smallest keys that occur, as many as have a score of their own.
class BestRanks {
 public:
  BestRanks() { keys_.fill(std::numeric_limits<std::int64_t>::max()); }

  void add(std::int64_t key) {
    const auto at = static_cast<std::size_t>(rank(key));
    if (at == keys_.size() || keys_[at] == key) return;
    std::move_backward(keys_.begin() + at, keys_.end() - 1, keys_.end());
    keys_[at] = key;
  }

  // How many of them are smaller. Counts all, because that needs no branch.
  int rank(std::int64_t key) const {
    int smaller = 0;
    for (const std::int64_t one : keys_)
      smaller += one < key ? 1 : 0;
    return smaller;
  }

 private:
  std::array<std::int64_t, kBestUnplannedScore - 1> keys_;  // ascending; the rest scores 1
};

// The best kMaxScores of many nodes, in one pass: most of them cost a comparison. Planned ones are
// better, then those of a smaller key, then name: scores, which are not known yet, go the same way.
class BestNodes {
 public:
  struct Place {
    bool unplanned = true;
    std::int64_t key = std::numeric_limits<std::int64_t>::max();
    NodeIndex index = kUnknownNode;  // in the order of names
    std::uint32_t node = 0;          // place in the request
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  void add(const Place& node) {
    if (!(node < worst_)) return;
    kept_.push_back(node);
    if (kept_.size() == 2 * kMaxScores) cut();
  }

  std::vector<std::uint32_t> take() {
    std::sort(kept_.begin(), kept_.end());
    if (kept_.size() > kMaxScores) kept_.resize(kMaxScores);
    std::vector<std::uint32_t> nodes;
    for (const Place& place : kept_)
      nodes.push_back(place.node);
    return nodes;
  }

 private:
  void cut() {
    const auto last = kept_.begin() + kMaxScores - 1;
    std::nth_element(kept_.begin(), last, kept_.end());
    worst_ = *last;
    kept_.resize(kMaxScores);
  }

  std::vector<Place> kept_;
  Place worst_;  // that can still be among the best
};

}  // namespace slackline::core
