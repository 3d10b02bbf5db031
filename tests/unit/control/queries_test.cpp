#include "control/query/queries.h"

#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/journal/decision_log.h"
#include "control/query/health.h"
#include "slackline/base/text.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_node;
using test::a_pod;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class QueriesTest : public ::testing::Test {
 protected:
  QueriesTest() {
    options.catalog = default_gpu_catalog();
    ProfileEntry entry;
    entry.model = "resnet50";
    entry.gpu_type = GpuType("K80");
    entry.coefficients = {"S", {24, 0.42, -0.0021, 0.12, 1.4}};
    entry.startup_s = 30;
    known.set(make_known(WorkloadProfiles({entry}), Learnt{}, 1));
  }

  DecisionOptions options;
  Published<Known> known{make_known({})};
  Published<std::string> models_problem;
  test::FakeClock clock;
  test::FakeSource source{
      a_cluster()
          .with(a_node("k80-1").of("K80", 4))
          .with(a_node("t4-1").of("T4", 4))
          .with(a_pod("team/running").gpus(3).on("k80-1"))
          .with(a_pod("team/waiting").gpus(2).trains("resnet50", 64, 1000).accepts({"K80"}))
          .build()};
  Queries queries{options, known, source, nullptr, clock, "test"};
  obs::MetricsRegistry metrics;
  DecisionLog log{nullptr, metrics};
};

TEST_F(QueriesTest, ANodeShowsUsedHeldAndFree) {
  const std::vector<ListedNode> nodes = queries.nodes();
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].node().name, NodeName("k80-1"));
  ASSERT_EQ(nodes[0].gpus.size(), 1U);
  EXPECT_EQ(nodes[0].gpus[0].used, 3);
  EXPECT_EQ(nodes[0].gpus[0].free, 1);
}

TEST_F(QueriesTest, ANodeNamesWhoHasItsGpusAndHowTheyCameThere) {
  options.scheduler_names = {"gpu-scheduler"};
  test::FakeSource followed{
      a_cluster()
          .with(a_node("n1").of("K80", 4))
          .with(test::a_job("team/train").of(2).gang().gpus(1).planned({"n1", "n1"}))
          .with(a_pod("team/train-0").of_job("team/train").gpus(1).on("n1"))
          .with(a_pod("team/train-1").of_job("team/train").gpus(1).nominated("n1"))
          .with(a_pod("team/alien").gpus(1).on("n1"))
          .build()};
  const Queries of_node{options, known, followed, nullptr, clock, "test"};
  std::vector<std::string> seen;
  const std::vector<ListedNode> nodes = of_node.nodes();
  for (const GpuOccupantView& one : nodes[0].occupants)
    seen.push_back(format("{} {} {} {}", one.by, one.task, one.pod, one.gpus));
  EXPECT_THAT(seen, testing::UnorderedElementsAre("plan team/train team/train-0 1",
                                                  "held team/train team/train-1 1",
                                                  "other team/alien team/alien 1"));
}

TEST_F(QueriesTest, ADumpIsSaidToBeTakenOnTrust) {
  EXPECT_EQ(queries.cluster().cache.detail, "") << "an API server's objects are proved";
  ClusterSnapshot dump = a_cluster().with(a_node("k80-1")).build();
  dump.taken_on_trust = true;
  test::FakeSource followed{std::move(dump)};
  const Queries of_dump{options, known, followed, nullptr, clock, "test"};
  EXPECT_THAT(of_dump.cluster().cache.detail, HasSubstr("accepted without checks"));
}

TEST_F(QueriesTest, ScoresShowEveryNodeOnceWithItsReason) {
  const auto scores = queries.scores({"team", "waiting"});
  ASSERT_TRUE(scores) << scores.error().message;
  ASSERT_EQ(scores->nodes.size(), 2U);
  EXPECT_EQ(scores->nodes[0].node, NodeName("k80-1"));
  EXPECT_TRUE(scores->nodes[0].passes);
  EXPECT_EQ(scores->nodes[0].rank, 1);
  EXPECT_EQ(scores->nodes[1].verdict, "GpuTypeNotAccepted");
  EXPECT_EQ(scores->nodes[1].score, 0);
}

TEST_F(QueriesTest, ATriedPodPassesOnlyWhereKubeSchedulerWouldAsk) {
  const test::FakeSource followed{a_cluster()
                                      .with(a_node("n1").of("K80", 4))
                                      .with(a_node("n2").of("K80", 4).not_ready())
                                      .with(a_node("n3").of("K80", 4).cordoned())
                                      .build()};
  const Queries of_it{options, known, followed, nullptr, clock, "test"};
  const auto tried = of_it.scores(a_pod("team/new").gpus(1).build());
  ASSERT_TRUE(tried) << tried.error().message;
  std::vector<std::string> seen;
  for (const ScoreView& node : tried->nodes)
    seen.push_back(format("{} {} {}", node.node.str(), node.verdict, node.score > 0));
  EXPECT_EQ(seen.front(), "n1 Pass true");
  EXPECT_THAT(seen, testing::UnorderedElementsAre("n1 Pass true", "n2 NotReady false",
                                                  "n3 Unschedulable false"));
}

