// Running tasks that should go on elsewhere, in a small world.
#include "slackline/core/cluster/moves.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/handover/begin_move.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;
using test::HandOverWorld;
using test::WorldPlanner;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kPredicted_s = 86400;
constexpr std::int64_t kIterations = 86400;  // one a second, as predicted

class MovesTest : public testing::Test {
 protected:
  MovesTest() {
    book_.defaults.rescheduling = Rescheduling::kAuto;
    planner_.follow(&book_);
    add_nodes({"n1", "n2"});
    start("train");
  }

  void add_nodes(const std::vector<std::string>& names) {
    for (const std::string& name : names)
      world_.add(a_node(name).of("", 8));
  }

  void start(const std::string& name, double runs_s = kPredicted_s, const char* queue = "") {
    auto job = a_job(name).gpus(8).waiting().created(world_.now_s());
    job.intent().expected_duration_s = runs_s;
    job.intent().checkpoint_interval_s = 60;
    if (*queue != 0) job.intent().queue = queue;
    world_.add(job);
    ASSERT_TRUE(planner_.settle(world_));
    ASSERT_EQ(world_.bound(name), 1);
  }

  // A report each minute, at this share of the predicted speed; looked at each time.
  void run(double for_s, double share, const std::string& name = "train") {
    for (double passed_s = 0; passed_s < for_s; passed_s += 60) {
      ProgressNote note;
      if (world_.job(name).progress) note = *world_.job(name).progress;
      note.iteration += static_cast<std::int64_t>(60 * share);
      note.total = kIterations;
      world_.pass(60);
      note.at_s = world_.now_s();
      world_.job(name).progress = std::make_shared<const ProgressNote>(note);
      look();
    }
  }

  void look(const std::string& policy_name = "default") {
    const Policy policy = *parse_policy(policy_name);
    const ClusterSnapshot snapshot = world_.snapshot();
    const QueueOptions asked = planner_.options(world_.now_s());
    Queue queue = make_queue(snapshot, asked, menus_);
    core::plan(queue.state(), asked.now_wall_s, policy);
    speeds_.see(queue, kSlowAfter_s);
    const Moves moves(snapshot, asked, queue, speeds_, policy);
    advised_.clear();
    const std::vector<Move> found = moves.advised();
    for (const Move& move : found)
      advised_.push_back(move.advice);
    const auto move = moves.carried_out(found);
    writes_ = move ? begin_move(queue, *move, asked.now_wall_s) : std::vector<OwnWrite>();
  }

  std::string node_of(const std::string& job) const {
    for (const auto& [key, pod] : const_cast<HandOverWorld&>(world_).pods())
      if (pod.owner && pod.owner->name == job) return pod.node.str();
    return "";
  }

  HandOverWorld world_;
  WorldPlanner planner_{1, "default"};
  QueueRulebook book_;
  TaskMenus menus_;
  RunSpeeds speeds_;
  std::vector<MoveAdvice> advised_;
  std::vector<OwnWrite> writes_;
};

TEST_F(MovesTest, ARunThatIsSlowForTenMinutesIsMovedAndNeverComesBackThere) {
  run(9 * 60, 0.3);
  EXPECT_THAT(advised_, IsEmpty());
  run(3 * 60, 0.3);
  ASSERT_THAT(advised_, SizeIs(1));
  const MoveAdvice& advice = advised_.front();
  EXPECT_NEAR(advice.speed, 0.3, 0.01);
  // What is left takes 288,000 s here and 86,400 s there.
  EXPECT_NEAR(advice.gain_s, 200000, 2000);
  EXPECT_GT(advice.lost_gpu_s, 0);
  EXPECT_THAT(advice.moves.front().from, ElementsAre(NodeName("n1")));
  EXPECT_THAT(advice.moves.front().to, ElementsAre(NodeName("n2")));
  ASSERT_THAT(writes_, SizeIs(1));
  ASSERT_TRUE(world_.perform(writes_.front()));
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(node_of("train"), "n2");
  const PreemptionNote& note = *world_.job("train").preemptions;
  EXPECT_EQ(note.count, 1);
  EXPECT_EQ(note.by, "Moved");
  ASSERT_THAT(note.charges, SizeIs(1));
  EXPECT_EQ(note.charges[0].queue, "default");
  ASSERT_TRUE(note.slow);
  EXPECT_THAT(note.slow->nodes, ElementsAre(NodeName("n1")));

  run(20 * 60, 0.3);
  EXPECT_THAT(advised_, IsEmpty()) << "slow on both nodes: it is the task";
  world_.remove_node("n2");
  world_.pods().clear();
  world_.job("train").suspended = world_.job("train").suspended_by_us = true;
  world_.job("train").plan = nullptr;
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.bound("train"), 0) << "it waits rather than to run on n1 again";
  add_nodes({"n3"});
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(node_of("train"), "n3");
}

