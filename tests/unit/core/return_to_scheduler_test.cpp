// Nothing of ours holds anything back any more; what is somebody else's stays.
#include "slackline/core/handover/return_to_scheduler.h"

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

}  // namespace
}  // namespace slackline::core
