// What no webhook admitted is counted by the planner itself.
#include <gtest/gtest.h>

#include "slackline/core/cluster/queue.h"
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

}  // namespace
}  // namespace slackline::core
