// What a portrait learns of a Job that is over, before anything was measured.
#include "control/portrait/ended_runs.h"

#include <vector>

#include <gtest/gtest.h>

#include "slackline/core/cluster/task_family.h"
#include "slackline/core/portrait/family.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

class EndedRunsTest : public ::testing::Test {
 protected:
  EndedRunsTest() {
    ended_runs.follow(catalog, known, source);
    ended_runs.add([this](const EndedRun& ended) { told.push_back(ended); });
    runs.follow(source);
    runs.add_listener(ended_runs);
  }

  // Two pods of four GPUs.
  Job job() const {
    Job job = a_job("lab/train-x7k2p").of(2).gang().gpus(4).created(begin_s).build();
    job.image = "registry:5000/team/net:v2";
    job.generate_name = "train-";
    job.cpu_limit_milli = 16000;
    job.pod_requests.cpu_milli = 8000;
    job.pod_requests.memory_bytes = 64'000'000'000;
    return job;
  }
  Job over(double after_s, bool succeeded = true) const {
    Job job = this->job();
    job.finished = true;
    job.started_s = begin_s + 30;
    job.ended_s = begin_s + after_s;
    if (succeeded) job.completed_s = job.ended_s;
    return job;
  }
  Pod pod(const std::string& name, double started_after_s, const char* node = "t4-1") const {
    return a_pod("lab/" + name)
        .of_job("train-x7k2p")
        .gpus(4)
        .on(node)
        .started(begin_s + started_after_s)
        .build();
  }
  Pod ended(Pod pod, double after_s) const {
    pod.phase = PodPhase::kSucceeded;
    pod.ended_s = begin_s + after_s;
    return pod;
  }
  const PortraitRun& the_run() const { return told.at(0).run; }

  const double begin_s = 1.7e9;
  test::FakeClock clock;
  GpuCatalog catalog = default_gpu_catalog();
  Published<Known> known{make_known({})};
  test::FakeSource source{
      a_cluster().with(a_node("t4-1").of("T4", 8)).with(a_node("t4-2").of("T4", 8)).build()};
  Runs runs{catalog, known, [](const ThroughputSample&) {}, clock};
  EndedRuns ended_runs;
  std::vector<EndedRun> told;
};

