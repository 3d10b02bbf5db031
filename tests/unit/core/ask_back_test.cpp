// Owners ask for what others have borrowed.
#include <tuple>

#include "slackline/core/handover/begin_starts.h"
#include "slackline/core/planning/rollout.h"
#include "slackline/model/reason.h"
#include "support/share_world.h"

namespace slackline::core {
namespace {

using test::kSharedAt_s;
using TaskNames = std::vector<std::string>;

// Vision runs on 12 of 16: 6 are its own, 4 borrowed, 2 of the pool; the other 2 of the pool are
// used by somebody without a share. Text owns 6, and 2 are free.
class AskBackTest : public test::ShareWorld {
 protected:
  void vision_borrows(double started_s = -100) {
    runs("v0", "vision", 4, "n1", started_s);
    runs("v1", "vision", 4, "n2", started_s + 1);
    runs("v2", "vision", 4, "n3", started_s + 2);
    runs("o0", "other", 2, "n4", started_s + 3);
  }

  // Vision runs on its own 6, and text on 2 of its 6. The pool is in use, and 4 are free on n4.
  void four_are_free() {
    runs("v0", "vision", 4, "n1", -100);
    runs("v1", "vision", 2, "n3", -99);
    runs("o0", "other", 4, "n2", -98);
    runs("t9", "text", 2, "n3", -97);
  }

  Plan planned(Queue& queue, std::string_view policy = "default") {
    return plan(queue.state(), kSharedAt_s, *parse_policy(policy));
  }

