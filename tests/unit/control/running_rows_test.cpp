// What `slackline queue` and `slackline why` tell of runs that do not go as planned: whose
// container cannot start, whose node is cordoned, whose node has lost a GPU.
#include <algorithm>

#include <gtest/gtest.h>

#include "control/answers/answer_query.h"
#include "control/query/queue_query.h"
#include "control/query/written_book.h"
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

constexpr double kLength_s = 3600;
constexpr double kRan_s = 600;

class RunningRowsTest : public test::PlanningFixture {
 protected:
  RunningRowsTest() {
    planner_.set({.active = true, .leads = true, .leader = "me", .backoffs = {}});
  }

  // Of an hour, released ten minutes ago on n1.
  test::JobBuilder a_run() {
    auto job = a_job("runs").gpus(4).managed().planned({"n1"}, "plan-1", kLength_s);
    job.intent().expected_duration_s = kLength_s;
    return job.created(start_s()).started(start_s());
  }
  test::PodBuilder its_pod() {
    return a_pod("runs-0").of_job("runs").gpus(4).managed().on("n1").started(start_s());
  }
  test::JobBuilder waits(std::int64_t gpus) {
    auto job = a_job("waits").gpus(gpus).waiting().created(clock_.wall_s());
    job.intent().expected_duration_s = 600;
    return job;
  }
  double start_s() const { return clock_.wall_s() - kRan_s; }

  QueueRow row(const ClusterSnapshot& snapshot, const std::string& name) {
    const test::FakeSource source(snapshot);
    QueueQuery query(options_, known_, source, planner_, books_, clock_);
    const QueueView view = query.ask("").value();
    for (const QueueRow& row : view.rows)
      if (row.key.name == name) return row;
    return {};
  }
  ExplainView why(const ClusterSnapshot& snapshot, const std::string& name) {
    const test::FakeSource source(snapshot);
    AnswerQuery query(options_, known_, source, planner_, books_, clock_);
    return query.explain({"default", name}, "", Viewer()).value();
  }

  test::FakeClock clock_;
  Published<PlannerView> planner_;
  Published<WrittenBook> books_;
};

TEST_F(RunningRowsTest, OneWhoseContainerCannotStartSaysSoAndHasDoneNothing) {
  const std::string why_not = "ImagePullBackOff: Back-off pulling image \"registry/train:v2\"";
  const ClusterSnapshot snapshot =
      a_cluster().with(a_node("n1")).with(a_run()).with(its_pod().not_starting(why_not)).build();
  const QueueRow run = row(snapshot, "runs");
  EXPECT_EQ(run.state, TaskState::kRunning);
  EXPECT_EQ(run.reason, reason::kPodsNotStarting);
  ASSERT_TRUE(run.finish_s && run.progress);
  EXPECT_NEAR(*run.finish_s, clock_.wall_s() + kLength_s, 1) << "as if it began now";
  EXPECT_NEAR(*run.progress, 0, 1e-9);
  const ExplainView told = why(snapshot, "runs");
  ASSERT_EQ(told.blockers.size(), 1U);
  EXPECT_EQ(told.blockers[0].reason, reason::kPodsNotStarting);
  EXPECT_EQ(told.blockers[0].detail, "runs-0 on n1: " + why_not);
}

TEST_F(RunningRowsTest, APodThatNobodyPlannedBeginsWhenItStarts) {
  auto job = a_job("theirs").gpus(4);
  job.intent().expected_duration_s = kLength_s;
  const auto starts_in_s = [&](const std::string& why_not) {
    const auto pod = a_pod("theirs-0").of_job("theirs").gpus(4).on("n1").started(start_s());
    const auto cluster = a_cluster().with(a_node("n1")).with(job.created(0)).with(waits(4));
    const QueueRow found =
        row(test::ClusterBuilder(cluster)
                .with(why_not.empty() ? pod : test::PodBuilder(pod).not_starting(why_not))
                .build(),
            "waits");
    return found.start_s.value_or(0) - clock_.wall_s();
  };
  EXPECT_LT(starts_in_s(""), kLength_s);
  EXPECT_GE(starts_in_s("ErrImagePull"), kLength_s);
}

TEST_F(RunningRowsTest, OneOnACordonedNodeEndsAsPlanned) {
  const auto cordoned = a_cluster().with(a_node("n1").cordoned()).with(its_pod());
  const QueueRow run = row(test::ClusterBuilder(cordoned).with(a_run()).build(), "runs");
  EXPECT_EQ(run.start_s, start_s());
  EXPECT_EQ(run.finish_s, start_s() + kLength_s);
  EXPECT_EQ(run.reason, "");
  const auto limited = a_run().limited(900);
  const QueueRow ends = row(test::ClusterBuilder(cordoned).with(limited).build(), "runs");
  EXPECT_EQ(ends.finish_s, start_s() + 900);
  EXPECT_TRUE(ends.cut_short);
  ASSERT_TRUE(ends.progress);
  EXPECT_NEAR(*ends.progress, kRan_s / kLength_s, 1e-9) << "of its work, not of its limit";
}

