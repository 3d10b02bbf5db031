// What `slackline queue` shows.
#include "control/query/queue_query.h"

#include <map>

#include <gtest/gtest.h>

#include "control/query/queue_reader.h"
#include "control/query/written_book.h"
#include "slackline/model/reason.h"
#include "support/answer_world.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;

class QueueQueryTest : public test::PlanningFixture {
 protected:
  QueueQueryTest() {
    planner_.set({.active = true, .leads = true, .leader = "me", .backoffs = {}});
  }

  test::JobBuilder waiting(const std::string& name, std::int64_t gpus, double deadline_in_s) {
    auto job = a_job(name).gpus(gpus).waiting().created(clock_.wall_s());
    job.intent().expected_duration_s = 600;
    job.intent().deadline_s = clock_.wall_s() + deadline_in_s;
    return job;
  }

  QueueView ask(const ClusterSnapshot& snapshot, const std::string& ns = "", bool all = false) {
    const test::FakeSource source(snapshot);
    QueueQuery query(options_, known_, source, planner_, books_, clock_);
    return query.ask(ns, all).value();
  }

  test::FakeClock clock_;
  Published<PlannerView> planner_;
  Published<WrittenBook> books_;
};

TEST_F(QueueQueryTest, WhereNobodyIsReleasedWhatStartsNowUsesTheLimitOfItsQueue) {
  control::Settings settings = *settings_.get();
  settings.queues.defaults.max_running = 2;
  settings_.set(settings);
  planner_.set({.active = false, .leads = false, .leader = "", .backoffs = {}});
  auto cluster = a_cluster();
  cluster.with(a_node("n1"));
  for (const char* name : {"a", "b", "c"})
    cluster.with(waiting(name, 1, 7200));
  const QueueView view = ask(cluster.build());
  ASSERT_EQ(view.rows.size(), 3U);
  EXPECT_EQ(view.rows[0].reason, reason::kStartsNow);
  EXPECT_EQ(view.rows[1].reason, reason::kStartsNow);
  EXPECT_EQ(view.rows[2].reason, reason::kShareExceeded);
}

TEST_F(QueueQueryTest, ALongQueueIsShownAgainForAWhileAndAShortOneIsNot) {
  const auto age_after = [&](std::size_t tasks, double wait_s) {
    auto cluster = a_cluster();
    cluster.with(a_node("n1"));
    for (std::size_t i = 0; i < tasks; ++i)
      cluster.with(waiting("w" + std::to_string(i), 4, 7200));
    const test::FakeSource source(cluster.build());
    QueueQuery query(options_, known_, source, planner_, books_, clock_);
    const double before_s = query.ask("")->rows.at(0).age_s;
    clock_.advance(wait_s);
    return query.ask("")->rows.at(0).age_s - before_s;
  };
  EXPECT_DOUBLE_EQ(age_after(1, 5), 5);
  EXPECT_DOUBLE_EQ(age_after(kLongQueue + 1, 5), 0);
  EXPECT_DOUBLE_EQ(age_after(kLongQueue + 1, 31), 31);
}

TEST_F(QueueQueryTest, ShowsPlannedTasksThenWaitingOnesByPredictedStart) {
  auto runs = a_job("z-runs").gpus(4).managed().planned({"n1"}).created(clock_.wall_s() - 10);
  const ClusterSnapshot snapshot = a_cluster()
                                       .with(a_node("n1"))
                                       .with(waiting("b-soon", 4, 7200))
                                       .with(waiting("a-late", 4, 36000))
                                       .with(a_job("other/huge").gpus(64).waiting())
                                       .with(runs)
                                       .build();
  const QueueView view = ask(snapshot);
  ASSERT_EQ(view.rows.size(), 4U);
  EXPECT_EQ(view.rows[0].key.name, "z-runs");
  EXPECT_EQ(view.rows[0].position, 0);
  EXPECT_EQ(view.rows[0].shape, (Placement{1, 4}));
  EXPECT_EQ(view.rows[0].reason, "");
  EXPECT_EQ(view.rows[1].key.name, "b-soon");
  EXPECT_EQ(view.rows[1].position, 1);
  EXPECT_EQ(view.rows[1].reason, reason::kWaitsItsTurn);
  EXPECT_NEAR(*view.rows[1].slack_s, 6600, 1);
  EXPECT_EQ(view.rows[2].key.name, "a-late");
  EXPECT_LT(*view.rows[1].start_s, *view.rows[2].start_s);
  EXPECT_EQ(view.rows[3].key.name, "huge");
  EXPECT_EQ(view.rows[3].reason, reason::kNoNodeFits);
  EXPECT_FALSE(view.rows[3].start_s);
  EXPECT_EQ(view.forecast_s, clock_.wall_s());
  const QueueView others = ask(snapshot, "other");
  ASSERT_EQ(others.rows.size(), 1U);
  EXPECT_EQ(others.rows[0].position, 3) << "positions count everybody";
}

