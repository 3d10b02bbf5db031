// Whatever API server and watch do, no node is ever given more shares than it has, and no slot
// twice.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "slackline/core/cluster/binds_in_flight.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

const std::string kShare = "example.com/share";
constexpr int kNodes = 3;
constexpr int kPods = 14;

// An API server that commits bindings late or never, answers or does not, and a watch that lags.
class World {
 public:
  explicit World(unsigned seed) : random_(seed) {
    catalog_.resources = {{kShare, GpuSharing::kTimeslice, true}};
    for (std::int64_t& capacity : capacity_)
      capacity = 1 + draw(6);
    for (int i = 0; i < kPods; ++i)
      asked_.push_back(1 + draw(2));
    shown_ = truth();
  }

  void step() {
    now_s_ += 0.01 * draw(40);
    switch (draw(4)) {
      case 0:
      case 1:
        return order();
      case 2:
        return answer();
      case 3:
        shown_ = truth();  // the watch catches up
        binds_.settle(shown_, now_s_);
    }
  }

  // The most that a node is over its capacity in the API server's book.
  std::int64_t overbooked() const {
    std::int64_t worst = 0;
    for (int node = 0; node < kNodes; ++node) {
      std::int64_t used = 0;
      for (const auto& [pod, order] : bound_)
        if (order.node == node) used += asked_[static_cast<std::size_t>(pod)];
      worst = std::max(worst, used - capacity_[node]);
    }
    return worst;
  }
  // Whether all pods have slots, as many as they asked for, and each slot of a node one pod.
  bool slots_are_disjoint() const {
    std::set<std::pair<int, int>> taken;
    for (const auto& [pod, order] : bound_) {
      if (order.slots.size() != 1) return false;
      const std::vector<int>& slots = order.slots.front().slots;
      if (static_cast<std::int64_t>(slots.size()) != asked_[static_cast<std::size_t>(pod)])
        return false;
      for (const int slot : slots)
        if (slot >= capacity_[order.node] || !taken.emplace(order.node, slot).second) return false;
    }
    return true;
  }
  std::size_t bound() const { return bound_.size(); }

 private:
  struct Order {
    int pod = 0;
    int node = 0;
    bool late = false;  // was answered with a timeout; may be committed yet
    double until_s = 0;
    std::vector<DeviceSlots> slots{};
  };

  int draw(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  test::PodBuilder pod(int i) const {
    return test::a_pod("p" + std::to_string(i)).gpus(asked_[static_cast<std::size_t>(i)], kShare);
  }
  static NodeName name(int node) { return NodeName("n" + std::to_string(node)); }

  ClusterSnapshot truth() const {
    test::ClusterBuilder cluster;
    for (int node = 0; node < kNodes; ++node)
      cluster.with(test::a_node(name(node).str()).resource(kShare, capacity_[node]));
    for (int i = 0; i < kPods; ++i) {
      const auto at = bound_.find(i);
      if (at == bound_.end()) {
        cluster.with(pod(i));
        continue;
      }
      auto there = pod(i).on(name(at->second.node).str());
      for (const DeviceSlots& one : at->second.slots)
        there.slots(one.resource, one.slots);
      cluster.with(there);
    }
    return cluster.build();
  }

  void order() {
    Order order{draw(kPods), draw(kNodes)};
    Booked booked = binds_.book(shown_, pod(order.pod).build(), name(order.node), catalog_);
    if (booked.booking != Booking::kBooked) return;
    order.slots = std::move(booked.slots);
    orders_.push_back(std::move(order));
  }

  void commit(const Order& order) { bound_.emplace(order.pod, order); }  // the first one wins

  void answer() {
    if (orders_.empty()) return;
    const auto at = orders_.begin() + draw(static_cast<int>(orders_.size()));
    Order order = *at;
    const Uid uid = pod(order.pod).build().uid;
    if (order.late) {  // what was not answered is done now, if ever
      if (draw(2) == 0 && now_s_ < order.until_s) commit(order);
      orders_.erase(at);
      return;
    }
    orders_.erase(at);
    if (draw(3) == 0) {  // a timeout
      binds_.doubtful(uid, name(order.node), now_s_);
      order.late = true;
      order.until_s = now_s_ + kDoubtfulBind_s;
      if (draw(2) == 0) commit(order);
      orders_.push_back(order);
      return;
    }
    if (draw(5) > 0) commit(order);
    const auto is = bound_.find(order.pod);
    if (is != bound_.end() && is->second.node == order.node)
      binds_.bound(uid, name(order.node), now_s_);
    else
      binds_.failed(uid, name(order.node));
  }

  std::mt19937 random_;
  GpuCatalog catalog_;
  std::int64_t capacity_[kNodes] = {};
  std::vector<std::int64_t> asked_;
  std::map<int, Order> bound_;  // the API server's book
  std::vector<Order> orders_;
  ClusterSnapshot shown_;
  BindsInFlight binds_;
  double now_s_ = 0;
};

TEST(BindsInFlightProperty, NoNodeIsEverOverbookedAndNoSlotGivenTwice) {
  std::size_t bound = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    World world(seed);
    for (int i = 0; i < 200; ++i) {
      world.step();
      ASSERT_LE(world.overbooked(), 0) << "seed " << seed << " step " << i;
      ASSERT_TRUE(world.slots_are_disjoint()) << "seed " << seed << " step " << i;
    }
    bound += world.bound();
  }
  EXPECT_GT(bound, 150U * 3) << "a world that binds nothing shows nothing";
}

}  // namespace
}  // namespace slackline::core
