// Finished tasks in the journal's file: each once, however often it is reported.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "slackline/base/clock.h"
#include "slackline/base/text.h"
#include "store/database.h"
#include "store/journal.h"
#include "support/decisions.h"
#include "support/temporary_folder.h"

namespace slackline::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HistoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.finished = [this](const FinishedTask& task) { counted_.push_back(task); };
    open();
  }
  void open() {
    journal_.reset();
    auto journal = Journal::open(options_);
    ASSERT_TRUE(journal) << journal.error().message;
    journal_ = std::move(*journal);
  }
  // Number n ended n seconds after the first.
  FinishedTask task(int number) const {
    FinishedTask task;
    task.key = {number % 2 == 0 ? "even" : "odd", format("train-{}", number)};
    task.uid = Uid(format("uid-{}", number));
    task.queue = number < 2 ? "first" : "later";
    task.qos_class = "prior";
    task.model = "resnet50";
    task.gpu_type = GpuType("T4");
    task.gpus = 4;
    task.created_s = first_s_ - 100;
    task.started_s = first_s_ - 60;
    task.finished_s = first_s_ + number;
    task.succeeded = true;
    task.deadline_s = first_s_ + 1.5;
    task.gpu_hours = 2.5;
    task.resized_from = "1x8";
    task.kind = "PyTorchJob";
    return task;
  }
  HistoryPage page(const HistoryQuery& query = {}) {
    EXPECT_TRUE(journal_->flush(10));
    auto result = journal_->history(query);
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(HistoryPage{});
  }
  std::vector<std::string> names(const HistoryQuery& query) {
    std::vector<std::string> names;
    for (const FinishedTask& task : page(query).rows)
      names.push_back(task.key.name);
    return names;
  }

  const double first_s_ = std::floor(system_clock().wall_s()) - 1000;
  test::TemporaryFolder folder_;
  std::vector<FinishedTask> counted_;
  JournalOptions options_{.path = folder_.file("journal.db"), .busy_timeout_s = 0.2};
  std::unique_ptr<Journal> journal_;
};

TEST_F(HistoryTest, ATaskComesBackAsItWas) {
  journal_->append(task(1));
  const HistoryPage found = page();
  ASSERT_EQ(found.rows.size(), 1U);
  const FinishedTask& row = found.rows[0];
  EXPECT_EQ(row.key, (ObjectKey{"odd", "train-1"}));
  EXPECT_EQ(row.uid, Uid("uid-1"));
  EXPECT_EQ(row.queue, "first");
  EXPECT_EQ(row.qos_class, "prior");
  EXPECT_EQ(row.resized_from, "1x8");
  EXPECT_EQ(row.kind, "PyTorchJob");
  EXPECT_EQ(row.model, "resnet50");
  EXPECT_EQ(row.gpu_type, GpuType("T4"));
  EXPECT_EQ(row.gpus, 4);
  EXPECT_EQ(row.wait_s(), 40);
  EXPECT_EQ(row.duration_s(), 61);
  EXPECT_EQ(row.finished_s, first_s_ + 1);
  EXPECT_EQ(row.result(), DeadlineResult::kMet);
  EXPECT_FALSE(row.predicted_s);
  EXPECT_EQ(row.gpu_hours, 2.5);
}

TEST_F(HistoryTest, AResultIsMetMissedOrNone) {
  FinishedTask late = task(2);
  EXPECT_EQ(late.result(), DeadlineResult::kMissed);
  late.deadline_s.reset();
  EXPECT_EQ(late.result(), DeadlineResult::kNone);
  FinishedTask failed = task(1);
  failed.succeeded = false;
  EXPECT_EQ(failed.result(), DeadlineResult::kMissed) << "it will never be done in time";
}

TEST_F(HistoryTest, ATaskThatIsToldAgainIsCountedOnce) {
  journal_->append(task(1));
  journal_->append(task(1));
  ASSERT_EQ(page().rows.size(), 1U);
  open();  // after a restart the list reports it again
  journal_->append(task(1));
  journal_->append(task(2));
  EXPECT_THAT(names({}), ElementsAre("train-2", "train-1"));
  ASSERT_EQ(counted_.size(), 2U);
  EXPECT_EQ(counted_[1].uid, Uid("uid-2"));
}