TEST_F(QueueQueryTest, WhatSlacklineDoesNotPlanIsShownOnDemandAfterItsQueue) {
  const ClusterSnapshot snapshot =
      a_cluster()
          .with(a_node("n1"))
          .with(waiting("mine", 4, 7200))
          .with(a_job("foreign/job").gpus(4).created(clock_.wall_s() - 60))
          .with(test::a_pod("foreign/job-0").of_job("job").gpus(4))
          .with(test::a_pod("foreign/alone").gpus(2).created(clock_.wall_s() - 90))
          .with(test::a_pod("foreign/runs").gpus(2).on("n1"))
          .build();
  EXPECT_EQ(ask(snapshot).rows.size(), 1U);
  const QueueView all = ask(snapshot, "", true);
  ASSERT_EQ(all.rows.size(), 3U);
  EXPECT_EQ(all.rows[0].key.name, "mine");
  EXPECT_EQ(all.rows[1].key.name, "alone") << "the oldest first";
  EXPECT_EQ(all.rows[2].key.name, "job");
  EXPECT_EQ(all.rows[2].kind, TaskKind::kJob);
  EXPECT_EQ(all.rows[2].gpus, 4);
  EXPECT_NEAR(all.rows[2].age_s, 60, 1);
  for (const std::size_t rest : {1U, 2U}) {
    EXPECT_EQ(all.rows[rest].reason, reason::kNotManaged);
    EXPECT_EQ(all.rows[rest].position, 0);
    EXPECT_FALSE(all.rows[rest].start_s);
  }
  const QueueView foreign = ask(snapshot, "foreign", true);
  EXPECT_EQ(foreign.rows.size(), 2U);
  EXPECT_EQ(foreign.counts[0], (std::pair<std::string, std::int64_t>{"waiting", 2}));
  EXPECT_EQ(ask(snapshot, "default", true).rows.size(), 1U);
}

TEST_F(QueueQueryTest, WhatWaitsForKueueIsAmongWhatSlacklineDoesNotPlan) {
  Job kueues = a_job("theirs").gpus(4).suspended().created(clock_.wall_s() - 60).build();
  kueues.kueue = true;
  auto cluster = a_cluster().with(a_node("n1")).with(waiting("mine", 4, 7200));
  const ClusterSnapshot snapshot = cluster.add(kueues).build();
  EXPECT_EQ(ask(snapshot).rows.size(), 1U);
  const QueueView all = ask(snapshot, "", true);
  ASSERT_EQ(all.rows.size(), 2U);
  EXPECT_EQ(all.rows[1].key.name, "theirs");
  EXPECT_EQ(all.rows[1].reason, reason::kNotManaged);
  EXPECT_EQ(all.rows[1].position, 0);
  EXPECT_FALSE(all.rows[1].start_s);
}

// Shadow and advise mode, and a dump: nobody suspends Jobs there.
TEST_F(QueueQueryTest, WithoutAPlannerWhatWaitsForKubeSchedulerIsPlannedAndNotReleased) {
  options_.stock_waits = core::StockScope::kManaged;
  planner_.set({});
  const auto stock = [&](const std::string& name, double deadline_in_s) {
    auto job = a_job(name).gpus(4).created(clock_.wall_s());
    job.intent().expected_duration_s = 600;
    job.intent().deadline_s = clock_.wall_s() + deadline_in_s;
    return job;
  };
  const QueueView view = ask(a_cluster()
                                 .with(a_node("n1"))
                                 .with(stock("a-late", 9000))
                                 .with(test::a_pod("a-late-0").of_job("a-late").gpus(4))
                                 .with(stock("b-first", 700))
                                 .with(test::a_pod("b-first-0").of_job("b-first").gpus(4))
                                 .with(stock("c-lost", 300))
                                 .with(test::a_pod("c-lost-0").of_job("c-lost").gpus(4))
                                 .build());
  EXPECT_FALSE(view.active);
  ASSERT_EQ(view.rows.size(), 3U);
  EXPECT_EQ(view.rows[0].key.name, "b-first");
  EXPECT_EQ(view.rows[0].reason, reason::kStartsNow) << "its turn has come, nobody releases it";
  EXPECT_EQ(view.rows[0].start_s, clock_.wall_s());
  EXPECT_NEAR(*view.rows[0].margin_s, 100, 20);
  for (const std::size_t later : {1U, 2U}) {
    EXPECT_EQ(view.rows[later].reason, reason::kWaitsItsTurn) << view.rows[later].key.name;
    EXPECT_EQ(view.rows[later].predicted_late(), view.rows[later].key.name == "c-lost");
  }
}

