// One question, one answer: several lists say the same about a task.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/query/queries.h"
#include "control/query/queue_query.h"
#include "control/query/written_book.h"
#include "slackline/core/verbs/score.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

WorkloadProfiles profiles() {
  const Coefficients fast{"S", {100, 1, 0, 0.1, 1.4}};
  const Coefficients slow{"S", {10, 0.1, 0, 0.1, 1.4}};
  return WorkloadProfiles({{"bert", GpuType("A100"), fast, 30, 12, 5.0, ""},
                           {"bert", GpuType("K80"), slow, 30, 0, {}, ""}});
}

class OneAnswerTest : public test::PlanningFixture {
 protected:
  OneAnswerTest() {
    known_.set(make_known(profiles(), Learnt{}, 1));
    planner_.set({.active = true, .leads = true, .leader = "me", .backoffs = {}});
    decisions_.catalog = default_gpu_catalog();
  }

  // What tasks, placements and queue say of the deadline of team/train.
  std::vector<std::optional<double>> deadlines(const ClusterSnapshot& snapshot) {
    const ObjectKey key{"team", "train"};
    const test::FakeSource source(snapshot);
    const Queries queries(decisions_, known_, source, nullptr, clock_, "test");
    QueueQuery queue(options_, known_, source, planner_, books_, clock_);
    std::vector<std::optional<double>> told;
    for (const TaskView& task : queries.tasks(""))
      if (task.key == key) told.push_back(task.deadline_s);
    told.push_back(queries.task(key)->deadline_s);
    told.push_back(queries.placements(key)->deadline_s);
    const QueueView view = queue.ask("");
    for (const QueueRow& row : view.rows)
      if (row.key == key) told.push_back(row.deadline_s);
    return told;
  }

  void expect_one_deadline(const ClusterSnapshot& snapshot) {
    const auto told = deadlines(snapshot);
    ASSERT_EQ(told.size(), 4U);
    ASSERT_TRUE(told.front().has_value());
    EXPECT_THAT(told, testing::Each(told.front()));
  }

  test::FakeClock clock_;
  Published<Known> known_{make_known({})};
  Published<PlannerView> planner_;
  Published<WrittenBook> books_;
  DecisionOptions decisions_;
};

TEST_F(OneAnswerTest, TheDeadlineOfAClassCountsOnTheTypesThatTheTaskAccepts) {
  auto job = a_job("team/train").gpus(2).waiting().trains("bert", 64, 1000);
  job.intent().gpu_types = {GpuType("A100")};
  expect_one_deadline(a_cluster()
                          .with(a_node("a1").of("A100", 4))
                          .with(a_node("k1").of("K80", 4))
                          .with(job)
                          .build());
}

TEST_F(OneAnswerTest, ACordonMovesNoDeadline) {
  const auto job = a_job("team/train").gpus(2).waiting().trains("bert", 64, 1000);
  auto cluster = a_cluster().with(a_node("a1").of("A100", 4)).with(job);
  auto open = cluster;
  const ClusterSnapshot before = open.with(a_node("k1").of("K80", 4)).build();
  const ClusterSnapshot after = cluster.with(a_node("k1").of("K80", 4).cordoned()).build();
  expect_one_deadline(before);
  expect_one_deadline(after);
  EXPECT_EQ(deadlines(before), deadlines(after));
}

// As the planner packs them: pods may share nodes.
TEST_F(OneAnswerTest, PlacementsAllowWhatThePlannerChooses) {
  const auto job = a_job("team/train").of(4).gang().gpus(2).waiting().trains("bert", 64, 1000);
  const test::FakeSource source(a_cluster()
                                    .with(a_node("a1").of("A100", 8))
                                    .with(a_node("a2").of("A100", 8))
                                    .with(job)
                                    .build());
  const Queries queries(decisions_, known_, source, nullptr, clock_, "test");
  std::vector<std::string> allowed;
  const auto table = queries.placements({"team", "train"});
  ASSERT_TRUE(table);
  for (const PlacementRow& row : table->rows)
    if (row.allowed) allowed.push_back(row.shape.str());
  EXPECT_THAT(allowed, testing::UnorderedElementsAre("1x8", "2x4"));
}

}  // namespace
}  // namespace slackline::control
