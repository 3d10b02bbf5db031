// The outcomes of Jobs: rows of the history and the metrics, from the watch.
#include "control/learn/outcomes.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OutcomesTest : public ::testing::Test {
 protected:
  OutcomesTest() { start(); }

  void start() {
    journal.reset();
    store::JournalOptions options{.path = folder.file("journal.db")};
    options.finished = [this](const FinishedTask& task) { outcomes->count(task); };
    metrics = std::make_unique<obs::MetricsRegistry>();
    outcomes = std::make_unique<Outcomes>(*metrics);
    journal = *store::Journal::open(options);
    outcomes->follow(catalog, known, source, *journal);
    runs = std::make_unique<Runs>(catalog, known, [](const ThroughputSample&) {}, clock);
    runs->follow(source);
    runs->add_listener(*outcomes);
  }

  // Two pods of four GPUs.
  Job job(const char* name, double deadline_after_s = 0) const {
    auto job = a_job(name).of(2).gang().gpus(4).created(begin_s);
    job.intent().queue = "research";
    job.intent().qos_class = QosClass::kPrior;
    if (deadline_after_s > 0) job.intent().deadline_s = begin_s + deadline_after_s;
    return job.build();
  }
  Job ended(Job job, double after_s, bool succeeded = true) const {
    job.finished = true;
    job.started_s = begin_s + 30;
    job.ended_s = begin_s + after_s;
    if (succeeded) job.completed_s = job.ended_s;
    return job;
  }
  Pod pod(const std::string& name, const char* job, double started_after_s,
          const char* node = "t4-1") const {
    return a_pod(name).of_job(job).gpus(4).on(node).started(begin_s + started_after_s).build();
  }
  Pod done(Pod pod, double ended_after_s) const {
    pod.phase = PodPhase::kSucceeded;
    pod.ended_s = begin_s + ended_after_s;
    return pod;
  }
  std::vector<FinishedTask> history() {
    EXPECT_TRUE(journal->flush(10));
    return journal->history({})->rows;
  }
  std::string text() {
    EXPECT_TRUE(journal->flush(10));
    return metrics->expose();
  }

  test::FakeClock clock;
  const double begin_s = system_clock().wall_s() - 86400;
  test::TemporaryFolder folder;
  GpuCatalog catalog = default_gpu_catalog();
  Published<Known> known{make_known({})};
  test::FakeSource source{a_cluster()
                              .with(a_node("t4-1").of("T4", 8))
                              .with(a_node("t4-2").of("T4", 8))
                              .with(a_node("k80-1").of("K80", 8))
                              .build()};
  std::unique_ptr<obs::MetricsRegistry> metrics;
  std::unique_ptr<Outcomes> outcomes;
  std::unique_ptr<store::Journal> journal;
  std::unique_ptr<Runs> runs;
};

TEST_F(OutcomesTest, ACalibrationRunIsMarkedAndWasPromisedNothing) {
  Job run = job("run", 4000);
  run.calibration = CalibrationMark::kRun;
  runs->on_job(run);
  runs->on_pod_running(pod("run-0", "run", 100));
  runs->on_job(ended(run, 700));
  const auto rows = history();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].qos_class, "calibration");
  EXPECT_EQ(rows[0].result(), DeadlineResult::kNone);
  EXPECT_THAT(text(), HasSubstr(R"(class="calibration",deadline="none")"));
}

TEST_F(OutcomesTest, AFinishedJobIsInTheHistoryWithWhatItTook) {
  runs->on_job(job("train", 4000));
  runs->on_pod_running(pod("train-0", "train", 100));
  runs->on_pod_running(pod("train-1", "train", 110, "t4-2"));
  runs->on_pod_ended(done(pod("train-0", "train", 100), 3700));
  runs->on_pod_ended(done(pod("train-1", "train", 110, "t4-2"), 1910));
  runs->on_job(ended(job("train", 4000), 3701));
  const auto rows = history();
  ASSERT_EQ(rows.size(), 1U);
  const FinishedTask& row = rows[0];
  EXPECT_EQ(row.key.str(), "default/train");
  EXPECT_EQ(row.queue, "research");
  EXPECT_EQ(row.qos_class, "prior");
  EXPECT_EQ(row.gpu_type, GpuType("T4"));
  EXPECT_EQ(row.gpus, 8);
  EXPECT_DOUBLE_EQ(*row.wait_s(), 100);
  EXPECT_NEAR(*row.duration_s(), 3600, 0.01) << "while any of its pods ran";
  EXPECT_NEAR(row.gpu_hours, 4 * 3600 / 3600.0 + 4 * 1800 / 3600.0, 1e-6) << "each pod its own";
  EXPECT_EQ(row.result(), DeadlineResult::kMet);
  EXPECT_THAT(
      text(),
      HasSubstr(
          R"(slackline_jobs_completed_total{class="prior",deadline="met",queue="research"} 1)"));
}