TEST_F(QueueQueryTest, WhoIsExpectedToComeCountsInWhatIsForecastForTheQuestion) {
  const ClusterSnapshot snapshot =
      a_cluster().with(a_node("n1")).with(waiting("a", 4, 700)).with(waiting("b", 4, 1e6)).build();
  const double alone_s = *ask(snapshot).rows[1].start_p90_s;
  auto others = std::make_shared<core::ArrivalList>();
  auto intent = std::make_shared<TaskIntent>();
  intent->expected_duration_s = 7200;
  for (int i = 0; i < 400; ++i)
    others->tasks.push_back({Uid("other-" + std::to_string(i)),
                             clock_.wall_s() - 200.0 * i,
                             clock_.wall_s() - 200.0 * i + 7300,
                             {"nvidia.com/gpu", 1, 4, false, false},
                             intent});
  books_.set({std::make_shared<const core::ForecastBook>(), 0, others});
  EXPECT_GT(*ask(snapshot).rows[1].start_p90_s, alone_s + 600);
}

TEST_F(QueueQueryTest, AJobThatNoNodeIsLargeEnoughForSaysSo) {
  const ClusterSnapshot snapshot =
      a_cluster()
          .with(a_node("n1").cpus(8).other("rdma/hca", 2))
          .with(a_job("cpus").gpus(1).cpus(9).waiting())
          .with(a_job("hca").gpus(1).other("rdma/hca", 3).waiting())
          .with(a_job("hca-fits").gpus(1).other("rdma/hca", 2).waiting())
          .with(a_job("gang").of(4).gang().gpus(1).cpus(3).waiting())
          .with(a_job("gang-fits").of(4).gang().gpus(1).cpus(2).waiting())
          .build();
  for (const QueueRow& row : ask(snapshot).rows) {
    const bool fits = row.key.name.ends_with("-fits");
    EXPECT_EQ(row.blocked, !fits) << row.key.name;
    EXPECT_EQ(row.reason == reason::kNoNodeFits, !fits) << row.key.name;
  }
}

TEST_F(QueueQueryTest, AJobLargerThanAnyClusterWaitsAndSaysWhy) {
  auto job = waiting("absurd", 1'000'000'000'000, 3600).of(2'147'483'647).gang();
  const QueueView view = ask(a_cluster().with(a_node("n1")).with(job).build());
  ASSERT_EQ(view.rows.size(), 1U);
  EXPECT_EQ(view.rows[0].reason, reason::kNoNodeFits);
  EXPECT_GT(view.rows[0].gpus, 0) << "the product does not overflow";
  EXPECT_EQ(view.rows[0].shape, (Placement{65536, 4096}));
}

TEST_F(QueueQueryTest, SaysWhyATaskWaits) {
  auto typed = waiting("typed", 1, 3600);
  typed.intent().gpu_types = {GpuType("H100")};
  const ClusterSnapshot snapshot =
      a_cluster().with(a_node("n1")).with(typed).with(waiting("plain", 1, 3600)).build();
  const auto reason_of = [&](const std::string& name) {
    for (const QueueRow& row : ask(snapshot).rows)
      if (row.key.name == name) return row.reason;
    return std::string("not there");
  };
  EXPECT_EQ(reason_of("typed"), reason::kGpuTypeAbsent);
  EXPECT_EQ(reason_of("plain"), reason::kWaitsItsTurn);

  PlannerView view{.active = true, .leads = true, .leader = "me", .backoffs = {}};
  view.backoffs[Uid("job:default/plain")] = {clock_.steady_s() + 90,
                                             std::string(reason::kNodesLost)};
  planner_.set(view);
  EXPECT_EQ(reason_of("plain"), reason::kNodesLost);
  const QueueRow backs_off = ask(snapshot).rows.front();
  ASSERT_EQ(backs_off.key.name, "plain");
  EXPECT_EQ(*backs_off.retry_s, clock_.wall_s() + 90);
  EXPECT_GE(*backs_off.start_s, clock_.wall_s() + 90) << "it does not start before";
  clock_.advance(91);
  EXPECT_EQ(reason_of("plain"), reason::kWaitsItsTurn);
}

// The forecasts are played without them, as the planner plans.
TEST_F(QueueQueryTest, WhatKubeSchedulerRefusesIsNotForecastAndSaysUntilWhen) {
  PlannerView view = *planner_.get();
  view.refused[Uid("job:default/plain")][NodeName("n1")] = {clock_.steady_s() + 90, "0/1 nodes"};
  planner_.set(view);
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(waiting("plain", 4, 3600)).with(waiting("z", 4, 7200));
  const QueueView refused = ask(cluster.build());
  ASSERT_EQ(refused.rows.size(), 2U);
  EXPECT_EQ(refused.rows[0].key.name, "z") << "the node is its own for now";
  EXPECT_EQ(refused.rows[1].reason, reason::kNotBound);
  EXPECT_EQ(refused.rows[1].retry_s, clock_.wall_s() + 90);
  EXPECT_FALSE(refused.rows[1].start_s);
  EXPECT_EQ(refused.rows[1].forecast, "");
  EXPECT_FALSE(refused.rows[1].blocked);

  cluster.with(a_node("n2"));
  for (const QueueRow& row : ask(cluster.build()).rows) {
    EXPECT_EQ(row.reason, reason::kWaitsItsTurn);
    EXPECT_EQ(row.start_s, clock_.wall_s()) << row.key.name;
    EXPECT_FALSE(row.retry_s);
  }
}

TEST_F(QueueQueryTest, AGangWaitsForItsRefusedNodesAsAJobDoes) {
  PlannerView view = *planner_.get();
  view.refused[Uid("default/g")][NodeName("n1")] = {clock_.steady_s() + 90, "0/2 nodes"};
  planner_.set(view);
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_node("n2"));
  for (const char* name : {"x", "y"})
    cluster.with(test::a_pod(name).in_gang("g", 2).gpus(4).managed().gated());
  const QueueView refused = ask(cluster.build());
  ASSERT_EQ(refused.rows.size(), 1U);
  EXPECT_EQ(refused.rows[0].reason, reason::kNotBound);
  EXPECT_EQ(refused.rows[0].retry_s, clock_.wall_s() + 90);
  EXPECT_EQ(ask(cluster.with(a_node("n3")).build()).rows[0].reason, reason::kWaitsItsTurn);
}