  // Who gives back, and who starts.
  std::pair<TaskNames, TaskNames> changes(std::string_view policy = "default") {
    Queue found = queue();
    std::pair<TaskNames, TaskNames> changes;
    for (const Effect& effect : planned(found, policy).effects) {
      EXPECT_FALSE(effect.ended && !effect.gives_back);
      TaskNames& names = effect.ended ? changes.first : changes.second;
      names.push_back(found.task(effect.task).key.name);
    }
    return changes;
  }
};

TEST_F(AskBackTest, AnOwnerDoesNotWaitForWhoBorrowedUnderAnyPolicy) {
  vision_borrows();
  waits("t0", "text", 4, 0);
  for (const std::string& policy : policy_names())
    EXPECT_EQ(changes(policy), std::pair(TaskNames{"v1"}, TaskNames{"t0"}))
        << policy << ": v0 is its queue's own, v2 is of the pool too";
}

// The second of vision fits within nothing of its own once the first has started.
TEST_F(AskBackTest, AnOwnerComesBeforeWhoWouldBorrowWhereAllIsFree) {
  for (const char* name : {"v0", "v1", "v2"})
    waits(name, "vision", 4, -10);
  runs("o0", "other", 4, "n1", -100);
  runs("o1", "other", 4, "n2", -100);
  waits("t0", "text", 4, 0);
  for (const std::string& policy : policy_names()) {
    const TaskNames started = changes(policy).second;
    EXPECT_EQ(std::count(started.begin(), started.end(), "t0"), 1) << policy;
  }
}

TEST_F(AskBackTest, WhoFitsStopsNobody) {
  vision_borrows();
  waits("t0", "text", 2, 0);
  EXPECT_EQ(changes(), std::pair(TaskNames{}, TaskNames{"t0"}));
}

TEST_F(AskBackTest, NobodyAsksForMoreThanHeOwns) {
  vision_borrows();
  waits("t0", "text", 2, 2);
  waits("v3", "vision", 4, 2.5);
  waits("t1", "text", 4, 3);
  waits("t2", "text", 4, 4);
  EXPECT_EQ(changes("fifo/skip"), std::pair(TaskNames{"v1"}, TaskNames{"t1", "t0"}))
      << "with 6 in use text owns no more";
}

TEST_F(AskBackTest, TheLeastUsefulRunIsStoppedFirst) {
  rulebook_.named["vision"].shares = {{"A100", {0, 12}}};
  rulebook_.named["idle"].shares = {{"A100", {6, 0}}};
  vision_borrows();
  waits("t0", "text", 4, 0);
  Queue found = queue();
  EXPECT_EQ(changes(), std::pair(TaskNames{"v2"}, TaskNames{"t0"}))
      << "it has lost least work so far";
}

TEST_F(AskBackTest, AYoungRunIsProtectedAndNobodyElseBorrowsMeanwhile) {
  vision_borrows(/*started_s=*/560);
  waits("t0", "text", 4, 0);
  waits("v3", "vision", 1, 1);
  waits("t1", "text", 1, 2);
  Queue found = queue();
  const Plan made = planned(found);
  EXPECT_EQ(changes(), std::pair(TaskNames{}, TaskNames{"t1"}));
  ASSERT_TRUE(made.next_wake_s);
  EXPECT_DOUBLE_EQ(*made.next_wake_s, kSharedAt_s - 600 + 561 + 60);
}

TEST_F(AskBackTest, ProtectionLastsNoLongerThanTheOwnerMustWait) {
  vision_borrows(/*started_s=*/590);
  waits("t0", "text", 4, 0);
  rulebook_.named["text"].give_back_within_s = 5;
  EXPECT_EQ(changes(), std::pair(TaskNames{"v1"}, TaskNames{"t0"}));
  rulebook_.named["text"].give_back_within_s = 20;
  EXPECT_EQ(changes(), std::pair(TaskNames{}, TaskNames{}));
}

TEST_F(AskBackTest, ABudgetDelaysTheOwnerNoLongerThanThat) {
  vision_borrows();
  waits("t0", "text", 4, 0);
  DisruptionBudget budget;
  budget.key = {"default", "keep"};
  budget.match_labels = {{"job-name", "v1"}};
  cluster_.with(budget);
  rulebook_.named["text"].give_back_within_s = 750;
  EXPECT_EQ(changes(), std::pair(TaskNames{"o0"}, TaskNames{"t0"})) << "who uses the pool";
  rulebook_.named["text"].give_back_within_s = 500;
  EXPECT_EQ(changes(), std::pair(TaskNames{"v1"}, TaskNames{"t0"}));
}

// Each of them could go alone. The pool is in use on the other nodes.
TEST_F(AskBackTest, ABudgetOfSeveralBorrowersHoldsAsLong) {
  rulebook_.named["vision"].shares = {{"A100", {0, 8}}};
  rulebook_.named["text"].shares = {{"A100", {8, 0}}};
  cluster_.with(test::a_node("n5").of("A100", 8));
  for (const char* node : {"n1", "n2", "n3", "n4"})
    runs(std::string("o-") + node, "other", 4, node, -100);
  runs("v0", "vision", 4, "n5", -100);
  runs("v1", "vision", 4, "n5", -100);
  waits("t0", "text", 8, 0);
  DisruptionBudget budget;  // of every pod
  budget.key = {"default", "keep"};
  budget.disruptions_allowed = 1;
  cluster_.with(budget);
  const auto stops_within = [&](double give_back_within_s, double wake_s) {
    rulebook_.named["text"].give_back_within_s = give_back_within_s;
    Queue found = queue();
    const Plan made = planned(found);
    EXPECT_LE(made.next_wake_s.value_or(kNever), wake_s);
    PlanStamp stamp;
    const auto writes = begin_starts(snapshot_, {}, found, made, catalog_, stamp, 0, kSharedAt_s);
    return std::count_if(writes.begin(), writes.end(),
                         [](const OwnWrite& write) { return write.is<StopJob>(); });
  };
  EXPECT_EQ(stops_within(750, kSharedAt_s + 50), 0);
  EXPECT_EQ(stops_within(500, kNever), 2);
}

TEST_F(AskBackTest, WhoIsNotStoppedBorrowsNothing) {
  rulebook_.named["vision"].preemptible = false;
  for (int i = 0; i < 3; ++i)
    waits("v" + std::to_string(i), "vision", 4, i);
  EXPECT_EQ(changes(), std::pair(TaskNames{}, TaskNames{"v0", "v1"}))
      << "6 of its own and 2 of 4 in the pool";
}

TEST_F(AskBackTest, TheStopIsSaidAndNobodyPaysForIt) {
  vision_borrows();
  waits("t0", "text", 4, 0);
  Queue found = queue();
  const Plan made = planned(found);
  PlanStamp stamp;
  const auto writes = begin_starts(snapshot_, {}, found, made, catalog_, stamp, 0, kSharedAt_s);
  ASSERT_EQ(writes.size(), 2U);
  const auto* stop = writes[0].as<StopJob>();
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(writes[0].target.key.name, "v1");
  EXPECT_EQ(writes[0].decision.reason, reason::kBorrowedAskedBack);
  EXPECT_EQ(stop->asker.name, "t0");
  EXPECT_GT(stop->lost_gpu_s, 0);
  EXPECT_TRUE(stop->preemptions->charges.empty());
  EXPECT_EQ(writes[1].target.key.name, "t0");
}

TEST_F(AskBackTest, WhoGivesBackAndHasADeadlineGoesOnFirstWhereThereIsRoom) {
  runs("v0", "vision", 4, "n1", -100);
  runs("v1", "vision", 4, "n3", -99);
  runs("o0", "other", 2, "n4", -98);
  auto borrower = test::in_queue("v2", "vision", 0);
  borrower.intent().deadline_s = kSharedAt_s + 90'000;
  test::add_running(cluster_, borrower, "v2", 2, "n2", "A100", kSharedAt_s - 697);
  auto sooner = test::in_queue("x", "other", 0).gpus(2);
  sooner.intent().deadline_s = kSharedAt_s + 80'000;
  cluster_.with(sooner.waiting());
  waits("t0", "text", 4, 0);
  Queue found = queue();
  const Plan made = planned(found);
  PlanStamp stamp;
  const auto writes = begin_starts(snapshot_, {}, found, made, catalog_, stamp, 0, kSharedAt_s);
  TaskNames written;
  for (const OwnWrite& write : writes)
    written.push_back(write.target.key.name);
  EXPECT_EQ(written, (TaskNames{"v2", "t0"})) << "x waits";
  const auto* stop = writes[0].as<StopJob>();
  ASSERT_TRUE(stop != nullptr && stop->preemptions->goes_on);
  EXPECT_EQ(writes[0].decision.reason, reason::kBorrowedAskedBack);
  EXPECT_EQ(stop->preemptions->goes_on->nodes, std::vector<NodeName>{NodeName("n4")});
  EXPECT_EQ(stop->preemptions->goes_on->shape, (Placement{1, 2}));
}

// He would only be stopped for it later.
TEST_F(AskBackTest, WhoWouldBorrowDoesNotStartInTheRoomOfAnOwnerWhoWaitsUnderAnyPolicy) {
  four_are_free();
  waits("v2", "vision", 4, 0);
  waits("t0", "text", 4, 1);
  for (const bool may_stop : {true, false}) {
    options_.may_stop = may_stop;
    for (const std::string& policy : policy_names())
      EXPECT_EQ(changes(policy), std::pair(TaskNames{}, TaskNames{"t0"})) << policy;
  }
}

TEST_F(AskBackTest, NobodyIsStoppedForRoomThatSomebodyTookFromTheOwner) {
  runs("v0", "vision", 4, "n1", -100);
  runs("v1", "vision", 4, "n2", -99);
  runs("t9", "text", 2, "n3", -98);
  waits("v2", "vision", 4, 0);
  waits("t0", "text", 4, 1);
  EXPECT_EQ(changes("fifo"), std::pair(TaskNames{}, TaskNames{"t0"}))
      << "not v2, with v1 stopped for t0";
}

TEST_F(AskBackTest, WhatIsLeftBesideOwnersIsLent) {
  four_are_free();
  waits("v2", "vision", 4, 0);
  waits("t0", "text", 1, 1);
  waits("t1", "text", 1, 2);
  waits("v3", "vision", 2, 3);
  EXPECT_EQ(changes("fifo/skip"), std::pair(TaskNames{}, TaskNames{"t0", "t1", "v3"}));
}

TEST_F(AskBackTest, WhereThereIsRoomForBothThePolicyDecidesTheOrder) {
  four_are_free();
  waits("v2", "vision", 2, 0);
  waits("t0", "text", 2, 1);
  EXPECT_EQ(changes("fifo"), std::pair(TaskNames{}, TaskNames{"v2", "t0"}));
}

TEST_F(AskBackTest, NothingIsKeptForAnOwnerWhoCannotUseIt) {
  four_are_free();
  cluster_.with(test::a_node("h1").of("H100", 4));
  test::add_running(cluster_, test::in_queue("t8", "text", 0), "t8", 4, "h1", "H100",
                    kSharedAt_s - 600);
  rulebook_.named["text"].shares = {{"A100", {10, 0}}, {"H100", {8, 0}}};
  rulebook_.named["vision"].shares = {{"A100", {6, 8}}};
  rulebook_.named["other"].preemptible = false;  // it gives nothing back
  auto other_type = test::in_queue("of-h100", "text", 0).gpus(4);
  other_type.intent().gpu_types = {GpuType("H100")};
  auto held = test::in_queue("held", "text", 1).gpus(4);
  held.intent().hold = true;
  cluster_.with(other_type.waiting()).with(held.waiting());
  cluster_.with(test::in_queue("too-big", "text", 2).of(2).gang().gpus(4).waiting());
  waits("v2", "vision", 4, 3);
  EXPECT_EQ(changes("fifo/skip"), std::pair(TaskNames{}, TaskNames{"v2"}));
}

TEST_F(AskBackTest, WhoWouldUseMoreThanItsOwnIsNoOwner) {
  four_are_free();
  rulebook_.named["text"].shares = {{"A100", {5, 2}}};
  waits("v2", "vision", 4, 0);
  waits("t0", "text", 4, 1);
  EXPECT_EQ(changes("fifo/skip"), std::pair(TaskNames{}, TaskNames{"v2"}));
}

// It borrows nothing: somebody else does.
TEST_F(AskBackTest, AnUrgentTaskUsesThePoolBeforeAnOwner) {
  runs("v0", "vision", 4, "n1", -100);
  runs("v1", "vision", 4, "n2", -99);
  runs("v2", "vision", 2, "n3", -98);
  runs("t9", "text", 2, "n3", -97);
  auto urgent = test::in_queue("u0", "other", 0).gpus(4);
  urgent.intent().qos_class = QosClass::kUrgent;
  cluster_.with(urgent.waiting());
  waits("t0", "text", 4, 1);
  EXPECT_EQ(changes(), std::pair(TaskNames{"v1"}, TaskNames{"u0", "t0"}));
}

TEST_F(AskBackTest, WhoGivesBackDoesNotGoOnInTheRoomOfAnotherOwner) {
  runs("v0", "vision", 4, "n1", -100);
  runs("v1", "vision", 4, "n3", -99);
  runs("o0", "other", 2, "n4", -98);
  auto borrower = test::in_queue("v2", "vision", 0);
  borrower.intent().deadline_s = kSharedAt_s + 90'000;
  test::add_running(cluster_, borrower, "v2", 2, "n2", "A100", kSharedAt_s - 697);
  waits("t0", "text", 4, 0);
  waits("t1", "text", 2, 1);
  EXPECT_EQ(changes(), std::pair(TaskNames{"v2"}, TaskNames{"t0", "t1"}));
}

// Else it would be asked back at once.
TEST_F(AskBackTest, ADeadlineStopsNoOwnerForABorrower) {
  runs("t0", "text", 4, "n1", 0);
  runs("t1", "text", 2, "n2", 0);
  runs("x0", "text", 4, "n3", 0);
  runs("x1", "text", 4, "n4", 0);
  rulebook_.named["text"].shares = {{"A100", {14, 0}}};
  auto urgent = test::in_queue("v0", "vision", 0).gpus(4);
  urgent.intent().deadline_s = kSharedAt_s + 3700;
  cluster_.with(urgent.waiting());
  EXPECT_EQ(changes(), std::pair(TaskNames{}, TaskNames{}));
}

// t0 has v1 stopped once v1 has run for ten minutes; v1 goes on where v0 ends, and b0 starts behind
// it, once o0 has left it the pool.
TEST_F(AskBackTest, AForecastSeesStopsForOwnersUnderAPolicyThatStopsNobody) {
  vision_borrows(/*started_s=*/560);
  waits("t0", "text", 4, 0);
  waits("b0", "other", 4, 5);
  Queue found = queue();
  std::vector<TaskIndex> asked(2);
  for (TaskIndex task = 0; task < found.size(); ++task) {
    if (found.task(task).key.name == "v1") asked[0] = task;
    if (found.task(task).key.name == "b0") asked[1] = task;
  }
  RolloutOptions options;
  options.futures = kAsPredicted;
  const auto forecasts = rollout(found.state(), kSharedAt_s, *parse_policy("fifo"), asked, options);
  ASSERT_EQ(forecasts.size(), 2U);
  EXPECT_GT(forecasts[0].finish_s.p50(), kSharedAt_s + 3560 + 60) << "it starts twice";
  EXPECT_NEAR(forecasts[1].start_s.p50(), kSharedAt_s + 3563, 5);
}

}  // namespace
}  // namespace slackline::core
