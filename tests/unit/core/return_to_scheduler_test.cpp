// Nothing of ours holds anything back any more; what is somebody else's stays.
#include "slackline/core/handover/return_to_scheduler.h"

#include <map>

#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

TEST(LetGo, OpensOurJobsClearsNominationsThenLiftsOurGates) {
  const auto writes =
      return_to_scheduler(a_cluster()
                              .with(a_node("n1"))
                              .with(a_job("ours").gpus(1).waiting())
                              .with(a_job("theirs").gpus(1).suspended())
                              .with(a_job("runs").gpus(1).managed().planned({"n1"}))
                              .with(a_pod("runs-0").of_job("runs").gpus(1).on("n1"))
                              .with(a_pod("gated").gpus(1).gated().managed())
                              .with(a_pod("nominated").gpus(1).gated().managed().nominated("n1"))
                              .with(a_pod("free").gpus(1).nominated("n1"))
                              .build());
  ASSERT_EQ(writes.size(), 3U);
  EXPECT_TRUE(writes[0].is<OpenJob>());
  EXPECT_EQ(writes[0].target.key.name, "ours");
  EXPECT_TRUE(writes[1].is<LiftGate>());
  EXPECT_EQ(writes[1].target.key.name, "gated");
  EXPECT_TRUE(writes[2].is<ClearNomination>());
}

TEST(LetGo, CalibrationRunsThatAreNotOverAreDeleted) {
  Job waits = a_job("waits").gpus(1).waiting().build();
  Job runs = a_job("runs").gpus(1).managed().planned({"n1"}).build();
  Job over = a_job("over").gpus(1).finished().build();
  for (Job* job : {&waits, &runs, &over})
    job->calibration = CalibrationMark::kRun;
  const auto writes =
      return_to_scheduler(a_cluster().with(a_node("n1")).add(waits).add(runs).add(over).build());
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_TRUE(writes[0].is<RemoveCalibration>());
  EXPECT_TRUE(writes[1].is<RemoveCalibration>());
}

// A later planner would find the plan, hold its GPUs, and suspend the Job again in the end.
TEST(LetGo, TakesBackPlansThatAreNotCarriedOutYet) {
  const auto writes =
      return_to_scheduler(a_cluster()
                              .with(a_node("n1"))
                              .with(a_node("n2"))
                              .with(a_job("half").of(2).gang().gpus(1).managed().planned({"n1"}))
                              .with(a_pod("half-0").of_job("half").gpus(1).managed().on("n1"))
                              .with(a_pod("half-1").of_job("half").gpus(1).managed())
                              .with(a_job("whole").gpus(1).managed().planned({"n2"}))
                              .with(a_pod("whole-0").of_job("whole").gpus(1).managed().on("n2"))
                              .with(a_pod("alone").gpus(1).gated().managed().planned({"n1"}))
                              .build());
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_TRUE(writes[0].is<OpenJob>());
  EXPECT_EQ(writes[0].target.key.name, "half");
  EXPECT_TRUE(writes[1].is<UnplanPod>());
  EXPECT_EQ(writes[1].target.key.name, "alone");
}

TEST(LetGo, GivesAJobTheShapeBackInWhichItWasWritten) {
  const std::vector<NodeSelectorTerm> written = {{{"zone", MatchOperator::kIn, {"a"}}}};
  ClusterSnapshot snapshot =
      a_cluster().with(a_job("shaped").of(2).gang().gpus(4).waiting()).build();
  auto job = std::make_shared<Job>(*snapshot.jobs.front());
  job->original = std::make_shared<const OriginalShape>(OriginalShape{4, 2, written});
  snapshot.jobs.front() = job;
  const auto writes = return_to_scheduler(snapshot);
  ASSERT_EQ(writes.size(), 1U);
  ASSERT_TRUE(writes[0].is<OpenJob>());
  const ShapeChange& shape = writes[0].as<OpenJob>()->shape;
  EXPECT_EQ(shape.reshape->parallelism, 4);
  EXPECT_EQ(shape.reshape->gpus, 2);
  EXPECT_EQ(shape.reshape->container, "train");
  ASSERT_TRUE(shape.affinity_terms);
  EXPECT_EQ(shape.affinity_terms->front().front().key, "zone");
  EXPECT_FALSE(shape.original->changed());
}

TEST(LetGo, LeavesAPodToWhoeverElseHoldsIt) {
  ClusterSnapshot snapshot = a_cluster().with(a_pod("both").gpus(1).gated().managed()).build();
  auto pod = std::make_shared<Pod>(*snapshot.unbound.front());
  pod->foreign_gate = true;
  snapshot.unbound.front() = pod;
  EXPECT_TRUE(return_to_scheduler(snapshot).empty());
}

constexpr const char* kLeaver = "gpu-scheduler";

test::PodBuilder waits_for_it(const std::string& name) {
  test::PodBuilder pod = a_pod(name);
  pod.gpus(1).managed().scheduled_by(kLeaver).created(100);
  return pod;
}