TEST_F(MovesTest, ItsNewPlaceIsKeptWhileItsPodsEnd) {
  run(12 * 60, 0.3);
  ASSERT_THAT(writes_, SizeIs(1));
  world_.linger("train");
  ASSERT_TRUE(world_.perform(writes_.front()));
  world_.make_pods();
  auto other = a_job("other").gpus(8).waiting().created(world_.now_s());
  other.intent().expected_duration_s = 600;
  world_.add(other);
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_TRUE(world_.job("other").plan);
  EXPECT_EQ(world_.job("other").plan->nodes.front(), NodeName("n1")) << "n2 is taken";
  world_.linger("train", false);
  world_.make_pods();
  WorldPlanner next{2, "default"};  // the note is all that it knows
  next.follow(&book_);
  ASSERT_TRUE(next.settle(world_));
  EXPECT_EQ(node_of("train"), "n2");
  EXPECT_EQ(node_of("other"), "n1");
}

TEST_F(MovesTest, ARunThatIsNearlyAsFastAsPredictedStays) {
  run(3600, 0.75);
  EXPECT_THAT(advised_, IsEmpty());
}

TEST_F(MovesTest, WhatCountsIsTheLastTenMinutes) {
  run(3600, 1);
  run(12 * 60, 0.3);
  EXPECT_THAT(advised_, SizeIs(1)) << "though it was fast for an hour";
  run(12 * 60, 1);
  EXPECT_THAT(advised_, IsEmpty());
}

TEST_F(MovesTest, ForAPlannerThatStartsTheTenMinutesBeginAgain) {
  run(3600, 0.3);
  speeds_ = {};
  run(9 * 60, 0.3);
  EXPECT_THAT(advised_, IsEmpty());
  run(3 * 60, 0.3);
  EXPECT_THAT(advised_, SizeIs(1));
}

TEST_F(MovesTest, QueuesSayWhatIsDone) {
  book_.defaults.rescheduling = Rescheduling::kAdvise;
  run(3600, 0.3);
  EXPECT_THAT(advised_, SizeIs(1));
  EXPECT_THAT(writes_, IsEmpty());
  book_.defaults.rescheduling = Rescheduling::kOff;
  look();
  EXPECT_THAT(advised_, IsEmpty());
}

TEST_F(MovesTest, WhoIsToBeToldBeforeAStopIsOnlyAdvised) {
  book_.defaults.notice_s = 30;
  run(3600, 0.3);
  EXPECT_THAT(advised_, SizeIs(1));
  EXPECT_THAT(writes_, IsEmpty());
}

TEST_F(MovesTest, WhatProtectsFromPreemptionProtectsFromMoves) {
  run(3600, 0.3);
  ASSERT_THAT(writes_, SizeIs(1));
  for (const char* policy : {"savable,headroom=0,calm=0", "default,protect=4000",
                             "default,max_preempts=0", "default,budget=0,budget_share=0"}) {
    look(policy);
    EXPECT_THAT(advised_, SizeIs(1)) << policy;
    EXPECT_THAT(writes_, IsEmpty()) << policy;
  }
  DisruptionBudget budget;
  budget.key = {"default", "keep"};
  budget.match_labels = {{"app", "train"}};
  world_.add(budget);
  for (auto& [key, pod] : world_.pods())
    pod.labels = {{"app", "train"}};
  look();
  EXPECT_THAT(writes_, IsEmpty()) << "disruption budget";
}

TEST_F(MovesTest, WithoutRoomElsewhereNobodyIsMoved) {
  start("other", 2 * kPredicted_s);
  run(3600, 0.3);
  ASSERT_THAT(advised_, SizeIs(1)) << "there will be room";
  EXPECT_THAT(advised_.front().moves.front().to, IsEmpty());
  EXPECT_THAT(writes_, IsEmpty());
  auto waiting = a_job("waiting").gpus(8).waiting().created(world_.now_s());
  waiting.intent().expected_duration_s = 600;
  world_.add(waiting);
  look();
  EXPECT_THAT(advised_, IsEmpty()) << "another waits for it";
}