TEST_F(RunningRowsTest, OneOnACordonedNodeIsOneOfItsQueueUntilItEnds) {
  Settings settings = *settings_.get();
  settings.queues.defaults.max_running = 1;
  settings_.set(settings);
  const ClusterSnapshot snapshot = a_cluster()
                                       .with(a_node("n1").cordoned())
                                       .with(a_node("n2"))
                                       .with(a_run())
                                       .with(its_pod())
                                       .with(waits(4))
                                       .build();
  const QueueRow waiting = row(snapshot, "waits");
  EXPECT_EQ(waiting.reason, reason::kShareExceeded);
  ASSERT_TRUE(waiting.start_s) << waiting.forecast;
  EXPECT_NEAR(*waiting.start_s, start_s() + kLength_s, 1);
}

TEST_F(RunningRowsTest, WhatItsTimeLimitWillEndIsNotNearlyDone) {
  const ClusterSnapshot snapshot = a_cluster()
                                       .with(a_node("n1"))
                                       .with(a_run().limited(static_cast<int>(kRan_s) + 60))
                                       .with(its_pod())
                                       .build();
  const QueueRow run = row(snapshot, "runs");
  ASSERT_TRUE(run.finish_s && run.progress);
  EXPECT_TRUE(run.cut_short);
  EXPECT_NEAR(*run.finish_s, start_s() + kRan_s + 60, 1);
  EXPECT_NEAR(*run.progress, kRan_s / kLength_s, 1e-9);
  const ExplainView told = why(snapshot, "runs");
  EXPECT_EQ(told.eta.standing, "misses");
  ASSERT_EQ(told.hints.size(), 1U);
  EXPECT_NE(told.hints.front().find("spec.activeDeadlineSeconds: the Job is ended after"),
            std::string::npos);
}

// The other node of the gang is still there: its GPUs come free when the gang ends.
TEST_F(RunningRowsTest, AGangOfWhichOneNodeIsCordonedEndsForThoseWhoWait) {
  auto gang = a_run().of(2).gang().planned({"n1", "n2"}, "plan-1", kLength_s);
  auto cluster = a_cluster().with(a_node("n1")).with(a_node("n2").cordoned());
  cluster.with(gang).with(its_pod()).with(waits(4));
  cluster.with(a_pod("runs-1").of_job("runs").gpus(4).managed().on("n2").started(start_s()));
  const ClusterSnapshot snapshot = cluster.build();
  const QueueRow run = row(snapshot, "runs");
  EXPECT_EQ(run.finish_s, start_s() + kLength_s);
  ASSERT_TRUE(run.progress);
  EXPECT_NEAR(*run.progress, kRan_s / kLength_s, 1e-9);
  const QueueRow waiting = row(snapshot, "waits");
  ASSERT_TRUE(waiting.start_s) << waiting.forecast;
  EXPECT_NEAR(*waiting.start_s, start_s() + kLength_s, kLength_s / 4);
  const ExplainView told = why(snapshot, "waits");
  ASSERT_FALSE(told.blockers.empty());
  ASSERT_FALSE(told.blockers[0].relief.empty());
  EXPECT_EQ(told.blockers[0].relief[0].task, "default/runs");
}

TEST_F(RunningRowsTest, WhatHasNotStartedYetHasDoneNothing) {
  const ClusterSnapshot snapshot = a_cluster().with(a_node("n1")).with(a_run()).build();
  const QueueRow run = row(snapshot, "runs");
  EXPECT_EQ(run.state, TaskState::kStarting);
  EXPECT_FALSE(run.progress);
}

TEST_F(RunningRowsTest, WhoNeedsTheGpusOfANodeThatLostOneWaitsForItsRun) {
  const ClusterSnapshot snapshot =
      a_cluster().with(a_node("n1").of("", 3)).with(a_run()).with(its_pod()).with(waits(2)).build();
  EXPECT_EQ(row(snapshot, "runs").finish_s, start_s() + kLength_s);
  const QueueRow waiting = row(snapshot, "waits");
  ASSERT_TRUE(waiting.start_s) << waiting.forecast;
  EXPECT_NEAR(*waiting.start_s, start_s() + kLength_s, kLength_s / 2);
}

// Ten pods, two at a time, of an hour each: after those of today come two times two more.
TEST_F(RunningRowsTest, APodIsDueByTheTimeThatLeavesThoseAfterItInTime) {
  const double now_s = clock_.wall_s();
  const auto due_in_s = [&](std::int64_t succeeded) {
    auto array = a_job("array").of(2, 10).gpus(1).managed().resumed().succeeded(succeeded);
    array.intent().expected_duration_s = kLength_s;
    auto pod = a_pod("array-a").of_job("array").gpus(1).gated().managed();
    pod.intent().expected_duration_s = kLength_s;
    pod.intent().deadline_s = now_s + 4 * kLength_s;
    const QueueRow waits =
        row(a_cluster().with(a_node("n1")).with(array.created(now_s)).with(pod).build(), "array-a");
    EXPECT_NEAR(waits.margin_s.value_or(0), *waits.deadline_s - now_s - kLength_s, 1);
    return *waits.deadline_s - now_s;
  };
  EXPECT_NEAR(due_in_s(4), 2 * kLength_s, 1);
  EXPECT_NEAR(due_in_s(5), 2 * kLength_s, 1);
  EXPECT_NEAR(due_in_s(6), 3 * kLength_s, 1);
  EXPECT_NEAR(due_in_s(8), 4 * kLength_s, 1);
  EXPECT_NEAR(due_in_s(9), 4 * kLength_s, 1);
}

