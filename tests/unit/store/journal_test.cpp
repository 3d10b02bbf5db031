#include "store/journal.h"

#include <gmock/gmock.h>

#include "store/database.h"
#include "support/decisions.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace slackline::store {
namespace {

using test::decision;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    journal_.reset();
    Result<std::unique_ptr<Journal>> journal = Journal::open(options_);
    ASSERT_TRUE(journal) << journal.error().message;
    journal_ = std::move(*journal);
  }
  JournalPage page(const JournalQuery& query = {}) {
    EXPECT_TRUE(journal_->flush(10));
    Result<JournalPage> result = journal_->query(query);
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(JournalPage{});
  }

  // Of rows that are on disk.
  void change(const std::string& sql) {
    ASSERT_TRUE(journal_->flush(10));
    auto database = Database::open_reader(options_.path, 1);
    ASSERT_TRUE(database) << database.error().message;
    ASSERT_TRUE(database->execute("PRAGMA query_only=OFF; " + sql));
  }

  test::TemporaryFolder folder_;
  JournalOptions options_{.path = folder_.file("journal.db"), .busy_timeout_s = 0.2};
  std::unique_ptr<Journal> journal_;
};

TEST_F(JournalTest, ARowComesBackAsItWas) {
  const DecisionRow written = decision(1);
  ASSERT_TRUE(journal_->append(written));
  const JournalPage found = page();
  ASSERT_EQ(found.rows.size(), 1U);
  const DecisionRow& row = found.rows[0];
  EXPECT_EQ(row.id, 1);
  EXPECT_EQ(row.schema_version, kDecisionSchemaVersion);
  EXPECT_EQ(row.time_s, written.time_s);
  EXPECT_EQ(row.verb, Verb::kFilter);
  EXPECT_EQ(row.pod_uid, written.pod_uid);
  EXPECT_EQ(row.pod, written.pod);
  EXPECT_EQ(row.plan_id, "plan-7");
  EXPECT_EQ(row.policy, "cer");
  EXPECT_EQ(row.options_hash, "9f8a");
  EXPECT_EQ(row.snapshot_version, 4000000001ULL);
  EXPECT_EQ(row.nodes_asked, 500U);
  EXPECT_EQ(row.result, written.result);
  EXPECT_EQ(row.reasons, written.reasons);
  EXPECT_EQ(row.duration_us, 120.5);
  EXPECT_FALSE(row.outcome);
  ASSERT_EQ(row.candidates.size(), 2U);
  EXPECT_EQ(row.candidates[0].node, "gpu-1");
  EXPECT_EQ(row.candidates[0].score, 8);
  EXPECT_EQ(row.candidates[0].features, written.candidates[0].features);
}

TEST_F(JournalTest, AStopComesBackAsItWas) {
  const DecisionStop forced{.lost_gpu_s = 1e6, .work_left = 0.25};
  const DecisionStop asked{.asker = {"team", "urgent"},
                           .gain_s = 82799.5,
                           .saves_deadline = true,
                           .risks_deadline = true,
                           .lost_gpu_s = 480,
                           .work_left = 1};
  for (const DecisionStop& stop : {forced, asked}) {
    DecisionRow row = decision(1);
    row.stop = stop;
    ASSERT_TRUE(journal_->append(row));
    EXPECT_EQ(page({.limit = 1}).rows.at(0).stop, stop);
  }
  journal_->append(decision(2));
  EXPECT_FALSE(page({.limit = 1}).rows.at(0).stop);
}

TEST_F(JournalTest, ARowOfAnOlderSchemaIsReadAsItIs) {
  DecisionRow written = decision(1);
  written.schema_version = 1;
  written.candidates.front().features = {{"cer", 12.5}};
  ASSERT_TRUE(journal_->append(written));
  const DecisionRow row = page().rows.at(0);
  EXPECT_EQ(row.schema_version, 1);
  EXPECT_EQ(row.candidates.front().features, written.candidates.front().features);
}

TEST_F(JournalTest, RowsSurviveARestart) {
  journal_->append(decision(1));
  open();  // the old journal flushes when it goes
  EXPECT_EQ(page().rows.size(), 1U);
}