TEST_F(MovesTest, WhatCostsMoreThanItGainsIsNotAdvised) {
  // Without a checkpoint the whole run is lost, and little is left to do.
  world_.forget_what_was_asked(world_.job("train"));
  world_.job("train").intent = [&] {
    TaskIntent intent = *world_.job("train").intent;
    intent.checkpoint_interval_s.reset();
    intent.last_checkpoint_s = world_.now_s() - 1;
    intent.expected_duration_s = 3600;
    return std::make_shared<const TaskIntent>(intent);
  }();
  ProgressNote done{.iteration = 80000, .total = kIterations, .at_s = world_.now_s() + 3000};
  world_.pass(3000);
  world_.job("train").progress = std::make_shared<const ProgressNote>(done);
  look();
  run(12 * 60, 4);  // of 24 iterations a second
  EXPECT_THAT(advised_, IsEmpty());
}

TEST_F(MovesTest, OneOfAQueueIsMovedAtATime) {
  add_nodes({"n3", "n4"});
  start("second");
  for (int minutes = 0; minutes < 15; ++minutes) {
    run(60, 0.3);
    world_.pass(-60);
    run(60, 0.3, "second");
  }
  ASSERT_THAT(advised_, SizeIs(2));
  ASSERT_THAT(writes_, SizeIs(1));
  ASSERT_TRUE(world_.perform(writes_.front()));
  look();
  EXPECT_THAT(advised_, SizeIs(1));
  EXPECT_THAT(writes_, IsEmpty()) << "the first one does not run yet";
}

// Both would go on at n3.
TEST_F(MovesTest, OneOfThoseThatHaveTheSameWayOutIsMoved) {
  start("other", kPredicted_s, "second");
  add_nodes({"n3"});
  for (int minutes = 0; minutes < 15; ++minutes) {
    run(60, 0.3);
    world_.pass(-60);
    run(60, 0.3, "other");
  }
  ASSERT_THAT(advised_, SizeIs(2));
  EXPECT_EQ(advised_[0].moves.front().to, advised_[1].moves.front().to);
  EXPECT_THAT(writes_, SizeIs(1));
}

// Two nodes of which a run uses a half each.
class FragmentedTest : public MovesTest {
 protected:
  FragmentedTest() {
    world_.finish("train");
    for (const char* name : {"a", "b", "c", "d"})
      start(name, 4, 36000);
    world_.finish("b");
    world_.finish("c");
    world_.pass(900);
    wait("whole", 1, 8);
  }

  void start(const std::string& name, std::int64_t gpus, double runs_s) {
    wait(name, 1, gpus, runs_s);
    ASSERT_TRUE(planner_.settle(world_));
    ASSERT_EQ(world_.bound(name), 1);
  }

  void wait(const std::string& name, std::int64_t pods, std::int64_t gpus, double runs_s = 3600) {
    auto job = a_job(name).of(pods).gpus(gpus).waiting().created(world_.now_s());
    if (pods > 1) job.gang();
    job.intent().expected_duration_s = runs_s;
    job.intent().checkpoint_interval_s = 60;
    world_.add(job);
  }

  void carry_out() {
    for (const OwnWrite& write : writes_)
      ASSERT_TRUE(world_.perform(write));
    world_.make_pods();
    ASSERT_TRUE(planner_.settle(world_));
  }
};

TEST_F(FragmentedTest, ARunGivesWayToATaskThatWaitsForAWholeNode) {
  ASSERT_NE(node_of("a"), node_of("d"));
  look();
  ASSERT_THAT(advised_, SizeIs(1));
  const MoveAdvice& advice = advised_.front();
  EXPECT_EQ(advice.cause, MoveCause::kFragmented);
  EXPECT_EQ(advice.task.name, "whole");
  EXPECT_NEAR(advice.gain_s, 36000 - 900, 5) << "else it starts once the first run has ended";
  EXPECT_GT(advice.gain_s * 8, advice.lost_gpu_s);
  ASSERT_THAT(advice.moves, SizeIs(1));
  const std::string moved = advice.moves[0].task.name;
  const std::string stays = moved == "a" ? "d" : "a";
  EXPECT_THAT(advice.moves[0].from, ElementsAre(NodeName(node_of(moved))));
  EXPECT_THAT(advice.moves[0].to, ElementsAre(NodeName(node_of(stays))));
  ASSERT_THAT(writes_, SizeIs(1));
  carry_out();
  EXPECT_EQ(world_.bound("whole"), 1);
  EXPECT_EQ(node_of(moved), node_of(stays));
  const PreemptionNote& note = *world_.job(moved).preemptions;
  EXPECT_EQ(note.by, "Moved");
  EXPECT_FALSE(note.slow) << "the node that it left is as good as any";
  look();
  EXPECT_THAT(advised_, IsEmpty());
}