// Its pods come one after the other, and are due before those who have no deadline.
TEST_F(RunningRowsTest, WhatAJobMakesLaterTakesGpusBeforeThoseWhoCanWait) {
  const double ends_s = start_s() + kLength_s;
  const auto start_of_last = [&](std::int64_t completions) {
    auto array = a_job("array").of(4, completions).gpus(1).managed().resumed();
    auto cluster = a_cluster().with(a_node("n1")).with(array.created(start_s()));
    for (const char* name : {"array-a", "array-b", "array-c", "array-d"}) {
      auto pod = a_pod(name).of_job("array").gpus(1).managed().on("n1").started(start_s());
      pod.intent().expected_duration_s = kLength_s;
      pod.intent().deadline_s = ends_s + 20 * kLength_s;
      cluster.with(pod.planned({"n1"}, name));
    }
    for (const char* name : {"w1", "w2", "w3", "w4", "w5"}) {
      auto job = a_job(name).gpus(1).waiting().created(clock_.wall_s() + name[1]);
      job.intent().expected_duration_s = 600;
      cluster.with(job);
    }
    const ClusterSnapshot snapshot = cluster.build();
    const double first_s = row(snapshot, "w1").start_s.value_or(0);
    if (completions > 4)
      EXPECT_GT(first_s, ends_s + kLength_s - 60) << "their places are kept for the next ones";
    else
      EXPECT_LT(first_s, ends_s + 60) << "it finds them free";
    return row(snapshot, "w5").start_s.value_or(0) - ends_s;
  };
  EXPECT_LT(start_of_last(4), 660) << "it makes no more";
  const double of_two_behind_each = start_of_last(12);
  EXPECT_GT(of_two_behind_each, 1.8 * kLength_s);
  EXPECT_LT(start_of_last(11), of_two_behind_each - 1000) << "one place is free earlier";
}

// Three days are more than the two that are forecast where all runs are short.
TEST_F(RunningRowsTest, WhoWaitsForARunOfDaysIsToldWhen) {
  constexpr double kDay_s = 86400;
  const auto row_of = [&](double lasts_s, double due_s) {
    auto run = a_job("runs").gpus(4).managed().planned({"n1"}, "plan-1", 3 * kDay_s);
    run.intent().expected_duration_s = 3 * kDay_s;
    auto next = waits(4);
    next.intent().expected_duration_s = lasts_s;
    next.intent().deadline_s = start_s() + due_s;
    return row(a_cluster()
                   .with(a_node("n1"))
                   .with(run.created(start_s()).started(start_s()))
                   .with(its_pod())
                   .with(next)
                   .build(),
               "waits");
  };
  const QueueRow soon = row_of(600, 10 * kDay_s);
  ASSERT_TRUE(soon.start_s && soon.finish_s && soon.chance);
  EXPECT_NEAR(*soon.start_s, start_s() + 3 * kDay_s, 0.3 * kDay_s);
  EXPECT_EQ(*soon.chance, 1);
  const QueueRow later = row_of(20 * kDay_s, 30 * kDay_s);
  ASSERT_TRUE(later.finish_s && later.chance);
  EXPECT_GT(*later.chance, 0.8);
}

// What a run of one GPU gives back is the GPU that its node has lost.
TEST_F(RunningRowsTest, AnEndThatGivesBackALostGpuHelpsNobody) {
  auto small = a_job("small").gpus(1).managed().planned({"n1"}, "plan-2", 1200);
  small.intent().expected_duration_s = 1200;
  small.created(start_s()).started(start_s());
  auto large = a_job("runs").gpus(3).managed().planned({"n1"}, "plan-1", kLength_s);
  large.intent().expected_duration_s = kLength_s;
  const auto cluster =
      a_cluster()
          .with(large.created(start_s()).started(start_s()))
          .with(a_pod("runs-0").of_job("runs").gpus(3).managed().on("n1").started(start_s()))
          .with(small)
          .with(a_pod("small-0").of_job("small").gpus(1).managed().on("n1").started(start_s()))
          .with(waits(1));
  const auto starts_after_s = [&](int gpus) {
    const ClusterSnapshot snapshot =
        test::ClusterBuilder(cluster).with(a_node("n1").of("", gpus)).build();
    return row(snapshot, "waits").start_s.value_or(0) - start_s();
  };
  EXPECT_NEAR(starts_after_s(4), 1200, 400);
  EXPECT_NEAR(starts_after_s(3), kLength_s, 600);
  const ExplainView told =
      why(test::ClusterBuilder(cluster).with(a_node("n1").of("", 3)).build(), "waits");
  ASSERT_FALSE(told.blockers.empty());
  EXPECT_EQ(told.blockers[0].relief.back().task, "default/runs");
}

