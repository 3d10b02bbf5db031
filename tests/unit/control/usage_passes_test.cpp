// When tasks are read, what the portraits are told, and what happens while nobody answers.
#include "control/portrait/usage_passes.h"

#include <map>

#include <gmock/gmock.h>

#include "control/portrait/node_meters.h"
#include "control/portrait/run_usage.h"
#include "slackline/base/text.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using telemetry::MeasuredTask;
using telemetry::UsageReading;
using telemetry::Window;
using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kStep_s = 60;
constexpr double kFirstTurn_s = 1.8e9;  // a whole minute; FakeClock's start

// Measures every task in full, but for `gap_s` of a whole run.
class ScriptedUsage final : public telemetry::UsageSource {
 public:
  Result<UsageReading> read(std::span<const MeasuredTask> tasks, const Window& window) override {
    runs.push_back(window);
    if (tasks.front().task.name == too_large)
      return fail(ErrorCode::kResourceExhausted, "more than 64 MiB");
    if (down || tasks.front().task.name == broken)
      return fail(ErrorCode::kUnavailable, "Prometheus is away");
    UsageReading reading;
    for (const MeasuredTask& task : tasks)
      reading.samples.push_back(sample(task, overlap(task.window, window), gap_s));
    return reading;
  }
  Result<UsageReading> read_steps(std::span<const MeasuredTask> tasks,
                                  const Window& window) override {
    if (tasks.empty()) return UsageReading();
    steps.push_back(window);
    if (down) return fail(ErrorCode::kUnavailable, "Prometheus is away");
    if (window.length_s() > most_steps * kStep_s)
      return fail(ErrorCode::kResourceExhausted, "more than 64 MiB");
    UsageReading reading;
    for (double to_s = window.from_s + kStep_s; to_s <= window.to_s; to_s += kStep_s)
      for (const MeasuredTask& task : tasks)
        if (const Window part = overlap(task.window, {to_s - kStep_s, to_s}); part.length_s() > 0)
          reading.samples.push_back(sample(task, part, 0));
    return reading;
  }
  Result<std::vector<telemetry::NodeLoad>> node_loads(double) override {
    if (down) return fail(ErrorCode::kUnavailable, "Prometheus is away");
    return loads;
  }
  int step_s() const override { return kStep_s; }
  void stop() override {}

  bool down = false;
  std::string broken;       // a run that cannot be read
  std::string too_large;    // likewise
  double most_steps = 1e9;  // of an answer
  double gap_s = 0;
  double busiest = 0.9;       // of any GPU at any time
  double memory_at_last = 0;  // highest share of a GPU's, in windows of at most ten minutes
  std::vector<telemetry::NodeLoad> loads;
  std::vector<Window> steps;
  std::vector<Window> runs;

 private:
  UsageSample sample(const MeasuredTask& task, const Window& part, double gap) const {
    UsageSample one;
    one.task = task.task;
    one.run = task.run;
    one.from_s = part.from_s;
    one.to_s = part.to_s;
    one.gap_s = gap;
    if (gap >= part.length_s()) return one;
    one.gpu_share = Usage{0.4, busiest, part.length_s() - gap};
    one.gpus = UsageQuality::kMeasured;
    if (memory_at_last > 0 && part.length_s() <= 600)
      one.gpu_memory_share = Usage{0.5, memory_at_last, part.length_s()};
    return one;
  }
};

class UsagePassesTest : public testing::Test {
 protected:
  UsagePassesTest() {
    source_.show(
        a_cluster()
            .with(a_node("n").of("A100", 8))
            .with(a_job("ml/train").of(1).gpus(2))
            .with(
                a_pod("ml/train-0").of_job("ml/train").gpus(2).on("n").started(kFirstTurn_s - 3600))
            .with(a_pod("ml/alone").gpus(1).on("n").started(kFirstTurn_s - 3600))
            .build());
  }

