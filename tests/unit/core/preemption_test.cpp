// Running tasks make room for others, and come back: rule 9 of docs/RELIABILITY.md, in a small
// world.
#include <algorithm>

#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "slackline/core/cluster/near_ends.h"
#include "slackline/core/cluster/room_wait.h"
#include "slackline/core/handover/hand_over.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;
using test::a_quota;
using test::HandOverWorld;
using test::JobBuilder;
using test::WorldPlanner;

constexpr double kDay_s = 86400;

// It runs for a day.
JobBuilder long_job(const std::string& name, std::optional<double> checkpoint_s = 600) {
  JobBuilder job = a_job(name).gpus(8).waiting();
  job.intent().expected_duration_s = kDay_s;
  job.intent().checkpoint_interval_s = checkpoint_s;
  return job;
}

JobBuilder urgent_job(const std::string& name, std::int64_t gpus = 8) {
  JobBuilder job = a_job(name).gpus(gpus).waiting();
  job.intent().expected_duration_s = 600;
  job.intent().qos_class = QosClass::kUrgent;
  return job;
}

class PreemptionTest : public testing::Test {
 protected:
  // A long Job on every node, since `for_s`.
  void fill(const std::vector<std::string>& nodes, double for_s,
            std::optional<double> checkpoint_s = 600) {
    for (const std::string& node : nodes) {
      world_.add(a_node(node).of("", 8));
      world_.add(long_job("long-" + node, checkpoint_s).created(world_.now_s()));
      ASSERT_TRUE(planner_.settle(world_));
    }
    ASSERT_EQ(bound(), static_cast<int>(nodes.size()));
    world_.pass(for_s);
    world_.performed.clear();
  }

  // Of all pods that run.
  void allow_one_disruption() {
    for (auto& [key, pod] : world_.pods())
      pod.labels = {{"app", "long"}};
    DisruptionBudget budget;
    budget.key = {"default", "keep"};
    budget.match_labels = {{"app", "long"}};
    budget.disruptions_allowed = 1;
    world_.add(budget);
  }

  void saves_now(const std::string& job) {
    auto intent = std::make_shared<TaskIntent>(*world_.job(job).intent);
    intent->last_checkpoint_s = world_.now_s();
    world_.job(job).intent = intent;
  }

  void arrive(JobBuilder job) { world_.add(job.created(world_.now_s())); }

  int bound(const std::string& job = "") const { return world_.bound(job); }
  std::vector<std::string> written() const { return world_.written(); }
  std::int64_t stops() const { return world_.count_of<StopJob>(); }

  HandOverWorld world_;
  WorldPlanner planner_{1, "default"};
};

TEST_F(PreemptionTest, AnUrgentTaskIsReleasedWhileItsRoomIsMade) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent"));
  planner_.act(world_);
  EXPECT_EQ(written(), (std::vector<std::string>{"stop", "release"})) << "its pods still end";
  const OwnWrite& release = world_.performed.back();
  EXPECT_EQ(release.after, std::vector<Uid>{world_.job("long-n1").uid});
  EXPECT_EQ(bound("long-n1"), 1);
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("urgent"), 1);
  EXPECT_EQ(bound("long-n1"), 0);
  EXPECT_EQ(written(), (std::vector<std::string>{"stop", "release", "nominate", "lift"}));
}

// What it gains is counted to the end that the last of those who make room would have had.
TEST_F(PreemptionTest, AStopTellsWhatTheAskerGains) {
  fill({"n1", "n2"}, 3610, 60);  // little is lost: `soon` may spend but a part of the budget
  JobBuilder soon = a_job("soon").gpus(8).waiting();
  soon.intent().expected_duration_s = 600;
  soon.intent().deadline_s = world_.now_s() + 700;
  arrive(urgent_job("urgent"));
  arrive(soon);
  planner_.act(world_);
  std::vector<const StopJob*> told;
  for (const OwnWrite& write : world_.performed)
    if (const auto* stop = write.as<StopJob>()) told.push_back(stop);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0]->asker.name, "urgent");
  EXPECT_NEAR(told[0]->gain.earlier_s, kDay_s - 3610, 60);
  EXPECT_FALSE(told[0]->gain.saves_deadline) << "it has none";
  EXPECT_EQ(told[1]->asker.name, "soon");
  EXPECT_NEAR(told[1]->gain.earlier_s, kDay_s - 3610, 60);
  EXPECT_TRUE(told[1]->gain.saves_deadline);
}

// A stop that fails must not leave the task with a plan for room that nobody makes.
TEST_F(PreemptionTest, NobodyIsReleasedIntoRoomOfAStopThatMayStillFail) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent"));
  const ClusterSnapshot seen = world_.snapshot();
  OwnWrites writes;
  const auto next = [&] {
    return planner_.plan(with_writes(seen, writes.writes()), world_.now_s(), writes.unanswered());
  };
  const auto wanted = next();
  ASSERT_EQ(wanted.size(), 2U);
  EXPECT_TRUE(wanted.front().is<StopJob>());
  const auto number = writes.sent(wanted.front());
  EXPECT_TRUE(next().empty()) << "the release is not under way, and may not be yet";
  writes.written(number, "2001");
  ASSERT_EQ(next().size(), 1U);
  EXPECT_TRUE(next().front().is<ReleaseJob>());
}