// Three GPUs are free beside it, and too little memory.
TEST_F(RunningRowsTest, WhoFindsGpusButNoMemoryBesideThemStartsWhenTheRunLeavesIt) {
  auto large = a_job("runs").gpus(1).managed().planned({"n1"}, "plan-1", kLength_s);
  large.intent().expected_duration_s = kLength_s;
  const auto pod = a_pod("runs-0").of_job("runs").gpus(1).memory(200 * test::kGiB);
  const auto cluster = a_cluster()
                           .with(a_node("n1"))
                           .with(large.created(start_s()).started(start_s()))
                           .with(test::PodBuilder(pod).managed().on("n1").started(start_s()));
  const auto asks = [&](const std::string& memory) {
    ContainerAmounts amounts;
    amounts.memory_request = memory;
    return test::ClusterBuilder(cluster).with(waits(1).amounts(amounts)).build();
  };
  EXPECT_EQ(row(asks("50Gi"), "waits").start_s, clock_.wall_s());
  const ClusterSnapshot snapshot = asks("100Gi");
  EXPECT_NEAR(row(snapshot, "waits").start_s.value_or(0), start_s() + kLength_s, 1);
  const ExplainView told = why(snapshot, "waits");
  ASSERT_FALSE(told.blockers.empty());
  EXPECT_EQ(told.blockers[0].what, "CPU, memory or another resource beside free GPUs");
  EXPECT_EQ(told.blockers[0].detail, "n1 has 56Gi memory free, and a pod asks for 100Gi");
}

// A run of four pods that nobody planned ends as one: not later than one of a single pod.
TEST_F(RunningRowsTest, WhoWaitsForAGangThatNobodyPlannedWaitsNoLongerForItsLastPod) {
  const auto starts_s = [&](int pods) {
    auto job = a_job("theirs").of(pods).gang().gpus(8 / pods);
    job.intent().expected_duration_s = kLength_s;
    auto cluster = a_cluster().with(a_node("n1").of("", 8)).with(job.created(0)).with(waits(8));
    for (int i = 0; i < pods; ++i)
      cluster.with(a_pod("theirs-" + std::to_string(i))
                       .of_job("theirs")
                       .gpus(8 / pods)
                       .on("n1")
                       .started(start_s()));
    return row(cluster.build(), "waits").start_s.value_or(0) - clock_.wall_s();
  };
  EXPECT_NEAR(starts_s(8), starts_s(1), 0.05 * kLength_s);
}

// GPUs are free for all of them.
TEST_F(RunningRowsTest, WhoWaitTogetherForTheCpuOfANodeStartOneAfterAnother) {
  const auto asks = [&](const char* name, std::int64_t cpus) {
    auto job = a_job(name).gpus(1).cpus(cpus).waiting().created(clock_.wall_s());
    job.intent().expected_duration_s = kLength_s;
    job.intent().deadline_s = clock_.wall_s() + 1.5 * kLength_s;
    return job;
  };
  const ClusterSnapshot snapshot = a_cluster()
                                       .with(a_node("n1").of("", 8).cpus(64))
                                       .with(asks("a", 40))
                                       .with(asks("b", 40))
                                       .with(asks("c", 40))
                                       .with(asks("small", 4))
                                       .build();
  std::vector<double> after_s;
  for (const char* name : {"a", "b", "c"})
    after_s.push_back(row(snapshot, name).start_s.value_or(0) - clock_.wall_s());
  std::sort(after_s.begin(), after_s.end());
  EXPECT_NEAR(after_s[0], 0, 1);
  EXPECT_NEAR(after_s[1], kLength_s, 0.2 * kLength_s);
  EXPECT_NEAR(after_s[2], 2 * kLength_s, 0.4 * kLength_s);
  EXPECT_EQ(row(snapshot, "small").start_s, clock_.wall_s());
  EXPECT_TRUE(row(snapshot, "c").predicted_late() || row(snapshot, "b").predicted_late());
}

TEST_F(RunningRowsTest, WhatItsTimeLimitEndsBeforeItIsDoneHasNoChance) {
  auto task = waits(1);
  task.intent().deadline_s = clock_.wall_s() + kLength_s;
  const auto limited = [&](std::int64_t limit_s) {
    return a_cluster().with(a_node("n1")).with(task.limited(limit_s)).build();
  };
  EXPECT_EQ(row(limited(900), "waits").chance, 1);
  EXPECT_FALSE(row(limited(900), "waits").cut_short);
  const QueueRow fails = row(limited(300), "waits");
  EXPECT_EQ(fails.chance, 0);
  EXPECT_TRUE(fails.predicted_late() && fails.cut_short);
  EXPECT_EQ(fails.finish_s, clock_.wall_s() + 300);
  EXPECT_FALSE(fails.margin_s) << "it ends in time, and is not done";
  const ExplainView told = why(limited(300), "waits");
  EXPECT_EQ(told.eta.standing, "misses");
  ASSERT_EQ(told.hints.size(), 1U);
  EXPECT_EQ(told.hints[0].rfind("spec.activeDeadlineSeconds: the Job is ended after 5m00s, and its "
                                "run takes 10m00s",
                                0),
            0U)
      << told.hints[0];
}

