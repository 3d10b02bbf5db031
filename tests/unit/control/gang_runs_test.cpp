// Gangs that no Job makes, in the history: when they are over, and what became of them.
#include "control/learn/gang_runs.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/learn/outcomes.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using test::PodBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GangRunsTest : public ::testing::Test {
 protected:
  GangRunsTest() { gangs.follow(source); }

  static std::shared_ptr<const OwnerGang> owner(const std::string& kind, const std::string& name) {
    OwnerGang gang;
    gang.kind = kind;
    gang.name = name;
    gang.uid = Uid(kind + ":default/" + name);
    return std::make_shared<const OwnerGang>(std::move(gang));
  }
  // Of four GPUs; created a minute before it started.
  Pod member(const std::string& name, double started_after_s, const std::string& node = "t4-1",
             std::int64_t gpus = 4) const {
    PodBuilder pod = a_pod(name).owned_by("PyTorchJob", "llm").on(node);
    if (gpus > 0) pod.gpus(gpus);
    pod.created(begin_s + started_after_s - 60).started(begin_s + started_after_s);
    pod.intent().queue = "research";
    pod.intent().qos_class = QosClass::kPrior;
    pod.intent().deadline_s = begin_s + 8000;
    Pod built = pod.build();
    built.owner_gang = owner("PyTorchJob", "llm");
    return built;
  }
  Pod ended(Pod pod, double after_s, PodPhase phase = PodPhase::kSucceeded) const {
    pod.phase = phase;
    pod.ended_s = begin_s + after_s;
    return pod;
  }
  // While it ran.
  static Pod deleted(Pod pod) {
    pod.deleting = true;
    return pod;
  }
  void run(const std::vector<Pod>& pods) {
    for (const Pod& pod : pods)
      gangs.on_pod_running(pod);
  }
  void end(const std::vector<Pod>& pods) {
    for (const Pod& pod : pods)
      gangs.on_pod_ended(pod);
  }
  void pass_to(double after_s) { clock.advance(begin_s + after_s - clock.wall_s()); }
  std::vector<FinishedTask> rows() {
    clock.advance(kGangOver_s + 1);
    gangs.settle();
    return told;
  }

  test::FakeClock clock;
  const double begin_s = clock.wall_s();
  GpuCatalog catalog = default_gpu_catalog();
  Known known = make_known({});
  test::FakeSource source{
      a_cluster().with(a_node("t4-1").of("T4", 8)).with(a_node("k80-1").of("K80", 8)).build()};
  std::vector<FinishedTask> told;
  bool takes = true;
  GangRuns gangs{
      catalog,
      [this](const GangRun& gang) {
        const SnapshotPtr snapshot = source.snapshot();
        if (takes)
          told.push_back(finished_task(gang, {*snapshot, catalog, *known.predictor, begin_s}));
        return takes;
      },
      clock};
};

TEST_F(GangRunsTest, AGangIsOneRowWithWhatItsPodsTook) {
  const Pod master = member("llm-master-0", 100);
  const Pod worker = member("llm-worker-0", 110, "k80-1");
  run({master, worker});
  EXPECT_THAT(rows(), IsEmpty()) << "it runs";
  pass_to(3700);
  end({ended(worker, 3710 - 1800), ended(master, 3700)});
  EXPECT_THAT(told, IsEmpty()) << "a pod may be made again";
  ASSERT_EQ(rows().size(), 1U);
  const FinishedTask& row = told[0];
  EXPECT_EQ(row.kind, "PyTorchJob");
  EXPECT_EQ(row.key.str(), "default/llm");
  EXPECT_EQ(row.uid, master.uid);
  EXPECT_EQ(row.gang, "PyTorchJob:default/llm/");
  EXPECT_EQ(row.queue, "research");
  EXPECT_EQ(row.qos_class, "prior");
  EXPECT_EQ(row.gpu_type, GpuType("K80+T4"));
  EXPECT_EQ(row.gpus, 8);
  EXPECT_EQ(row.pods, 2);
  EXPECT_DOUBLE_EQ(*row.wait_s(), 60);
  EXPECT_DOUBLE_EQ(*row.duration_s(), 3600);
  EXPECT_NEAR(row.gpu_hours, 4 * 3600 / 3600.0 + 4 * 1800 / 3600.0, 1e-6) << "each pod its own";
  EXPECT_TRUE(row.succeeded);
  EXPECT_EQ(row.result(), DeadlineResult::kMet);
}

TEST_F(GangRunsTest, ItIsToldOnceHoweverOftenItsPodsAreListed) {
  const Pod master = ended(member("llm-master-0", 100), 200);
  end({master});
  takes = false;
  EXPECT_THAT(rows(), IsEmpty());
  takes = true;
  EXPECT_EQ(rows().size(), 1U) << "told again when it could not be taken";
  end({master});
  EXPECT_EQ(rows().size(), 1U);
}