TEST_F(PreemptionTest, WhoMadeRoomKeepsItsCheckpointsAndComesBack) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  const Job& stopped = world_.job("long-n1");
  ASSERT_TRUE(stopped.preemptions);
  EXPECT_EQ(stopped.preemptions->count, 1);
  EXPECT_NEAR(stopped.preemptions->left, 1 - 3600 / kDay_s, 1e-9);
  EXPECT_NEAR(stopped.preemptions->lost_gpu_s, 8 * 100, 1);
  EXPECT_EQ(stopped.preemptions->nodes, std::vector<NodeName>{NodeName("n1")});
  EXPECT_NEAR(stopped.preemptions->first_start_s, stopped.preemptions->at_s - 3700, 10);
  EXPECT_NEAR(stopped.preemptions->held_s, 3700, 10);
  EXPECT_NEAR(stopped.preemptions->held_gpu_s, 8 * stopped.preemptions->held_s, 1e-6);

  world_.finish("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("long-n1"), 1);
  TaskMenus menus;
  const Queue queue = make_queue(world_.snapshot(), planner_.options(world_.now_s()), menus);
  ASSERT_EQ(queue.state().running().size(), 1U);
  const TaskProgress& progress = queue.state().progress(0);
  EXPECT_EQ(progress.stops, 1);
  EXPECT_NEAR(progress.run.predicted_end_s - progress.run.started_s, kDay_s - 3600 + 60, 1);
}

TEST_F(PreemptionTest, WithoutCheckpointsTheWholeRunIsLost) {
  fill({"n1"}, 1700, std::nullopt);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.job("long-n1").preemptions->left, 1);
  EXPECT_NEAR(world_.job("long-n1").preemptions->lost_gpu_s, 8 * 1700, 1);
}

TEST_F(PreemptionTest, ACheckpointThatTheTaskTellsCountsFirst) {
  fill({"n1"}, 3700);
  auto intent = std::make_shared<TaskIntent>(*world_.job("long-n1").intent);
  intent->last_checkpoint_s = world_.now_s() - 20;
  world_.job("long-n1").intent = intent;
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_NEAR(world_.job("long-n1").preemptions->left, 1 - 3680 / kDay_s, 1e-6);
  EXPECT_NEAR(world_.job("long-n1").preemptions->lost_gpu_s, 8 * 20, 1);
}

TEST_F(PreemptionTest, ARunBeyondItsStatedLengthLosesNothingByThat) {
  world_.add(a_node("n1").of("", 8));
  JobBuilder understated = long_job("understated", 1);
  understated.intent().expected_duration_s = 1800;
  arrive(understated);
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(9900);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
  EXPECT_LT(world_.job("understated").preemptions->lost_gpu_s, 8 * 10);
}

TEST_F(PreemptionTest, ARunThatReportsNoProgressLosesNoMoreThanItsLastCheckpointLeaves) {
  fill({"n1"}, 9900, 1);
  world_.job("long-n1").progress = std::make_shared<const ProgressNote>(
      ProgressNote{.iteration = 0, .total = 1000, .at_s = world_.now_s()});
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
  EXPECT_LT(world_.job("long-n1").preemptions->lost_gpu_s, 8 * 10);
}

TEST_F(PreemptionTest, TheRoomIsTheAskersWhileThoseWhoLeaveItEnd) {
  fill({"n1"}, 3700);
  world_.linger("long-n1");
  arrive(urgent_job("urgent", 4));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(written(), (std::vector<std::string>{"stop", "release", "nominate"}));
  EXPECT_EQ(bound("urgent"), 0) << "its gates stay until the GPUs are free";

  // The other half of the node, and no more: nobody is stopped for it.
  arrive(urgent_job("second", 4));
  arrive(urgent_job("third", 4));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
  EXPECT_EQ(world_.job("second").suspended, false);
  EXPECT_EQ(world_.job("third").suspended, true);

  world_.linger("long-n1", false);
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("urgent"), 1);
  EXPECT_EQ(bound("second"), 1);
}

TEST_F(PreemptionTest, WhoWaitsForEndingPodsIsKnownWithThoseWhoMakeRoom) {
  fill({"n1"}, 3700);
  world_.linger("long-n1");
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  const auto wait_of = [&](const char* name) -> std::optional<RoomWait> {
    TaskMenus menus;
    const ClusterSnapshot now = world_.snapshot();
    const Queue queue = make_queue(now, planner_.options(world_.now_s()), menus);
    const RoomWaits waits(now, queue, world_.now_s());
    for (TaskIndex task = 0; task < queue.size(); ++task)
      if (queue.task(task).key.name == name && waits.of(task) != nullptr) return *waits.of(task);
    return std::nullopt;
  };
  const auto wait = wait_of("urgent");
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->tasks, (std::vector<ObjectKey>{{"default", "long-n1"}}));
  EXPECT_EQ(wait->since_s, world_.job("long-n1").preemptions->at_s);
  EXPECT_NEAR(wait->until_s, *wait->since_s + HandOverWorld::kGrace_s, 1);
  EXPECT_FALSE(wait_of("long-n1"));
  world_.linger("long-n1", false);
  world_.make_pods();
  EXPECT_FALSE(wait_of("urgent")) << "its room has come";
}

// Two lives of one Job would write the same checkpoints.
TEST_F(PreemptionTest, WhoWasStoppedStartsAgainOnceItsPodsAreGone) {
  fill({"n1"}, 3700);
  world_.linger("long-n1");
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  world_.add(a_node("n2").of("", 8));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(world_.job("long-n1").suspended);
  world_.linger("long-n1", false);
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("long-n1"), 1);
}

TEST_F(PreemptionTest, APromiseThatIsNotKeptIsTakenBack) {
  fill({"n1"}, 3700);
  world_.linger("long-n1");
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(HandOverWorld::kGrace_s + 59);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_FALSE(world_.job("urgent").suspended);
  world_.pass(2);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(world_.job("urgent").suspended) << "its room does not come";
  EXPECT_EQ(stops(), 1);
}

