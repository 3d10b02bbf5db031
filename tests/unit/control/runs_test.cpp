// Which finished Jobs become samples, and which do not.
#include "control/learn/runs.h"

#include <functional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "control/state/settings.h"
#include "support/cluster_builder.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

constexpr double kStart_s = 1.8e9;

class RunsTest : public ::testing::Test {
 protected:
  RunsTest() { runs.follow(source); }

  static Job job() {
    Job job = a_job("train").of(2).gang().gpus(4).trains("resnet50", 64, 1000).build();
    job.created_s = kStart_s - 10;
    return job;
  }
  static Job started() {
    Job job = RunsTest::job();
    job.started_s = kStart_s;
    return job;
  }
  static Job finished() {
    Job job = started();
    job.finished = true;
    job.completed_s = kStart_s + 100 + 5;
    job.succeeded = 2;
    return job;
  }
  static Pod member(const char* name, const char* node, std::int64_t gpus = 4) {
    return a_pod(name).of_job("train").gpus(gpus).on(node).started(kStart_s + 5).build();
  }
  void run_pods() {
    runs.on_pod_running(member("train-0", "t4-1"));
    runs.on_pod_running(member("train-1", "t4-2"));
  }

  GpuCatalog catalog = default_gpu_catalog();
  Published<Known> known{make_known({})};
  std::vector<ThroughputSample> learnt;
  Runs runs{catalog, known, [this](ThroughputSample run) { learnt.push_back(std::move(run)); }};
  test::FakeSource source{a_cluster()
                              .with(a_node("t4-1").of("T4", 4))
                              .with(a_node("t4-2").of("T4", 4))
                              .with(a_node("k80-1").of("K80", 4))
                              .build()};
};

TEST_F(RunsTest, AGangThatSucceededTellsItsThroughput) {
  runs.on_job(job());
  runs.on_job(started());
  run_pods();
  runs.on_job(finished());
  ASSERT_EQ(learnt.size(), 1U);
  const ThroughputSample& sample = learnt.front();
  EXPECT_EQ(learnt.front().run, test::job_uid("train"));
  EXPECT_EQ(sample.model, "resnet50");
  EXPECT_EQ(sample.gpu_type, GpuType("T4"));
  EXPECT_EQ(sample.layout.str(), "2x4");
  EXPECT_EQ(sample.batch, 64);
  EXPECT_DOUBLE_EQ(sample.throughput_samples_per_s, 64 * 1000 / 100.0);
  EXPECT_EQ(sample.origin, SampleOrigin::kRun);
  EXPECT_EQ(sample.ns, job().key.ns);
  EXPECT_FALSE(sample.ns.empty());
}

TEST_F(RunsTest, WhereLearningIsOffOnlyCalibrationRunsTeach) {
  Published<Settings> settings;
  runs.obey(settings);
  const auto end_one = [&](CalibrationMark mark) {
    for (Job seen : {job(), started(), finished()}) {
      seen.calibration = mark;
      if (seen.finished) run_pods();
      runs.on_job(seen);
    }
    runs.on_job_gone(job().uid);
    return std::exchange(learnt, {}).size();
  };
  EXPECT_EQ(end_one(CalibrationMark::kNone), 1U);
  Settings off;
  off.learn_from_runs = false;
  settings.set(off);
  EXPECT_EQ(end_one(CalibrationMark::kNone), 0U);
  EXPECT_EQ(end_one(CalibrationMark::kRun), 1U);
}

TEST_F(RunsTest, StartupOfTheProfileIsNotTraining) {
  ProfileEntry entry;
  entry.model = "resnet50";
  entry.gpu_type = GpuType("T4");
  entry.coefficients = {"S", {24, 0.42, -0.0021, 0.12, 1.4}};
  entry.startup_s = 20;
  known.set(make_known(WorkloadProfiles({entry}), {}, 1));
  run_pods();
  runs.on_job(started());
  runs.on_job(finished());
  ASSERT_EQ(learnt.size(), 1U);
  EXPECT_DOUBLE_EQ(learnt.front().throughput_samples_per_s, 64 * 1000 / 80.0);
}

TEST_F(RunsTest, PullingAnImageIsNotTraining) {
  runs.on_job(started());
  run_pods();
  for (const auto& [name, node] : {std::pair{"train-0", "t4-1"}, std::pair{"train-1", "t4-2"}}) {
    Pod pod = member(name, node);  // as it is at its end
    pod.phase = PodPhase::kSucceeded;
    pod.began_s = kStart_s + (pod.key.name == "train-0" ? 25 : 15);
    runs.on_pod_ended(pod);
  }
  runs.on_job(finished());
  ASSERT_EQ(learnt.size(), 1U);
  EXPECT_DOUBLE_EQ(learnt.front().throughput_samples_per_s, 64 * 1000 / 80.0);
}

struct FullOnce final : Runs::Listener {
  void on_began(const std::string&, const std::string&, double) override {}
  bool on_ended(const Job&, const RunSeen& seen) override {
    pods.push_back(seen.pods.size());
    return ++told > 1;
  }
  int told = 0;
  std::vector<std::size_t> pods;  // that were seen, of each telling
};

TEST_F(RunsTest, AnEndThatCouldNotBeTakenIsToldWithTheNextList) {
  FullOnce listener;
  runs.add_listener(listener);
  for (int i = 0; i < 4; ++i)
    runs.on_job(finished());
  EXPECT_EQ(listener.told, 2) << "refused, then taken, then known";
  runs.on_job_gone(finished().uid);
  EXPECT_EQ(listener.told, 2);
}

