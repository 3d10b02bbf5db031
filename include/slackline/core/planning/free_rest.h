// FreeRest: what is free on nodes besides the GPUs of pools (CPU, memory, devices), and which nodes
// the pods of a task may use by that. Made where some task may find GPUs, and not the rest.
//
// Amounts are in the units of each resource. A node may have less than none free: that keeps off
// only who asks for more of the same.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "slackline/core/planning/node_set.h"

namespace slackline::core {

using RestAmounts = std::vector<std::int64_t>;  // by resource
using RestNumber = std::uint32_t;               // of a RestNeed, by its place

// Of pods that are equal.
struct RestNeed {
  RestAmounts asked{};  // by one pod besides the GPUs of its pool; empty: nothing that may be short
  RestAmounts taken{};  // by one pod, with those GPUs: others may ask for them besides theirs
  int gpus = 0;         // of one pod, where several may share a node; 0: one pod on each
  std::vector<int> several{};               // how many may share one, more than one each
  EligibleNodesPtr eligible{};              // null: every node
  std::uint64_t pools = ~std::uint64_t{0};  // of these alone anybody asks: pool_bit()

  int pods_with(int gpus_on_node) const {
    return gpus > 0 && gpus_on_node > gpus ? gpus_on_node / gpus : 1;
  }
};

struct RestLayout {
  std::vector<RestNeed> needs;
  // By pool and node of it: the node itself, which pools of several resources may share.
  std::vector<std::vector<std::uint32_t>> node_of;
  std::vector<std::vector<std::pair<PoolIndex, PoolNode>>> places{};  // by node: the inverse
};

class FreeRest {
 public:
  // `free`: by node. The places of the layout are found here.
  FreeRest(RestLayout layout, const std::vector<RestAmounts>& free);

  // So many pods take, below 0 give back, what they need there. O(needs).
  void take(RestNumber need, PoolIndex pool, PoolNode node, std::int64_t pods);
  // Of its eligible nodes those with enough free, in its pools; null: the need asks for nothing.
  const EligibleNodes* usable(RestNumber need) const { return usable_[need].get(); }
  const std::vector<RestNeed>& needs() const { return layout_->needs; }

 private:
  void renew(RestNumber need, PoolIndex pool, PoolNode node);

  std::shared_ptr<const RestLayout> layout_;
  std::size_t resources_ = 0;
  std::vector<std::int64_t> free_;  // by node and resource
  // By need; copies share them until one of them changes.
  std::vector<std::shared_ptr<EligibleNodes>> usable_;
};

}  // namespace slackline::core