TEST_F(GangRunsTest, APodThatWaitsKeepsTheGangOpen) {
  Pod again = member("llm-master-0", 0);
  again.uid = Uid("again");
  again.node = NodeName();
  again.phase = PodPhase::kPending;
  end({ended(member("llm-master-0", 100), 200, PodPhase::kFailed)});
  const ClusterSnapshot before = *source.snapshot();
  source.show(a_cluster().with(a_node("t4-1").of("T4", 8)).add(again).build());
  EXPECT_THAT(rows(), IsEmpty());
  source.show(before);
  again = member("llm-master-0", 300);
  again.uid = Uid("again");
  run({again});
  end({ended(again, 400)});
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_TRUE(told[0].succeeded) << "what failed was made again";
  EXPECT_EQ(told[0].gpus, 4) << "one at a time";
  EXPECT_NEAR(told[0].gpu_hours, 4 * 200 / 3600.0, 1e-6);
}

TEST_F(GangRunsTest, AfterAFailureThatNobodyMendsItHasFailed) {
  end({ended(member("llm-master-0", 100), 900, PodPhase::kFailed),
       ended(member("llm-worker-0", 110), 890)});
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_FALSE(told[0].succeeded || told[0].deleted);
  EXPECT_EQ(told[0].result(), DeadlineResult::kMissed);
}

TEST_F(GangRunsTest, WorkersThatAreCleanedUpAfterASuccessTakeNothingFromIt) {
  const Pod master = member("llm-master-0", 100);
  const Pod worker = member("llm-worker-0", 100);
  run({master, worker});
  pass_to(900);
  end({ended(master, 900)});
  pass_to(902);
  end({deleted(worker)});
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_TRUE(told[0].succeeded);
}

TEST_F(GangRunsTest, WhatSomebodyDeletedIsNoSuccess) {
  const Pod master = member("llm-master-0", 100);
  const Pod worker = member("llm-worker-0", 100);
  run({master, worker});
  pass_to(900);
  end({ended(worker, 900)});
  pass_to(1900);
  end({ended(deleted(master), 1900, PodPhase::kFailed)});
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_TRUE(told[0].deleted);
  EXPECT_EQ(told[0].result(), DeadlineResult::kNone);
  EXPECT_NEAR(told[0].gpu_hours, (4 * 1800 + 4 * 800) / 3600.0, 1e-6);
}

TEST_F(GangRunsTest, TheLauncherWithoutGpusSaysHowItWent) {
  const Pod worker = member("llm-worker-0", 100);
  const Pod launcher = member("llm-launcher", 120, "t4-1", 0);
  run({worker, launcher});
  pass_to(1000);
  end({ended(launcher, 1000)});
  EXPECT_THAT(rows(), IsEmpty()) << "its worker runs";
  end({deleted(worker)});
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_TRUE(told[0].succeeded);
  EXPECT_EQ(told[0].pods, 1);
  end({ended(member("only-launcher", 1100, "t4-1", 0), 1200)});
  EXPECT_EQ(rows().size(), 1U) << "nothing of it used a GPU";
}

TEST_F(GangRunsTest, BarePodsOfOneLabelAreAGangAndJobsAreNot) {
  const auto labelled = [&](const char* name) {
    return a_pod(name).in_gang("sweep", 2).gpus(2).on("t4-1").created(begin_s).started(begin_s);
  };
  Pod of_jobset = labelled("set-a-0").of_job("set-a").build();
  of_jobset.owner_gang = owner("JobSet", "set");
  end({ended(labelled("a").build(), 1800), ended(labelled("b").build(), 3600),
       ended(of_jobset, 3600),
       ended(a_pod("alone").gpus(1).on("t4-1").started(begin_s).build(), 9)});
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_EQ(told[0].kind, "Gang");
  EXPECT_EQ(told[0].key.str(), "default/sweep");
  EXPECT_EQ(told[0].gpus, 4);
  EXPECT_NEAR(told[0].gpu_hours, 3, 1e-6);
}

TEST_F(GangRunsTest, BeforeTheClusterIsKnownNothingIsOver) {
  ClusterSnapshot unknown;
  source.show(unknown);
  end({ended(member("llm-master-0", 100), 200)});
  EXPECT_THAT(rows(), IsEmpty());
  source.show(a_cluster().with(a_node("t4-1").of("T4", 8)).build());
  EXPECT_EQ(rows().size(), 1U);
}

}  // namespace
}  // namespace slackline::control