  EndedRun ended(const std::string& name, double from_s, double to_s) const {
    EndedRun run;
    run.identity.department = "ml";
    run.identity.owner = name;
    run.run.usage.task = {"ml", name};
    run.run.usage.run = test::job_uid("ml/" + name);
    run.run.usage.from_s = from_s;
    run.run.usage.to_s = to_s;
    run.run.finished_s = to_s;
    run.run.run_s = to_s - from_s;
    run.pods.push_back({name + "-0", NodeName("n"), 1, from_s, to_s, false});
    return run;
  }
  // The weight of the GPU histogram of the family, in seconds about.
  double observed_s(const std::string& owner) const {
    EXPECT_TRUE(portraits_->settle());
    for (const auto& [key, portrait] : portraits_->known().get()->portraits)
      if (portrait->identity.owner == owner) {
        double sum = 0;
        for (const auto& bucket : portrait->histograms[std::size_t(UsageKind::kGpu)].buckets)
          sum += bucket.weight;
        const double at_s = portrait->histograms[std::size_t(UsageKind::kGpu)].reference_s;
        return sum / std::exp2((clock_.wall_s() - at_s) / (7 * 86400.0));
      }
    return 0;
  }
  const PortraitRun* known_run(const std::string& owner) {
    EXPECT_TRUE(portraits_->settle());
    book_ = portraits_->known().get();
    for (const auto& [key, portrait] : book_->portraits)
      if (portrait->identity.owner == owner && !portrait->recent.empty())
        return &portrait->recent.back();
    return nullptr;
  }
  std::string metrics() const { return metrics_.expose(); }

  test::FakeClock clock_;
  test::FakeSource source_{ClusterSnapshot()};
  GpuCatalog catalog_ = default_gpu_catalog();
  Published<Known> known_;
  obs::MetricsRegistry metrics_;
  test::TemporaryFolder folder_;
  std::unique_ptr<Portraits> portraits_ =
      *Portraits::open({.path = folder_.file("portraits.db")}, metrics_, system_clock());
  ScriptedUsage usage_;
  bool leads_ = true;
  std::shared_ptr<const core::PortraitBook> book_;
  UsagePasses passes_{usage_,
                      {catalog_, known_, source_, [this] { return leads_; }},
                      *portraits_,
                      metrics_,
                      clock_};
};

TEST_F(UsagePassesTest, EveryStepIsToldOnce) {
  passes_.turn();
  ASSERT_EQ(usage_.steps.size(), 1u);
  EXPECT_EQ(usage_.steps[0].to_s, kFirstTurn_s - kStep_s) << "its last samples have been scraped";
  EXPECT_NEAR(observed_s("train"), 60, 1);
  EXPECT_EQ(observed_s("alone"), 0) << "a pod without a Job is no family";
  passes_.turn();
  clock_.advance(59);
  passes_.turn();
  EXPECT_EQ(usage_.steps.size(), 1u) << "nothing new is over";
  clock_.advance(1);
  passes_.turn();
  ASSERT_EQ(usage_.steps.size(), 2u);
  EXPECT_EQ(usage_.steps[1].from_s, usage_.steps[0].to_s);
  EXPECT_NEAR(observed_s("train"), 120, 1);
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_tasks{gpus=\"measured\"} 1"));
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_reads_total{pass=\"live\",result=\"ok\"} 2"));
}

TEST_F(UsagePassesTest, WhatNobodyAnsweredIsReadLaterAndOnce) {
  passes_.turn();
  usage_.down = true;
  for (int minute = 0; minute < 90; ++minute) {
    clock_.advance(60);
    passes_.turn();
  }
  EXPECT_THAT(*passes_.problem().get(), HasSubstr("Prometheus is away"));
  EXPECT_THAT(metrics(),
              HasSubstr("slackline_usage_reads_total{pass=\"live\",result=\"failed\"} 90"));
  usage_.down = false;
  usage_.steps.clear();
  passes_.turn();
  EXPECT_THAT(*passes_.problem().get(), IsEmpty());
  ASSERT_EQ(usage_.steps.size(), 2u) << "an hour a query";
  EXPECT_EQ(usage_.steps[0].length_s(), 3600);
  EXPECT_EQ(usage_.steps[1].length_s(), 1800);
  EXPECT_NEAR(observed_s("train"), 91 * 60, 30) << "less what has faded since";
}