TEST_F(RunningRowsTest, RulesThatAreKubeSchedulersAloneAreNamed) {
  SchedulingConstraints constraints;
  constraints.has_volume_claims = constraints.has_pod_affinity = true;
  const auto told = [&](const test::JobBuilder& job) {
    return why(a_cluster().with(a_node("n1")).with(job).build(), "waits").hints;
  };
  EXPECT_TRUE(told(waits(1)).empty());
  const auto hints = told(waits(1).constrained(constraints));
  ASSERT_EQ(hints.size(), 2U);
  EXPECT_EQ(hints[0].rfind("volumes: of its PersistentVolumeClaims those count that are bound", 0),
            0U);
  EXPECT_EQ(hints[1].rfind("affinity: of its rules about other pods", 0), 0U);
}

TEST_F(RunningRowsTest, WhatTheLeaderKeepsForATaskIsNamed) {
  const auto snapshot =
      a_cluster().with(a_node("n1")).with(a_run()).with(its_pod()).with(waits(4)).build();
  EXPECT_EQ(row(snapshot, "waits").reason, reason::kWaitsItsTurn);
  PlannerView view = *planner_.get();
  view.kept = {{test::job_uid("waits"), {NodeName("n1")}}};
  planner_.set(view);
  EXPECT_EQ(row(snapshot, "waits").reason, reason::kWaitsForRoom);
  EXPECT_EQ(row(snapshot, "waits").nodes, std::vector{NodeName("n1")});
  const ExplainView told = why(snapshot, "waits");
  ASSERT_FALSE(told.blockers.empty());
  EXPECT_EQ(told.blockers[0].reason, reason::kWaitsForRoom);
  EXPECT_EQ(told.blockers[0].detail, "kept for it: n1");
}

// A stopped run of which a pod has half a minute left.
TEST_F(RunningRowsTest, WhoWasReleasedToWaitForAStopStartsWhenItsPodsHaveEnded) {
  const double now_s = clock_.wall_s();
  auto cluster = a_cluster().with(a_node("n1")).with(a_run().started(now_s));
  cluster.with(a_job("stops").gpus(4).waiting().stopped(1, now_s - 5));
  cluster.with(a_pod("stops-0").of_job("stops").gpus(4).managed().on("n1").gone_by(now_s + 30));
  cluster.with(a_pod("runs-0").of_job("runs").gpus(4).managed().nominated("n1"));
  ClusterSnapshot snapshot = cluster.build();
  Job stopped = *snapshot.find_job("default", "stops");
  PreemptionNote note = *stopped.preemptions;
  note.nodes = {NodeName("n1")};
  stopped.preemptions = std::make_shared<const PreemptionNote>(std::move(note));
  snapshot.jobs.back() = std::make_shared<const Job>(std::move(stopped));
  const QueueRow starting = row(snapshot, "runs");
  EXPECT_EQ(starting.state, TaskState::kStarting);
  EXPECT_EQ(starting.reason, reason::kWaitingForPreempted);
  EXPECT_NEAR(starting.start_s.value_or(0), now_s + 30, 1);
  EXPECT_NEAR(starting.finish_s.value_or(0), now_s + 30 + kLength_s, 1);
  const ExplainView told = why(snapshot, "runs");
  ASSERT_EQ(told.blockers.size(), 1U);
  EXPECT_EQ(told.blockers[0].reason, reason::kWaitingForPreempted);
}

TEST_F(RunningRowsTest, AGangThatNodesOfTwoSizesHoldWaitsForThem) {
  auto cluster = a_cluster().with(a_run()).with(its_pod());
  for (const auto& [node, gpus] : {std::pair("n1", 4), {"n2", 4}, {"n3", 8}, {"n4", 8}})
    cluster.with(a_node(node).of("A100", gpus));
  auto gang = a_job("waits").of(6).gang().gpus(4).waiting().created(clock_.wall_s());
  gang.intent().expected_duration_s = 600;
  const QueueRow waits = row(test::ClusterBuilder(cluster).with(gang).build(), "waits");
  EXPECT_FALSE(waits.blocked) << waits.reason;
  EXPECT_EQ(waits.shape, (Placement{6, 4}));
  EXPECT_NEAR(waits.start_s.value_or(0), start_s() + kLength_s, kLength_s / 2);
  auto hungry = gang;  // a node of four has CPUs for one of them, if any
  hungry.cpus(33).gpus(2).of(10);
  const ClusterSnapshot never = test::ClusterBuilder(cluster).with(hungry).build();
  EXPECT_TRUE(row(never, "waits").blocked);
  const ExplainView told = why(never, "waits");
  ASSERT_FALSE(told.blockers.empty());
  EXPECT_NE(told.blockers[0].detail.find(" cpu and "), std::string::npos)
      << told.blockers[0].detail;
}