TEST_F(JournalTest, OnlyTheBestSixteenCandidatesAndTheHeadOfALongResultAreKept) {
  DecisionRow row = decision(1);
  row.candidates.assign(40, {"gpu", 1, {}});
  row.result = std::string(1 << 20, 'e');
  journal_->append(row);
  const JournalPage found = page();
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0].candidates.size(), kMaxDecisionCandidates);
  EXPECT_EQ(found.rows[0].result.size(), 1024U);
}

TEST_F(JournalTest, ForeignTextNeverHarmsTheJournal) {
  DecisionRow row = decision(1);
  row.pod.name = "x'); DROP TABLE decisions; --";
  row.result = "line\nbreak \x1b[31m \xff";
  journal_->append(row);
  const JournalPage found = page({.ns = "research", .pod = row.pod.name});
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0].result, row.result);
}

TEST_F(JournalTest, PagesRunFromTheNewestToTheOldestWithoutGapOrRepeat) {
  for (int i = 1; i <= 25; ++i)
    journal_->append(decision(i));
  std::vector<std::int64_t> ids;
  JournalQuery query{.limit = 10};
  do {
    const JournalPage found = page(query);
    for (const DecisionRow& row : found.rows)
      ids.push_back(row.id);
    query.before_id = found.next_before_id;
    ASSERT_LE(ids.size(), 25U);
  } while (query.before_id != 0);
  ASSERT_EQ(ids.size(), 25U);
  for (int i = 0; i < 25; ++i)
    EXPECT_EQ(ids[static_cast<std::size_t>(i)], 25 - i);
}

TEST_F(JournalTest, ADamagedRowIsLeftOutAndCounted) {
  for (int i = 1; i <= 6; ++i)
    journal_->append(decision(i));
  change(
      "UPDATE decisions SET reasons = x'ff00ff' WHERE id = 1;"
      "UPDATE decisions SET candidates = '[{' WHERE id = 3;"
      "UPDATE decisions SET stop = '7' WHERE id = 4;"
      "UPDATE decisions SET verb = 'sing' WHERE id = 6");
  const JournalPage all = page();
  ASSERT_EQ(all.rows.size(), 2U);
  EXPECT_EQ(all.rows[0].id, 5);
  EXPECT_EQ(all.rows[1].id, 2);
  EXPECT_EQ(journal_->stats().unreadable, 4U);
  // Pages go on behind them, also behind a page of them alone.
  JournalPage part = page({.limit = 2});
  ASSERT_EQ(part.rows.size(), 1U);
  part = page({.limit = 2, .before_id = part.next_before_id});
  EXPECT_TRUE(part.rows.empty());
  part = page({.limit = 2, .before_id = part.next_before_id});
  ASSERT_EQ(part.rows.size(), 1U);
  EXPECT_EQ(part.rows[0].id, 2);
  EXPECT_EQ(part.next_before_id, 0);
}

TEST_F(JournalTest, OlderDecisionsOfAnotherReplicaStandBeforeItsOwn) {
  options_.path = folder_.file("copy.db");
  options_.first_id = 3;
  open();
  ASSERT_TRUE(journal_->append(decision(9)));
  DecisionRow older = decision(8);
  older.outcome = DecisionOutcome{"gpu-1", 1700000010};
  ASSERT_TRUE(journal_->restore(older));
  ASSERT_TRUE(journal_->restore(decision(9)));  // its own, that it was asked for itself
  ASSERT_TRUE(journal_->restore(decision(7)));
  ASSERT_TRUE(journal_->restore(decision(6)));  // there is no more room
  ASSERT_TRUE(journal_->append(decision(10)));
  std::vector<std::pair<std::int64_t, std::string>> found;
  const JournalPage all = page();
  for (const DecisionRow& row : all.rows)
    found.emplace_back(row.id, row.pod.name);
  EXPECT_THAT(found, ElementsAre(std::pair(4, "train-10"), std::pair(3, "train-9"),
                                 std::pair(2, "train-8"), std::pair(1, "train-7")));
  ASSERT_TRUE(all.rows.at(2).outcome);
  EXPECT_EQ(all.rows.at(2).outcome->node, "gpu-1");
  EXPECT_FALSE(all.rows.at(3).outcome);
  EXPECT_EQ(page({.before_id = 3}).rows.size(), 2U);
}

