// Shares of queues in the planner's queue, and their ledger.
#include "slackline/core/cluster/queue_shares.h"

#include <set>

#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "slackline/core/answers/explain.h"
#include "slackline/core/cluster/as_planned.h"
#include "slackline/model/reason.h"
#include "support/share_world.h"

namespace slackline::core {
namespace {

using test::a_node;
using test::in_queue;
using test::kSharedAt_s;
using QueueSharesTest = test::ShareWorld;
using Started = std::vector<std::string>;

Started types_of(const Queue& queue, TaskIndex task) {
  std::set<std::string> types;
  for (const Choice& choice : queue.state().tasks()[task].menu->all)
    types.insert(queue.pools()[choice.pool].pool.type.str());
  return {types.begin(), types.end()};
}

TEST_F(QueueSharesTest, AQueueGetsItsOwnAndWhatItMayBorrowAndThePool) {
  for (int i = 0; i < 4; ++i)
    waits("v" + std::to_string(i), "vision", 4, i);
  EXPECT_EQ(starts(), (Started{"v0", "v1", "v2"}))
      << "6 + 4 and 2 of the pool: no room for a fourth";
  waits("t0", "text", 4, 10);
  EXPECT_EQ(starts(), (Started{"v0", "v1", "v2", "t0"})) << "its own are free";
}

// Of 16: research owns 10, of these image 6 and text 4; of the pool are 6.
TEST_F(QueueSharesTest, AParentBoundsWhatItsChildrenUseTogether) {
  rulebook_.named.clear();
  rulebook_.named["research"].shares = {{"A100", {10, 0}}};
  for (const auto& [name, own] : {std::pair("image", 6), std::pair("text", 4)}) {
    rulebook_.named[name].parent = "research";
    rulebook_.named[name].shares = {{"A100", {own, 8}}};
  }
  waits("i0", "image", 4, 0);
  waits("i1", "image", 4, 1);
  waits("i2", "image", 4, 2);
  waits("i3", "image", 4, 3);
  EXPECT_EQ(starts(), (Started{"i0", "i1", "i2", "i3"})) << "10 of the parent, 6 of the pool";
  rulebook_.named["other"].shares = {{"A100", {4, 0}}};
  EXPECT_EQ(starts(), (Started{"i0", "i1", "i2"})) << "the pool has 2: its own bound would be 14";
  rulebook_.named["image"].parent.clear();
  rulebook_.named["research"].shares = {{"A100", {4, 0}}};
  EXPECT_EQ(starts(), (Started{"i0", "i1", "i2", "i3"})) << "14 of its own bound, 2 of the pool";
  const ShareLedger ledger = share_ledger(queue(), rulebook_, catalog_);
  EXPECT_EQ(ledger.types[0].owned, 14) << "what a child owns is of its parent's";
}

TEST_F(QueueSharesTest, WhatChildrenLeaveIsTheParentsOwn) {
  rulebook_.named.clear();
  rulebook_.named["research"].shares = {{"A100", {8, 0}}};
  rulebook_.named["image"].parent = "research";
  rulebook_.named["image"].shares = {{"A100", {6, 10}}};
  rulebook_.named["other"].shares = {{"A100", {8, 0}}};
  runs("i0", "image", 4, "n1", 0);
  runs("i1", "image", 4, "n2", 1);
  waits("r0", "research", 2, 2);
  waits("i2", "image", 1, 3);
  EXPECT_EQ(starts(), (Started{"r0"})) << "image has borrowed its 2, and gets no more";
  const ShareLedger ledger = share_ledger(queue(), rulebook_, catalog_);
  EXPECT_EQ(ledger.types[0].pool, 0);
  for (const ShareLine& line : ledger.lines)
    EXPECT_EQ(line.parent, line.queue == "other" ? "" : "research") << line.queue;
  const auto told = share_outlook(ledger, "image", AcceptedTypes(), {GpuType("A100")}, catalog_, 1);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->kind, ShareOutlook::kNone);
}

TEST_F(QueueSharesTest, WhoHasNoShareUsesThePool) {
  for (int i = 0; i < 3; ++i)
    waits("o" + std::to_string(i), "other", 2, i);
  waits("p0", "another", 1, 10);
  EXPECT_EQ(starts(), (Started{"o0", "o1"})) << "the pool is one, for all of them";
  rulebook_.named["text"].shares.clear();
  EXPECT_EQ(starts(), (Started{"o0", "o1", "o2", "p0"}))
      << "what nobody owns any more is the pool's";
}

TEST_F(QueueSharesTest, AStrictPolicyGoesOnBehindAQueueWithoutRoom) {
  waits("big", "other", 4, 0);
  waits("more", "other", 4, 1);
  waits("t0", "text", 4, 2);
  EXPECT_EQ(starts("fifo"), (Started{"big", "t0"}));
}

TEST_F(QueueSharesTest, AShareOfOneTypeSaysNothingOfOthers) {
  cluster_.with(a_node("h1").of("H100", 8));
  waits("o0", "other", 8, 0);
  EXPECT_EQ(starts(), (Started{"o0"}));
}

TEST_F(QueueSharesTest, PartsOfGpusAreEverybodys) {
  cluster_.with(a_node("m1").of("A100", 4).resource("nvidia.com/mig-1g.5gb", 7));
  cluster_.with(in_queue("o0", "other", 0).gpus(5, "nvidia.com/mig-1g.5gb").waiting());
  EXPECT_EQ(starts(), (Started{"o0"}));
  EXPECT_EQ(share_ledger(queue(), rulebook_, catalog_).types[0].gpus, 20);
}

TEST_F(QueueSharesTest, PodsThatNobodyPlannedLeaveLessInThePool) {
  cluster_.with(test::a_pod("notebook").gpus(3).on("n1"));
  waits("o0", "other", 2, 0);
  waits("o1", "other", 1, 1);
  EXPECT_EQ(starts(), (Started{"o1"}));
}

TEST_F(QueueSharesTest, SoManyTasksOfAQueueRunAtATime) {
  rulebook_.named["text"].max_running = 2;
  runs("t0", "text", 1, "n1", 0);
  waits("t1", "text", 1, 0);
  waits("t2", "text", 1, 1);
  EXPECT_EQ(starts(), (Started{"t1"}));
  cluster_.with(a_node("n9").of("A100", 4).cordoned());
  runs("t9", "text", 1, "n9", 0);
  EXPECT_EQ(starts(), Started{}) << "it runs on, on a node that nobody gets";
}

TEST_F(QueueSharesTest, TheLedgerTellsWhatIsUsedInTheOrderOfTheStarts) {
  runs("v0", "vision", 4, "n1", 0);
  runs("v1", "vision", 4, "n2", 1);
  runs("v2", "vision", 4, "n3", 2);
  runs("o0", "other", 1, "n4", 3);
  const ShareLedger ledger = share_ledger(queue(), rulebook_, catalog_);
  ASSERT_EQ(ledger.types.size(), 1U);
  EXPECT_EQ(ledger.types[0].gpu_type, "A100");
  EXPECT_EQ(ledger.types[0].gpus, 16);
  EXPECT_EQ(ledger.types[0].owned, 12);
  EXPECT_EQ(ledger.types[0].pool, 4);
  EXPECT_EQ(ledger.types[0].pool_in_use, 3);
  ASSERT_EQ(ledger.lines.size(), 3U);
  const ShareLine& other = ledger.lines[0];
  EXPECT_EQ(other.queue, "default") << "a queue that nobody configured is of its namespace";
  EXPECT_EQ(other.of_pool, 1);
  EXPECT_EQ(ledger.lines[1].queue, "text");
  EXPECT_EQ(ledger.lines[1].own, 0);
  const ShareLine& vision = ledger.lines[2];
  EXPECT_EQ(vision.share, (GpuShare{6, 4}));
  EXPECT_EQ(vision.own, 6);
  EXPECT_EQ(vision.borrowed, 4);
  EXPECT_EQ(vision.of_pool, 2);
  rulebook_.named.clear();
  EXPECT_TRUE(share_ledger(queue(), rulebook_, catalog_).types.empty());
}

// Of 16: vision owns 6 and may borrow 4, text owns 6, and 4 are of the pool.
TEST_F(QueueSharesTest, WhatATaskWouldUseIsToldBeforeItWaits) {
  const auto told = [&](const std::string& account, std::int64_t gpus,
                        const std::vector<GpuType>& present = {GpuType("A100")}) {
    const ShareLedger ledger = share_ledger(queue(), rulebook_, catalog_);
    const auto found = share_outlook(ledger, account, AcceptedTypes(), present, catalog_, gpus);
    return found ? format("{} {}", static_cast<int>(found->kind), found->borrowed) : "nothing";
  };
  struct Row {
    const char* account;
    std::int64_t gpus;
    const char* idle;
    const char* beside_eight;  // where vision uses 8
  };
  const Row rows[] = {
      {"vision", 4, "0 0", "2 4"},   {"vision", 6, "0 0", "2 6"}, {"vision", 7, "1 1", "3 7"},
      {"vision", 10, "1 4", "3 10"}, {"vision", 2, "0 0", "1 2"}, {"vision", 11, "2 5", "3 11"},
      {"vision", 15, "3 9", "3 15"}, {"text", 6, "0 0", "0 0"},   {"text", 7, "2 1", "2 1"},
      {"other", 4, "2 4", "2 4"},    {"other", 5, "3 5", "3 5"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(told(row.account, row.gpus), row.idle) << row.account << " " << row.gpus;
  runs("v0", "vision", 4, "n1", 0);
  runs("v1", "vision", 4, "n2", 1);
  for (const Row& row : rows)
    EXPECT_EQ(told(row.account, row.gpus), row.beside_eight) << row.account << " " << row.gpus;
  EXPECT_EQ(told("vision", 4, {GpuType("A100"), GpuType("T4")}), "nothing")
      << "on a T4 no share counts";
  EXPECT_EQ(told("vision", 4, {}), "nothing");
}

TEST_F(QueueSharesTest, AQueueIsFullOnceAsManyRunAsMay) {
  rulebook_.named["vision"].max_running = 2;
  runs("v0", "vision", 4, "n1", 0);
  EXPECT_TRUE(full_queues(queue()).empty());
  runs("v1", "vision", 4, "n2", 1);
  EXPECT_EQ(full_queues(queue()), std::set<std::string>{"vision"});
}

// Shares that were made smaller stop nobody.
TEST_F(QueueSharesTest, WhoRunsBeyondItsShareGoesOnAndStartsNothing) {
  runs("v0", "vision", 4, "n1", 0);
  runs("v1", "vision", 4, "n2", 1);
  rulebook_.named["vision"].shares = {{"A100", {2, 0}}};
  waits("v2", "vision", 1, 0);
  waits("t0", "text", 4, 1);
  EXPECT_EQ(starts(), (Started{"v2", "t0"})) << "of 8 in the pool it uses 7";
  waits("v3", "vision", 2, 0);
  EXPECT_EQ(starts(), (Started{"v2", "t0"}));
}

TEST_F(QueueSharesTest, WhatNoNodeCouldRunIsNoMatterOfShares) {
  rulebook_.named["vision"].shares = {{"A100", {4, 4}}};
  waits("v0", "vision", 64, 0);
  const Queue found = queue();
  EXPECT_EQ(reason_of_shares(found.state(), 0), "");
}

TEST_F(QueueSharesTest, WhyATaskWaitsForItsShareIsSaid) {
  rulebook_.named["vision"].shares = {{"A100", {10, 0}}};
  waits("o0", "other", 1, 0);
  const Queue found = queue();
  EXPECT_FALSE(found.state().may_use_any(0));
  const auto blockers =
      explain({snapshot_, found, 0, catalog_, kSharedAt_s, kSharedAt_s}, reason::kPoolBusy);
  ASSERT_FALSE(blockers.empty());
  EXPECT_EQ(blockers.front().reason, reason::kPoolBusy) << "it has no share";
  EXPECT_EQ(blockers.front().what, find_reason(reason::kPoolBusy)->meaning);
  EXPECT_EQ(blockers.front().detail,
            "default: 1 A100 are more than it may ever use: its queue owns 0, may borrow 0, and 0 "
            "are nobody's");
  EXPECT_FALSE(found.state().could_use_any(0));
  rulebook_.named["text"].max_running = 1;
  runs("t0", "text", 1, "n1", 0);
  waits("t1", "text", 1, 1);
  const Queue full = queue();
  const auto later =
      explain({snapshot_, full, 2, catalog_, kSharedAt_s, kSharedAt_s}, reason::kShareExceeded);
  EXPECT_EQ(later.front().reason, reason::kShareExceeded);
  EXPECT_EQ(later.front().what, "as many tasks of its queue run as may at a time (maxRunning)");
  EXPECT_EQ(later.front().detail, "text: 1 of 1 tasks run; A100: 0 of 0 in the pool are in use");
  EXPECT_TRUE(full.state().could_use_any(2)) << "once t0 has ended";
}

TEST_F(QueueSharesTest, AQueueMayPreferGpuTypesForTasksThatNameNone) {
  rulebook_.named.clear();
  rulebook_.named["vision"].gpu_types = {GpuType("h100"), GpuType("V100")};
  cluster_.with(a_node("h1").of("H100", 4));
  waits("v0", "vision", 4, 0);
  waits("o0", "other", 4, 1);
  auto any = in_queue("v1", "vision", 2);
  any.intent().any_gpu_type = true;
  cluster_.with(any.gpus(4).waiting());
  const Queue found = queue();
  EXPECT_EQ(types_of(found, 0), (Started{"H100"})) << "a type that is not there does not matter";
  EXPECT_TRUE(found.task(0).types_of_queue);
  EXPECT_EQ(asked_of(*found.task(0).intent, true), asked_of(*found.task(1).intent, false))
      << "what the queue prefers is nothing that people write";
  EXPECT_EQ(types_of(found, 1), (Started{"A100", "H100"}));
  EXPECT_EQ(types_of(found, 2), (Started{"A100", "H100"})) << "it says any";
}

}  // namespace
}  // namespace slackline::core