TEST_F(OutcomesTest, AJobThatIsDeletedWhileItRunsIsInTheHistoryWithWhatItUsed) {
  Job running = job("train", 4000);
  running.started_s = begin_s + 90;
  runs->on_job(job("waits"));
  runs->on_job(running);
  runs->on_pod_running(pod("train-0", "train", 100));
  runs->on_job(running);
  runs->on_pod_ended(done(pod("train-0", "train", 100), 1900));
  runs->on_job_gone(running.uid);
  runs->on_job_gone(job("waits").uid);
  const auto rows = history();
  ASSERT_EQ(rows.size(), 1U) << "one that never ran used nothing";
  EXPECT_TRUE(rows[0].deleted);
  EXPECT_EQ(rows[0].result(), DeadlineResult::kNone);
  EXPECT_NEAR(rows[0].gpu_hours, 2, 1e-6);
  EXPECT_THAT(text(),
              Not(HasSubstr(R"(slackline_jobs_failed_total{class="prior",queue="research"} 1)")));
}

TEST_F(OutcomesTest, AJobThatIsDeletedAfterItsEndIsThereOnce) {
  runs->on_job(ended(job("train"), 60));
  runs->on_job_gone(job("train").uid);
  ASSERT_EQ(history().size(), 1U);
  EXPECT_FALSE(history()[0].deleted);
}

TEST_F(OutcomesTest, LateAndFailedOnesAreToldApart) {
  runs->on_job(ended(job("late", 50), 60));
  runs->on_job(ended(job("free"), 60));
  runs->on_job(ended(job("broken", 500), 60, false));
  const std::string shown = text();
  EXPECT_THAT(shown, HasSubstr(R"({class="prior",deadline="missed",queue="research"} 1)"));
  EXPECT_THAT(shown, HasSubstr(R"({class="prior",deadline="none",queue="research"} 1)"));
  EXPECT_THAT(shown, HasSubstr(R"(slackline_jobs_failed_total{class="prior",queue="research"} 1)"));
  for (const FinishedTask& row : history())
    EXPECT_EQ(row.succeeded, row.key.name != "broken");
}

TEST_F(OutcomesTest, ARestartCountsNothingAnew) {
  runs->on_job(ended(job("train"), 60));
  runs->on_job(ended(job("train"), 60));  // a later list
  EXPECT_EQ(history().size(), 1U);
  start();
  runs->on_job(ended(job("train"), 60));
  runs->on_job(ended(job("meanwhile"), 70));
  EXPECT_EQ(history().size(), 2U);
  EXPECT_THAT(text(), HasSubstr(R"({class="prior",deadline="none",queue="research"} 1)"));
}

// Lists come in any order: the pods that show where a Job ran may be listed after it.
TEST_F(OutcomesTest, AJobThatEndedWhileNobodyLookedWaitsForItsPods) {
  const ClusterSnapshot cluster = *source.snapshot();
  source.show({});
  runs->on_job(ended(job("train"), 3700));
  runs->on_pod_ended(done(pod("train-0", "train", 100, "k80-1"), 3700));
  runs->on_pod_ended(done(pod("train-1", "train", 100, "k80-1"), 3700));
  EXPECT_TRUE(history().empty());
  source.show(cluster);
  runs->settle();
  ASSERT_EQ(history().size(), 1U);
  EXPECT_EQ(history()[0].gpu_type, GpuType("K80"));
  EXPECT_NEAR(history()[0].gpu_hours, 8, 1e-6);
}