TEST_F(UsagePassesTest, WhoKnowsOfNothingMeasuredLooksBackFirst) {
  const UsagePasses::World world{
      .catalog = catalog_, .known = known_, .source = source_, .look_back_s = 1800};
  UsagePasses first(usage_, world, *portraits_, metrics_, clock_);
  first.turn();
  ASSERT_EQ(usage_.steps.size(), 1u);
  EXPECT_EQ(usage_.steps[0].length_s(), 1800);
  EXPECT_NEAR(observed_s("train"), 1800, 30);
  UsagePasses again(usage_, world, *portraits_, metrics_, clock_);
  again.turn();
  ASSERT_EQ(usage_.steps.size(), 2u);
  EXPECT_EQ(usage_.steps[1].length_s(), kStep_s) << "no step is told twice";
}

TEST_F(UsagePassesTest, WhoHoldsGpusAndUsesNoneIsKnown) {
  const auto minutes = [&](int count) {
    for (int minute = 0; minute < count; ++minute) {
      passes_.turn();
      clock_.advance(60);
    }
    std::vector<std::string> idle;
    for (const IdleHolder& holder : *passes_.idle_holders().get())
      idle.push_back(
          format("{} {} {} {:.0f}", holder.kind, holder.task.str(), holder.gpus, holder.idle_s));
    return idle;
  };
  EXPECT_THAT(minutes(15), IsEmpty()) << "all are used";
  usage_.busiest = 0.04;
  EXPECT_THAT(minutes(9), IsEmpty()) << "they may be about to begin";
  EXPECT_THAT(minutes(3), ElementsAre("Job ml/train 2 720", "Pod ml/alone 1 720"));
  usage_.down = true;
  EXPECT_THAT(minutes(5), ElementsAre("Job ml/train 2 720", "Pod ml/alone 1 720"))
      << "what was not measured was not idle";
  usage_.down = false;
  usage_.busiest = 0.06;
  EXPECT_THAT(minutes(1), IsEmpty());
  usage_.busiest = 0;
  minutes(12);
  source_.show(a_cluster().with(a_node("n").of("A100", 8)).build());
  EXPECT_THAT(minutes(1), IsEmpty()) << "their pods are gone";
}

TEST_F(UsagePassesTest, WhatIsOlderThanADayIsGivenUpAndCounted) {
  passes_.turn();
  usage_.steps.clear();
  clock_.advance(kMostBehind_s + 600);
  passes_.turn();
  ASSERT_FALSE(usage_.steps.empty());
  EXPECT_EQ(usage_.steps.back().to_s - usage_.steps.front().from_s, kMostBehind_s);
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_lost_total{what=\"step\"} 10"));
}

TEST_F(UsagePassesTest, ARunIsReadWholeOnceItsLastSamplesAreScraped) {
  passes_.add(ended("old", kFirstTurn_s - 7200, kFirstTurn_s - 30));
  passes_.turn();
  EXPECT_THAT(usage_.runs, IsEmpty());
  clock_.advance(90);
  passes_.turn();
  ASSERT_EQ(usage_.runs.size(), 1u);
  EXPECT_EQ(usage_.runs[0].from_s, kFirstTurn_s - 7200);
  EXPECT_EQ(usage_.runs[0].to_s, kFirstTurn_s - 30);
  const PortraitRun* run = known_run("old");
  ASSERT_NE(run, nullptr);
  ASSERT_TRUE(run->usage.gpu_share);
  EXPECT_DOUBLE_EQ(run->usage.gpu_share->mean, 0.4);
  EXPECT_NEAR(observed_s("old"), 90, 1) << "its last steps, too: those since the first turn";
  clock_.advance(24 * 3600);
  passes_.turn();
  EXPECT_EQ(usage_.runs.size(), 1u) << "nothing was missing";
}