TEST_F(PreemptionTest, NobodyIsStoppedWhoHasJustBegun) {
  fill({"n1"}, 30);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 0);
  world_.pass(60);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
}

TEST_F(PreemptionTest, BudgetsForbid) {
  fill({"n1", "n2"}, 3700);
  for (auto& [key, pod] : world_.pods())
    pod.labels = {{"app", pod.owner->name}};
  DisruptionBudget budget;
  budget.key = {"default", "keep"};
  budget.match_labels = {{"app", "long-n1"}};
  world_.add(budget);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("long-n1"), 1);
  EXPECT_EQ(bound("long-n2"), 0);

  arrive(urgent_job("second"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(world_.job("second").suspended);
  EXPECT_EQ(stops(), 1);
}

// policy/v1: it selects every pod of the namespace; the eviction API obeys.
TEST_F(PreemptionTest, ABudgetWithAnEmptySelectorForbidsTheWholeNamespace) {
  fill({"n1"}, 3700);
  for (auto& [key, pod] : world_.pods())
    pod.labels = {{"app", pod.owner->name}};
  DisruptionBudget budget;
  budget.key = {"default", "keep"};
  world_.add(budget);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 0);
}

TEST_F(PreemptionTest, OneBudgetIsNotSpentTwice) {
  fill({"n1", "n2"}, 3700);
  allow_one_disruption();
  for (const char* name : {"first", "second"})
    arrive(urgent_job(name));
  planner_.act(world_);
  planner_.act(world_);
  EXPECT_EQ(stops(), 1);
}

// Its status follows a while after the pods have begun to end.
TEST_F(PreemptionTest, ABudgetThatHasNotCountedAStopYetIsNotSpentAgain) {
  fill({"n1", "n2"}, 3700);
  allow_one_disruption();
  for (auto& [key, pod] : world_.pods())
    pod.grace_s = HandOverWorld::kGrace_s;
  for (const char* job : {"long-n1", "long-n2"})
    world_.linger(job);
  arrive(urgent_job("first"));
  planner_.act(world_);
  world_.make_pods();
  ASSERT_EQ(stops(), 1);
  arrive(urgent_job("second"));
  planner_.act(world_);
  EXPECT_EQ(stops(), 1);
  world_.pass(11);
  planner_.act(world_);
  EXPECT_EQ(stops(), 2) << "it still allows one";
}