TEST_F(JournalTest, QueriesNarrowByNamespacePodAndVerb) {
  for (int i = 1; i <= 4; ++i) {
    DecisionRow row = decision(i);
    if (i > 2) row.pod.ns = "vision";
    if (i % 2 == 0) row.verb = Verb::kBind;
    journal_->append(row);
  }
  EXPECT_EQ(page({.ns = "vision"}).rows.size(), 2U);
  EXPECT_EQ(page({.pod = "train-1"}).rows.size(), 1U);
  EXPECT_EQ(page({.verb = "bind"}).rows.size(), 2U);
  const JournalPage one = page({.ns = "vision", .pod = "train-4", .verb = "bind"});
  ASSERT_EQ(one.rows.size(), 1U);
  EXPECT_EQ(one.rows[0].id, 4);
  EXPECT_TRUE(page({.ns = "absent"}).rows.empty());
}

TEST_F(JournalTest, AWrongQueryIsRefusedWithWhatIsAllowed) {
  EXPECT_THAT(journal_->query({.limit = 0}).error().message, HasSubstr("1 to 1000"));
  EXPECT_THAT(journal_->query({.limit = 1001}).error().message, HasSubstr("1 to 1000"));
  EXPECT_THAT(journal_->query({.verb = "guess"}).error().message, HasSubstr("one of filter"));
}

TEST_F(JournalTest, TheOutcomeGoesToTheBindElseToTheNewestFilterOfThatPod) {
  DecisionRow row = decision(1);
  journal_->append(row);  // 1: filter
  journal_->append(row);  // 2: filter
  row.verb = Verb::kBind;
  journal_->append(row);  // 3: bind
  row.verb = Verb::kPrioritize;
  journal_->append(row);          // 4: prioritize
  journal_->append(decision(2));  // 5: another pod
  EXPECT_TRUE(journal_->record_outcome(row.pod_uid, {"gpu-1", 1700000001.5}));
  JournalPage found = page();
  for (const DecisionRow& r : found.rows)
    EXPECT_EQ(r.outcome.has_value(), r.id == 3) << r.id;
  EXPECT_EQ(found.rows[2].outcome->node, "gpu-1");
  EXPECT_EQ(found.rows[2].outcome->bound_s, 1700000001.5);

  // The next start lists the pod once more.
  journal_->record_outcome(row.pod_uid, {"gpu-1", 1700000009});
  found = page();
  for (const DecisionRow& r : found.rows)
    EXPECT_EQ(r.outcome.has_value(), r.id == 3) << r.id;
  EXPECT_EQ(found.rows[2].outcome->bound_s, 1700000001.5);

  row.verb = Verb::kFilter;
  row.pod_uid = Uid("without-bind");
  journal_->append(row);  // 6
  journal_->append(row);  // 7
  journal_->record_outcome(row.pod_uid, {"gpu-2", 1700000010});
  found = page();
  EXPECT_EQ(found.rows[0].outcome->node, "gpu-2");  // 7
  EXPECT_FALSE(found.rows[1].outcome);

  journal_->record_outcome(Uid("never-seen"), {"gpu-1", 1});
  EXPECT_TRUE(journal_->flush(10));
  EXPECT_FALSE(journal_->record_outcome(Uid(), {"gpu-1", 1}));
}

TEST_F(JournalTest, OldRowsAreDeletedInSlicesAndIdsNeverComeBack) {
  options_.keep_rows = 5000;
  open();
  for (int i = 0; i < 8000; ++i)
    ASSERT_TRUE(journal_->append(decision(i)));
  EXPECT_EQ(page({.limit = 1}).rows[0].id, 8000);

  options_.keep_rows = 100;  // lowered by more than one slice
  open();
  journal_->append(decision(1));
  // Pruning runs behind the rows.
  JournalPage found;
  ASSERT_TRUE(test::eventually([&] {
    found = page({.limit = 1000});
    return found.rows.size() == 100;
  }));
  EXPECT_EQ(found.rows.front().id, 8001);
  EXPECT_EQ(found.rows.back().id, 7902);
}

TEST_F(JournalTest, StatisticsCountRows) {
  for (int i = 0; i < 10; ++i)
    journal_->append(decision(i));
  ASSERT_TRUE(journal_->flush(10));
  const JournalStats stats = journal_->stats();
  EXPECT_EQ(stats.written, 10U);
  EXPECT_EQ(stats.dropped, 0U);
  EXPECT_EQ(stats.queued, 0U);
  EXPECT_FALSE(stats.degraded);
  EXPECT_TRUE(stats.recovered_from.empty());
}

}  // namespace
}  // namespace slackline::store