// Of the types that it names in order, one is busy, or could never take it.
TEST_F(RunningRowsTest, ATypeThatIsBusyIsWaitedForAndOneThatCouldNotTakeItIsNot) {
  auto task = waits(1);
  task.intent().gpu_types = {GpuType("T4"), GpuType("A100")};
  const auto both = a_cluster().with(a_node("a1").of("A100", 4));
  const auto busy = test::ClusterBuilder(both)
                        .with(a_node("n1").of("T4", 4))
                        .with(a_run())
                        .with(its_pod())
                        .with(task)
                        .build();
  EXPECT_GE(row(busy, "waits").start_s.value_or(0), clock_.wall_s() + 1700);
  const ExplainView told = why(busy, "waits");
  ASSERT_FALSE(told.blockers.empty());
  EXPECT_EQ(told.blockers[0].what, "T4 GPUs on one node");
  EXPECT_EQ(told.blockers[0].detail.find("A100 has room, and is open to it from "), 0U)
      << told.blockers[0].detail;
  const bool offered =
      std::any_of(told.changes.begin(), told.changes.end(),
                  [](const ChangeView& change) { return change.what == "gpu-types: A100"; });
  EXPECT_TRUE(offered);
  const auto small = test::ClusterBuilder(both).with(a_node("n1").of("T4", 4).cpus(6));
  EXPECT_EQ(row(test::ClusterBuilder(small).with(task.cpus(20)).build(), "waits").start_s,
            clock_.wall_s());
}

TEST_F(RunningRowsTest, AGangThatNeedsMoreNodesThanAreLargeEnoughNeverStarts) {
  const auto never = [&](test::JobBuilder job) {
    const auto cluster =
        a_cluster().with(a_node("n1").of("K80", 8)).with(a_node("n2").of("K80", 4));
    const ClusterSnapshot snapshot =
        test::ClusterBuilder(cluster).with(job.created(clock_.wall_s()).waiting()).build();
    const QueueRow waits = row(snapshot, "waits");
    EXPECT_EQ(waits.blocked, waits.reason == reason::kNoNodeFits);
    const ExplainView told = why(snapshot, "waits");
    return waits.blocked && !told.blockers.empty() ? told.blockers[0].detail : "";
  };
  EXPECT_EQ(never(a_job("waits").of(2).gang().gpus(4)), "");
  EXPECT_EQ(never(a_job("waits").of(3).gang().gpus(4)), "") << "two of them on n1";
  EXPECT_EQ(never(a_job("waits").of(2).gang().gpus(8)),
            "it needs 2 nodes with 8 GPUs each, and 1 of those that it may use is large enough");
  EXPECT_EQ(never(a_job("waits").of(4).gang().gpus(4)),
            "it needs 2 nodes with 8 GPUs each, and 1 of those that it may use is large enough");
}

TEST_F(RunningRowsTest, APodOfTwoGpuResourcesNeedsANodeWithBoth) {
  const auto apart = a_cluster()
                         .with(a_node("n1").of("", 4))
                         .with(a_node("n2").of("", 0).resource("amd.com/gpu", 4))
                         .with(waits(1).gpus(1, "amd.com/gpu"));
  const ClusterSnapshot snapshot = test::ClusterBuilder(apart).build();
  EXPECT_EQ(row(snapshot, "waits").reason, reason::kNoNodeFits);
  const ExplainView told = why(snapshot, "waits");
  ASSERT_FALSE(told.blockers.empty());
  EXPECT_NE(told.blockers[0].detail.find("it needs a node with 1 GPU and 1 "), std::string::npos)
      << told.blockers[0].detail;
  const auto both = a_node("n3").of("", 1).resource("amd.com/gpu", 1);
  const QueueRow fits = row(test::ClusterBuilder(apart).with(both).build(), "waits");
  EXPECT_EQ(fits.start_s, clock_.wall_s()) << fits.reason;
}

TEST_F(RunningRowsTest, TooFewNodesForPodsThatStayApartAreCounted) {
  SchedulingConstraints apart;
  apart.own_spread.most = 1;
  const auto gang = a_job("gang").gpus(1).of(3).gang().constrained(apart).waiting();
  const auto two = a_cluster().with(a_node("n1")).with(a_node("n2")).with(gang);
  EXPECT_EQ(row(test::ClusterBuilder(two).build(), "gang").reason, reason::kNoNodeFits);
  const auto said = [&](const ClusterSnapshot& snapshot) {
    const ExplainView told = why(snapshot, "gang");
    return told.blockers.empty() ? "" : told.blockers[0].detail;
  };
  const std::string few =
      "its anti-affinity or host ports allow 1 of its pods on a node: it needs 3 nodes, and 2 "
      "nodes may take one";
  EXPECT_EQ(said(test::ClusterBuilder(two).build()), few);
  auto of_type = a_job("gang").gpus(1).of(3).gang().constrained(apart).waiting();
  of_type.intent().gpu_types = {GpuType("A100")};
  EXPECT_EQ(said(a_cluster()
                     .with(a_node("n1").of("A100", 4))
                     .with(a_node("n2").of("A100", 4))
                     .with(a_node("other").of("T4", 8))
                     .with(of_type)
                     .build()),
            few);
  EXPECT_EQ(row(test::ClusterBuilder(two).with(a_node("n3")).build(), "gang").reason,
            reason::kWaitsItsTurn);
}