// After a restart its first pod may no longer be listed.
TEST_F(HistoryTest, AGangThatIsToldByALaterPodOfItIsNoOtherRun) {
  const auto part = [this](int number, double from_s, double to_s, const char* gang) {
    FinishedTask told = task(number);
    told.key = task(1).key;
    told.started_s = first_s_ + from_s;
    told.finished_s = first_s_ + to_s;
    told.gang = gang;
    return told;
  };
  ASSERT_TRUE(journal_->append(part(1, 0, 100, "c/")));
  ASSERT_TRUE(journal_->append(part(2, 20, 100, "c/")));
  EXPECT_EQ(page().rows.size(), 1U);
  ASSERT_TRUE(journal_->append(part(3, 20, 100, "c/another part")));
  ASSERT_TRUE(journal_->append(part(4, 150, 200, "c/")));  // another attempt
  FinishedTask job = part(5, 20, 100, "c/");
  job.kind = "Job";
  ASSERT_TRUE(journal_->append(job));
  job.uid = Uid("uid-6");  // made again with its name
  ASSERT_TRUE(journal_->append(job));
  EXPECT_EQ(page().rows.size(), 5U);
  EXPECT_EQ(counted_.size(), 5U);
}

TEST_F(HistoryTest, WhatAnotherReplicaHasCountedIsKeptAndNotCounted) {
  ASSERT_TRUE(journal_->restore(task(1)));
  ASSERT_TRUE(journal_->append(task(1)));
  ASSERT_TRUE(journal_->append(task(2)));
  EXPECT_THAT(names({}), ElementsAre("train-2", "train-1"));
  ASSERT_EQ(counted_.size(), 1U);
  EXPECT_EQ(counted_[0].key.name, "train-2");
}

TEST_F(HistoryTest, WhatAnotherReplicaMeasuredAndPlayedIsKeptWithIt) {
  FinishedTask one = task(1);
  one.use = MeasuredUse{0.25, 0.5, 1800, 2, 1700};
  one.shadow = ShadowRun{1000.5, 2000.25, 8};
  FinishedTask two = one;
  two.uid = Uid("uid-2");
  ASSERT_TRUE(journal_->append(task(2)));  // seen here too, and not measured
  ASSERT_TRUE(journal_->restore(one));
  ASSERT_TRUE(journal_->restore(two));
  ASSERT_TRUE(journal_->restore(task(3)));
  const HistoryPage kept = page();
  ASSERT_EQ(kept.rows.size(), 3U);
  EXPECT_EQ(kept.rows[0].use, std::nullopt);
  for (const std::size_t row : {1U, 2U}) {
    EXPECT_EQ(kept.rows[row].use, one.use);
    ASSERT_TRUE(kept.rows[row].shadow);
    EXPECT_EQ(kept.rows[row].shadow->finished_s, 2000.25);
  }
}

// A pod that was replaced sees of a run little but its end, and tells it before it has the copy.
TEST_F(HistoryTest, WhatAnotherReplicaKnowsBetterIsTaken) {
  FinishedTask poor = task(1);
  poor.gpu_type = GpuType();
  poor.deadline_s.reset();
  FinishedTask rich = task(1);
  rich.started_s = first_s_ - 90;
  rich.gpu_hours = 7.5;
  rich.held_s = 80;
  rich.predicted_s = 120;
  ASSERT_TRUE(journal_->append(poor));
  ASSERT_TRUE(journal_->restore(rich));
  ASSERT_TRUE(journal_->restore(poor));
  const HistoryPage kept = page();
  ASSERT_EQ(kept.rows.size(), 1U);
  EXPECT_EQ(kept.rows[0].started_s, rich.started_s);
  EXPECT_EQ(kept.rows[0].gpu_hours, 7.5);
  EXPECT_EQ(kept.rows[0].duration_s(), 80);
  EXPECT_EQ(kept.rows[0].predicted_s, 120);
  EXPECT_EQ(kept.rows[0].gpu_type, GpuType("T4"));
  EXPECT_EQ(kept.rows[0].deadline_s, rich.deadline_s);
  EXPECT_EQ(counted_.size(), 1U);
}

TEST_F(HistoryTest, AStartThatOnlyOneKnowsIsKept) {
  FinishedTask unknown = task(1);
  unknown.started_s.reset();
  ASSERT_TRUE(journal_->append(unknown));
  ASSERT_TRUE(journal_->append(task(2)));
  ASSERT_TRUE(journal_->restore(task(1)));
  FinishedTask other = unknown;
  other.uid = task(2).uid;
  ASSERT_TRUE(journal_->restore(other));
  for (const FinishedTask& row : page().rows)
    EXPECT_EQ(row.started_s, task(1).started_s) << row.key.name;
}