// Two runs under one budget of one: they cannot both go, and nobody else waits for that.
TEST_F(PreemptionTest, WhoMayNotBeStoppedKeepsNoOtherTaskFromItsRoom) {
  world_.add(a_node("n1").of("A100", 8));
  for (const char* name : {"long-1", "long-2"})
    world_.add(long_job(name).gpus(4).created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(bound(), 2);
  world_.pass(3700);
  world_.performed.clear();
  allow_one_disruption();
  world_.add(a_node("n2").of("T4", 4));
  JobBuilder urgent = urgent_job("urgent");
  urgent.intent().gpu_types = {GpuType("A100")};
  arrive(urgent);
  JobBuilder other = a_job("other").gpus(4).waiting();
  other.intent().gpu_types = {GpuType("T4")};
  arrive(other);
  planner_.act(world_);
  EXPECT_EQ(written(), std::vector<std::string>{"release"});
  EXPECT_EQ(world_.performed.front().target.key.name, "other");
}

// Another one goes, though that costs more.
TEST_F(PreemptionTest, RunsThatABudgetForbidsTogetherKeepNobodyFromOthers) {
  world_.add(a_node("n1").of("", 8));
  for (const char* name : {"long-1", "long-2"})
    world_.add(long_job(name).gpus(4).created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  world_.add(a_node("n2").of("", 8));
  world_.add(long_job("long-3").created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(bound(), 3);
  world_.pass(4100);
  allow_one_disruption();
  for (const char* cheap : {"long-1", "long-2"})
    saves_now(cheap);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("urgent"), 1);
  EXPECT_EQ(bound("long-3"), 0);
  EXPECT_EQ(stops(), 1);
}

// The cheapest takes what the budget allows, and is not enough.
TEST_F(PreemptionTest, ASmallRunUnderABudgetIsNotInTheWayOfALargeOne) {
  world_.add(a_node("n1").of("", 8));
  for (const auto& [name, gpus] :
       {std::pair("small-1", 2), std::pair("large", 4), std::pair("small-2", 2)})
    world_.add(long_job(name).gpus(gpus).created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(bound(), 3);
  world_.pass(4100);
  allow_one_disruption();
  saves_now("small-1");
  arrive(urgent_job("urgent", 4));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("urgent"), 1);
  EXPECT_EQ(bound("large"), 0);
  EXPECT_EQ(stops(), 1);
}

// Five nodes are full of runs under a budget that lets one go.
TEST_F(PreemptionTest, ManyRunsUnderABudgetHideNobodyElse) {
  for (int node = 0; node < 6; ++node)
    world_.add(a_node("n" + std::to_string(node)).of("", 8));
  for (int job = 0; job < 40; ++job)
    world_.add(long_job("one-" + std::to_string(job)).gpus(1).created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  world_.add(long_job("whole").created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(bound(), 41);
  world_.pass(4100);
  for (auto& [key, pod] : world_.pods())
    pod.labels = {{"app", key.name.starts_with("one-") ? "long" : "other"}};
  DisruptionBudget budget;
  budget.key = {"default", "keep"};
  budget.match_labels = {{"app", "long"}};
  budget.disruptions_allowed = 1;
  world_.add(budget);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("urgent"), 1);
  EXPECT_EQ(bound("whole"), 0);
}

// Those whose room it is may not be stopped, so nobody starts there.
TEST_F(PreemptionTest, NobodyStopsOnANodeThatIsKeptForAnotherTask) {
  world_.add(a_node("n1").of("", 10));
  world_.add(long_job("long-1").gpus(4).created(world_.now_s()));
  world_.add(long_job("long-2").gpus(4).created(world_.now_s()));
  world_.add(long_job("long-3").gpus(2).created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(bound(), 3);
  world_.pass(4100);
  allow_one_disruption();
  for (const char* cheap : {"long-1", "long-2"})
    saves_now(cheap);
  arrive(urgent_job("first", 8));
  arrive(urgent_job("second", 2));
  const ClusterSnapshot seen = world_.snapshot();
  ClusterSnapshot before = seen;
  before.budgets.clear();
  TaskMenus menus;
  Queue queue = make_queue(before, planner_.options(world_.now_s()), menus);
  const Plan made = plan(queue.state(), world_.now_s(), *parse_policy("default"));
  ASSERT_EQ(made.effects.size(), 5U) << "two stop for the first, one for the second";
  PlanStamp stamp;
  const auto writes = [&](const ClusterSnapshot& snapshot) {
    return begin_starts(snapshot, {}, queue, made, default_gpu_catalog(), stamp, world_.now_s(),
                        world_.now_s());
  };
  EXPECT_EQ(writes(before).size(), 5U);
  EXPECT_TRUE(writes(seen).empty());
}

TEST_F(PreemptionTest, WhoHoldsTheCpuOfANodeMakesRoomToo) {
  world_.add(a_node("n1").of("", 8).cpus(96));
  world_.add(long_job("long").cpus(90).created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(bound("long"), 1);
  world_.pass(3700);
  world_.performed.clear();
  arrive(urgent_job("urgent").cpus(90));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(written(), (std::vector<std::string>{"stop", "release", "nominate", "lift"}));
  EXPECT_EQ(bound("urgent"), 1);
}

// Whoever stays beside it holds it still: another one goes, though that costs more.
TEST_F(PreemptionTest, NobodyIsStoppedWhereThatLeavesTooLittleCpu) {
  world_.add(a_node("n1").of("", 8).cpus(96));
  JobBuilder stays = long_job("stays").gpus(4).cpus(90);
  stays.intent().qos_class = QosClass::kUrgent;
  for (JobBuilder job : {long_job("long").gpus(4).cpus(4), stays})
    world_.add(job.created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  world_.add(a_node("n2").of("", 8).cpus(96));
  world_.add(long_job("wide").cpus(8).created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(bound(), 3);
  world_.pass(3700);
  arrive(urgent_job("urgent", 4).cpus(20));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("long"), 1);
  EXPECT_EQ(bound("wide"), 0);
  EXPECT_EQ(bound("urgent"), 1);
}

TEST_F(PreemptionTest, NobodyIsStoppedForWhomAQuotaRefuses) {
  fill({"n1"}, 3700);
  world_.add(a_quota("gpus").limit(test::kGpu, 8));
  arrive(urgent_job("urgent"));
  planner_.act(world_);
  EXPECT_EQ(stops(), 0);
}

// kube-scheduler binds it nowhere, or only where an extender of others serves the resource.
TEST_F(PreemptionTest, NobodyIsStoppedForWhoAsksForWhatNoNodeLists) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent").other("example.com/hca", 1));
  planner_.act(world_);
  EXPECT_EQ(stops(), 0);
}

TEST_F(PreemptionTest, AGangMakesRoomAsAWhole) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node).of("", 8));
  world_.add(long_job("gang").of(2).gang().created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(bound("gang"), 2);
  world_.pass(3700);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("gang"), 0);
  EXPECT_EQ(bound("urgent"), 1);
  EXPECT_NEAR(world_.job("gang").preemptions->lost_gpu_s, 16 * 100, 1);
}

// The plan has a new place for the victim at once.
TEST_F(PreemptionTest, WhoMakesRoomIsNotReleasedElsewhereInTheSameMoment) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent"));
  const ClusterSnapshot seen = world_.snapshot();
  TaskMenus menus;
  Queue queue = make_queue(seen, planner_.options(world_.now_s()), menus);
  Plan moved = plan(queue.state(), world_.now_s(), *parse_policy("default"));
  ASSERT_EQ(moved.effects.size(), 2U);
  const Effect stop = moved.effects.front();
  moved.effects = {stop, {stop.task, std::nullopt, stop.ended}, moved.effects.back()};
  PlanStamp stamp;
  EXPECT_TRUE(begin_starts(seen, {}, queue, moved, default_gpu_catalog(), stamp, 0, 0).empty());
  std::swap(moved.effects[1], moved.effects[2]);
  const auto writes = begin_starts(seen, {}, queue, moved, default_gpu_catalog(), stamp, 0, 0);
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_TRUE(writes.front().is<StopJob>());
  EXPECT_EQ(writes.back().target.key.name, "urgent");
}

TEST_F(PreemptionTest, AWorldThatForbidsStopsIsLeftAsItIs) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent"));
  core::QueueOptions options = planner_.options(world_.now_s());
  options.may_stop = false;
  TaskMenus menus;
  Queue queue = make_queue(world_.snapshot(), options, menus);
  EXPECT_TRUE(plan(queue.state(), options.now_wall_s, *parse_policy("default")).effects.empty());
}