TEST_F(RunningRowsTest, WhoHoldsTheGpusIsNamedBeItPlannedOrNot) {
  const auto holder = [&](const test::PodBuilder& pod) {
    const auto cluster = a_cluster().with(a_node("n1")).with(waits(4));
    const ExplainView told = why(test::ClusterBuilder(cluster).with(pod).build(), "waits");
    const bool named = !told.blockers.empty() && !told.blockers[0].relief.empty();
    return named ? told.blockers[0].relief[0].task : "";
  };
  EXPECT_EQ(holder(a_pod("notebook").gpus(4).on("n1")), "default/notebook");
  EXPECT_EQ(holder(a_pod("theirs-0").of_job("theirs").gpus(4).on("n1")), "default/theirs");
}

TEST_F(RunningRowsTest, AGangThatHasLostAMemberSaysSoAndItsEndIsOpen) {
  const auto member = [&](const std::string& name, const std::string& node) {
    auto pod = a_pod(name).in_gang("t5", 2).gpus(4).managed().planned({"n1", "n2"}).on(node);
    pod.intent().expected_duration_s = kLength_s;
    return pod.created(start_s()).started(start_s());
  };
  const auto one = a_cluster().with(a_node("n1")).with(member("t5-1", "n1"));
  const auto both = test::ClusterBuilder(one).with(member("t5-2", "n2"));
  const QueueRow whole = row(test::ClusterBuilder(both).with(a_node("n2")).build(), "t5");
  EXPECT_EQ(whole.reason, "");
  ASSERT_TRUE(whole.finish_s);
  const ClusterSnapshot ending = test::ClusterBuilder(one)
                                     .with(a_node("n2"))
                                     .with(member("t5-2", "n2").gone_by(clock_.wall_s() + 30))
                                     .build();
  const QueueRow run = row(ending, "t5");
  EXPECT_EQ(run.reason, reason::kReplacementWaits);
  EXPECT_FALSE(run.finish_s);
  EXPECT_EQ(run.finish_after_s, whole.finish_s);
  const ExplainView told = why(ending, "t5");
  ASSERT_EQ(told.blockers.size(), 1U);
  EXPECT_EQ(told.blockers[0].reason, reason::kReplacementWaits);
  EXPECT_EQ(told.blockers[0].detail, "1 of 2 pods run; ending: t5-2");
  const QueueRow silent =
      row(test::ClusterBuilder(both).with(a_node("n2").not_ready()).build(), "t5");
  EXPECT_EQ(silent.reason, reason::kReplacementWaits);
  EXPECT_FALSE(silent.finish_s);
}

TEST_F(RunningRowsTest, WhatServesDoesNotEndInForecasts) {
  const auto beside = [&](const test::PodBuilder& pod) {
    return a_cluster().with(a_node("n1")).with(pod).with(waits(4)).build();
  };
  const auto of = [&](const char* kind) {
    return a_pod("web-0").owned_by(kind, "web").gpus(4).on("n1").started(start_s());
  };
  for (const char* kind : {"ReplicaSet", "StatefulSet", "DaemonSet"}) {
    const QueueRow waiting = row(beside(of(kind)), "waits");
    EXPECT_FALSE(waiting.start_s) << kind;
    EXPECT_EQ(waiting.forecast, reason::kBeyondHorizon) << kind;
    const ExplainView told = why(beside(of(kind)), "waits");
    ASSERT_FALSE(told.blockers.empty());
    EXPECT_EQ(told.blockers[0].reason, reason::kWaitsItsTurn);
    EXPECT_TRUE(told.blockers[0].relief.empty()) << "it leaves nothing";
    EXPECT_FALSE(told.blockers[0].ends.p50_s);
    EXPECT_NE(told.blockers[0].detail.find("4 of these GPUs are held by pods that do not end"),
              std::string::npos)
        << told.blockers[0].detail;
  }
  EXPECT_TRUE(row(beside(of("ReplicaSet").gone_by(clock_.wall_s() + 30)), "waits").start_s);
  EXPECT_TRUE(row(beside(of("PyTorchJob")), "waits").start_s) << "of unknown length";
}

// Nine in ten of them, where nobody has foreseen its end.
TEST_F(RunningRowsTest, TheEndOfARunOfUnknownLengthIsUncertain) {
  const auto pod = a_pod("theirs-0").gpus(4).on("n1").started(start_s());
  const ExplainView told =
      why(a_cluster().with(a_node("n1")).with(pod).with(waits(4)).build(), "waits");
  ASSERT_FALSE(told.blockers.empty());
  ASSERT_TRUE(told.blockers[0].ends.p50_s && told.blockers[0].ends.p90_s);
  const double p50_s = *told.blockers[0].ends.p50_s - clock_.wall_s();
  EXPECT_NEAR(*told.blockers[0].ends.p90_s - clock_.wall_s(), 3.6 * p50_s, 0.1 * p50_s);
}