TEST_F(OutcomesTest, WhereNobodySawItRunThePlanSaysWhere) {
  Job unseen = ended(job("train"), 3630);
  auto plan = std::make_shared<PlanNote>();
  plan->gpu_type = GpuType("K80");
  unseen.plan = plan;
  runs->on_job(unseen);
  ASSERT_EQ(history().size(), 1U);
  EXPECT_EQ(history()[0].gpu_type, GpuType("K80"));
  EXPECT_NEAR(history()[0].gpu_hours, 8, 1e-6) << "from its start to its end";
}

// The Job controller notes a start when it makes the pods: they may wait for nodes in vain.
TEST_F(OutcomesTest, AJobThatNeverHadARunningPodHeldNothing) {
  for (const bool seen_from_its_creation : {true, false}) {
    start();
    Job stuck = job(seen_from_its_creation ? "stuck" : "listed");
    if (seen_from_its_creation) runs->on_job(stuck);
    stuck.started_s = begin_s + 1;
    runs->on_job(stuck);
    runs->on_job(ended(stuck, 80000, false));
  }
  const auto rows = history();
  ASSERT_EQ(rows.size(), 2U);
  for (const FinishedTask& row : rows) {
    EXPECT_EQ(row.gpu_hours, 0) << row.key.name;
    EXPECT_FALSE(row.started_s) << row.key.name;
    EXPECT_FALSE(row.duration_s()) << row.key.name;
  }
}

TEST_F(OutcomesTest, WhileItIsStoppedAJobDoesNotRun) {
  runs->on_job(job("train"));
  runs->on_pod_running(pod("first-0", "train", 100));
  runs->on_pod_ended(done(pod("first-0", "train", 100), 1900));
  runs->on_pod_running(pod("second-0", "train", 9000));
  runs->on_pod_ended(done(pod("second-0", "train", 9000), 10800));
  runs->on_job(ended(job("train"), 10801));
  ASSERT_EQ(history().size(), 1U);
  const FinishedTask row = history()[0];
  EXPECT_NEAR(*row.duration_s(), 3600, 0.01);
  EXPECT_NEAR(row.gpu_hours, 4, 1e-6);
  EXPECT_NEAR(*row.wait_s(), 100, 0.01);
}

class StoppedOutcomesTest : public OutcomesTest {
 protected:
  // It ran from 100 to 1000, waits since then, and this life of the daemon sees only the rest.
  FinishedTask seen_since(const PreemptionNote& note) {
    Job stopped = job("train");
    stopped.preemptions = std::make_shared<const PreemptionNote>(note);
    stopped.suspended = true;
    runs->on_job(stopped);
    runs->on_pod_running(pod("again-0", "train", 5000));
    runs->on_pod_running(pod("again-1", "train", 5000, "t4-2"));
    runs->on_pod_ended(done(pod("again-0", "train", 5000), 8600));
    runs->on_pod_ended(done(pod("again-1", "train", 5000, "t4-2"), 8600));
    Job over = ended(stopped, 8601);
    over.suspended = false;
    over.started_s = begin_s + 4990;
    runs->on_job(over);
    EXPECT_THAT(text(), Not(HasSubstr("slackline_admission_wait_time_seconds")));
    const auto rows = history();
    EXPECT_EQ(rows.size(), 1U);
    return rows.empty() ? FinishedTask() : rows[0];
  }
  PreemptionNote note() const { return {.count = 1, .left = 0.5, .at_s = begin_s + 1000}; }
};

TEST_F(StoppedOutcomesTest, AStoppedJobKeepsItsFirstRunAcrossARestart) {
  PreemptionNote noted = note();
  noted.first_start_s = begin_s + 100;
  noted.held_s = 900;
  noted.held_gpu_s = 7200;
  const FinishedTask row = seen_since(noted);
  EXPECT_NEAR(*row.wait_s(), 100, 0.01);
  EXPECT_NEAR(*row.duration_s(), 900 + 3600, 0.01);
  EXPECT_NEAR(row.gpu_hours, 2 + 8, 1e-6);
  EXPECT_EQ(row.stops, 1);
}