TEST_F(PreemptionTest, AQueueThatIsNotPreemptibleGivesNobodyItsRoom) {
  QueueRulebook rules;
  rules.named["default"].preemptible = false;
  planner_.follow(&rules);
  fill({"n1"}, 3700);
  JobBuilder asks = urgent_job("urgent");
  asks.intent().queue = "other";
  arrive(asks);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 0);
  rules.named["default"].preemptible = true;
  rules.named["other"].preemptible = false;
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1) << "who may not be stopped may still ask for room";
}

// Who waits for the room waits for the pods to end.
TEST_F(PreemptionTest, ALongGracePeriodIsACostAndTooLongForWhoCannotWait) {
  fill({"n1", "n2"}, 3610, 60);
  const auto give_grace = [&](const std::string& job, double grace_s) {
    for (auto& [key, pod] : world_.pods())
      if (pod.owner && pod.owner->name == job) pod.grace_s = grace_s;
  };
  give_grace("long-n1", 900);
  give_grace("long-n2", 30);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(stops(), 1);
  EXPECT_TRUE(world_.job("long-n2").suspended);

  JobBuilder soon = a_job("soon").gpus(8).waiting();
  soon.intent().expected_duration_s = 600;
  soon.intent().deadline_s = world_.now_s() + 700;
  arrive(soon);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1) << "it would be late by then";
  give_grace("long-n1", 30);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 2);
}

// It counts from its release, and its pods start once theirs have ended.
TEST_F(PreemptionTest, ALongGracePeriodIsTooLongForWhomItsLimitWouldEnd) {
  fill({"n1"}, 3610, 60);
  const auto give_grace = [&](double grace_s) {
    for (auto& [key, pod] : world_.pods())
      pod.grace_s = grace_s;
  };
  give_grace(900);
  arrive(urgent_job("urgent").limited(1200));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 0);
  give_grace(300);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
}

// 1.3 of four GPU-hours, and at most a twenty-fifth at once.
TEST_F(PreemptionTest, AStopThatIsTooMuchAtOnceIsNoSpentBudget) {
  fill({"n1", "n2"}, 600, std::nullopt);
  JobBuilder soon = a_job("soon").gpus(8).waiting();
  soon.intent().expected_duration_s = 600;
  soon.intent().deadline_s = world_.now_s() + 700;
  arrive(soon);
  TaskMenus menus;
  Queue queue = make_queue(world_.snapshot(), planner_.options(world_.now_s()), menus);
  const Plan waits = plan(queue.state(), world_.now_s(), *parse_policy("default"));
  EXPECT_TRUE(waits.effects.empty());
  EXPECT_TRUE(waits.denied_room.empty());
}

// Four GPU-hours where the queue has hardly used any.
TEST_F(PreemptionTest, AQueueThatHasSpentItsBudgetStopsNobody) {
  fill({"n1", "n2"}, 1700, std::nullopt);  // 3.8 GPU-hours each
  arrive(urgent_job("first"));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(stops(), 1);
  arrive(urgent_job("second"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
  WorldPlanner restarted(2, "default");
  ASSERT_TRUE(restarted.settle(world_));
  EXPECT_EQ(stops(), 1) << "the notes of the victims tell what was spent";

  TaskMenus menus;
  Queue queue = make_queue(world_.snapshot(), planner_.options(world_.now_s()), menus);
  const Plan denied = plan(queue.state(), world_.now_s(), *parse_policy("default"));
  ASSERT_EQ(denied.denied_room.size(), 1U);
  EXPECT_EQ(queue.task(denied.denied_room.front()).key.name, "second");

  JobBuilder other = urgent_job("other");
  other.intent().queue = "other";
  world_.finish("first");
  ASSERT_TRUE(planner_.settle(world_));
  arrive(other);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1) << "anybody may invent a queue: its namespace pays";
  QueueRulebook rules;
  rules.named["other"] = {};
  planner_.follow(&rules);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 2) << "a queue that is configured has its own";
}