TEST_F(HistoryTest, HowLongARunHeldItsGpusIsNewInThisVersion) {
  FinishedTask stopped = task(1);
  stopped.held_s = 30.5;
  stopped.stops = 2;
  journal_->append(stopped);
  EXPECT_EQ(page().rows.at(0).held_s, 30.5);
  EXPECT_EQ(page().rows.at(0).stops, 2);
  journal_.reset();
  {
    auto database = Database::open_reader(options_.path, 1);
    ASSERT_TRUE(database->execute(
        "PRAGMA query_only=OFF; PRAGMA user_version=8; DROP INDEX history_by_name; "
        "ALTER TABLE history DROP COLUMN held_s; "
        "ALTER TABLE history DROP COLUMN stops; "
        "ALTER TABLE history DROP COLUMN gang"));
  }
  open();
  EXPECT_EQ(journal_->stats().recovered_from, "");
  ASSERT_EQ(page().rows.size(), 1U);
  EXPECT_EQ(page().rows[0].held_s, 0);
  EXPECT_EQ(page().rows[0].duration_s(), 61) << "from its start to its end";
}

TEST_F(HistoryTest, WhatThePlanSaidOutlivesARestart) {
  journal_->predict(Uid("uid-1"), 100);
  journal_->predict(Uid("uid-1"), 120);  // released again, in another shape
  open();
  journal_->append(task(1));
  EXPECT_EQ(page().rows.at(0).predicted_s, 120);
  EXPECT_EQ(counted_.at(0).predicted_s, 120);
}