TEST_F(UsagePassesTest, ARunThatFailedWithAFullGpuFailedForLackOfItsMemory) {
  const auto outcomes = [&] {
    EXPECT_TRUE(portraits_->settle());
    std::map<std::string, RunOutcome> by_owner;
    for (const auto& [key, portrait] : portraits_->known().get()->portraits)
      if (!portrait->past.empty())
        by_owner[portrait->identity.owner] = portrait->past.back().outcome;
    return by_owner;
  };
  EndedRun failed = ended("full", kFirstTurn_s - 7200, kFirstTurn_s - 200);
  failed.run.outcome = RunOutcome::kFailed;
  passes_.add(failed);
  usage_.memory_at_last = 0.98;
  passes_.turn();
  ASSERT_EQ(usage_.runs.size(), 2u);
  EXPECT_EQ(usage_.runs[1].length_s(), 3 * kStep_s) << "its last steps";
  EXPECT_EQ(outcomes()["full"], RunOutcome::kGpuOutOfMemory);
  failed = ended("other", kFirstTurn_s - 7200, kFirstTurn_s - 190);
  failed.run.outcome = RunOutcome::kFailed;
  passes_.add(failed);
  passes_.add(ended("well", kFirstTurn_s - 7200, kFirstTurn_s - 180));
  usage_.memory_at_last = 0.96;
  clock_.advance(60);
  passes_.turn();
  EXPECT_EQ(outcomes()["other"], RunOutcome::kFailed);
  EXPECT_EQ(outcomes()["well"], RunOutcome::kSucceeded);
  EXPECT_EQ(usage_.runs.size(), 5u) << "nobody asks twice of a run that succeeded";
}

TEST_F(UsagePassesTest, ARunWithAGapIsReadAgainAndNeverForLess) {
  passes_.add(ended("old", kFirstTurn_s - 7200, kFirstTurn_s - 200));
  usage_.gap_s = 3600;
  passes_.turn();
  ASSERT_EQ(usage_.runs.size(), 1u);
  EXPECT_DOUBLE_EQ(known_run("old")->usage.gap_s, 3600) << "marked";
  usage_.gap_s = 5000;
  clock_.advance(600);
  passes_.turn();
  ASSERT_EQ(usage_.runs.size(), 2u);
  EXPECT_DOUBLE_EQ(known_run("old")->usage.gap_s, 3600) << "less than was known before";
  usage_.gap_s = 0;
  clock_.advance(3600);
  passes_.turn();
  EXPECT_DOUBLE_EQ(known_run("old")->usage.gap_s, 0);
  EXPECT_EQ(portraits_->known().get()->portraits.size(), 2u);
  EXPECT_EQ(known_run("old")->usage.run, test::job_uid("ml/old"));
  clock_.advance(24 * 3600);
  passes_.turn();
  EXPECT_EQ(usage_.runs.size(), 3u);
  EXPECT_THAT(metrics(), HasSubstr("pass=\"correction\",result=\"ok\"} 2"));
}

TEST_F(UsagePassesTest, ARunWaitsForThePrometheusAndThenIsRead) {
  passes_.add(ended("old", kFirstTurn_s - 7200, kFirstTurn_s - 200));
  passes_.add(ended("other", kFirstTurn_s - 7200, kFirstTurn_s - 200));
  usage_.down = true;
  passes_.turn();
  EXPECT_THAT(usage_.runs, IsEmpty()) << "the live reading failed: nobody is asked again at once";
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_runs_waiting 2"));
  usage_.down = false;
  clock_.advance(60);
  passes_.turn();
  EXPECT_EQ(usage_.runs.size(), 2u);
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_runs_waiting 0"));
}

TEST_F(UsagePassesTest, WhoTakesOverReadsWhatItHasMissed) {
  leads_ = false;
  passes_.turn();
  clock_.advance(1800);
  leads_ = true;
  passes_.turn();
  ASSERT_EQ(usage_.steps.size(), 1u);
  EXPECT_EQ(usage_.steps[0].length_s(), 1860);
}