TEST_F(QueueQueryTest, WhatDependsOnOthersSaysSoAndForecastsNothing) {
  auto train = waiting("train", 1, 3600);
  train.intent().depends_on = {"prep"};
  const ClusterSnapshot snapshot =
      a_cluster().with(a_node("n1")).with(train).with(a_job("prep")).build();
  const QueueRow row = ask(snapshot).rows.front();
  EXPECT_EQ(row.key.name, "train");
  EXPECT_EQ(row.reason, reason::kDependencyPending);
  EXPECT_FALSE(row.start_s);
  EXPECT_EQ(row.forecast, "");
}

TEST_F(QueueQueryTest, TheNodesOfAPlanAndOfAReservationAreTold) {
  planner_.set({});  // a leader's are those of its own plan
  const double now_s = clock_.wall_s();
  auto runs = a_job("runs").gpus(4).managed().planned({"n1"}).created(now_s).started(now_s);
  runs.intent().expected_duration_s = 3600;
  auto gang = a_job("gang").of(2).gang().gpus(4).waiting().created(now_s);
  gang.intent().expected_duration_s = 600;
  gang.intent().deadline_s = now_s + 36000;
  const ClusterSnapshot snapshot =
      a_cluster()
          .with(a_node("n1"))
          .with(a_node("n2"))
          .with(runs)
          .with(test::a_pod("runs-0").of_job("runs").gpus(4).on("n1").started(now_s))
          .with(gang)
          .build();
  const auto nodes_by = [&](std::string_view policy) {
    Settings settings;
    settings.policy = *core::parse_policy(policy);
    settings_.set(settings);
    std::map<std::string, std::vector<NodeName>> nodes;
    for (const QueueRow& row : ask(snapshot).rows)
      nodes[row.key.name] = row.nodes;
    return nodes;
  };
  const std::vector<NodeName> both{NodeName("n1"), NodeName("n2")};
  for (const char* policy : {"reserve", "easy", "default,held=8"}) {
    const auto nodes = nodes_by(policy);
    EXPECT_EQ(nodes.at("runs"), std::vector{NodeName("n1")}) << policy;
    EXPECT_EQ(nodes.at("gang"), both) << policy;
  }
  EXPECT_EQ(nodes_by("default").at("gang"), std::vector<NodeName>()) << "it keeps no node";
}

// Day one: everything that runs was started without Slackline.
TEST_F(QueueQueryTest, RunsOfEverybodyElseEndAndLetTheQueueMove) {
  auto cluster = a_cluster();
  for (int node = 0; node < 25; ++node)
    cluster.with(a_node("n" + std::to_string(node)).of("A100", 8));
  for (int i = 0; i < 200; ++i) {
    const std::string name = "run-" + std::to_string(i);
    auto pod = test::a_pod(name).gpus(1).cpus(8).on("n" + std::to_string(i / 8));
    pod.started(clock_.wall_s() - 1800).intent().expected_duration_s = 3600 + 60 * i;
    cluster.with(pod);
  }
  for (int i = 0; i < 50; ++i)
    cluster.with(waiting("waits-" + std::to_string(i), 1 + i % 8, 48 * 3600.0));
  const QueueView view = ask(cluster.build());
  ASSERT_EQ(view.rows.size(), 50U) << "those that run are not ours to list";
  for (const QueueRow& row : view.rows) {
    ASSERT_TRUE(row.start_s && row.finish_s) << row.key.str() << " " << row.forecast;
    EXPECT_GT(*row.start_s, clock_.wall_s() + 900) << "no GPU is free before the first run ends";
    EXPECT_LT(*row.start_s, clock_.wall_s() + 24 * 3600);
  }
  EXPECT_EQ(view.unknown_runs, 0);
}