TEST_F(FragmentedTest, WhoGivesWayIsExpectedWhereItGoes) {
  look();
  ASSERT_THAT(writes_, SizeIs(1));
  const MovedRun moved = advised_.front().moves.front();
  world_.linger(moved.task.name);
  carry_out();
  wait("half", 1, 4);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_FALSE(world_.job("whole").suspended) << "its pods are nominated";
  EXPECT_TRUE(world_.job("half").suspended) << "there is no other place";
  world_.linger(moved.task.name, false);
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.bound("whole"), 1);
  EXPECT_EQ(NodeName(node_of(moved.task.name)), moved.to.front());
  EXPECT_TRUE(world_.job("half").suspended);
}

TEST_F(FragmentedTest, AGangOfWholeNodesIsLetInByTwoRuns) {
  add_nodes({"n3", "n4"});
  world_.job("whole").finished = true;
  for (const char* name : {"e", "f", "g", "h"})
    start(name, 4, 36000);  // a and d have company now, and n3 is full
  for (const char* name : {"e", "f"})
    world_.finish(name);
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(900);
  start("i", 4, 36000);
  world_.finish("g");
  world_.pass(900);
  wait("gang", 2, 8);
  look();
  ASSERT_THAT(advised_, SizeIs(1));
  carry_out();
  EXPECT_EQ(world_.bound("gang"), 2);
  for (const char* name : {"a", "d", "h", "i"})
    EXPECT_EQ(world_.bound(name), 1) << name;
}

TEST_F(FragmentedTest, WhoeverConcernsItMustLeaveItToSlackline) {
  book_.named["other"].rescheduling = Rescheduling::kAdvise;
  for (const char* name : {"a", "d"}) {
    TaskIntent intent = *world_.job(name).intent;
    intent.queue = "other";
    world_.job(name).intent = std::make_shared<const TaskIntent>(intent);
  }
  look();
  EXPECT_THAT(advised_, SizeIs(1));
  EXPECT_THAT(writes_, IsEmpty()) << "of the queue that would be moved";
  book_.named["other"].rescheduling = Rescheduling::kOff;
  look();
  EXPECT_THAT(advised_, IsEmpty());
}

TEST_F(FragmentedTest, WhatProtectsFromPreemptionProtectsFromThis) {
  look("savable,headroom=0,calm=0");
  EXPECT_THAT(advised_, SizeIs(1)) << "for people";
  EXPECT_THAT(writes_, IsEmpty());
  for (const char* policy : {"default,protect=4000", "default,max_preempts=0"}) {
    look(policy);
    EXPECT_THAT(advised_, IsEmpty()) << policy;
  }
  look("default,budget=0,budget_share=0");
  EXPECT_THAT(advised_, SizeIs(1));
  EXPECT_THAT(writes_, IsEmpty());
}

TEST_F(FragmentedTest, WhatCostsMoreThanItGainsOrADeadlineIsNotAdvised) {
  const auto change = [&](const std::function<void(TaskIntent&)>& to) {
    for (const char* name : {"a", "d"}) {
      TaskIntent intent = *world_.job(name).intent;
      to(intent);
      world_.job(name).intent = std::make_shared<const TaskIntent>(intent);
    }
    look();
  };
  change([&](TaskIntent& intent) { intent.deadline_s = world_.now_s() + 36000 - 900 + 10; });
  EXPECT_THAT(advised_, IsEmpty()) << "they have no time for another start";
  change([&](TaskIntent& intent) { intent.deadline_s = world_.now_s() + 2 * 36000; });
  EXPECT_THAT(advised_, SizeIs(1));
  change([&](TaskIntent& intent) { intent.deadline_s.reset(); });
  EXPECT_THAT(advised_, SizeIs(1));
  world_.pass(33000);  // 2100 s are left of 36000 s, which no checkpoint keeps
  for (const char* name : {"a", "d"})
    world_.forget_what_was_asked(world_.job(name));
  change([&](TaskIntent& intent) { intent.checkpoint_interval_s.reset(); });
  EXPECT_THAT(advised_, IsEmpty());
}

TEST_F(FragmentedTest, WithoutRoomForARunNothingIsAdvised) {
  world_.node(node_of("a")).allocatable.cpu_milli = 1000;
  world_.node(node_of("d")).allocatable.cpu_milli = 1000;
  look();
  EXPECT_THAT(advised_, IsEmpty()) << "the GPUs are there, but no CPU";
}

}  // namespace
}  // namespace slackline::core
