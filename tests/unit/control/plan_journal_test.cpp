// What `slackline decisions` shows of the planner: one row for what it decided, none for what only
// carries that out.
#include "control/plan/plan_journal.h"

#include <gmock/gmock.h>

#include "control/plan/actuator.h"
#include "slackline/base/text.h"
#include "support/fake_cluster.h"
#include "support/hand_over_world.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using test::a_job;
using test::a_node;
using testing::ElementsAre;

std::vector<std::string> rows_of(const std::vector<OwnWrite>& writes) {
  std::vector<std::string> rows;
  for (const OwnWrite& write : writes)
    if (const auto row = row_of(write, 5))
      rows.push_back(format("{} {} {}: {}{}", to_string(row->verb), row->pod.name, row->plan_id,
                            row->result, row->reasons.empty() ? "" : " " + row->reasons[0].first));
  return rows;
}

class PlanJournalTest : public testing::Test {
 protected:
  void go_on() {
    for (int round = 0; round < 6; ++round) {
      planner_.act(world_);
      world_.make_pods();
    }
  }

  test::HandOverWorld world_;
  test::WorldPlanner planner_{3};
};

TEST_F(PlanJournalTest, OneRowForAPlannedStart) {
  world_.add(a_node("n1").of("K80", 4));
  world_.add(a_node("n2").of("K80", 4));
  world_.add(a_job("gang").of(2).gang().gpus(4).waiting());
  go_on();
  ASSERT_EQ(world_.performed.size(), 5U);
  EXPECT_THAT(rows_of(world_.performed), ElementsAre("plan gang p3-1: 2x4 K80 on n1, n2"));
  const DecisionRow row = *row_of(world_.performed.front(), 5);
  EXPECT_EQ(row.time_s, 5);
  EXPECT_EQ(row.pod_uid, test::job_uid("gang"));
  ASSERT_EQ(row.candidates.size(), 2U);
  EXPECT_EQ(row.candidates[1].node, "n2");
}

TEST_F(PlanJournalTest, OneRowForEveryMoveAndOneForTheSuspension) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node).of("K80", 4));
  world_.add(a_job("train").gpus(4).waiting());
  for (int misses = 0; misses <= core::kMostMisses; ++misses) {
    go_on();
    world_.pass(core::kUnboundAfter_s);
  }
  EXPECT_THAT(
      rows_of(world_.performed),
      ElementsAre("plan train p3-1: 1x4 K80 on n1", "move train p3-2: 1x4 K80 on n2 NotBound",
                  "move train p3-3: 1x4 K80 on n1 NotBound",
                  "suspend train p3-3: back into the queue NotBound"));
}

TEST_F(PlanJournalTest, ALostNodeIsTheReasonOfAMove) {
  world_.add(a_node("n1").of("K80", 4));
  world_.add(a_job("train").gpus(4).waiting());
  planner_.act(world_);
  world_.make_pods();
  world_.remove_node("n1");
  world_.add(a_node("n2").of("K80", 4));
  go_on();
  EXPECT_THAT(rows_of(world_.performed), ElementsAre("plan train p3-1: 1x4 K80 on n1",
                                                     "move train p3-2: 1x4 K80 on n2 NodesLost"));
}

// Victim, asker, gain and loss: as numbers for programs, and in words.
TEST_F(PlanJournalTest, AStopTellsForWhomWhatIsGainedAndWhatIsLost) {
  StopJob stop{.preemptions = std::make_shared<const PreemptionNote>(PreemptionNote{.left = 0.6}),
               .lost_gpu_s = 480,
               .asker = {"team", "soon"},
               .gain = {5400, true},
               .risks_deadline = true};
  const auto row = [&] {
    const Job victim = a_job("long").build();
    return *row_of(job_write(victim, stop, {.verb = Verb::kSuspend}), 5);
  };
  EXPECT_EQ(row().pod.name, "long");
  EXPECT_EQ(row().stop, (DecisionStop{{"team", "soon"}, 5400, true, true, 480, 0.6}));
  EXPECT_EQ(row().result,
            "stopped for team/soon, which starts 1h30m earlier and keeps its deadline: 60 % of "
            "its work is left, 480 GPU seconds are lost; its own deadline is at risk");
  stop.gain.saves_deadline = stop.risks_deadline = false;
  EXPECT_EQ(row().result,
            "stopped for team/soon, which starts 1h30m earlier: 60 % of its work is left, 480 GPU "
            "seconds are lost");

  MoveAdvice advice;
  advice.gain_s = 900;
  stop.move = std::make_shared<const MoveAdvice>(advice);
  EXPECT_EQ(row().stop->gain_s, 900);
  EXPECT_EQ(row().result,
            "moved (slow) for team/soon, which ends 15m00s earlier: 60 % of its work is left, 480 "
            "GPU seconds are lost");

  stop = {.preemptions = stop.preemptions,
          .lost_gpu_s = 480,
          .disruption = PodDisruption{.kind = DisruptionKind::kEvictionByEvictionApi}};
  EXPECT_EQ(row().stop, (DecisionStop{.lost_gpu_s = 480, .work_left = 0.6}));
}