TEST_F(PreemptionTest, WhatAStopHasCostOutlivesTheJobThatWasStopped) {
  fill({"n1", "n2"}, 1700, std::nullopt);
  arrive(urgent_job("first"));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(stops(), 1);
  for (const char* victim : {"long-n1", "long-n2"})
    if (world_.job(victim).preemptions) world_.remove_job(victim);
  arrive(urgent_job("second"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1) << "the book says so";
}

TEST_F(PreemptionTest, WhoIsBarredStopsNobodyForNow) {
  fill({"n1"}, 1700, std::nullopt);
  planner_.book.barred_until_s["default"] = world_.now_s() + 60;
  arrive(urgent_job("asks"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 0);
  world_.pass(61);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
}

// Whatever its tasks are labelled with, a namespace has one budget.
TEST_F(PreemptionTest, InventedQueuesStopNoMoreThanOneDoes) {
  const auto lost_gpu_s = [](bool invents) {
    HandOverWorld world;
    WorldPlanner planner(1, "default");
    for (int i = 0; i < 24; ++i)
      world.add(a_node(format("n{}", i)).of("K80", 1));
    for (int i = 0; i < 24; ++i) {
      JobBuilder victim = a_job(format("team-v/runs-{}", i)).gpus(1).waiting();
      victim.intent().expected_duration_s = kDay_s;
      world.add(victim.created(world.now_s()));
    }
    EXPECT_TRUE(planner.settle(world));
    world.pass(3000);
    for (int i = 0; i < 24; ++i) {
      JobBuilder asker = a_job(format("mallory/asks-{}", i)).gpus(1).waiting();
      asker.intent().expected_duration_s = 600;
      asker.intent().qos_class = QosClass::kUrgent;
      if (invents) asker.intent().queue = format("q-{}", i);
      world.add(asker.created(world.now_s()));
    }
    EXPECT_TRUE(planner.settle(world));
    double sum_gpu_s = 0;
    for (const BookedStop& stop : planner.book.stops)
      sum_gpu_s += stop.gpu_s;
    return sum_gpu_s;
  };
  const double plainly_gpu_s = lost_gpu_s(false);
  EXPECT_GT(plainly_gpu_s, 3000);
  EXPECT_LE(plainly_gpu_s, 4 * 3600);
  EXPECT_DOUBLE_EQ(lost_gpu_s(true), plainly_gpu_s);
}

TEST_F(PreemptionTest, WhatWasLostIsForgottenAfterADay) {
  fill({"n1", "n2"}, 1700, std::nullopt);
  arrive(urgent_job("first"));
  ASSERT_TRUE(planner_.settle(world_));
  const auto left_gpu_s = [&](double later_s) {
    TaskMenus menus;
    const Queue queue =
        make_queue(world_.snapshot(), planner_.options(world_.now_s() + later_s), menus);
    const LossBudget budget = *parse_policy("default,budget_share=0")->budget();
    return queue.state().budgets_left_gpu_s(budget, world_.now_s() + later_s).at(0);
  };
  EXPECT_NEAR(left_gpu_s(0), 4 * 3600 - 8 * 1700, 1);
  EXPECT_NEAR(left_gpu_s(kDay_s + 1), 4 * 3600, 1);
}

TEST_F(PreemptionTest, NobodyIsStoppedCloseToItsEnd) {
  world_.add(a_node("n1").of("", 8));
  JobBuilder job = long_job("nearly");
  job.intent().expected_duration_s = 4000;
  arrive(job);
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(3950);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 0) << "it is predicted to end in less than a minute";
  world_.pass(200);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1) << "it is overdue: nobody knows when it ends";
}

// Its reports promise an end in half a minute, and again, and again.
TEST_F(PreemptionTest, ARunThatIsAlwaysAboutToEndIsSparedOnce) {
  world_.add(a_node("n1").of("", 8));
  arrive(long_job("nearly"));
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(kDay_s / 2);
  const auto report = [&] {
    const double ran_s = world_.now_s() - *world_.job("nearly").started_s;
    ProgressNote note{.iteration = static_cast<std::int64_t>(1e9 * (1 - 30 / ran_s)),
                      .total = static_cast<std::int64_t>(1e9),
                      .at_s = world_.now_s()};
    note.first = ProgressPoint{0, *world_.job("nearly").started_s};
    world_.job("nearly").progress = std::make_shared<const ProgressNote>(note);
  };
  NearEnds near_ends;
  const auto stops_for_urgent = [&] {
    TaskMenus menus;
    QueueOptions options = planner_.options(world_.now_s());
    options.near_ends = &near_ends;
    Queue queue = make_queue(world_.snapshot(), options, menus);
    const Policy policy = *parse_policy("default");
    const Plan made = plan(queue.state(), world_.now_s(), policy);
    near_ends.see(queue, policy.stop_limits()->protect_s, world_.now_s());
    return std::any_of(made.effects.begin(), made.effects.end(),
                       [](const Effect& effect) { return effect.ended.has_value(); });
  };
  arrive(urgent_job("urgent"));
  for (int seconds = 0; seconds < 60; seconds += 20) {
    report();
    EXPECT_FALSE(stops_for_urgent()) << seconds;
    world_.pass(20);
  }
  report();
  EXPECT_TRUE(stops_for_urgent());
}

// The end that it showed when it was first near is the one that it keeps.
TEST_F(PreemptionTest, ARunThatKeepsItsWordIsSparedToItsEndAlsoByUrgentTasks) {
  fill({"n1"}, kDay_s - 645);
  arrive(urgent_job("urgent"));
  NearEnds near_ends;
  const Policy policy = *parse_policy("default,protect=600");
  const auto stops_for_urgent = [&] {
    TaskMenus menus;
    QueueOptions options = planner_.options(world_.now_s());
    options.near_ends = &near_ends;
    Queue queue = make_queue(world_.snapshot(), options, menus);
    PlanState state = queue.state();
    near_ends.see(queue, policy.stop_limits()->protect_s, world_.now_s());
    const Plan made = plan(state, world_.now_s(), policy);
    return std::any_of(made.effects.begin(), made.effects.end(),
                       [](const Effect& effect) { return effect.ended.has_value(); });
  };
  EXPECT_TRUE(stops_for_urgent());
  for (int minute = 0; minute < 10; ++minute) {
    world_.pass(60);
    stops_for_urgent();
  }
  EXPECT_FALSE(stops_for_urgent()) << "it ends within a minute";
}

// ---- notice ------------------------------------------------------------------------------------

class NoticeTest : public PreemptionTest {
 protected:
  NoticeTest() {
    rules_.defaults.notice_s = 30;
    planner_.follow(&rules_);
  }

  std::vector<double> told() {
    std::vector<double> times_s;
    for (const auto& [key, pod] : world_.pods())
      if (pod.notice) times_s.push_back(pod.notice->at_s);
    return times_s;
  }
  std::int64_t count(const std::string& word) {
    const auto words = written();
    return std::count(words.begin(), words.end(), word);
  }

  QueueRulebook rules_;
};