TEST_F(RunningRowsTest, WhatDependsOnOthersStartsInForecastsOnceTheyHaveFinished) {
  const auto after = [&](const std::string& name, std::vector<std::string> others) {
    auto job = a_job(name).gpus(4).waiting().created(clock_.wall_s());
    job.intent().expected_duration_s = 600;
    job.intent().depends_on = std::move(others);
    job.intent().deadline_s = start_s() + 1.5 * kLength_s;  // for one of them after the run
    return job;
  };
  const ClusterSnapshot snapshot = a_cluster()
                                       .with(a_node("n1"))
                                       .with(a_run())
                                       .with(its_pod())
                                       .with(a_job("copies").gpus(0).of(1))
                                       .with(after("last", {"next", "runs"}))
                                       .with(after("next", {"runs"}))
                                       .with(after("unknown", {"copies", "runs"}))
                                       .with(after("behind", {"unknown"}))
                                       .build();
  const double ends_s = start_s() + kLength_s;
  const QueueRow next = row(snapshot, "next");
  EXPECT_EQ(next.reason, reason::kDependencyPending);
  ASSERT_TRUE(next.start_s && next.finish_s && next.chance);
  EXPECT_NEAR(*next.start_s, ends_s, 2);
  EXPECT_NEAR(*next.finish_s, ends_s + 600, 10);
  EXPECT_GT(*next.chance, 0.7);
  const QueueRow last = row(snapshot, "last");
  ASSERT_TRUE(last.start_s && last.chance);
  EXPECT_NEAR(*last.start_s, ends_s + 600, 300) << "by the median of the futures";
  EXPECT_LT(*last.chance, *next.chance);
  for (const char* name : {"unknown", "behind"})
    EXPECT_FALSE(row(snapshot, name).start_s) << name;
}

// As in shadow mode.
TEST_F(RunningRowsTest, WhatDependsOnARunWithoutAPlanStartsInForecastsOnceThatHasFinished) {
  auto run = a_job("runs").gpus(4).created(start_s()).started(start_s());
  run.intent().expected_duration_s = kLength_s;
  auto next = a_job("next").gpus(4).waiting().created(clock_.wall_s());
  next.intent().expected_duration_s = 600;
  next.intent().depends_on = {"runs"};
  const auto behind = [&](const test::JobBuilder& job) {
    return a_cluster()
        .with(a_node("n1"))
        .with(job)
        .with(a_pod("runs-0").of_job("runs").gpus(4).on("n1").started(start_s()))
        .with(next)
        .build();
  };
  const double ends_s = start_s() + kLength_s;
  const QueueRow follower = row(behind(run), "next");
  EXPECT_EQ(follower.reason, reason::kDependencyPending);
  ASSERT_TRUE(follower.start_s) << follower.forecast;
  EXPECT_NEAR(*follower.start_s, ends_s, 2);
  const ExplainView told = why(behind(run), "next");
  ASSERT_FALSE(told.blockers.empty());
  ASSERT_TRUE(told.blockers[0].ends.p50_s);
  EXPECT_NEAR(*told.blockers[0].ends.p50_s, ends_s, 2);
  EXPECT_FALSE(row(behind(run.of(2)), "next").start_s) << "a pod of it does not run";
  const QueueRow let_go = row(behind(run.of(1).managed()), "next");
  ASSERT_TRUE(let_go.start_s) << "that is a task of the queue: " << let_go.forecast;
  EXPECT_NEAR(*let_go.start_s, ends_s, 2);
}

// Its GPUs are free a moment before its Job has succeeded.
TEST_F(RunningRowsTest, WhoWaitsForTheGpusOfARunGoesBeforeWhatDependsOnIt) {
  auto next = a_job("next").gpus(4).waiting().created(clock_.wall_s() - 60);
  next.intent().expected_duration_s = 600;
  next.intent().depends_on = {"runs"};
  const ClusterSnapshot snapshot = a_cluster()
                                       .with(a_node("n1"))
                                       .with(a_run())
                                       .with(its_pod())
                                       .with(next)
                                       .with(waits(4))
                                       .build();
  const double ends_s = start_s() + kLength_s;
  const QueueRow waiting = row(snapshot, "waits");
  const QueueRow follower = row(snapshot, "next");
  ASSERT_TRUE(waiting.start_s && follower.start_s);
  EXPECT_NEAR(*waiting.start_s, ends_s, 2);
  EXPECT_GT(*follower.start_s, ends_s + 300);
}

TEST_F(RunningRowsTest, CpuThatPodsWithoutGpusHoldForGoodIsNamedAndNotTheGpus) {
  const ClusterSnapshot snapshot = a_cluster()
                                       .with(a_node("n1").cpus(8))
                                       .with(a_pod("proxy").gpus(0).cpus(6).on("n1"))
                                       .with(waits(4).cpus(4))
                                       .build();
  const ExplainView told = why(snapshot, "waits");
  ASSERT_EQ(told.blockers.size(), 1U);
  EXPECT_TRUE(told.blockers[0].what.ends_with("that pods without GPUs hold"));
  EXPECT_EQ(told.blockers[0].detail, "n1 has 2 cpu free, and a pod asks for 4");
}

}  // namespace
}  // namespace slackline::control
