// What a policy that reserves knows of the cluster: when the GPUs of runs come free that it did not
// start, and which nodes have CPU and memory for a task once their runs have ended.
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/policy.h"
#include "support/cluster_builder.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using RoomNames = std::set<std::string>;

constexpr double kRoomHour_s = 3600;
constexpr double kRoomAsked_s = 100 * kRoomHour_s;

struct RoomDecided {
  RoomNames started;
  std::map<std::string, RoomNames> kept;  // nodes, by task
};

class ReservedRoomTest : public testing::Test {
 protected:
  // Two nodes with four GPUs and 32 cores each; a gang that needs both.
  static test::ClusterBuilder a_gang_waits(std::int64_t gpus, std::int64_t cpus) {
    return a_cluster()
        .with(a_node("n1").of("A100", 4))
        .with(a_node("n2").of("A100", 4))
        .with(job("gang", 1, 4).of(2).gang().gpus(gpus).cpus(cpus).waiting());
  }
  static test::JobBuilder job(const std::string& name, double hours, double due_in_hours) {
    auto job = a_job(name).created(kRoomAsked_s - 60);
    job.intent().expected_duration_s = hours * kRoomHour_s;
    job.intent().deadline_s = kRoomAsked_s + due_in_hours * kRoomHour_s;
    return job;
  }

  static RoomDecided decide(const ClusterSnapshot& snapshot, const std::string& name) {
    const Policy policy = *parse_policy(name);
    const test::WorldPlanner planner{3};
    QueueOptions options = planner.options(kRoomAsked_s);
    options.reserves = policy.reserves();
    TaskMenus menus;
    Queue queue = make_queue(snapshot, options, menus);
    const Plan planned = plan(queue.state(), kRoomAsked_s, policy);
    RoomDecided decided;
    for (const Effect& effect : planned.effects)
      if (effect.is_start()) decided.started.insert(queue.task(effect.task).key.name);
    for (const Reservation& kept : planned.reservations)
      for (const PoolNode node : kept.nodes)
        decided.kept[queue.task(kept.task).key.name].insert(
            snapshot.node(queue.pools()[kept.pool].nodes[node]).node->name.str());
    return decided;
  }
};

TEST_F(ReservedRoomTest, GpusOfRunsThatItDidNotStartComeFree) {
  const auto beside = [](const test::PodBuilder& other) {
    auto theirs = a_job("theirs").gpus(4).created(kRoomAsked_s);
    theirs.intent().expected_duration_s = kRoomHour_s;
    return a_gang_waits(4, 1)
        .with(theirs)
        .with(test::PodBuilder(other).gpus(4).on("n1").started(kRoomAsked_s))
        .with(job("long", 10, 20).gpus(4).waiting())
        .with(job("short", 0.5, 30).gpus(4).waiting())
        .build();
  };
  for (const char* policy : {"reserve", "default,held=4", "edf-easy"}) {
    const RoomDecided ends = decide(beside(a_pod("theirs-0").of_job("theirs")), policy);
    EXPECT_EQ(ends.kept.at("gang"), (RoomNames{"n1", "n2"})) << policy;
    EXPECT_EQ(ends.started, RoomNames{"short"}) << policy << ": it ends before the gang begins";
    const RoomDecided serves = decide(beside(a_pod("web-0").owned_by("ReplicaSet", "web")), policy);
    EXPECT_FALSE(serves.kept.contains("gang")) << policy << ": n1 never comes free";
    EXPECT_EQ(serves.started, RoomNames{"long"}) << policy;
  }
}

// On n1 are three GPUs free, and two cores.
TEST_F(ReservedRoomTest, ANodeWithoutCoresNowIsKeptOnceItsRunsHaveEnded) {
  auto cluster = a_gang_waits(3, 16);
  auto runs = job("runs", 1, 4).gpus(1).cpus(30).managed();
  cluster.with(runs.planned({"n1"}, "plan-1", kRoomHour_s).started(kRoomAsked_s))
      .with(
          a_pod("runs-0").of_job("runs").gpus(1).cpus(30).managed().on("n1").started(kRoomAsked_s));
  for (const char* policy : {"reserve", "default,held=4", "edf-easy"}) {
    const RoomDecided alone = decide(cluster.build(), policy);
    EXPECT_EQ(alone.started, RoomNames{}) << policy << ": not all of its pods could be bound";
    EXPECT_EQ(alone.kept.at("gang"), (RoomNames{"n1", "n2"})) << policy;
    auto with_others = cluster;
    with_others.with(job("long", 10, 20).gpus(4).cpus(1).waiting())
        .with(job("beside", 10, 20).gpus(1).cpus(1).waiting());
    EXPECT_EQ(decide(with_others.build(), policy).started, RoomNames{"beside"}) << policy;
  }
}

// What holds the cores does not end, as far as is known.
TEST_F(ReservedRoomTest, ANodeWhoseCoresNeverComeFreeIsNotKept) {
  auto cluster = a_gang_waits(3, 16);
  cluster.with(a_pod("web-0").owned_by("ReplicaSet", "web").gpus(1).cpus(30).on("n1"))
      .with(job("long", 10, 20).gpus(4).cpus(1).waiting());
  for (const char* policy : {"reserve", "default,held=4", "edf-easy"}) {
    const RoomDecided decided = decide(cluster.build(), policy);
    EXPECT_EQ(decided.started, RoomNames{"long"}) << policy;
    EXPECT_FALSE(decided.kept.contains("gang")) << policy;
  }
}

}  // namespace
}  // namespace slackline::core