TEST_F(UsagePassesTest, OfManyTasksFewerStepsAreReadAtOnce) {
  passes_.turn();
  leads_ = false;
  for (int i = 0; i < 4'998; ++i)
    passes_.add(ended("run" + std::to_string(i), kFirstTurn_s - 3600, kFirstTurn_s + 3600));
  clock_.advance(1800);
  leads_ = true;
  usage_.steps.clear();
  passes_.turn();
  ASSERT_EQ(usage_.steps.size(), 2u);
  EXPECT_EQ(usage_.steps[0].length_s(), 20 * kStep_s) << "of 5,000 tasks";
  EXPECT_EQ(usage_.steps[1].to_s, kFirstTurn_s + 1800 - kStep_s);
}

TEST_F(UsagePassesTest, OfATooLargeAnswerHalfIsAskedForNext) {
  passes_.turn();
  clock_.advance(40 * kStep_s);
  usage_.most_steps = 12;
  passes_.add(ended("old", kFirstTurn_s - 7200, kFirstTurn_s - 200));
  const auto turn = [&] {
    usage_.steps.clear();
    passes_.turn();
    std::vector<double> steps;
    for (const Window& window : usage_.steps)
      steps.push_back(window.length_s() / kStep_s);
    return steps;
  };
  EXPECT_THAT(turn(), ElementsAre(40));
  EXPECT_THAT(*passes_.problem().get(), HasSubstr("64 MiB"));
  EXPECT_EQ(usage_.runs.size(), 1u) << "runs are read meanwhile";
  EXPECT_THAT(turn(), ElementsAre(20));
  EXPECT_THAT(turn(), ElementsAre(10, 10, 10, 10));
  EXPECT_THAT(*passes_.problem().get(), IsEmpty());
  EXPECT_NEAR(observed_s("train"), 41 * 60, 30) << "all steps, once";
  clock_.advance(20 * kStep_s);
  EXPECT_THAT(turn(), ElementsAre(10, 10)) << "it is remembered";
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_lost_total{what=\"step\"} 0"));
}

TEST_F(UsagePassesTest, AStepThatIsTooLargeByItselfIsGivenUp) {
  usage_.most_steps = 0;
  passes_.turn();
  passes_.turn();
  EXPECT_EQ(usage_.steps.size(), 1u) << "it is not asked for again";
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_lost_total{what=\"step\"} 1"));
  usage_.most_steps = 1;
  clock_.advance(kStep_s);
  passes_.turn();
  EXPECT_NEAR(observed_s("train"), 60, 1);
}

TEST_F(UsagePassesTest, ARunWhoseAnswerIsTooLargeIsReadAFewTimesAndGivenUp) {
  usage_.too_large = "huge";
  passes_.add(ended("huge", kFirstTurn_s - 7200, kFirstTurn_s - 300));
  passes_.add(ended("other", kFirstTurn_s - 7200, kFirstTurn_s - 200));
  passes_.turn();
  EXPECT_EQ(usage_.runs.size(), 2u) << "the others do not wait for it";
  for (int hour = 0; hour < 24; ++hour) {
    clock_.advance(3600);
    passes_.turn();
  }
  EXPECT_EQ(usage_.runs.size(), 5u);
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_lost_total{what=\"run\"} 1"));
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_runs_waiting 0"));
}

TEST_F(UsagePassesTest, ARunThatCannotBeReadKeepsNobodyWaiting) {
  usage_.broken = "bad";
  passes_.add(ended("bad", kFirstTurn_s - 7200, kFirstTurn_s - 300));
  for (int i = 0; i < 150; ++i)
    passes_.add(ended("run" + std::to_string(i), kFirstTurn_s - 7200, kFirstTurn_s - 200));
  passes_.turn();
  EXPECT_EQ(usage_.runs.size(), 1u);
  passes_.turn();
  EXPECT_EQ(usage_.runs.size(), 101u) << "so many in a turn";
  passes_.turn();
  EXPECT_EQ(usage_.runs.size(), 151u);
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_runs_waiting 1\n"));
}

TEST_F(UsagePassesTest, OnlyTheLeaderReadsAndANewOneGoesOn) {
  leads_ = false;
  passes_.add(ended("old", kFirstTurn_s - 7200, kFirstTurn_s - 200));
  passes_.turn();
  EXPECT_THAT(usage_.steps, IsEmpty());
  leads_ = true;
  passes_.turn();
  EXPECT_EQ(usage_.steps.size(), 1u);
  EXPECT_EQ(usage_.runs.size(), 1u) << "that ended while another replica led";
  leads_ = false;
  clock_.advance(600);
  passes_.turn();
  EXPECT_EQ(usage_.steps.size(), 1u);
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_tasks{gpus=\"measured\"} 0"));
  leads_ = true;
  passes_.turn();
  ASSERT_EQ(usage_.steps.size(), 2u);
  EXPECT_EQ(usage_.steps[1].length_s(), 600) << "its own portraits lack these";
}