// Ten hours were expected; the Job says that nine tenths are done after one.
TEST_F(QueueQueryTest, ARunThatSlacklineDidNotStartCountsItsOwnReports) {
  const auto starts_in_s = [&](bool told, bool expected) {
    const double now_s = clock_.wall_s();
    auto runs = a_job("theirs").gpus(4).created(now_s - 3600).started(now_s - 3600);
    if (expected) runs.intent().expected_duration_s = 36000;
    Job job = runs.build();
    if (told) {
      ProgressNote note{900, 1000, now_s};
      note.first = ProgressPoint{0, now_s - 3600};
      job.progress = std::make_shared<const ProgressNote>(note);
    }
    const QueueView view = ask(
        a_cluster()
            .with(a_node("n1"))
            .add(std::move(job))
            .with(test::a_pod("theirs-0").of_job("theirs").gpus(4).on("n1").started(now_s - 3600))
            .with(waiting("waits", 4, 1e6))
            .build());
    EXPECT_EQ(view.rows.front().key.name, "waits");
    EXPECT_EQ(view.unknown_runs, told || expected ? 0 : 1);
    return *view.rows.front().start_s - now_s;
  };
  EXPECT_GT(starts_in_s(false, true), 6 * 3600);
  EXPECT_LT(starts_in_s(true, true), 5 * 3600) << "twice as fast as expected is believed";
  EXPECT_LT(starts_in_s(true, false), 3600) << "its own speed is known";
}

TEST_F(QueueQueryTest, WhatNobodyKnowsIsSaidAndNotInvented) {
  auto unsaid = a_job("unsaid").gpus(4).waiting().created(clock_.wall_s());
  unsaid.intent().deadline_s = clock_.wall_s() + 30 * 86400.0;
  const QueueView view =
      ask(a_cluster()
              .with(a_node("n1"))
              .with(test::a_pod("somebody").gpus(4).on("n1").started(clock_.wall_s() - 4 * 3600))
              .with(unsaid)
              .build());
  EXPECT_EQ(view.unknown_runs, 1);
  ASSERT_EQ(view.rows.size(), 1U);
  const QueueRow& row = view.rows.front();
  ASSERT_TRUE(row.start_s && row.start_p90_s);
  EXPECT_GT(*row.start_p90_s - *row.start_s, 3600) << "the end of the run before it is a guess";
  EXPECT_FALSE(row.finish_s || row.finish_p90_s || row.slack_s || row.margin_s);
  EXPECT_EQ(row.forecast, reason::kLengthUnknown);
  EXPECT_FALSE(row.predicted_late() || row.chance) << "it may start in time";
}

TEST_F(QueueQueryTest, WhatStartsAfterItsDeadlineIsLateHoweverLongItRuns) {
  auto cluster = a_cluster();
  cluster.with(a_node("n1"));
  auto runs = a_job("runs").created(clock_.wall_s() - 1000);
  runs.intent().expected_duration_s = 9 * 3600;
  test::add_running(cluster, runs, "runs", 4, "n1", "", clock_.wall_s() - 900);
  auto unsaid = a_job("unsaid").gpus(4).waiting().created(clock_.wall_s());
  unsaid.intent().deadline_s = clock_.wall_s() + 7200;
  const QueueView view = ask(cluster.with(unsaid).build());
  const auto row = std::find_if(view.rows.begin(), view.rows.end(),
                                [](const QueueRow& of) { return of.key.name == "unsaid"; });
  ASSERT_NE(row, view.rows.end());
  ASSERT_TRUE(row->start_s && *row->start_s > *row->deadline_s);
  EXPECT_EQ(row->forecast, reason::kLengthUnknown);
  EXPECT_FALSE(row->finish_s);
  EXPECT_TRUE(row->predicted_late());
  EXPECT_EQ(row->margin_below_s(), *row->deadline_s - *row->start_s);
  EXPECT_EQ(row->chance, 0);
}