TEST_F(RunsTest, AnEndThatIsToldAgainIsToldWithWhatWasSeenAndLearntFromOnce) {
  FullOnce listener;
  runs.add_listener(listener);
  runs.on_job(started());
  run_pods();
  for (int i = 0; i < 4; ++i)
    runs.on_job(finished());
  EXPECT_EQ(listener.pods, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(learnt.size(), 1U);
  EXPECT_EQ(runs.followed(), 0U);
}

TEST_F(RunsTest, PodsThatOutliveTheirJobLeaveNothingBehind) {
  runs.on_job(started());
  run_pods();
  EXPECT_EQ(runs.followed(), 1U);
  runs.on_job_gone(started().uid);
  runs.on_pod_ended(member("train-0", "t4-1"));
  runs.on_pod_ended(member("train-1", "t4-2"));
  EXPECT_EQ(runs.followed(), 0U);
}

// Trials of one search name their family and no model: what one shows predicts the next.
TEST_F(RunsTest, ATrialWithoutAModelIsLearntAsItsFamily) {
  const auto trial = [](Job job) {
    TaskIntent intent = *job.intent;
    intent.model.reset();
    intent.family = "ournet";
    job.intent = std::make_shared<const TaskIntent>(intent);
    return job;
  };
  runs.on_job(trial(started()));
  run_pods();
  runs.on_job(trial(finished()));
  ASSERT_EQ(learnt.size(), 1U);
  EXPECT_EQ(learnt.front().model, "ournet");
  EXPECT_EQ(trial(job()).intent->workload(), "ournet") << "as it is asked for";
}

TEST_F(RunsTest, TheSameEndAgainTellsNothing) {
  runs.on_job(started());
  run_pods();
  runs.on_job(finished());
  runs.on_job(finished());
  EXPECT_EQ(learnt.size(), 1U);
}

TEST_F(RunsTest, AJobSuspendedAtItsCreationAndThenReleasedIsLearntFrom) {
  Job waiting = job();
  waiting.suspended = true;
  runs.on_job(waiting);
  Job released = started();
  released.resumed = true;
  runs.on_job(released);
  run_pods();
  Job done = finished();
  done.resumed = true;
  runs.on_job(done);
  EXPECT_EQ(learnt.size(), 1U);
}

struct Spoiler {
  const char* what;
  std::function<void(Runs&, Job& done)> spoil;  // before the end, after the pods run
};

class SpoiltRuns : public RunsTest, public ::testing::WithParamInterface<Spoiler> {};

TEST_P(SpoiltRuns, AreNotLearntFrom) {
  runs.on_job(started());
  run_pods();
  Job done = finished();
  GetParam().spoil(runs, done);
  runs.on_job(done);
  EXPECT_TRUE(learnt.empty()) << GetParam().what;
}

Job changed(const std::function<void(Job&)>& change) {
  Job job = a_job("train").of(2).gang().gpus(4).trains("resnet50", 64, 1000).build();
  job.started_s = kStart_s;
  change(job);
  return job;
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, SpoiltRuns,
    ::testing::Values(
        Spoiler{"failed", [](Runs&, Job& done) { done.completed_s.reset(); }},
        Spoiler{"a pod failed", [](Runs&, Job& done) { done.failed = 1; }},
        Spoiler{"deleted", [](Runs& runs, Job& done) { runs.on_job_gone(done.uid); }},
        Spoiler{
            "suspended",
            [](Runs& runs, Job&) { runs.on_job(changed([](Job& job) { job.suspended = true; })); }},
        Spoiler{"stopped for another task",
                [](Runs&, Job& done) {
                  done.preemptions = std::make_shared<const PreemptionNote>(PreemptionNote{1, 0.5});
                }},
        Spoiler{
            "resized",
            [](Runs& runs, Job&) { runs.on_job(changed([](Job& job) { job.parallelism = 1; })); }},
        Spoiler{
            "resumed before it was seen",
            [](Runs& runs, Job&) { runs.on_job(changed([](Job& job) { job.resumed = true; })); }},
        Spoiler{"a container restarted",
                [](Runs& runs, Job&) {
                  Pod pod = a_pod("train-0").of_job("train").gpus(4).on("t4-1").build();
                  pod.started_s = kStart_s;
                  pod.restarted = true;
                  runs.on_pod_running(pod);
                }},
        Spoiler{"a pod was replaced",
                [](Runs& runs, Job&) {
                  runs.on_pod_running(
                      a_pod("train-9").of_job("train").gpus(4).on("t4-1").started(1).build());
                }},
        Spoiler{"mixed types",
                [](Runs& runs, Job&) {
                  runs.on_pod_running(
                      a_pod("train-1").of_job("train").gpus(4).on("k80-1").started(1).build());
                }},
        Spoiler{"pods stand alone", [](Runs&, Job& done) { done.indexed = false; }},
        Spoiler{"too short", [](Runs&, Job& done) { done.completed_s = kStart_s + 20; }},
        Spoiler{"no iterations", [](Runs&, Job& done) {
                  TaskIntent intent = *done.intent;
                  intent.iterations.reset();
                  done.intent = std::make_shared<const TaskIntent>(intent);
                }}));

TEST_F(RunsTest, AJobWhoseNodeIsGoneIsNotLearntFrom) {
  runs.on_job(started());
  run_pods();
  source.show(a_cluster().with(a_node("t4-1").of("T4", 4)).build());
  runs.on_job(finished());
  EXPECT_TRUE(learnt.empty());
}

TEST_F(RunsTest, AJobThatEndedBeforeItWasSeenIsNotLearntFrom) {
  runs.on_job(finished());
  EXPECT_TRUE(learnt.empty());
}

}  // namespace
}  // namespace slackline::control
