// Nodes that kube-scheduler refused to a member of a gang that a controller makes: pods that nobody
// can take back are led round them, and what is made again is not planned there.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_node;
using test::a_pod;

// A master and a worker of four GPUs that a controller makes; every node has four.
class RefusedGangTest : public testing::Test {
 protected:
  void settle() { ASSERT_TRUE(planner_.settle(world_, /*bind=*/false)); }
  void add_nodes(int count) {
    for (int node = 1; node <= count; ++node)
      world_.add(a_node("n" + std::to_string(node)).of("A100", 4));
  }
  void make(std::int64_t gpus_of_worker = 4) {
    make_pod("t5-master-0", 4);
    make_pod("t5-worker-0", gpus_of_worker);
  }
  // It asks for what keeps it behind the gate until others of the gang are there.
  void make_pod(const std::string& name, std::int64_t gpus) {
    world_.add(a_pod(name).owned_by("PyTorchJob", "t5").gpus(gpus).managed().gated());
    Pod& pod = this->pod(name);
    pod.uid = Uid(name + "#" + std::to_string(++made_));
    pod.owner_gang = std::make_shared<const OwnerGang>(
        OwnerGang{.kind = "PyTorchJob", .name = "t5", .uid = Uid("t5-uid"), .part = ""});
  }
  Pod& pod(const std::string& name) { return world_.pods().at({"default", name}); }
  NodeName master_on() { return pod("t5-master-0").nominated_node; }
  void bind_worker() {
    Pod& worker = pod("t5-worker-0");
    worker.node = worker.nominated_node;
    worker.phase = PodPhase::kRunning;
  }
  // The master is not bound in time, by rules that no plan knows.
  void miss(double after_s, bool looked_at = true) {
    if (looked_at) pod("t5-master-0").unschedulable = "0/4 nodes";
    world_.pass(after_s);
    settle();
  }
  void make_again(std::int64_t gpus_of_worker = 4) {
    world_.pods().clear();
    make(gpus_of_worker);
    world_.pass(3);  // it is whole once no pod comes any more
    settle();
  }
  RefusedNodes refused() {
    return planner_.memory.refused_nodes(world_.snapshot(), world_.now_s());
  }

  test::HandOverWorld world_;
  test::WorldPlanner planner_{1};
  int made_ = 0;
};

TEST_F(RefusedGangTest, IsMovedToNodesThatHaveNotRefusedItAndLaterBack) {
  add_nodes(5);
  make();
  settle();
  bind_worker();
  std::vector<NodeName> tried = {master_on()};
  for (const double after_s : {30., 30., 30.}) {
    miss(after_s);
    tried.push_back(master_on());
  }
  EXPECT_EQ(pod("t5-worker-0").plan->id, pod("t5-master-0").plan->id) << "one task";
  EXPECT_EQ(std::set<NodeName>(tried.begin(), tried.end()).size(), 4U) << "each once";
  EXPECT_EQ(refused().at(Uid("t5-uid")).at(tried.front()).said, "0/4 nodes");
  miss(59);
  EXPECT_EQ(master_on(), tried.back()) << "its fourth node has longer";
  EXPECT_FALSE(refused().at(Uid("t5-uid")).contains(tried.back()));
  miss(1);
  EXPECT_EQ(master_on(), tried.back()) << "no other node is left";
  EXPECT_TRUE(refused().at(Uid("t5-uid")).contains(tried.back()));
  miss(kRefusedFor_s);
  EXPECT_NE(master_on(), tried.back());
}

TEST_F(RefusedGangTest, ThatNobodyHasLookedAtIsMovedTwice) {
  add_nodes(5);
  make();
  settle();
  bind_worker();
  const std::int64_t before = world_.count_of<Nominate>();
  for (int round = 0; round < 20; ++round)
    miss(kMostBackoff_s, /*looked_at=*/false);
  EXPECT_TRUE(refused().empty());
  EXPECT_EQ(world_.count_of<Nominate>(), before + 2);
  world_.remove_node(master_on().str());
  settle();
  EXPECT_EQ(world_.count_of<Nominate>(), before + 3) << "a lost node is replaced all the same";
}

TEST_F(RefusedGangTest, ThatIsMadeAgainIsNotPlannedThere) {
  add_nodes(2);
  make();
  settle();
  bind_worker();
  const NodeName first = master_on();
  miss(kUnboundAfter_s);
  make_again();
  EXPECT_EQ(master_on(), NodeName()) << "two nodes are needed, and one is refused";
  add_nodes(3);
  settle();
  const std::set<NodeName> nodes = {master_on(), pod("t5-worker-0").nominated_node};
  EXPECT_EQ(nodes.size(), 2U);
  EXPECT_FALSE(nodes.contains(first) || nodes.contains(NodeName()));
}

TEST_F(RefusedGangTest, OfPodsThatDifferIsNotPlannedThereEither) {
  add_nodes(2);
  make(2);
  settle();
  bind_worker();
  const NodeName first = master_on();
  miss(kUnboundAfter_s);
  make_again(2);
  EXPECT_EQ(master_on(), NodeName());
  world_.pass(kRefusedFor_s);
  settle();
  EXPECT_EQ(master_on(), first) << "it is tried again";
}

// Replicas of four GPUs each, two of which no node may have, by anti-affinity; every node has
// eight.
TEST(SiblingsTest, ThatMayNotShareANodeAreSentToOneEachAndTheLastIsToldWhoIsThere) {
  test::HandOverWorld world;
  test::WorldPlanner planner{1};
  for (const char* node : {"n1", "n2", "n3"})
    world.add(a_node(node).of("A100", 8));
  SchedulingConstraints apart;
  apart.own_spread.most = 1;
  const auto replica = [&](const std::string& name) {
    world.add(
        a_pod(name).owned_by("ReplicaSet", "web").gpus(4).managed().gated().constrained(apart));
  };
  for (const char* name : {"web-a", "web-b", "web-c"})
    replica(name);
  ASSERT_TRUE(planner.settle(world));
  replica("web-d");
  ASSERT_TRUE(planner.settle(world));
  std::set<NodeName> nodes;
  for (const auto& [key, pod] : world.pods())
    if (pod.bound()) nodes.insert(pod.node);
  EXPECT_EQ(nodes.size(), 3U);
  const Pod& last = world.pods().at({"default", "web-d"});
  EXPECT_TRUE(last.gated && last.plan == nullptr && last.nominated_node.empty());
  const RefusedNodes refused = planner.memory.refused_nodes(world.snapshot(), world.now_s());
  EXPECT_EQ(refused.at(last.owner->uid).size(), 3U);
  EXPECT_THAT(refused.at(last.owner->uid).at(NodeName("n2")).said,
              testing::HasSubstr("a pod of the same controller is there"));
}

}  // namespace
}  // namespace slackline::core