TEST_F(QueriesTest, ScoresOfAPodWhoseRequestsCannotBeReadAreTheCallersMistake) {
  const test::FakeSource odd{a_cluster()
                                 .with(a_node("k80-1").of("K80", 4))
                                 .with(a_pod("team/odd").gpus(2).problem("cpu \"many\""))
                                 .build()};
  const Queries of_it{options, known, odd, nullptr, clock, "test"};
  const auto scores = of_it.scores({"team", "odd"});
  ASSERT_FALSE(scores);
  EXPECT_EQ(scores.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(scores.error().message, HasSubstr("cpu \"many\""));
}

TEST_F(QueriesTest, APodThatNamesItsModelIsNotToldThatItNamesNone) {
  const test::FakeSource all_pass{
      a_cluster()
          .with(a_node("k80-1").of("K80", 4))
          .with(a_pod("team/waiting").gpus(2).trains("resnet50", 64, 1000))
          .build()};
  const Queries of_all{options, known, all_pass, nullptr, clock, "test"};
  const auto scores = of_all.scores({"team", "waiting"});
  ASSERT_TRUE(scores) << scores.error().message;
  EXPECT_THAT(scores->note, HasSubstr("default (K80"));
  EXPECT_THAT(scores->note, Not(HasSubstr("none")));
}

TEST_F(QueriesTest, PlacementsPredictOnlyWhatAProfileKnows) {
  const auto table = queries.placements({"team", "waiting"});
  ASSERT_TRUE(table) << table.error().message;
  bool predicted = false;
  for (const PlacementRow& row : table->rows)
    if (!row.cer) {
      EXPECT_FALSE(row.latency_s || row.throughput_samples_per_s) << "unknown is not 0";
    } else if (row.gpu_type == GpuType("K80") && row.shape == Placement{1, 2}) {
      predicted = row.cer.has_value();
      EXPECT_EQ(row.source, "default");
      EXPECT_LT(row.throughput_low, row.throughput_samples_per_s);
      EXPECT_GT(row.throughput_high, row.throughput_samples_per_s);
    }
  EXPECT_TRUE(predicted);
}

TEST_F(QueriesTest, AModelNobodyKnowsIsNamedWithTheWayToTeachIt) {
  EXPECT_TRUE(queries.model("resnet50"));
  const auto unknown = queries.model("gpt5");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("POST /v1/models/gpt5/samples"));
}