// Each plan may have wanted another one, and what was told is taken back a moment later.
TEST_F(NoticeTest, RunsOfTwoPoolsThatWereToldForOneTaskMakeNoRoomTogether) {
  for (const char* type : {"K80", "T4"}) {
    world_.add(a_node(type).of(type, 8));
    for (const char* name : {"keeps-", "long-"}) {
      JobBuilder job = a_job(name + std::string(type)).gpus(4).waiting();
      job.intent().expected_duration_s = kDay_s;
      job.intent().gpu_types = {GpuType(type)};
      if (name == std::string("keeps-")) job.intent().qos_class = QosClass::kUrgent;
      arrive(job);
    }
  }
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(3700);
  arrive(urgent_job("urgent"));
  const auto told = std::make_shared<const StopNotice>(
      StopNotice{.asker = {"default", "urgent"}, .asker_uid = world_.job("urgent").uid, .at_s = 0});
  for (auto& [key, pod] : world_.pods())
    if (pod.owner->name.starts_with("long-")) pod.notice = told;
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 0) << "half a node each";
  EXPECT_TRUE(this->told().empty());
}

TEST_F(NoticeTest, ARunIsToldAndStoppedOnceItsTimeHasCome) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent"));
  const double asked_s = world_.now_s();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(written(), std::vector<std::string>{"tell_of_stop"});
  ASSERT_EQ(told().size(), 1U);
  EXPECT_GE(told().front(), asked_s + 30);
  EXPECT_LT(told().front(), asked_s + 31);
  EXPECT_EQ(world_.pods().begin()->second.notice->asker.name, "urgent");
  EXPECT_EQ(next_told_stop_s(world_.snapshot(), world_.now_s()), told().front());

  world_.pass(29);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("long-n1"), 1) << "it still runs";
  world_.pass(2);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("urgent"), 1);
  EXPECT_EQ(written(),
            (std::vector<std::string>{"tell_of_stop", "stop", "release", "nominate", "lift"}));
}

TEST_F(NoticeTest, WithoutTheAskerItIsTakenBack) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  world_.jobs().erase(world_.job("urgent").key);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(written(), (std::vector<std::string>{"tell_of_stop", "take_back_stop"}));
  EXPECT_TRUE(told().empty());
  world_.pass(60);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 0);
}

TEST_F(NoticeTest, AnAskerThatFindsRoomElsewhereTakesItBack) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  world_.add(a_node("n2").of("", 8));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("urgent"), 1);
  EXPECT_EQ(bound("long-n1"), 1);
  EXPECT_TRUE(told().empty());
}

// Another run has become the better victim.
TEST_F(NoticeTest, TheRunThatWasToldStaysTheVictim) {
  fill({"n1", "n2", "n3"}, 3700);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(told().size(), 1U);
  std::string victim;
  for (const auto& [key, pod] : world_.pods())
    if (pod.notice) victim = pod.owner->name;
  for (int i = 0; i < 4; ++i) {
    world_.pass(5);
    for (const char* node : {"n1", "n2", "n3"}) {
      const std::string other = std::string("long-") + node;
      if (other != victim) saves_now(other);
    }
    ASSERT_TRUE(planner_.settle(world_));
  }
  EXPECT_EQ(count("tell_of_stop"), 1);
  world_.pass(15);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound(victim), 0);
  EXPECT_EQ(stops(), 1);
  EXPECT_EQ(count("take_back_stop"), 0);
}

TEST_F(NoticeTest, NobodyElseGetsARunThatWasPromised) {
  fill({"n1", "n2"}, 3700);
  arrive(urgent_job("first"));
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(10);
  arrive(urgent_job("second"));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(told().size(), 2U);
  EXPECT_EQ(count("tell_of_stop"), 2);
  world_.pass(31);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("first") + bound("second"), 2);
  EXPECT_EQ(stops(), 2);
}

// The room is the asker's: who comes later does not start on what is free of those nodes.
TEST_F(NoticeTest, WhatElseIsFreeStartsMeanwhile) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  world_.add(a_node("n2").of("", 4));
  arrive(urgent_job("small", 4));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("small"), 1);
  EXPECT_EQ(told().size(), 1U);
}

// If one of two is told, the other one is not stopped before.
TEST_F(NoticeTest, AllWhoMakeRoomForATaskStopTogether) {
  rules_.defaults.notice_s = 0;
  rules_.named["asks"].notice_s = 30;
  for (const char* node : {"n1", "n2"}) {
    world_.add(a_node(node).of("", 8));
    JobBuilder job = long_job(std::string("long-") + node);
    if (node == std::string("n2")) job.intent().queue = "asks";
    world_.add(job.created(world_.now_s()));
    ASSERT_TRUE(planner_.settle(world_));
  }
  world_.pass(3700);
  world_.performed.clear();
  arrive(urgent_job("urgent").of(2).gang());
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(written(), (std::vector<std::string>{"tell_of_stop", "tell_of_stop"}));
  world_.pass(31);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("urgent"), 2);
}

// Nobody starts on a node whose room is made for somebody else.
TEST_F(NoticeTest, NobodyStopsForATaskThatCannotStartYet) {
  rules_.defaults.notice_s = 0;
  rules_.named["asks"].notice_s = 300;
  world_.add(a_node("n1").of("", 8));
  JobBuilder told = long_job("long-told").gpus(4);
  told.intent().queue = "asks";
  for (JobBuilder job : {told, long_job("long-other").gpus(4)})
    world_.add(job.created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(bound(), 2);
  world_.pass(3700);
  world_.performed.clear();
  saves_now("long-told");  // so it goes first
  for (const char* name : {"first", "second"}) {
    arrive(urgent_job(name, 4));
    ASSERT_TRUE(planner_.settle(world_));
  }
  EXPECT_EQ(written(), std::vector<std::string>{"tell_of_stop"});
  EXPECT_EQ(bound("long-other"), 1);
  world_.pass(301);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 2);
  EXPECT_EQ(bound("first") + bound("second"), 2);
}

