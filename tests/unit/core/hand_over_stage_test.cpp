// Where a planned task stands, for every stage and at its borders.
#include "slackline/core/handover/hand_over_stage.h"

#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_pod;

constexpr double kStageNow_s = 1000;

// A pod of the task, and how long ago its gate was lifted.
struct Member {
  test::PodBuilder pod;
  std::optional<double> lifted_ago_s{};
  int misses = 0;
  bool node_lost = false;
};

Member gated(const std::string& name) {
  return {a_pod(name).gpus(1).gated().managed().nominated("n1")};
}

Member lifted(const std::string& name, double ago_s, int misses = 0, bool node_lost = false) {
  return {a_pod(name).gpus(1).managed().nominated("n1"), ago_s, misses, node_lost};
}

struct Case {
  std::string what;
  Stage stage;
  std::vector<Member> unbound;
  std::size_t bound = 0;
  double known_for_s = 0;
  bool of_job = true;
  std::int64_t failed = 0;
};

Stage stage_of(const Case& each) {
  Job job = a_job("train").gpus(1).build();
  job.failed = each.failed;
  PlannedTask task;
  task.id = Uid("task");
  task.job = each.of_job ? &job : nullptr;
  task.bound.assign(each.bound, NodeName("n1"));
  task.wanted = 2;
  HandOverMemory memory;
  memory.see({task}, kStageNow_s - each.known_for_s);
  for (const Member& member : each.unbound) {
    task.unbound.push_back(std::make_shared<const Pod>(member.pod.build()));
    const Uid& uid = task.unbound.back()->uid;
    if (member.lifted_ago_s)
      memory.lifted[uid] = {kStageNow_s - *member.lifted_ago_s, NodeName("n1"), member.misses,
                            false};
    if (member.node_lost) task.on_lost_nodes.insert(uid);
  }
  return core::stage_of(task, memory, kStageNow_s);
}

TEST(HandOverStage, IsReadFromTheTaskAndTheMemory) {
  const std::vector<Case> cases = {
      {"no pod yet", Stage::kReleased, {}},
      {"one pod is missing", Stage::kReleased, {gated("a")}, 0, 29},
      {"one is missing for too long", Stage::kIncomplete, {gated("a")}, 0, 30},
      {"the missing one has failed", Stage::kReleased, {gated("a")}, 0, 30, true, 1},
      {"nobody made it again", Stage::kIncomplete, {gated("a")}, 0, 630, true, 1},
      {"the missing one was never there", Stage::kIncomplete, {gated("a")}, 0, 30, false, 1},
      {"all pods wait behind their gates", Stage::kPlacing, {gated("a"), gated("b")}},
      {"one gate is lifted", Stage::kPlacing, {gated("a"), lifted("b", 1)}},
      {"one runs, the other waits", Stage::kPlacing, {gated("a")}, 1},
      {"all gates are lifted", Stage::kLifted, {lifted("a", 29), lifted("b", 1)}},
      {"one runs, the other may", Stage::kLifted, {lifted("a", 1)}, 1},
      {"one is not bound in time", Stage::kPlacing, {lifted("a", 30), lifted("b", 1)}},
      {"its node is lost", Stage::kPlacing, {lifted("a", 1), lifted("b", 1, 0, true)}},
      {"not bound for the third time", Stage::kGivenUp, {lifted("a", 30, 2), lifted("b", 1)}},
      {"the third time has begun", Stage::kLifted, {lifted("a", 29, 2), lifted("b", 1)}},
      {"without a Job nothing is suspended",
       Stage::kPlacing,
       {lifted("a", 30, 2), lifted("b", 1)},
       0,
       0,
       false},
      {"nothing waits", Stage::kBound, {}, 2},
      {"what is missing has ended", Stage::kBound, {}, 1, 60},
  };
  for (const Case& each : cases)
    EXPECT_EQ(stage_of(each), each.stage) << each.what;
}

// Whoever reads the cluster next meets the task without any memory.
TEST(HandOverStage, APodWithoutGateAndNominationHasToBePlaced) {
  PlannedTask task;
  task.id = Uid("task");
  task.wanted = 1;
  task.unbound.push_back(std::make_shared<const Pod>(a_pod("a").gpus(1).managed().build()));
  HandOverMemory memory;
  memory.see({task}, kStageNow_s);
  memory.see_lifted(task, kStageNow_s);
  EXPECT_EQ(core::stage_of(task, memory, kStageNow_s), Stage::kPlacing);
}

}  // namespace
}  // namespace slackline::core