TEST_F(QueueQueryTest, WhatCannotStartIsBlockedAndIsNeverForecast) {
  auto typed = waiting("typed", 1, 3600);
  typed.intent().gpu_types = {GpuType("NVIDIA-H100-80GB-HBM3")};
  const auto row_of = [&](const ClusterSnapshot& snapshot) { return ask(snapshot).rows.front(); };
  const QueueRow absent = row_of(a_cluster().with(a_node("n1").of("A100", 8)).with(typed).build());
  EXPECT_TRUE(absent.blocked);
  EXPECT_EQ(absent.reason, reason::kGpuTypeAbsent);
  EXPECT_EQ(absent.forecast, reason::kNever);
  auto of_another = waiting("amd", 1, 3600).gpus(1, "amd.com/gpu");
  of_another.intent().gpu_types = {GpuType("A100")};
  const auto both = a_cluster()
                        .with(a_node("n1").of("A100", 8))
                        .with(a_node("n2").of("MI250X", 0).resource("amd.com/gpu", 8));
  EXPECT_EQ(row_of(test::ClusterBuilder(both).with(of_another).build()).reason,
            reason::kGpuTypeAbsent)
      << "A100 is there as nvidia.com/gpu";
  const QueueRow there = row_of(a_cluster().with(a_node("n1").of("H100", 8)).with(typed).build());
  EXPECT_FALSE(there.blocked);
  EXPECT_TRUE(there.start_s);
  const QueueRow large =
      row_of(a_cluster().with(a_node("n1").of("A100", 4)).with(waiting("wide", 8, 3600)).build());
  EXPECT_EQ(large.reason, reason::kNoNodeFits);
  EXPECT_EQ(large.forecast, reason::kNever);
  const QueueRow any = row_of(a_cluster().with(waiting("any", 1, 3600)).build());
  EXPECT_EQ(any.reason, reason::kNoNodeFits) << "it accepts every type, and there is no node";
}

TEST_F(QueueQueryTest, TheMarginIsFromTheFinishToTheDeadlineAlsoOfWhatRuns) {
  auto runs = a_job("nearly-done").gpus(4).managed().planned({"n1"}).created(0);
  runs.started(clock_.wall_s() - 7200).intent().expected_duration_s = 7200 + 1560;
  runs.intent().deadline_s = clock_.wall_s() + 3600;
  const QueueView view =
      ask(a_cluster()
              .with(a_node("n1"))
              .with(runs)
              .with(test::a_pod("nearly-done-0").of_job("nearly-done").gpus(4).on("n1"))
              .with(waiting("late", 4, 900))
              .build());
  ASSERT_EQ(view.rows.size(), 2U);
  EXPECT_NEAR(*view.rows[0].margin_s, 3600 - 1560, 700) << "34 minutes, give or take its own error";
  EXPECT_EQ(view.rows[0].slack_s, view.rows[0].margin_s);
  EXPECT_FALSE(view.rows[0].predicted_late());
  EXPECT_LT(*view.rows[1].margin_s, 0);
  EXPECT_TRUE(view.rows[1].predicted_late());
}

// Eight Jobs of ten hours, one after the other: the last start beyond what is forecast.
TEST_F(QueueQueryTest, WhoEndsBeyondTheHorizonAndIsDueWithinItIsLate) {
  auto cluster = a_cluster().with(a_node("n1").of("K80", 4));
  for (int i = 0; i < 8; ++i) {
    auto job = waiting("s" + std::to_string(i), 4, i == 7 ? 100 * 3600.0 : 20 * 3600.0);
    job.intent().expected_duration_s = 10 * 3600;
    cluster.with(job);
  }
  const QueueView view = ask(cluster.build());
  ASSERT_EQ(view.rows.size(), 8U);
  std::size_t beyond = 0;
  for (const QueueRow& row : view.rows) {
    if (row.forecast != reason::kBeyondHorizon) continue;
    ++beyond;
    const bool due_within = row.key.name != "s7";
    EXPECT_EQ(row.predicted_late(), due_within) << row.key.name;
    EXPECT_EQ(row.margin_below_s().has_value(), due_within) << row.key.name;
    if (row.margin_below_s()) {
      EXPECT_NEAR(*row.margin_below_s(), (20 - 48) * 3600.0, 1);
    }
  }
  EXPECT_GE(beyond, 3U);
  EXPECT_EQ(view.counts[3], (std::pair<std::string, std::int64_t>("late", 6)))
      << "the first two are in time, the last is due after the horizon";
}

TEST_F(QueueQueryTest, NobodyThatWaitsStartsInThePastOrEndsBeforeItCan) {
  auto cluster = a_cluster();
  for (int i = 0; i < 10; ++i) {
    const std::string name = std::to_string(i);
    cluster.with(a_node("n" + name)).with(waiting("w" + name, 4, 20000 + i));
    cluster.with(waiting("v" + name, 4, 20000 + i));
  }
  const ClusterSnapshot snapshot = cluster.build();
  const test::FakeSource source(snapshot);
  QueueReader reader(options_, known_, source, planner_, clock_);
  const QueueSight sight = reader.read();
  const auto book = reader.book_for(sight, {});
  books_.set({book, snapshot.version});
  EXPECT_LT(book->holds_until_s(), clock_.wall_s() + 3600)
      << "the second ones start when the first end";
  for (const double passed_s : {0.0, 33.0, 1000.0}) {
    clock_.advance(passed_s);
    const QueueView view = ask(snapshot);
    EXPECT_EQ(view.forecast_s == book->made_s(), clock_.wall_s() < book->holds_until_s());
    for (const QueueRow& row : view.rows) {
      EXPECT_GE(*row.start_s, view.now_s) << row.key.name;
      EXPECT_LE(*row.margin_s, *row.slack_s) << row.key.name;
      EXPECT_LE(*row.finish_s, *row.finish_p90_s) << row.key.name;
    }
  }
}