TEST_F(QueriesTest, WhatIsNotThereIsNamed) {
  const auto scores = queries.scores({"team", "nobody"});
  ASSERT_FALSE(scores);
  EXPECT_EQ(scores.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(scores.error().message, HasSubstr("team/nobody"));
}

TEST_F(QueriesTest, OneTaskIsToldWhatTheWebhookWarnsOf) {
  auto odd = test::a_job("team/odd").gpus(3).waiting();
  odd.intent().model = "resnet50";
  odd.intent().batch_size = 64;
  auto unheard = test::a_job("team/unheard").gpus(1).waiting().trains("gpt5", 64, 1000);
  source.show(a_cluster().with(a_node("k80-1").of("K80", 4)).with(odd).with(unheard).build());
  const auto hints = queries.task({"team", "odd"})->hints;
  ASSERT_EQ(hints.size(), 2U);
  EXPECT_THAT(hints[0], HasSubstr("slackline.dev/model: without iterations the run time"));
  EXPECT_THAT(hints[1], HasSubstr("slackline.dev/batch-size: 64 does not divide by the 3 GPUs"));
  EXPECT_THAT(queries.task({"team", "unheard"})->hints,
              testing::ElementsAre(HasSubstr("\"gpt5\" is unknown")));
  const std::vector<ListedTask> rows = queries.tasks("");
  ASSERT_EQ(rows.size(), 2U);
  for (const ListedTask& row : rows) {
    EXPECT_TRUE(row.hints.empty()) << row.task.key.str();
    EXPECT_EQ(row.task.member, nullptr)
        << "a list is kept, and nobody reads the pod it was made of";
  }
}

TEST_F(QueriesTest, WhoStartsWhatIsNotSlacklinesIsTold) {
  Job kai = test::a_job("team/b-kai").gpus(1).build();
  kai.scheduler_name = "kai-scheduler";
  Job kueue = test::a_job("team/c-kueue").gpus(1).suspended().build();
  kueue.kueue = true;
  auto cluster = a_cluster();
  cluster.with(test::a_job("team/a-ours").gpus(1).waiting()).add(kai).add(kueue);
  ClusterSnapshot snapshot = cluster.build();
  snapshot.schedulers = {"slackline-scheduler"};
  source.show(snapshot);
  std::vector<std::string> left_to;
  for (const ListedTask& row : queries.tasks("team"))
    left_to.push_back(row.left_to);
  EXPECT_EQ(left_to,
            (std::vector<std::string>{"", "kai-scheduler", "Kueue, or another controller"}));
}

TEST_F(QueriesTest, WhomARunWasStoppedForIsNamedToThoseWhoMaySeeIt) {
  const auto row = [](const std::string& result, const char* ns = nullptr) {
    DecisionRow made;
    made.pod = {"team-a", "mine"};
    made.result = result;
    if (ns != nullptr) made.stop = DecisionStop{.asker = {ns, "job"}, .gain_s = 60};
    return made;
  };
  JournalPage page;
  page.rows = {row("stopped for team-b/job, which starts 1m earlier", "team-b"),
               row("moved (slow) for team-b/job, which ends 1m earlier", "team-b"),
               row("stopped for team-a/job, which starts 1m earlier", "team-a"),
               row("calibration run ended for team-b/job"),
               row("stopped after NodeLost: x", ""),
               row("1x4 A100 on n1")};
  JournalPage seen = page;
  hide_from(Viewer([](const std::string& ns) { return ns == "team-a"; }, {}), page);
  const std::string other = "a task of another namespace";
  EXPECT_EQ(page.rows[0].result, "stopped for " + other + ", which starts 1m earlier");
  EXPECT_EQ(page.rows[0].stop->asker, ObjectKey());
  EXPECT_EQ(page.rows[1].result, "moved (slow) for " + other + ", which ends 1m earlier");
  EXPECT_EQ(page.rows[3].result, "calibration run ended for " + other);
  for (const std::size_t same : {std::size_t{2}, std::size_t{4}, std::size_t{5}}) {
    EXPECT_EQ(page.rows[same].result, seen.rows[same].result);
    EXPECT_EQ(page.rows[same].stop, seen.rows[same].stop);
  }
  hide_from(Viewer(), seen);
  EXPECT_EQ(seen.rows[0].stop->asker.ns, "team-b") << "nobody guards the listener";
}

TEST_F(QueriesTest, ReadinessSaysWhatItWaitsFor) {
  source.be({.synced = false, .age_s = 3, .stale = false, .detail = "pods: first list not done"});
  Health health(source, log);
  const auto checks = health.checks();
  EXPECT_FALSE(checks[0].ok);
  EXPECT_EQ(checks[0].detail, "pods: first list not done");
  health.begin_shutdown();
  EXPECT_FALSE(health.checks()[3].ok);
}

// The last good dump serves on: ready, but not without a word.
TEST_F(QueriesTest, TroubleWithAFollowedDumpIsToldAndLeavesItReady) {
  source.be({.synced = true, .age_s = 0, .stale = false, .detail = "dump.yaml: cut short"});
  const HealthCheck check = Health(source, log).checks()[1];
  EXPECT_TRUE(check.ok);
  EXPECT_EQ(check.detail, "dump.yaml: cut short");
}

TEST_F(QueriesTest, TroubleWithTheModelDatabaseIsToldAndLeavesItReady) {
  models_problem.set("the disk is full");
  Health health(source, log);
  health.tell_of("models-stored", models_problem);
  const HealthCheck check = health.checks()[4];
  EXPECT_EQ(check.name, "models-stored");
  EXPECT_TRUE(check.ok);
  EXPECT_EQ(check.detail, "the disk is full");
}

TEST_F(QueriesTest, ADamagedJournalIsToldAndLeavesItReady) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("slackline.db");
  ASSERT_TRUE(store::Journal::open({.path = path}));
  std::ofstream(path) << std::string(10000, 'z');
  const auto journal = store::Journal::open({.path = path});
  ASSERT_TRUE(journal) << journal.error().message;
  DecisionLog damaged(journal->get(), metrics);
  damaged.refresh_metrics();
  EXPECT_THAT(metrics.expose(), HasSubstr("slackline_journal_damaged 1"));
  const auto checks = Health(source, damaged).checks();
  const auto check = std::find_if(checks.begin(), checks.end(),
                                  [](const auto& c) { return c.name == "journal-written"; });
  ASSERT_NE(check, checks.end());
  EXPECT_TRUE(check->ok);
  EXPECT_THAT(check->detail, AllOf(HasSubstr("history, decisions and reports begin anew"),
                                   HasSubstr(path + ".damaged-")));
}

}  // namespace
}  // namespace slackline::control