TEST(LeaveScheduler, AJobWhosePodsAllWaitIsSuspendedAndResumedOnceTheyAreGone) {
  const Job runs = a_job("gang").of(2).gang().gpus(1).managed().build();
  const auto first = leave_scheduler(a_cluster()
                                         .with(a_node("n1"))
                                         .add(runs)
                                         .with(waits_for_it("gang-0").of_job("gang").gated())
                                         .with(waits_for_it("gang-1").of_job("gang").gated())
                                         .build(),
                                     kLeaver, 200);
  ASSERT_EQ(first.writes.size(), 3U) << "two gates, one suspension";
  EXPECT_TRUE(first.writes.back().is<SuspendJob>());
  EXPECT_EQ(first.emptying, 0U);

  const Job stopped = a_job("gang").of(2).gang().gpus(1).managed().waiting().build();
  const auto second = leave_scheduler(
      a_cluster().add(stopped).with(waits_for_it("gang-1").of_job("gang").deleting()).build(),
      kLeaver, 200);
  EXPECT_TRUE(second.writes.empty()) << "resumed now, its controller would keep the pod";
  EXPECT_EQ(second.emptying, 1U);

  const auto third = leave_scheduler(a_cluster().add(stopped).build(), kLeaver, 200);
  ASSERT_EQ(third.writes.size(), 1U);
  EXPECT_TRUE(third.writes.front().is<OpenJob>());
  EXPECT_EQ(third.emptying, 0U);
}

TEST(LeaveScheduler, WhatIsInHandComesBeforeTheSuspension) {
  const auto leave = leave_scheduler(a_cluster()
                                         .with(a_node("n1"))
                                         .with(a_job("planned").gpus(1).managed().planned({"n1"}))
                                         .with(waits_for_it("planned-0").of_job("planned"))
                                         .build(),
                                     kLeaver, 200);
  ASSERT_EQ(leave.writes.size(), 1U) << "one write for each object";
  EXPECT_TRUE(leave.writes.front().is<OpenJob>()) << "its plan goes first";
}

TEST(LeaveScheduler, OnlyThePodsOfGangsThatAControllerMakesAreRemovedAndOnlyOnce) {
  Pod member = waits_for_it("worker-0").owned_by("PyTorchJob", "train").build();
  member.owner_gang = std::make_shared<const OwnerGang>(OwnerGang{"PyTorchJob", "train", {}, {}});
  Pod again = member;
  again.key.name = "worker-1";
  again.uid = Uid("again");
  again.created_s = 200;
  const auto leave =
      leave_scheduler(a_cluster()
                          .add(member)
                          .add(again)
                          .with(waits_for_it("bare"))
                          .with(waits_for_it("replica").owned_by("ReplicaSet", "web"))
                          .with(waits_for_it("ends").owned_by("PyTorchJob", "old").deleting())
                          .with(a_pod("stock").gpus(1).scheduled_by("default-scheduler"))
                          .build(),
                      kLeaver, 200);
  ASSERT_EQ(leave.removals.size(), 1U);
  EXPECT_EQ(leave.removals.front()->key.name, "worker-0");
  std::map<std::string, StaysWhy> stay;
  for (const StaysBehind& each : leave.stay)
    stay[each.key.name] = each.why;
  EXPECT_EQ(stay, (std::map<std::string, StaysWhy>{{"bare", StaysWhy::kBare},
                                                   {"replica", StaysWhy::kTemplate},
                                                   {"worker-1", StaysWhy::kTemplate}}));
}

TEST(LeaveScheduler, NobodyWhoRunsIsSuspendedAndNoJobInVain) {
  Job names = a_job("names").gpus(1).managed().build();
  names.scheduler_name = kLeaver;
  Job over = a_job("over").gpus(1).finished().build();
  over.scheduler_name = kLeaver;
  const ClusterSnapshot snapshot =
      a_cluster()
          .with(a_node("n1"))
          .with(a_job("half").of(2).gang().gpus(1).managed())
          .with(a_pod("half-0").of_job("half").gpus(1).managed().on("n1"))
          .with(waits_for_it("half-1").of_job("half"))
          .add(names)
          .add(over)
          .with(waits_for_it("names-0").of_job("names"))
          .build();
  const auto leave = leave_scheduler(snapshot, kLeaver, 200);
  EXPECT_TRUE(leave.writes.empty());
  ASSERT_EQ(leave.stay.size(), 2U);
  EXPECT_EQ(leave.stay[0].key.name, "half");
  EXPECT_EQ(leave.stay[0].why, StaysWhy::kPartlyRuns);
  EXPECT_EQ(leave.stay[1].key.name, "names");
  EXPECT_EQ(leave.stay[1].why, StaysWhy::kTemplate);
  EXPECT_EQ(jobs_naming(snapshot, kLeaver), std::vector<ObjectKey>{names.key});
}

}  // namespace
}  // namespace slackline::core