TEST_F(StoppedOutcomesTest, ANoteThatDoesNotTellOfTheFirstRunMakesNoFalseStart) {
  const FinishedTask row = seen_since(note());
  EXPECT_FALSE(row.started_s);
  EXPECT_FALSE(row.wait_s());
  EXPECT_NEAR(row.gpu_hours, 8, 1e-6) << "what was seen";
}

// Another replica may have written the release.
TEST_F(OutcomesTest, WhatThePlanPredictedIsInTheHistory) {
  auto plan = std::make_shared<PlanNote>();
  plan->predicted_s = 3000;
  Job planned = job("planned");
  planned.plan = plan;
  runs->on_job(ended(planned, 60));
  Job noted = job("noted");
  noted.plan = plan;
  journal->predict(noted.uid, 2000);
  runs->on_job(ended(noted, 61));
  Job stopped = job("stopped");
  stopped.plan = plan;
  stopped.preemptions = std::make_shared<const PreemptionNote>(PreemptionNote{.count = 1});
  runs->on_job(ended(stopped, 62));
  const auto rows = history();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_FALSE(rows[0].predicted_s) << "the plan of a stopped Job tells of the rest only";
  EXPECT_EQ(rows[1].predicted_s, 2000) << "as it was said at the release";
  EXPECT_EQ(rows[2].predicted_s, 3000);
}

TEST_F(OutcomesTest, APodThatVanishedCountsUntilThen) {
  runs->on_job(job("train"));
  runs->on_pod_running(pod("train-0", "train", 100));
  clock.advance(begin_s + 1900 - clock.wall_s());
  runs->on_pod_ended(pod("train-0", "train", 100));
  runs->on_job(ended(job("train"), 3700));
  ASSERT_EQ(history().size(), 1U);
  EXPECT_NEAR(history()[0].gpu_hours, 2, 1e-6);
}

TEST_F(OutcomesTest, ARateOfTheFirstEndIsSeenBecauseItsCountersAreThere) {
  outcomes->on_began("research", "prior", 60);
  EXPECT_THAT(text(),
              AllOf(HasSubstr(R"(class="prior",deadline="missed",queue="research"} 0)"),
                    HasSubstr(R"(class="prior",deadline="met",queue="research"} 0)"),
                    HasSubstr(R"(slackline_jobs_failed_total{class="prior",queue="research"} 0)")));
}

TEST_F(OutcomesTest, TheWaitEndsWhenTheLastPodStarts) {
  const std::string name = "slackline_admission_wait_time_seconds";
  const std::string series = R"({class="prior",queue="research"})";
  runs->on_job(job("train"));
  runs->on_pod_running(pod("train-0", "train", 100));
  EXPECT_THAT(text(), Not(HasSubstr(name)));
  runs->on_pod_running(pod("train-1", "train", 110));
  EXPECT_THAT(text(), HasSubstr(name + "_count" + series + " 1"));
  EXPECT_THAT(text(), HasSubstr(name + "_sum" + series + " 110"));
  runs->on_pod_running(pod("train-2", "train", 500));
  start();  // it runs already: this life of the daemon has not seen it wait
  runs->on_pod_running(pod("train-0", "train", 100));
  runs->on_pod_running(pod("train-1", "train", 110));
  runs->on_job(job("train"));
  EXPECT_THAT(text(), Not(HasSubstr(name)));
}

TEST_F(OutcomesTest, OfManyQueuesTheRestIsOther) {
  for (std::size_t i = 0; i < obs::kMaxQueues + 5; ++i) {
    FinishedTask task;
    task.queue = format("queue-{}", i);
    task.qos_class = "normal";
    task.succeeded = true;
    outcomes->count(task);
  }
  EXPECT_THAT(
      text(),
      HasSubstr(
          R"(slackline_jobs_completed_total{class="normal",deadline="none",queue="other"} 5)"));
}

TEST_F(OutcomesTest, JobsWithoutGpusAreNoneOfOurs) {
  runs->on_job(a_job("cpu").finished().build());
  EXPECT_TRUE(history().empty());
}

}  // namespace
}  // namespace slackline::control