// What is predicted after a stop is of the rest only.
TEST_F(PlanJournalTest, TheHistoryKeepsWhatTheReleaseBeforeAnyStopPredicted) {
  const test::TemporaryFolder folder;
  const auto journal = *store::Journal::open({.path = folder.file("journal.db")});
  obs::MetricsRegistry metrics;
  DecisionLog log(journal.get(), metrics);
  PlanJournal plans(log, system_clock());
  Job train = a_job("train").build();
  const auto release = [&](double predicted_s) {
    auto plan = std::make_shared<PlanNote>();
    plan->predicted_s = predicted_s;
    plans.written(job_write(train, ReleaseJob{.plan = plan}));
  };
  release(3000);
  release(2000);  // on its way it was moved to faster GPUs
  train.preemptions = std::make_shared<const PreemptionNote>(PreemptionNote{.count = 1});
  release(500);
  FinishedTask task;
  task.key = train.key;
  task.uid = train.uid;
  task.finished_s = system_clock().wall_s();
  ASSERT_TRUE(journal->append(task));
  ASSERT_TRUE(journal->flush(10));
  const auto page = journal->history({});
  ASSERT_TRUE(page);
  ASSERT_EQ(page->rows.size(), 1U);
  EXPECT_EQ(page->rows[0].predicted_s, 2000);
}

// A row says on what it was decided, and is written only for what the API server has taken.
TEST_F(PlanJournalTest, RowsStandInTheJournalOnceTheWriteIsTaken) {
  const test::TemporaryFolder folder;
  const auto journal = *store::Journal::open({.path = folder.file("journal.db")});
  obs::MetricsRegistry metrics;
  DecisionLog log(journal.get(), metrics);
  PlanJournal plans(log, system_clock());
  test::FakeWriter writer;
  writer.on_write = [](const OwnWrite& write) {
    return write.target.key.name == "refused"
               ? Result<std::string>(fail(ErrorCode::kConflict, "no"))
               : Result<std::string>("7");
  };
  Actuator actuator(writer, metrics, [] {}, system_clock());
  actuator.on_written([&](const OwnWrite& write) { plans.written(write); });
  world_.add(a_node("n1").of("K80", 4));
  world_.add(a_job("refused").gpus(2).waiting());
  world_.add(a_job("taken").gpus(2).waiting());
  std::vector<OwnWrite> writes = planner_.plan(world_.snapshot(), world_.now_s());
  ASSERT_EQ(writes.size(), 2U);
  for (OwnWrite& write : writes)
    write.decision.stamp =
        std::make_shared<const DecisionStamp>(DecisionStamp{41, "savable", "h-m"});
  actuator.perform(writes);
  while (actuator.send_next()) {
  }
  ASSERT_TRUE(journal->flush(10));
  const auto page = journal->query({.verb = "plan"});
  ASSERT_TRUE(page);
  ASSERT_EQ(page->rows.size(), 1U);
  EXPECT_EQ(page->rows[0].pod.name, "taken");
  EXPECT_EQ(page->rows[0].policy, "savable");
  EXPECT_EQ(page->rows[0].options_hash, "h-m");
  EXPECT_EQ(page->rows[0].snapshot_version, 41U);
}

}  // namespace
}  // namespace slackline::control
