// What no webhook admitted is counted by the planner itself.
#include <gtest/gtest.h>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/rollout.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

class QueueLimitsTest : public testing::Test {
 protected:
  static Job job(const std::string& name, double created_s, bool admitted) {
    Job made = a_job(name).gpus(1).waiting().created(created_s).build();
    made.unproven = !admitted;
    return made;
  }
  static ClusterSnapshot cluster(const std::vector<Job>& jobs) {
    ClusterSnapshot snapshot = a_cluster().with(a_node("n1")).build();
    for (const Job& each : jobs)
      snapshot.jobs.push_back(std::make_shared<const Job>(each));
    return snapshot;
  }
  // "name reason" of each task that waits.
  std::vector<std::string> waiting(const ClusterSnapshot& snapshot) {
    QueueOptions options = planner_.options(1000);
    options.queues = &queues_;
    const Queue queue = make_queue(snapshot, options, menus_);
    std::vector<std::string> found;
    for (TaskIndex i = 0; i < queue.size(); ++i)
      if (const QueueTask& task = queue.task(i); !task.plan)
        found.push_back(task.key.name +
                        (task.hindrance ? " " + std::string(task.hindrance->reason) : ""));
    return found;
  }

  test::WorldPlanner planner_{3};
  TaskMenus menus_;
  QueueRulebook queues_;
};

TEST_F(QueueLimitsTest, WhatNobodyAdmittedComesBehindTheLimit) {
  queues_.defaults.max_pending = 2;
  const auto snapshot = cluster({job("a", 1, false), job("b", 2, false), job("c", 3, true)});
  EXPECT_EQ(waiting(snapshot), (std::vector<std::string>{"a", "b NotAdmitted", "c"}));
}

TEST_F(QueueLimitsTest, WhatWasAdmittedWasCountedThen) {
  queues_.defaults.max_pending = 1;
  const auto snapshot = cluster({job("a", 1, true), job("b", 2, true), job("c", 3, false)});
  EXPECT_EQ(waiting(snapshot), (std::vector<std::string>{"a", "b", "c NotAdmitted"}));
}

TEST_F(QueueLimitsTest, WithoutALimitAllWait) {
  const auto snapshot = cluster({job("a", 1, false), job("b", 2, false)});
  EXPECT_EQ(waiting(snapshot), (std::vector<std::string>{"a", "b"}));
}

TEST_F(QueueLimitsTest, WhatHasRunKeepsItsPlace) {
  queues_.defaults.max_pending = 1;
  Job back = job("back", 1, false);
  back.resumed = true;
  EXPECT_EQ(waiting(cluster({back, job("fresh", 2, false)})),
            (std::vector<std::string>{"back", "fresh NotAdmitted"}));
}

// One pod at a time, five of an hour each, and somebody who can wait.
TEST_F(QueueLimitsTest, AForecastLetsNobodyInBetweenTwoPodsOfAJob) {
  constexpr double kNow_s = 1000;
  constexpr double kHour_s = 3600;
  auto pod = a_pod("waves-a").of_job("waves").gpus(1).managed().on("n1").started(kNow_s);
  pod.intent().expected_duration_s = kHour_s;
  pod.intent().deadline_s = kNow_s + 7 * kHour_s;
  auto other = a_job("other").gpus(1).waiting().created(kNow_s);
  other.intent().expected_duration_s = 3 * kHour_s;
  const auto starts_s = [&](std::int64_t gpus, std::int64_t completions, bool quota) {
    auto cluster = a_cluster()
                       .with(a_node("n1").of("", gpus))
                       .with(a_job("waves").of(1, completions).gpus(1).managed().resumed())
                       .with(pod.planned({"n1"}, "waves-a"))
                       .with(other);
    if (quota) cluster.with(test::a_quota("gpus").limit(test::kGpu, 1));
    const ClusterSnapshot snapshot = cluster.build();
    QueueOptions options = planner_.options(kNow_s);
    options.foresee = true;
    const Queue queue = make_queue(snapshot, options, menus_);
    std::vector<TaskIndex> asked;
    for (TaskIndex task = 0; task < queue.size(); ++task)
      if (queue.task(task).key.name == "other") asked.push_back(task);
    RolloutOptions played;
    played.followers = followers_in(queue.state());
    played.futures = kAsPredicted;
    const Policy policy = *parse_policy("savable,headroom=0,calm=0");
    return rollout(queue.state(), kNow_s, policy, asked, played).at(0).start_s.p50() - kNow_s;
  };
  EXPECT_NEAR(starts_s(1, 2, false), 2 * kHour_s, 60);
  EXPECT_NEAR(starts_s(1, 5, false), 5 * kHour_s, 60) << "its place is kept";
  EXPECT_NEAR(starts_s(2, 2, true), 2 * kHour_s, 60);
  EXPECT_NEAR(starts_s(2, 5, true), 5 * kHour_s, 60) << "so is what its quota leaves it";
}

}  // namespace
}  // namespace slackline::core