// A trainer that hears of its stop too late for the asker is not disturbed.
TEST_F(NoticeTest, NobodyIsToldForATaskThatCannotWaitThatLong) {
  fill({"n1"}, 3700, 60);
  JobBuilder soon = urgent_job("soon");
  soon.intent().qos_class.reset();
  soon.intent().deadline_after_s = 690;
  arrive(soon);
  rules_.defaults.notice_s = 100;
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(count("tell_of_stop"), 0);
  EXPECT_EQ(stops(), 0);
  rules_.defaults.notice_s = 0;
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
}

TEST_F(NoticeTest, ANoticeOfAnotherClockIsWrittenAgain) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  Pod& pod = world_.pods().begin()->second;
  StopNotice far = *pod.notice;
  far.at_s += kDay_s;
  pod.notice = std::make_shared<const StopNotice>(far);
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(told().size(), 1U);
  EXPECT_LT(told().front(), world_.now_s() + 31);
}

TEST_F(NoticeTest, PlannersThatDieAfterEveryWriteTellAndStopNobodyTwice) {
  fill({"n1", "n2"}, 3700);
  rules_.defaults.notice_s = 0.004;  // lives take a millisecond
  arrive(urgent_job("urgent").of(2).gang());
  live_by_single_writes(world_, [this](std::int64_t epoch) {
    WorldPlanner life(epoch, "default");
    life.follow(&rules_);
    return life;
  });
  world_.pass(1);
  live_by_single_writes(world_, [this](std::int64_t epoch) {
    WorldPlanner life(epoch + 50, "default");
    life.follow(&rules_);
    return life;
  });
  EXPECT_EQ(stops(), 2);
  EXPECT_EQ(count("tell_of_stop"), 2);
  EXPECT_EQ(count("take_back_stop"), 0);
  EXPECT_EQ(bound("urgent"), 2);
}

// Every life of the planner ends after one write; what one has begun, the next completes.
TEST_F(PreemptionTest, PlannersThatDieAfterEveryWriteStopNobodyTwice) {
  fill({"n1", "n2"}, 3700);
  arrive(urgent_job("urgent").of(2).gang());
  live_by_single_writes(world_, [](std::int64_t epoch) { return WorldPlanner(epoch, "default"); });
  EXPECT_EQ(stops(), 2);
  EXPECT_EQ(bound("urgent"), 2);
  for (const char* job : {"long-n1", "long-n2"})
    EXPECT_EQ(world_.job(job).preemptions->count, 1);
}

// `kubectl delete job` of who was stopped: its pods have their grace period all the same.
TEST_F(PreemptionTest, TheRoomIsTheAskersAlsoWhereTheStoppedJobIsDeleted) {
  fill({"n1", "n2"}, 3700);
  for (const char* job : {"long-n1", "long-n2"})
    world_.linger(job);
  arrive(urgent_job("urgent"));
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(stops(), 1);
  const std::string stopped = world_.job("long-n1").suspended ? "long-n1" : "long-n2";
  for (auto& [key, pod] : world_.pods())
    if (pod.deleting) pod.gone_by_s = world_.now_s() + 300;
  world_.remove_job(stopped);
  for (auto& [key, pod] : world_.pods())
    if (pod.deleting) pod.gone_by_s = world_.now_s() + 300;
  for (int i = 0; i < 3; ++i) {
    world_.pass(31);
    ASSERT_TRUE(planner_.settle(world_));
  }
  EXPECT_EQ(stops(), 1);
  EXPECT_FALSE(world_.job("urgent").suspended);
  for (auto it = world_.pods().begin(); it != world_.pods().end();)
    it = it->second.deleting ? world_.pods().erase(it) : std::next(it);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("urgent"), 1);
}

// While it starts again, or has a backlog.
TEST_F(PreemptionTest, AJobControllerThatIsLateStopsNobodyElse) {
  fill({"n1", "n2"}, 3700);
  arrive(urgent_job("urgent"));
  for (int i = 0; i < 5; ++i) {
    planner_.act(world_);
    world_.pass(31);
  }
  EXPECT_EQ(stops(), 1);
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("urgent"), 1);
  EXPECT_EQ(stops(), 1);
}

// It would not start, and who was stopped would have lost work for nothing.
TEST_F(PreemptionTest, NobodyIsStoppedForATaskThatIsNotLetStart) {
  fill({"n1"}, 3700);
  arrive(urgent_job("urgent"));
  planner_.book.unreleased = {world_.job("urgent").uid};
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 0);
  planner_.book.unreleased.clear();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
}

// An asker of two nodes: those under the budget come first in the order.
TEST_F(PreemptionTest, ManyRunsUnderABudgetHideNobodyElseFromSeveralNodes) {
  std::vector<std::string> nodes;
  for (int node = 0; node < 12; ++node)
    nodes.push_back("n" + std::to_string(node));
  fill(nodes, 4100);
  allow_one_disruption();
  world_.add(a_node("other").of("", 8));
  world_.add(long_job("other", std::nullopt).created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(700);
  arrive(urgent_job("urgent").of(2).gang());
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(bound("urgent"), 2);
  EXPECT_EQ(bound("other"), 0);
  EXPECT_EQ(stops(), 2);
}

}  // namespace
}  // namespace slackline::core
