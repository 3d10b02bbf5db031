// Gangs that run, but not all of them: what is told of them, and of their pods that run.
#include "slackline/core/cluster/lost_members.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "slackline/core/answers/explain.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/model/reason.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

constexpr double kNoticed_s = 1'000'000;

class LostMembersTest : public testing::Test {
 protected:
  LostMembersTest() {
    options_.catalog = &catalog_;
    options_.predictor = std::make_shared<const Predictor>(WorkloadProfiles{});
    options_.now_wall_s = options_.now_steady_s = kNoticed_s;
    options_.foresee = true;
  }

  // Of a PyTorchJob with a plan for so many nodes, on the node of its number.
  static Pod member(int number, int of = 2) {
    const std::string place = std::to_string(number);
    Pod pod = a_pod("t5-" + place)
                  .owned_by("PyTorchJob", "t5")
                  .gpus(4)
                  .managed()
                  .on("n" + place)
                  .started(kNoticed_s - 600 + number)
                  .build();
    pod.owner_gang =
        std::make_shared<const OwnerGang>(OwnerGang{"PyTorchJob", "t5", Uid("t5-uid"), ""});
    std::vector<std::string> nodes;
    for (int node = 1; node <= of; ++node)
      nodes.push_back("n" + std::to_string(node));
    PlanNote plan = *test::a_plan("plan-1", {of, 4}, nodes, 3600);
    plan.gpu_type = GpuType("A100");
    pod.plan = std::make_shared<const PlanNote>(plan);
    return pod;
  }
  static Pod ending(Pod pod) {
    pod.deleting = true;
    return pod;
  }
  static test::NodeBuilder node(int number) {
    return a_node("n" + std::to_string(number)).of("A100", 4);
  }

  // "": it is whole, or starts.
  std::string lost(const ClusterSnapshot& snapshot) {
    const Queue queue = make_queue(snapshot, options_, menus_);
    EXPECT_EQ(queue.size(), 1U);
    const auto found = lost_members(snapshot, queue.task(0), kNoticed_s);
    return found ? text_of(*found) : "";
  }

  const GpuCatalog catalog_ = default_gpu_catalog();
  QueueOptions options_;
  TaskMenus menus_;
};

TEST_F(LostMembersTest, AreThoseThatEndOrWhoseNodeDoesNotAnswer) {
  const auto one = a_cluster().with(node(1)).add(member(1));
  const auto two = test::ClusterBuilder(one).with(node(2));
  EXPECT_EQ(lost(test::ClusterBuilder(two).add(member(2)).build()), "");
  EXPECT_EQ(lost(test::ClusterBuilder(two).add(ending(member(2))).build()),
            "1 of 2 pods run; ending: t5-2");
  EXPECT_EQ(lost(test::ClusterBuilder(one).with(node(2).not_ready()).add(member(2)).build()),
            "1 of 2 pods run; no answer from n2");
}

TEST_F(LostMembersTest, AreThoseWhoseNodeIsGone) {
  ClusterSnapshot snapshot = a_cluster().with(node(1)).add(member(1)).build();
  snapshot.displaced.push_back(std::make_shared<const Pod>(member(2)));
  EXPECT_EQ(lost(snapshot), "1 of 2 pods run");
}

TEST_F(LostMembersTest, AreThoseThatWereLostWithinTenMinutes) {
  ClusterSnapshot snapshot = a_cluster().with(node(1)).with(node(2)).add(member(1)).build();
  EXPECT_EQ(lost(snapshot), "") << "the other may start";
  const auto lost_at = [&](double at_s) {
    Sightings seen = *snapshot.sightings;
    seen.at(member(1).uid).lost_s = at_s;
    snapshot.sightings = std::make_shared<const Sightings>(seen);
    return lost(snapshot);
  };
  EXPECT_EQ(lost_at(kNoticed_s - 5), "1 of 2 pods run");
  EXPECT_EQ(lost_at(kNoticed_s - kReplacedWithin_s), "");
}

TEST_F(LostMembersTest, AreNoneOfAGangThatEndsAsAWhole) {
  EXPECT_EQ(lost(a_cluster()
                     .with(node(1))
                     .with(node(2))
                     .add(ending(member(1)))
                     .add(ending(member(2)))
                     .build()),
            "");
}

TEST_F(LostMembersTest, OfAJobAreThoseThatEndToo) {
  const auto job = a_job("gang").of(2).gang().gpus(4).managed().planned({"n1", "n2"});
  const auto pod = [](const std::string& name, const std::string& node) {
    return a_pod(name).of_job("gang").gpus(4).managed().on(node);
  };
  const auto one = a_cluster().with(node(1)).with(node(2)).with(job).with(pod("gang-0", "n1"));
  EXPECT_EQ(lost(test::ClusterBuilder(one).with(pod("gang-1", "n2")).build()), "");
  EXPECT_EQ(lost(test::ClusterBuilder(one).with(pod("gang-1", "n2").deleting()).build()),
            "1 of 2 pods run; ending: gang-1");
}

TEST_F(LostMembersTest, LeaveTheOthersOneRunOfTheGangToWhoWaitsForThem) {
  auto waits = a_job("waits").of(2).gang().gpus(4).waiting().created(kNoticed_s);
  waits.intent().expected_duration_s = 600;
  auto cluster = a_cluster().with(waits).with(node(1)).with(node(2)).with(node(3).not_ready());
  for (int number = 1; number <= 3; ++number)
    cluster.add(member(number, 3));
  const ClusterSnapshot snapshot = cluster.build();
  const Queue queue = make_queue(snapshot, options_, menus_);
  ExplainQuestion question{.snapshot = snapshot,
                           .queue = queue,
                           .task = 0,
                           .catalog = catalog_,
                           .now_s = kNoticed_s,
                           .now_steady_s = kNoticed_s};
  while (queue.task(question.task).plan)
    ++question.task;
  const auto blockers = explain(question, reason::kWaitsItsTurn);
  ASSERT_EQ(blockers.size(), 1U);
  ASSERT_EQ(blockers[0].relief.size(), 1U);
  EXPECT_EQ(blockers[0].relief[0].task.str(), "default/t5");
  EXPECT_EQ(blockers[0].relief[0].gpus, 8);
}

}  // namespace
}  // namespace slackline::core
