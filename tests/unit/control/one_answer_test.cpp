// One question, one answer: several lists say the same about a task.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/query/queries.h"
#include "control/query/queue_query.h"
#include "control/query/written_book.h"
#include "slackline/core/verbs/score.h"
#include "slackline/model/reason.h"
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
using test::ClusterBuilder;

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
    for (const ListedTask& row : queries.tasks(""))
      if (row.task.key == key) told.push_back(row.deadline_s);
    told.push_back(queries.task(key)->deadline_s);
    told.push_back(queries.placements(key)->deadline_s);
    const QueueView view = queue.ask("").value();
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

  using Names = std::vector<std::string>;

  static std::string name_of(const Task& task) {
    return format("{} {}", task.kind_name(), task.key.str());
  }

  // What is asked by its name is the very task that the queue lists, in the same state, due at the
  // same moment.
  Names names_in_queue(const ClusterSnapshot& snapshot) {
    const test::FakeSource source(snapshot);
    const Queries queries(decisions_, known_, source, nullptr, clock_, "test");
    Names names;
    const auto view = QueueQuery(options_, known_, source, planner_, books_, clock_).ask("");
    for (const QueueRow& row : view->rows) {
      names.push_back(format("{} {}", to_string(row.kind), row.key.str()));
      const auto task = queries.task(row.key);
      const auto placements = queries.placements(row.key);
      EXPECT_TRUE(task && placements) << names.back();
      if (!task || !placements) continue;
      EXPECT_EQ(name_of(task->task), names.back());
      EXPECT_EQ(task->task.state, row.state) << names.back();
      EXPECT_EQ(task->deadline_s, row.deadline_s) << names.back();
      EXPECT_EQ(placements->deadline_s, row.deadline_s) << names.back();
    }
    return names;
  }

  Names names_in_tasks(const ClusterSnapshot& snapshot) {
    const test::FakeSource source(snapshot);
    Names names;
    for (const ListedTask& row :
         Queries(decisions_, known_, source, nullptr, clock_, "test").tasks(""))
      names.push_back(name_of(row.task));
    return names;
  }

  void expect_names(const ClusterSnapshot& snapshot, const Names& names) {
    EXPECT_THAT(names_in_queue(snapshot), testing::UnorderedElementsAreArray(names));
    EXPECT_THAT(names_in_tasks(snapshot), testing::UnorderedElementsAreArray(names));
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

// The planner starts each Job by itself, whoever owns it.
TEST_F(OneAnswerTest, AJobOfAJobSetIsATaskByItself) {
  const auto job = [](const std::string& name) {
    return a_job(name).of(2).gang().gpus(2).owned_by("JobSet", "set").trains("bert", 64, 1000);
  };
  expect_names(a_cluster()
                   .with(a_node("a1").of("A100", 8))
                   .with(job("team/set-a").waiting())
                   .with(job("team/set-b").planned({"a1", "a1"}))
                   .with(a_pod("team/set-b-0").of_job("team/set-b").gpus(2).managed().on("a1"))
                   .build(),
               {"Job team/set-a", "Job team/set-b"});
}

TEST_F(OneAnswerTest, AJobWithAGangLabelIsTheJobThatThePlannerStarts) {
  const auto job = [](const std::string& name) {
    auto labelled = a_job(name).of(2).gang().gpus(2).trains("bert", 64, 1000);
    labelled.intent().gang = "g";
    return labelled;
  };
  expect_names(a_cluster()
                   .with(a_node("a1").of("A100", 8))
                   .with(job("team/waits").waiting())
                   .with(job("team/runs").planned({"a1", "a1"}))
                   .with(a_pod("team/runs-0").of_job("team/runs").gpus(2).managed().on("a1"))
                   .build(),
               {"Job team/waits", "Job team/runs"});
}

// Waiting, starting or running: the plan that its pods carry changes no name.
TEST_F(OneAnswerTest, AGangKeepsItsName) {
  const auto pod = [](const std::string& name) {
    return a_pod(name).in_gang("g", 2).gpus(2).managed().trains("bert", 64, 1000);
  };
  const auto nodes = a_cluster().with(a_node("a1").of("A100", 8));
  const ClusterBuilder waits =
      ClusterBuilder(nodes).with(pod("team/left").gated()).with(pod("team/right").gated());
  const ClusterBuilder starts = ClusterBuilder(nodes)
                                    .with(pod("team/left").gated().planned({"a1", "a1"}))
                                    .with(pod("team/right").gated().planned({"a1", "a1"}));
  const ClusterBuilder runs = ClusterBuilder(nodes)
                                  .with(pod("team/left").planned({"a1", "a1"}).on("a1"))
                                  .with(pod("team/right").planned({"a1", "a1"}).on("a1"));
  const ClusterBuilder half = ClusterBuilder(nodes)
                                  .with(pod("team/left").planned({"a1", "a1"}).on("a1"))
                                  .with(pod("team/right").planned({"a1", "a1"}));
  for (const ClusterBuilder& cluster : {waits, starts, half, runs})
    expect_names(cluster.build(), {"Gang team/g"});
}

// `tasks` counts the independent pods of a Job in one row; each of them starts by itself, and is
// found by its name.
TEST_F(OneAnswerTest, APodThatStartsByItselfIsFoundByItsName) {
  const auto pod = [](const std::string& name) {
    return a_pod(name).of_job("team/sweep").gpus(1).managed().gated().created(100);
  };
  const auto snapshot = a_cluster()
                            .with(a_node("a1").of("A100", 8))
                            .with(a_job("team/sweep").of(2).gpus(1).trains("bert", 64, 1000))
                            .with(pod("team/sweep-x"))
                            .with(pod("team/sweep-y"))
                            .build();
  EXPECT_THAT(names_in_queue(snapshot),
              testing::UnorderedElementsAre("Pod team/sweep-x", "Pod team/sweep-y"));
  EXPECT_THAT(names_in_tasks(snapshot), testing::ElementsAre("Job team/sweep"));
}

// Nodes of the type are there, but too small.
TEST_F(OneAnswerTest, ATypeWhoseNodesAreTooSmallIsNotAbsent) {
  for (const char* type : {"a100", "NVIDIA-A100-SXM4-80GB"}) {
    auto job = a_job("team/train").gpus(16).waiting();
    job.intent().gpu_types = {GpuType(type)};
    const test::FakeSource source(a_cluster().with(a_node("a1").of("A100", 8)).with(job).build());
    const auto rows = QueueQuery(options_, known_, source, planner_, books_, clock_).ask("")->rows;
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.front().reason, reason::kNoNodeFits) << type;
  }
}

}  // namespace
}  // namespace slackline::control