TEST_F(QueueQueryTest, AReplicaThatDoesNotPlanSaysSo) {
  const ClusterSnapshot snapshot =
      a_cluster().with(a_node("n1")).with(waiting("plain", 1, 3600)).build();
  planner_.set({.active = true, .leads = false, .leader = "other", .backoffs = {}});
  EXPECT_EQ(ask(snapshot).rows.front().reason, reason::kNotKnownHere);
  EXPECT_EQ(ask(snapshot).leader, "other");
  planner_.set({.active = true, .leads = false, .leader = "", .backoffs = {}});
  EXPECT_EQ(ask(snapshot).rows.front().reason, reason::kNotLed);
  planner_.set({});
  EXPECT_EQ(ask(snapshot).rows.front().reason, reason::kStartsNow);
  planner_.set({.leader = "", .left_waiting = {snapshot.jobs.front()->uid}, .backoffs = {}});
  EXPECT_EQ(ask(snapshot).rows.front().reason, reason::kNotLed) << "active mode has left it";
}

TEST_F(QueueQueryTest, ANamespaceThatIsNotThereIsTold) {
  ClusterSnapshot snapshot = a_cluster().with(a_node("n1")).build();
  EXPECT_EQ(ask(snapshot, "taem").unknown_namespace, "") << "no namespaces are known";
  Namespace team;
  team.key.name = "team";
  snapshot.namespaces = std::make_shared<const std::vector<std::shared_ptr<const Namespace>>>(
      1, std::make_shared<const Namespace>(team));
  EXPECT_EQ(ask(snapshot, "taem").unknown_namespace, "taem");
  EXPECT_EQ(ask(snapshot, "team").unknown_namespace, "");
}

TEST_F(QueueQueryTest, WhatWasLetGoIsKubeSchedulers) {
  const auto cluster = a_cluster()
                           .with(a_node("n1").of("K80", 0))
                           .with(a_job("free").gpus(1).managed())
                           .with(test::a_pod("free-0").of_job("free").gpus(1));
  planner_.set({.active = true, .leads = true, .leader = "me", .backoffs = {}});
  const QueueView view = ask(cluster.build());
  ASSERT_EQ(view.rows.size(), 1U);
  EXPECT_EQ(view.rows.front().reason, reason::kNotManaged);
}

TEST_F(QueueQueryTest, WhomItsQueuesBudgetDeniesRoomIsTold) {
  const ClusterSnapshot snapshot =
      a_cluster().with(a_node("n1")).with(waiting("plain", 1, 3600)).build();
  PlannerView view;
  view.active = view.leads = true;
  view.denied_room.insert(snapshot.jobs.front()->uid);
  planner_.set(view);
  EXPECT_EQ(ask(snapshot).rows.front().reason, reason::kPreemptionBudgetSpent);
}

// What was lost by evictions is written on no object: the planner alone remembers it.
TEST_F(QueueQueryTest, AForecastSpendsWhatThePlannerHasLeftOfABudget) {
  Settings settings;
  settings.policy = *core::parse_policy("default");
  settings_.set(settings);
  const double began_s = clock_.wall_s() - 7200;
  auto runs = a_job("runs").gpus(4).managed().planned({"n1"}).created(began_s).started(began_s);
  runs.intent().expected_duration_s = 86400;
  runs.intent().checkpoint_interval_s = 60;
  auto urgent = a_job("team-u/urgent").gpus(4).waiting().created(clock_.wall_s());
  urgent.intent().expected_duration_s = 600;
  urgent.intent().qos_class = QosClass::kUrgent;
  const ClusterSnapshot snapshot =
      a_cluster()
          .with(a_node("n1"))
          .with(runs)
          .with(test::a_pod("runs-0").of_job("runs").gpus(4).on("n1").started(began_s))
          .with(urgent)
          .build();
  const auto starts_in_s = [&] {
    for (const QueueRow& row : ask(snapshot).rows)
      if (row.key.name == "urgent") return row.start_s.value_or(1e12) - clock_.wall_s();
    return -1.0;
  };
  EXPECT_LT(starts_in_s(), 600);
  const auto spent = std::make_shared<core::StopBook>();
  spent->stops.push_back({.stopped = {"team-u", "web-1"},
                          .uid = Uid("web-1"),
                          .controller = Uid("replicas"),
                          .account = "team-u",
                          .at_s = clock_.wall_s() - 60,
                          .gpu_s = 1e6});
  PlannerView view = *planner_.get();
  view.stop_book = spent;
  planner_.set(view);
  EXPECT_GT(starts_in_s(), 3600);
  spent->stops.front().account = "default";
  EXPECT_LT(starts_in_s(), 600) << "another queue's";
}