TEST_F(HistoryTest, IsReadByNamespaceQueueAndTimeInPages) {
  for (int i = 0; i < 5; ++i)
    journal_->append(task(i));
  EXPECT_THAT(names({.ns = "odd"}), ElementsAre("train-3", "train-1"));
  EXPECT_THAT(names({.queue = "first"}), ElementsAre("train-1", "train-0"));
  EXPECT_THAT(names({.ns = "odd", .name = "train-1"}), ElementsAre("train-1"));
  EXPECT_THAT(names({.ns = "odd", .name = "train-2"}), ElementsAre()) << "of another namespace";
  EXPECT_THAT(names({.since_s = first_s_ + 3}), ElementsAre("train-4", "train-3"));
  std::vector<std::string> all;
  HistoryQuery query{.limit = 2};
  do {
    const HistoryPage part = page(query);
    for (const FinishedTask& row : part.rows)
      all.push_back(row.key.name);
    query.continue_from = part.next;
  } while (!query.continue_from.empty());
  EXPECT_THAT(all, ElementsAre("train-4", "train-3", "train-2", "train-1", "train-0"));
  for (const char* odd : {"x", "1", "1.", ".1", "1.2.3", "99999999999999999999.1"}) {
    const auto answer = journal_->history({.continue_from = odd});
    ASSERT_FALSE(answer) << odd;
    EXPECT_EQ(answer.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(journal_->history({.limit = 1001}));
  EXPECT_TRUE(names({.ns = "'; DROP TABLE history; --"}).empty());
}

TEST_F(HistoryTest, WhatEndedLongAgoGoesAndIsNotCountedAgain) {
  journal_->append(task(1));
  ASSERT_EQ(page().rows.size(), 1U);
  options_.keep_history_s = 500;  // it ended 999 s ago
  open();
  journal_->append(task(1));
  FinishedTask fresh = task(700);
  journal_->append(fresh);
  EXPECT_THAT(names({}), ElementsAre("train-700"));
  EXPECT_EQ(counted_.size(), 2U);
}

TEST_F(HistoryTest, NeverKeepsMoreThanItsRows) {
  options_.keep_history_rows = 3;
  open();
  for (const int i : {4, 0, 3, 1, 2})
    journal_->append(task(i));
  EXPECT_THAT(names({}), ElementsAre("train-4", "train-3", "train-2"));
}

TEST_F(HistoryTest, AFloodOfDecisionsDropsNoTask) {
  options_.queue_limit = 1;
  options_.history_queue_limit = 100;
  journal_.reset();
  test::TemporaryFolder other;
  options_.path = other.file("journal.db");
  std::filesystem::create_directory(options_.path + ".lock");  // nothing can be written
  open();
  ASSERT_TRUE(journal_->append(test::decision(1)));
  ASSERT_FALSE(journal_->append(test::decision(2)));
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(journal_->append(task(i))) << i;
  EXPECT_FALSE(journal_->append(task(100))) << "memory is bounded";
  EXPECT_THAT(journal_->history({}).error().message, HasSubstr("free the disk"));
  std::filesystem::remove(options_.path + ".lock");
  EXPECT_EQ(page({.limit = 1000}).rows.size(), 100U);
}

TEST_F(HistoryTest, AJournalOfAnEarlierVersionIsTakenOver) {
  journal_->append(test::decision(1));
  ASSERT_TRUE(journal_->flush(10));
  journal_.reset();
  {
    auto database = Database::open_reader(options_.path, 1);
    ASSERT_TRUE(
        database->execute("PRAGMA query_only=OFF; DROP TABLE history; DROP TABLE predictions; "
                          "ALTER TABLE decisions DROP COLUMN stop; PRAGMA user_version=1"));
  }
  open();
  EXPECT_EQ(journal_->stats().recovered_from, "");
  journal_->append(task(1));
  EXPECT_EQ(page().rows.size(), 1U);
  EXPECT_EQ(journal_->query({})->rows.size(), 1U);
}

TEST_F(HistoryTest, WhatATaskUsedIsKeptWithItAndTheLastWordCounts) {
  FinishedTask one = task(1);
  one.family = "odd/family=nightly";
  one.asked_gpus = 8;
  one.pods = 2;
  one.cpu_milli = 4000;
  journal_->append(one);
  const MeasuredUse measured{0.25, 0.5, 1800, 2, 1700};
  journal_->measured(one.uid, {0.1, 0.2, 60, 1, 60});
  journal_->measured(one.uid, measured);
  journal_->measured(Uid("somebody else"), measured);
  const HistoryPage kept = page();
  ASSERT_EQ(kept.rows.size(), 1U);
  EXPECT_EQ(kept.rows[0].use, measured);
  EXPECT_EQ(kept.rows[0].family, one.family);
  EXPECT_EQ(kept.rows[0].asked_gpus, 8);
  EXPECT_EQ(kept.rows[0].pods, 2);
  EXPECT_EQ(kept.rows[0].cpu_milli, 4000);
}

TEST_F(HistoryTest, HowATaskWouldHaveGoneIsKeptWithIt) {
  const FinishedTask one = task(1);
  journal_->append(one);
  journal_->append(task(2));
  journal_->shadowed(one.uid, {1000.5, 2000.25, 8});
  journal_->shadowed(Uid("somebody else"), {1, 2, 3});
  int played = 0;
  for (const FinishedTask& kept : page().rows) {
    if (!kept.shadow) continue;
    ++played;
    EXPECT_EQ(kept.uid, one.uid);
    EXPECT_EQ(kept.shadow->started_s, 1000.5);
    EXPECT_EQ(kept.shadow->finished_s, 2000.25);
    EXPECT_EQ(kept.shadow->gpus, 8);
  }
  EXPECT_EQ(played, 1);
}

TEST_F(HistoryTest, RowsOfBeforeUseWasKeptStayWithoutIt) {
  journal_->append(task(1));
  ASSERT_TRUE(journal_->flush(10));
  journal_.reset();
  {
    auto database = Database::open_reader(options_.path, 1);
    ASSERT_TRUE(database->execute(
        "PRAGMA query_only=OFF; PRAGMA user_version=4; DROP INDEX history_by_name"));
    for (const char* column :
         {"family", "asked_gpus", "pods", "cpu_milli", "gpu_share", "gpu_memory", "gpu_s",
          "cpu_cores", "cpu_s", "deleted", "shadow_started_s", "shadow_finished_s", "shadow_gpus",
          "kind", "held_s", "stops", "gang"})
      ASSERT_TRUE(database->execute(format("ALTER TABLE history DROP COLUMN {}", column)));
  }
  open();
  EXPECT_EQ(journal_->stats().recovered_from, "");
  const HistoryPage kept = page();
  ASSERT_EQ(kept.rows.size(), 1U);
  EXPECT_EQ(kept.rows[0].use, std::nullopt);
  EXPECT_EQ(kept.rows[0].family, "");
  EXPECT_EQ(kept.rows[0].kind, "Job");
}

}  // namespace
}  // namespace slackline::store