TEST_F(EndedRunsTest, ARunIsToldWithItsFamilyItsPodsAndWhatItAskedFor) {
  runs.on_job(job());
  Pod first = pod("train-0", 100);
  first.image_digest = "sha256:1";
  runs.on_pod_running(first);
  runs.on_pod_running(pod("train-1", 110, "t4-2"));
  runs.on_job(over(3700));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(core::portrait_key(told[0].identity),
            "lab/owner=train,image=registry:5000/team/net:v2,model=");
  EXPECT_EQ(told[0].identity.framework, "Job");
  EXPECT_EQ(the_run().usage.run, test::job_uid("lab/train-x7k2p"));
  EXPECT_DOUBLE_EQ(the_run().usage.from_s, begin_s + 100);
  EXPECT_DOUBLE_EQ(the_run().usage.to_s, begin_s + 3700);
  EXPECT_EQ(the_run().usage.gpus, UsageQuality::kUnknown);
  EXPECT_EQ(the_run().gpu_type, GpuType("T4"));
  EXPECT_EQ(the_run().shape, (Placement{2, 4}));
  EXPECT_EQ(the_run().asked, (Placement{2, 4}));
  EXPECT_EQ(the_run().requests, (PodRequests{8000, 16000, 64'000'000'000}));
  EXPECT_DOUBLE_EQ(the_run().run_s, 3600);
  EXPECT_DOUBLE_EQ(*the_run().wait_s, 100);
  EXPECT_EQ(the_run().outcome, RunOutcome::kSucceeded);
  EXPECT_EQ(the_run().image_digest, "sha256:1");
  ASSERT_EQ(told[0].pods.size(), 2U);
  EXPECT_EQ(told[0].pods[1].name, "train-1");
  EXPECT_EQ(told[0].pods[1].node, NodeName("t4-2"));
  EXPECT_DOUBLE_EQ(told[0].pods[1].ended_s, begin_s + 3700);
}

// A VerticalPodAutoscaler changes pods, not their Job; Kubernetes fills in requests of limits.
TEST_F(EndedRunsTest, AmountsThatNobodyWroteAreOthers) {
  const auto changed = [this](const ContainerAmounts& of_pod, const ResizeNote* note) {
    told.clear();
    Job job = over(3700);
    job.amounts = ContainerAmounts{"", "8", "64Gi", ""};
    if (note != nullptr) {
      auto plan = std::make_shared<PlanNote>();
      plan->resize = *note;
      job.plan = plan;
    }
    Pod first = pod("train-0", 100);
    first.amounts = of_pod;
    RunSeen seen;
    seen.pods[first.uid].amounts = first.amounts;
    return ended_run_of(job, seen, {*source.snapshot(), catalog, *known.get()->predictor, begin_s})
        .run.others_changed;
  };
  EXPECT_FALSE(changed({"8000m", "8", "64Gi", ""}, nullptr));
  EXPECT_TRUE(changed({"8", "8", "12Gi", ""}, nullptr));
  ResizeNote note;
  note.amounts = ContainerAmounts{"", "8", "12Gi", ""};
  EXPECT_FALSE(changed({"8", "8", "12Gi", ""}, &note))
      << "as Slackline's own webhook does before 1.36";
  EXPECT_TRUE(changed({"8", "8", "9Gi", ""}, &note));
}

TEST_F(EndedRunsTest, PodsOnOneNodeAreOneNodeOfTheShape) {
  runs.on_job(job());
  runs.on_pod_running(pod("train-0", 100));
  runs.on_pod_running(pod("train-1", 100));
  runs.on_job(over(3700));
  EXPECT_EQ(the_run().shape, (Placement{1, 8}));
}

TEST_F(EndedRunsTest, AsLongAsItWasStoppedItDidNotRun) {
  runs.on_job(job());
  runs.on_pod_running(pod("before-0", 100));
  runs.on_pod_ended(ended(pod("before-0", 100), 200));
  runs.on_pod_running(pod("after-0", 1000));
  runs.on_pod_ended(ended(pod("after-0", 1000), 1500));
  Job job = over(1500);
  PreemptionNote note;
  note.count = 1;
  job.preemptions = std::make_shared<const PreemptionNote>(note);
  runs.on_job(job);
  EXPECT_DOUBLE_EQ(the_run().run_s, 600);
  EXPECT_EQ(the_run().preemptions, 1);
}

// What failed first, and what was made again, took longer than the next run will.
TEST_F(EndedRunsTest, TheTimeOfARunThatWasTriedAgainSaysNothingOfTheNext) {
  const auto retried = [this](bool failed, bool suspended) {
    told.clear();
    Job job = this->job();
    job.uid = Uid(job.uid.str() + (failed ? "f" : "") + (suspended ? "s" : ""));
    Pod pod = this->pod("train-0", 100);
    pod.owner->uid = job.uid;
    runs.on_job(job);
    runs.on_pod_running(pod);
    job.suspended = suspended;
    runs.on_job(job);
    Job over = this->over(3700);
    over.uid = job.uid;
    over.failed = failed ? 1 : 0;
    runs.on_job(over);
    return the_run().retried;
  };
  EXPECT_FALSE(retried(false, false));
  EXPECT_TRUE(retried(true, false));
  EXPECT_TRUE(retried(false, true));
}

TEST_F(EndedRunsTest, ARunThatWasShortOfMemorySaysSo) {
  runs.on_job(job());
  Pod killed = pod("train-0", 100);
  runs.on_pod_running(killed);
  killed.out_of_memory = true;
  runs.on_pod_ended(ended(killed, 300));
  runs.on_job(over(400, false));
  EXPECT_EQ(the_run().outcome, RunOutcome::kOutOfMemory);
}

TEST_F(EndedRunsTest, ARunWhoseMessageTellsOfAFullGpuSaysSo) {
  runs.on_job(job());
  Pod failed = pod("train-0", 100);
  runs.on_pod_running(failed);
  failed.gpu_out_of_memory = true;
  runs.on_pod_ended(ended(failed, 300));
  runs.on_job(over(400, false));
  EXPECT_EQ(the_run().outcome, RunOutcome::kGpuOutOfMemory);
  EXPECT_FALSE(the_run().resized);
}

TEST_F(EndedRunsTest, AResizedRunTellsWhatItWasGivenAndWhyItWasStopped) {
  Job resized = over(3700);
  resized.amounts = ContainerAmounts{"2", "4", "5G", "5G"};
  resized.pod_requests.cpu_milli = 2000;
  resized.pod_requests.memory_bytes = 5'000'000'000;
  OriginalShape original;
  original.gpus = 8;
  original.amounts = ContainerAmounts{"8", "16", "64G", "64G"};
  original.given = {4, resized.amounts};
  resized.original = std::make_shared<const OriginalShape>(original);
  auto plan = std::make_shared<PlanNote>();
  plan->resize = ResizeNote{.asked = {2, 8}, .shape = Placement{2, 4}};
  plan->resize->amounts = resized.amounts;
  plan->resize->expected_s = 3000;
  resized.plan = plan;
  runs.on_job(resized);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(the_run().asked, (Placement{2, 8}));
  EXPECT_EQ(the_run().requests, (PodRequests{8000, 16000, 64'000'000'000}));
  ASSERT_TRUE(the_run().resized);
  EXPECT_EQ(the_run().resized->given, (PodRequests{2000, 4000, 5'000'000'000}));
  EXPECT_EQ(the_run().resized->expected_s, 3000);
}

// Its Job may be deleted before its end.
TEST_F(EndedRunsTest, ARunThatWasTakenBackTellsSoAtOnce) {
  std::vector<ResizeRollback> rollbacks;
  ended_runs.tell_rollbacks([&](const PortraitIdentity& family, const ResizeRollback& rollback) {
    EXPECT_EQ(family.owner, "train");
    rollbacks.push_back(rollback);
  });
  runs.on_job(job());
  EXPECT_TRUE(rollbacks.empty());
  Job back = job();
  PreemptionNote note{.count = 1, .at_s = begin_s + 60};
  note.too_small = ResizeFailure::kOutOfMemory;
  back.preemptions = std::make_shared<const PreemptionNote>(note);
  runs.on_job(back);
  ASSERT_EQ(rollbacks.size(), 1U);
  EXPECT_EQ(rollbacks[0].at_s, begin_s + 60);
  EXPECT_EQ(rollbacks[0].run, back.uid);
  EXPECT_EQ(rollbacks[0].task, "train-x7k2p");
  EXPECT_EQ(rollbacks[0].failure, ResizeFailure::kOutOfMemory);
}

TEST_F(EndedRunsTest, WhatItAskedForIsWhatItsAuthorWrote) {
  Job shrunk = over(3700);
  shrunk.original = std::make_shared<const OriginalShape>(OriginalShape{4, 2, {}});
  runs.on_job(shrunk);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(the_run().asked, (Placement{4, 2}));
  EXPECT_EQ(the_run().shape, (Placement{2, 4}));
  EXPECT_TRUE(told[0].pods.empty()) << "nobody saw them";
}

TEST_F(EndedRunsTest, HowFastItWasIsComparedWithItsPlan) {
  Job job = over(3700);
  PlanNote plan;
  plan.predicted_s = 1800;
  job.plan = std::make_shared<const PlanNote>(plan);
  runs.on_job(this->job());
  runs.on_pod_running(pod("train-0", 100));
  runs.on_pod_running(pod("train-1", 100));
  runs.on_job(job);
  EXPECT_DOUBLE_EQ(*the_run().speed, 0.5);
}

TEST(TaskFamily, AnOwnerNamesTheFamily) {
  Job job = a_job("lab/nightly-28471230").gpus(1).build();
  EXPECT_EQ(core::identity_of(job).owner, "nightly");
  job.owner = OwnerRef{"CronJob", "nightly-report", Uid("1")};
  EXPECT_EQ(core::identity_of(job).owner, "nightly-report");
  EXPECT_EQ(core::identity_of(job).framework, "CronJob");
}

}  // namespace
}  // namespace slackline::control