TEST_F(QueueQueryTest, AGangOfWhichAMemberWaitsForItsPlaceSaysSo) {
  auto gang = a_job("gang").of(2).gang().gpus(4).managed().planned({"n1", "n2"});
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_node("n2").cordoned()).with(gang);
  cluster.with(test::a_pod("gang-0").of_job("gang").gpus(4).on("n1"));
  EXPECT_EQ(ask(cluster.build()).rows.at(0).reason, reason::kReplacementWaits)
      << "it is not made yet";
  cluster.with(test::a_pod("gang-1").of_job("gang").gpus(4).managed().gated());
  const QueueRow row = ask(cluster.build()).rows.at(0);
  EXPECT_EQ(row.state, TaskState::kStarting);
  EXPECT_EQ(row.reason, reason::kReplacementWaits);
  EXPECT_FALSE(row.blocked);
}

TEST_F(QueueQueryTest, WhoWaitsForRunsThatMakeRoomSeesForWhomAndUntilWhen) {
  ClusterSnapshot snapshot = a_cluster()
                                 .with(a_node("n1"))
                                 .with(a_job("victim").gpus(4).managed().planned({"n1"}))
                                 .with(test::a_pod("victim-0").of_job("victim").gpus(4).on("n1"))
                                 .with(waiting("asks", 4, 3600))
                                 .build();
  const auto find = [&](const char* name) {
    for (const QueueRow& row : ask(snapshot).rows)
      if (row.key.name == name) return row;
    return QueueRow{};
  };
  EXPECT_NE(find("asks").reason, reason::kWaitingForPreempted);
  NodeState state = snapshot.node(0);
  Pod told = *state.pods.front();
  const Job& asker = *snapshot.find_job("default", "asks");
  told.notice =
      std::make_shared<const StopNotice>(StopNotice{asker.key, asker.uid, clock_.wall_s() + 30});
  state.pods = {std::make_shared<const Pod>(told)};
  snapshot.nodes = {std::make_shared<const NodeState>(state)};
  EXPECT_EQ(find("asks").reason, reason::kWaitingForPreempted);
  EXPECT_EQ(find("asks").waits_for, (std::vector<ObjectKey>{{"default", "victim"}}));
  EXPECT_EQ(find("asks").room_by_s, told.notice->at_s);
  EXPECT_EQ(find("asks").room_since_s, std::nullopt);
  EXPECT_EQ(find("victim").reason, "");
}

TEST_F(QueueQueryTest, WhoMakesRoomIsNamedToThoseWhoMaySeeIt) {
  QueueView view;
  QueueRow& row = view.rows.emplace_back();
  row.waits_for = {{"team-a", "mine"}, {"team-b", "secret"}};
  row.move.emplace();
  row.move->moves = {{{"team-b", "secret"}, {NodeName("n9")}, {}},
                     {{"team-a", "mine"}, {NodeName("n1")}, {}}};
  hide_from(Viewer([](const std::string& ns) { return ns == "team-a"; }, {}), view);
  EXPECT_EQ(row.waits_for, (std::vector<ObjectKey>{{"team-a", "mine"}}));
  EXPECT_EQ(row.waits_for_hidden, 1);
  ASSERT_EQ(row.move->moves.size(), 1U);
  EXPECT_EQ(row.move->moves.front().task.ns, "team-a");
}

TEST_F(QueueQueryTest, AmongManyRunsTheBookIsAskedToo) {
  auto cluster = a_cluster().with(a_node("n1")).with(waiting("waits", 4, 36000));
  for (std::size_t i = 0; i <= kMostPlayed; ++i) {
    const std::string name = std::to_string(i);
    cluster.with(a_node("busy-" + name).of("A100", 1))
        .with(test::a_pod("run-" + name).gpus(1).on("busy-" + name));
  }
  EXPECT_EQ(ask(cluster.build()).rows.front().forecast, reason::kNotInBook);
}

TEST_F(QueueQueryTest, ALongQueueIsReadFromTheBookAndWhoIsNewerSaysSo) {
  auto cluster = a_cluster().with(a_node("n1"));
  for (std::size_t i = 0; i <= kMostForecast; ++i)
    cluster.with(waiting("many-" + std::to_string(i), 4, 36000));
  for (const QueueRow& row : ask(cluster.build()).rows) {
    EXPECT_FALSE(row.start_s);
    EXPECT_EQ(row.forecast, reason::kNotInBook);
  }
}

}  // namespace
}  // namespace slackline::control