TEST_F(UsagePassesTest, AWaitBetweenTwoRunsOfAJobIsNoGap) {
  EndedRun run = ended("old", kFirstTurn_s - 7200, kFirstTurn_s - 200);
  run.run.run_s = 3500;  // half of the time it was stopped
  const UsageSample usage = usage_of_run(run, [] {
    UsageSample measured;
    measured.from_s = kFirstTurn_s - 7200;
    measured.to_s = kFirstTurn_s - 200;
    measured.gpu_share = Usage{0.5, 1, 7000};
    return measured;
  }());
  EXPECT_DOUBLE_EQ(usage.gpu_share->seconds, 3500);
  EXPECT_EQ(usage.gap_s, 0);
}

TEST_F(UsagePassesTest, NodesTellTheirLoadAndNothingWhenNobodyTellsIt) {
  usage_.loads = {{.node = NodeName("n"),
                   .cpu_cores = 16,
                   .memory_bytes = 0.25 * 512 * test::kGiB,
                   .gpu_share = 0.5,
                   .gpu_memory_share = 1.0,
                   .received_bytes_per_s = 1e6,
                   .sent_bytes_per_s = std::nullopt},
                  {.node = NodeName("gone"), .cpu_cores = 1}};
  passes_.turn();
  const std::string ratio = "slackline_node_load_ratio{gpu_type=\"A100\",resource=";
  EXPECT_THAT(metrics(), HasSubstr(ratio + "\"cpu\"} 0.25"));
  EXPECT_THAT(metrics(), HasSubstr(ratio + "\"memory\"} 0.25"));
  EXPECT_THAT(metrics(), HasSubstr(ratio + "\"gpu\"} 0.5"));
  EXPECT_THAT(metrics(), HasSubstr("direction=\"received\",gpu_type=\"A100\"} 1000000"));
  EXPECT_THAT(metrics(), HasSubstr("direction=\"sent\",gpu_type=\"A100\"} Nan"));
  EXPECT_THAT(metrics(), HasSubstr("slackline_cluster_load_balance_ratio 1\n"));
  usage_.down = true;
  clock_.advance(60);
  passes_.turn();
  EXPECT_THAT(metrics(), HasSubstr(ratio + "\"gpu\"} Nan")) << "not the old one, and not zero";
  EXPECT_THAT(metrics(), HasSubstr("slackline_cluster_load_balance_ratio Nan"));
}

TEST(LoadBalanceTest, ItIsOneLessTheStandardDeviation) {
  EXPECT_EQ(load_balance({}), std::nullopt);
  EXPECT_DOUBLE_EQ(*load_balance(std::vector<double>{0.7}), 1);
  EXPECT_DOUBLE_EQ(*load_balance(std::vector<double>{0.2, 0.6}), 0.8);
  EXPECT_DOUBLE_EQ(*load_balance(std::vector<double>{0, 1}), 0.5);
}

TEST_F(UsagePassesTest, OfMoreRunsThanAreKeptTheOldestIsGivenUp) {
  const auto add = [&](std::size_t i) {
    passes_.add(ended("run" + std::to_string(i), kFirstTurn_s - 100, kFirstTurn_s - 50));
  };
  for (std::size_t i = 0; i <= kMostEndedRuns; ++i)
    add(i);
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_runs_waiting 10000"));
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_lost_total{what=\"run\"} 1"));
  leads_ = false;
  add(kMostEndedRuns + 1);
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_runs_waiting 0")) << "another replica reads it";
  EXPECT_THAT(metrics(), HasSubstr("slackline_usage_lost_total{what=\"run\"} 1"));
}

}  // namespace
}  // namespace slackline::control
