// Gangs that controllers make: one task where tasks are listed, and in the queue that would be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "slackline/core/cluster/not_in_queue.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/shadow/stock_queue.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::ClusterBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kWhen_s = 1000;

OwnerGang gang_named(const std::string& kind, const std::string& name) {
  return {kind, name, Uid(kind + ":" + name), ""};
}

template <class T>
T made(T object, const OwnerGang& gang) {
  object.owner_gang = std::make_shared<const OwnerGang>(gang);
  return object;
}

Pod a_member(const std::string& name, std::int64_t gpus, const OwnerGang& gang,
             double created_s = 100) {
  auto pod = test::a_pod(name).owned_by(gang.kind, gang.name).created(created_s);
  if (gpus > 0) pod.gpus(gpus);
  return made(pod.build(), gang);
}

Queue queue_of(const ClusterSnapshot& snapshot) {
  static const GpuCatalog catalog = default_gpu_catalog();
  QueueOptions options;
  options.catalog = &catalog;
  options.predictor = std::make_shared<const Predictor>(WorkloadProfiles{});
  options.now_wall_s = kWhen_s;
  TaskMenus menus;
  return make_queue(snapshot, options, menus);
}

// "kind name pods x gpus reason: detail" of what would wait.
std::vector<std::string> rows_of(const ClusterSnapshot& snapshot) {
  const Queue queue = queue_of(snapshot);
  std::vector<std::string> rows;
  for (TaskIndex t = 0; t < queue.size(); ++t) {
    const QueueTask& task = queue.task(t);
    if (task.plan) continue;
    rows.push_back(format("{} {} {}x{}", to_string(task.kind), task.key.name, task.request.pods,
                          task.request.gpus));
    if (task.hindrance)
      rows.back() += format(" {}: {}", task.hindrance->reason, task.hindrance->detail);
  }
  return rows;
}

std::vector<std::string> would_wait(const ClusterSnapshot& snapshot) {
  return rows_of(with_stock_queue(snapshot, StockScope::kAll));
}

ClusterBuilder idle_nodes() {
  return a_cluster().with(a_node("n1")).with(a_node("n2"));
}

TEST(OwnerGangs, AreOneTaskWithTheMembersThatNeedNoGpu) {
  const OwnerGang gang = gang_named("MPIJob", "hpl");
  const auto cluster = idle_nodes()
                           .add(a_member("hpl-launcher", 0, gang))
                           .add(a_member("hpl-worker-0", 4, gang))
                           .add(a_member("hpl-worker-1", 4, gang))
                           .build();
  const auto tasks = TaskCatalog(cluster).tasks();
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].kind, TaskKind::kGang);
  EXPECT_EQ(tasks[0].key.name, "hpl");
  EXPECT_EQ(tasks[0].uid, gang.uid);
  EXPECT_EQ(tasks[0].written_shape(), (Placement{2, 4}));
  EXPECT_THAT(would_wait(cluster), ElementsAre("Gang hpl 2x4"));
  EXPECT_EQ(TaskCatalog(cluster).find({"default", "hpl-worker-1"})->key.name, "hpl");
}

TEST(OwnerGangs, SayInTheQueueWhoMakesThem) {
  OwnerGang gang = gang_named("PyTorchJob", "t5");
  gang.api_version = "kubeflow.org/v1";
  const auto gated = test::a_pod("t5-0").owned_by("PyTorchJob", "t5").gpus(4).managed().gated();
  const Queue queue = queue_of(idle_nodes()
                                   .add(made(gated.build(), gang))
                                   .with(test::a_pod("alone").gpus(4).managed().gated())
                                   .build());
  ASSERT_EQ(queue.size(), 2U);
  for (TaskIndex task = 0; task < queue.size(); ++task) {
    const bool is_gang = queue.task(task).kind == TaskKind::kGang;
    ASSERT_EQ(queue.task(task).gang != nullptr, is_gang);
    if (!is_gang) continue;
    EXPECT_EQ(queue.task(task).gang->api_version, "kubeflow.org/v1");
    EXPECT_EQ(queue.task(task).gang->uid, queue.task(task).uid);
  }
}

TEST(OwnerGangs, WaitForANodeThatCouldTakeTheirLauncher) {
  const OwnerGang gang = gang_named("MPIJob", "hpl");
  Pod launcher = a_member("hpl-launcher", 0, gang);
  launcher.requests.cpu_milli = 1'000'000;
  auto cluster = idle_nodes();
  cluster.add(launcher).add(a_member("hpl-worker-0", 4, gang));
  EXPECT_THAT(would_wait(cluster.build()), ElementsAre("Gang hpl 1x4 NoNodeFits: hpl-launcher"));
}

TEST(OwnerGangs, WhosePodsNeedNodesOfDifferentTypesAreToldThatNoneHasAll) {
  const OwnerGang gang = gang_named("RayCluster", "tune");
  const auto on_type = [&](const std::string& name, const std::string& type) {
    auto pod = test::a_pod(name).owned_by("RayCluster", "tune").gpus(4).managed().gated();
    SchedulingConstraints only;
    only.node_selector = {{"type", type}};
    return made(pod.created(100).constrained(only).build(), gang);
  };
  auto cluster = a_cluster()
                     .with(a_node("a").of("A100", 4).label("type", "large"))
                     .with(a_node("v").of("V100", 4).label("type", "small"));
  cluster.add(on_type("tune-a", "large")).add(on_type("tune-b", "small"));
  EXPECT_THAT(rows_of(cluster.build()),
              ElementsAre("Gang tune 2x4 NoNodeFits: no GPU type has nodes for all of its pods"));
  cluster.with(a_node("w").of("V100", 4).label("type", "large"));
  EXPECT_THAT(rows_of(cluster.build()), ElementsAre("Gang tune 2x4"));
}

// People write them on the template of the workers, and the master's pod comes first.
TEST(OwnerGangs, SayWhatTheFirstPodSaysThatHasAnnotations) {
  const OwnerGang gang = gang_named("PyTorchJob", "t5");
  auto waits = idle_nodes();
  auto runs = idle_nodes();
  for (const char* name : {"t5-master-0", "t5-worker-0", "t5-worker-1"}) {
    auto pod = test::a_pod(name).owned_by("PyTorchJob", "t5").gpus(2).managed().created(100);
    pod.intent().expected_duration_s = 3600;
    const auto said = [&](Pod built) {
      if (built.key.name == "t5-master-0") built.intent = nullptr;
      return made(std::move(built), gang);
    };
    auto bound = pod;
    waits.add(said(pod.gated().build()));
    runs.add(said(bound.planned({"n1", "n1", "n2"}).on("n1").build()));
  }
  for (const ClusterSnapshot& cluster : {waits.build(), runs.build()}) {
    const Queue queue = queue_of(cluster);
    ASSERT_EQ(queue.size(), 1U);
    EXPECT_EQ(queue.task(0).intent->expected_duration_s, 3600);
    EXPECT_EQ(TaskCatalog(cluster).tasks()[0].intent.expected_duration_s, 3600);
  }
}

// Pods without a plan that are let go now.
std::vector<std::string> let_go(const ClusterSnapshot& snapshot) {
  const Queue queue = queue_of(snapshot);
  std::vector<std::string> names;
  for (const PodPtr& pod : queue.to_let_go())
    names.push_back(pod->key.name);
  return names;
}

TEST(OwnerGangs, AGatedLauncherGoesWithItsWorkers) {
  const OwnerGang gang = gang_named("MPIJob", "hpl");
  const auto launcher = [&](double created_s) {
    auto pod = test::a_pod("hpl-launcher").of_job("hpl-launcher").gated().created(created_s);
    return made(pod.build(), gang);
  };
  auto cluster = idle_nodes().add(launcher(100));
  EXPECT_THAT(let_go(cluster.build()), ElementsAre("hpl-launcher")) << "no worker has GPUs";
  EXPECT_THAT(let_go(idle_nodes().add(launcher(kWhen_s - 1)).build()), ElementsAre())
      << "they may not have been seen";
  auto worker = test::a_pod("hpl-worker-0").owned_by("MPIJob", "hpl").gpus(4).managed();
  auto waits = cluster;
  auto gated = worker;
  waits.add(made(gated.gated().build(), gang));
  EXPECT_THAT(let_go(waits.build()), ElementsAre());
  EXPECT_THAT(rows_of(waits.build()), ElementsAre("Gang hpl 1x4"));
  EXPECT_THAT(let_go(cluster.add(made(worker.on("n1").build(), gang)).build()),
              ElementsAre("hpl-launcher"));
}

TEST(OwnerGangs, ArePlannedTogetherInActiveMode) {
  const OwnerGang gang = gang_named("PyTorchJob", "t5");
  const auto gated = [&](const std::string& name, double created_s) {
    auto pod = test::a_pod(name).owned_by("PyTorchJob", "t5").gpus(4).managed().gated();
    return made(pod.created(created_s).build(), gang);
  };
  auto cluster = idle_nodes();
  cluster.add(gated("t5-master-0", 100));
  auto grows = cluster;
  EXPECT_THAT(rows_of(grows.add(gated("t5-worker-0", kWhen_s - 1)).build()),
              ElementsAre("Gang t5 2x4 GangIncomplete: 2 pods so far"));
  EXPECT_THAT(rows_of(cluster.add(gated("t5-worker-0", 100)).build()), ElementsAre("Gang t5 2x4"));
}

// The gates of its pods were opened, or no webhook saw them: kube-scheduler starts them.
TEST(OwnerGangs, ThatNobodyGatedAreNotPlanned) {
  const OwnerGang gang = gang_named("PyTorchJob", "t5");
  EXPECT_THAT(rows_of(idle_nodes().add(a_member("t5-master-0", 4, gang)).build()), ElementsAre());
}

TEST(OwnerGangs, ALeaderThatStaysAloneGoesFirst) {
  OwnerGang group = gang_named("LeaderWorkerSet", "vllm-0");
  group.size = 3;
  const auto leader = [&](double created_s) {
    auto pod = test::a_pod("vllm-0").owned_by("StatefulSet", "vllm").gpus(4).created(created_s);
    return made(pod.managed().gated().build(), group);
  };
  EXPECT_THAT(rows_of(idle_nodes().add(leader(kWhen_s - 9)).build()),
              ElementsAre("Gang vllm-0 3x4 GangIncomplete: 1 of 3 pods"));
  EXPECT_THAT(rows_of(idle_nodes().add(leader(kWhen_s - 10)).build()),
              ElementsAre("Gang vllm-0 1x4"));
  auto worker = test::a_pod("vllm-0-1").owned_by("StatefulSet", "vllm-0").gpus(4).created(100);
  EXPECT_THAT(rows_of(idle_nodes().add(made(worker.managed().gated().build(), group)).build()),
              ElementsAre("Gang vllm-0 3x4 GangIncomplete: 1 of 3 pods"));
}

TEST(OwnerGangs, OfUnknownSizeAreWholeOnceNoPodCameForTwoSeconds) {
  const OwnerGang gang = gang_named("PyTorchJob", "t5");
  const auto made_at = [&](double newest_s) {
    return would_wait(idle_nodes()
                          .add(a_member("t5-master-0", 4, gang))
                          .add(a_member("t5-worker-0", 4, gang, newest_s))
                          .build());
  };
  EXPECT_THAT(made_at(kWhen_s - 1.5), ElementsAre("Gang t5 2x4 GangIncomplete: 2 pods so far"));
  EXPECT_THAT(made_at(kWhen_s - 2), ElementsAre("Gang t5 2x4"));
}

TEST(OwnerGangs, OfKnownSizeWaitForTheirMembersAndEndingOnesDoNotCount) {
  OwnerGang gang = gang_named("LeaderWorkerSet", "vllm-0");
  gang.size = 3;
  auto cluster = idle_nodes();
  cluster.add(a_member("vllm-0", 4, gang)).add(a_member("vllm-0-1", 4, gang));
  Pod ends = a_member("vllm-0-2", 4, gang);
  ends.deleting = true;
  auto ending = cluster;
  EXPECT_THAT(would_wait(ending.add(ends).build()),
              ElementsAre("Gang vllm-0 3x4 GangIncomplete: 2 of 3 pods"));
  EXPECT_THAT(would_wait(cluster.add(a_member("vllm-0-2", 4, gang, kWhen_s)).build()),
              ElementsAre("Gang vllm-0 3x4"));
}

ClusterSnapshot with_spec(ClusterSnapshot snapshot, const OwnerGang& gang, const GangSpec& spec) {
  snapshot.gang_specs = std::make_shared<const GangSpecs>(GangSpecs{{gang.uid, spec}});
  return snapshot;
}

// A ResourceQuota may leave its controller with the first pods for hours.
TEST(OwnerGangs, WhoseObjectSaysHowManyWaitForAllOfThemAndNoLonger) {
  const OwnerGang gang = gang_named("PyTorchJob", "t5");
  auto cluster = idle_nodes();
  cluster.add(a_member("t5-launcher", 0, gang)).add(a_member("t5-worker-0", 4, gang));
  const auto of = [&](const ClusterSnapshot& snapshot, std::optional<std::int64_t> pods) {
    return would_wait(with_spec(snapshot, gang, {.pods = pods}));
  };
  auto half = cluster;
  EXPECT_THAT(of(half.build(), std::nullopt), ElementsAre("Gang t5 1x4"));
  EXPECT_THAT(of(half.build(), 2), ElementsAre("Gang t5 2x4 GangIncomplete: 2 of 3 pods"));
  EXPECT_EQ(TaskCatalog(with_spec(half.build(), gang, {.pods = 2})).tasks().front().pods_wanted, 2);
  cluster.add(a_member("t5-worker-1", 4, gang, kWhen_s));
  EXPECT_THAT(of(cluster.build(), std::nullopt),
              ElementsAre("Gang t5 2x4 GangIncomplete: 3 pods so far"));
  EXPECT_THAT(of(cluster.build(), 2), ElementsAre("Gang t5 2x4"));
}

TEST(OwnerGangs, WhatTheObjectSaysIsOfPodsBeforeTheyRun) {
  const OwnerGang gang = gang_named("PyTorchJob", "t5");
  auto runs = test::a_pod("t5-worker-0").owned_by(gang.kind, gang.name).gpus(4).on("n1");
  auto cluster = idle_nodes();
  cluster.add(made(runs.build(), gang)).add(a_member("t5-worker-1", 4, gang));
  const ClusterSnapshot snapshot = with_spec(cluster.build(), gang, {.pods = 8});
  EXPECT_EQ(TaskCatalog(snapshot).tasks().front().pods_wanted, 2);
}

TEST(OwnerGangs, ClocksOfTheirObjectAreDeadlinesWhileTheyWait) {
  const OwnerGang gang = gang_named("RayCluster", "tune");
  auto worker = test::a_pod("tune-0").owned_by(gang.kind, gang.name).gpus(4).created(100);
  worker.managed().gated().intent().expected_duration_s = 600;
  const auto deadline_of = [&](const GangSpec& spec) {
    auto cluster = idle_nodes().add(made(worker.build(), gang));
    const Queue queue = queue_of(with_spec(cluster.build(), gang, spec));
    EXPECT_EQ(queue.size(), 1U);
    return queue.task(0).deadline_s.value_or(-1);
  };
  EXPECT_EQ(deadline_of({}), -1);
  EXPECT_EQ(deadline_of({.ends_s = 5000}), 5000);
  EXPECT_EQ(deadline_of({.starts_by_s = 2000}), 2600) << "it is to start by then";
  EXPECT_EQ(deadline_of({.ends_s = 2500, .starts_by_s = 2000}), 2500);
}

TEST(OwnerGangs, WhoseMembersDifferAreListedInUnitsOfThem) {
  const OwnerGang gang = gang_named("RayCluster", "tune");
  auto cluster = idle_nodes();
  cluster.add(a_member("tune-a", 8, gang)).add(a_member("tune-b", 2, gang));
  const auto task = [&](const GangSpec& spec) {
    return TaskCatalog(with_spec(cluster.build(), gang, spec)).tasks().front();
  };
  EXPECT_EQ(task({}).listed_shape(), (Placement{5, 2}));
  EXPECT_EQ(task({}).all_gpus, 10);
  EXPECT_EQ(task({}).gpus_per_pod, 8) << "of the largest";
  EXPECT_EQ(task({.pods = 3}).all_gpus, 18) << "what is to come may be as large";
  cluster.add(a_member("tune-c", 8, gang));
  EXPECT_EQ(task({}).all_gpus, 18);
}

TEST(OwnerGangs, OfOneNameAreApartByControllerAndAttempt) {
  OwnerGang second = gang_named("PyTorchJob", "t5");
  OwnerGang first = second;
  first.part = "0";
  second.part = "1";
  const auto cluster = idle_nodes()
                           .add(a_member("old", 4, first))
                           .add(a_member("new", 4, second))
                           .add(a_member("ray", 4, gang_named("RayCluster", "t5")))
                           .with(test::a_pod("labelled").in_gang("t5", 1).gpus(4))
                           .build();
  EXPECT_EQ(TaskCatalog(cluster).tasks().size(), 4U);
}

TEST(OwnerGangs, AreRememberedWhateverBecomesOfTheirPods) {
  const OwnerGang gang = gang_named("PyTorchJob", "t5");
  const ClusterSnapshot none = a_cluster().build();
  const Pod member = a_member("t5-master-0", 4, gang);
  EXPECT_EQ(lasting_name(none, nullptr, member), gang.uid);
  const OwnerGang group{"LeaderWorkerSet", "vllm-0", Uid(), ""};
  EXPECT_EQ(lasting_name(none, nullptr, a_member("vllm-0-1", 4, group)), Uid("default/vllm-0"));
  const Pod labelled = made(test::a_pod("a").gpus(1).in_gang("g", 2).build(), gang);
  EXPECT_EQ(lasting_name(none, nullptr, labelled), Uid("default/g"));
  const Pod alone = test::a_pod("alone").gpus(1).build();
  EXPECT_EQ(lasting_name(none, nullptr, alone), alone.uid);
  const Job job = a_job("train").build();
  EXPECT_EQ(lasting_name(none, &job, alone), job.uid);
}

TEST(OwnerGangs, TheLabelOfPeopleGoesBeforeTheController) {
  auto pod = test::a_pod("t5-master-0").owned_by("PyTorchJob", "t5").in_gang("pair", 1).gpus(1);
  const auto cluster = idle_nodes().add(made(pod.build(), gang_named("PyTorchJob", "t5"))).build();
  EXPECT_THAT(would_wait(cluster), ElementsAre("Gang pair 1x1"));
}

TEST(OwnerGangs, ReplacementsOfOneThatRunsComePodByPod) {
  const OwnerGang gang = gang_named("RayCluster", "tune");
  Pod runs = a_member("tune-a", 4, gang);
  runs.node = NodeName("n1");
  runs.phase = PodPhase::kRunning;
  const auto cluster = idle_nodes().add(runs).add(a_member("tune-b", 4, gang, kWhen_s)).build();
  EXPECT_THAT(would_wait(cluster), ElementsAre("Pod tune-b 1x4"));
}

// Its deadline counts from the oldest member on, not from the one that was made anew.
TEST(OwnerGangs, AreNotYoungerForAReplacement) {
  const OwnerGang gang = gang_named("PyTorchJob", "t5");
  auto cluster = idle_nodes();
  for (const auto& [name, created_s] : {std::pair("t5-0", 900.0), std::pair("t5-1", 100.0)}) {
    auto pod = test::a_pod(name).owned_by(gang.kind, gang.name).gpus(4).created(created_s);
    pod.managed().on(created_s > 500 ? "n1" : "n2").planned({"n1", "n2"});
    pod.intent().deadline_after_s = 3600;
    cluster.add(made(pod.build(), gang));
  }
  const Queue queue = queue_of(cluster.build());
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.task(0).created_s, 100);
  EXPECT_EQ(queue.task(0).deadline_s, 3700);
}

// Its Jobs say how many pods it has, one that needs no GPU is a member, and none is a task besides.
TEST(OwnerGangs, AJobSetWaitsForThePodsOfAllItsJobs) {
  OwnerGang set = gang_named("JobSet", "llm");
  set.of_jobs = true;
  const auto job = [&](const std::string& name, std::int64_t pods, std::int64_t gpus) {
    auto built = a_job(name).of(pods).gang().owned_by("JobSet", "llm");
    if (gpus > 0) built.gpus(gpus);
    return made(built.build(), set);
  };
  const auto pod = [&](const std::string& name, int number, std::int64_t gpus) {
    auto built = test::a_pod(name + "-" + std::to_string(number)).of_job(name).created(100);
    if (gpus > 0) built.gpus(gpus);
    return made(built.build(), set);
  };
  auto cluster = idle_nodes();
  cluster.add(job("llm-driver-0", 1, 0)).add(pod("llm-driver-0", 0, 0));
  cluster.add(job("llm-workers-0", 2, 4)).add(job("llm-workers-1", 1, 2));
  cluster.add(pod("llm-workers-0", 0, 4)).add(pod("llm-workers-0", 1, 4));
  EXPECT_THAT(would_wait(cluster.build()), ElementsAre("Gang llm 3x4 GangIncomplete: 3 of 4 pods"));
  const auto whole = cluster.add(pod("llm-workers-1", 0, 2)).build();
  EXPECT_THAT(would_wait(whole), ElementsAre("Gang llm 3x4"));
  ASSERT_EQ(TaskCatalog(whole).tasks().size(), 1U);
  EXPECT_EQ(TaskCatalog(whole).tasks()[0].pods_wanted, 3);
  EXPECT_EQ(TaskCatalog(whole).find({"default", "llm-workers-1"})->key.name, "llm");
}

// A ResourceQuota may leave its controller with the first of its Jobs for hours.
TEST(OwnerGangs, AJobSetWaitsForTheJobsThatItsObjectSays) {
  OwnerGang set = gang_named("JobSet", "llm");
  set.of_jobs = true;
  const auto add = [&](ClusterBuilder& cluster, const std::string& job, bool runs) {
    cluster.add(made(a_job(job).of(2).gang().gpus(4).owned_by("JobSet", "llm").build(), set));
    for (const char* number : {"-0", "-1"}) {
      auto pod = test::a_pod(job + number).of_job(job).gpus(4).created(100);
      if (runs) pod.on("n1");
      cluster.add(made(pod.build(), set));
    }
  };
  auto cluster = idle_nodes();
  add(cluster, "llm-a-0", false);
  const auto waits = [&](std::int64_t pods) {
    return would_wait(with_spec(cluster.build(), set, {.pods = pods}));
  };
  EXPECT_THAT(waits(4), ElementsAre("Gang llm 4x4 GangIncomplete: 2 of 4 pods"));
  EXPECT_THAT(waits(2), ElementsAre("Gang llm 2x4"));
  EXPECT_THAT(waits(1), ElementsAre("Gang llm 2x4")) << "its Jobs ask for more";
  auto runs = idle_nodes();
  add(runs, "llm-a-0", true);
  EXPECT_EQ(TaskCatalog(with_spec(runs.build(), set, {.pods = 4})).tasks()[0].pods_wanted, 2)
      << "replacements come one by one";
}

TEST(OwnerGangs, AJobSetDoesNotWaitForWhatItsJobsHaveDone) {
  OwnerGang set = gang_named("JobSet", "llm");
  set.of_jobs = true;
  auto cluster = idle_nodes();
  cluster.add(made(
      a_job("llm-a-0").of(4).gang().gpus(4).succeeded(3).owned_by("JobSet", "llm").build(), set));
  cluster.add(made(test::a_pod("llm-a-0-3").of_job("llm-a-0").gpus(4).created(100).build(), set));
  EXPECT_THAT(would_wait(with_spec(cluster.build(), set, {.pods = 4})),
              ElementsAre("Gang llm 1x4"));
}

// Its deadline counts from then, whenever its pods came.
TEST(OwnerGangs, AJobSetIsAsOldAsItsJobs) {
  OwnerGang set = gang_named("JobSet", "llm");
  set.of_jobs = true;
  const Job job =
      a_job("llm-a-0").of(2).gang().gpus(4).owned_by("JobSet", "llm").created(40).build();
  auto cluster = idle_nodes().add(made(job, set));
  for (const char* name : {"llm-a-0-0", "llm-a-0-1"}) {
    auto pod = test::a_pod(name).of_job("llm-a-0").gpus(4).managed().gated().created(100);
    pod.intent().deadline_after_s = 3600;
    cluster.add(made(pod.build(), set));
  }
  const ClusterSnapshot snapshot = cluster.build();
  const Queue queue = queue_of(snapshot);
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.task(0).deadline_s, 3640);
  EXPECT_EQ(TaskCatalog(snapshot).tasks()[0].created_s, 40);
}

TEST(OwnerGangs, TheClockOfTheirJobIsADeadlineWhileTheyWait) {
  OwnerGang set = gang_named("JobSet", "llm");
  set.of_jobs = true;
  Job job = a_job("llm-a-0").of(2).gang().gpus(4).owned_by("JobSet", "llm").started(150).build();
  const auto deadline_of = [&](std::optional<std::int64_t> clock_s,
                               std::optional<double> written_s = std::nullopt) {
    job.active_deadline_s = clock_s;
    auto cluster = idle_nodes().add(made(job, set));
    for (const char* name : {"llm-a-0-0", "llm-a-0-1"}) {
      auto pod = test::a_pod(name).of_job("llm-a-0").gpus(4).managed().gated().created(100);
      pod.intent().deadline_s = written_s;
      cluster.add(made(pod.build(), set));
    }
    const Queue queue = queue_of(cluster.build());
    EXPECT_EQ(queue.size(), 1U);
    return queue.task(0).deadline_s.value_or(-1);
  };
  EXPECT_EQ(deadline_of(std::nullopt), -1);
  EXPECT_EQ(deadline_of(3600), 3750);
  EXPECT_EQ(deadline_of(3600, 2000), 2000);
  EXPECT_EQ(deadline_of(3600, 9000), 3750);
}

TEST(OwnerGangs, SuspendedJobsOfAStartedJobSetAreALaterStage) {
  OwnerGang set = gang_named("JobSet", "llm");
  set.of_jobs = true;
  const auto cluster =
      idle_nodes()
          .add(made(a_job("llm-a-0").of(1).gpus(4).owned_by("JobSet", "llm").build(), set))
          .add(made(a_job("llm-b-0").of(2).gpus(4).suspended().owned_by("JobSet", "llm").build(),
                    set))
          .add(made(test::a_pod("llm-a-0-0").of_job("llm-a-0").gpus(4).build(), set))
          .build();
  EXPECT_THAT(would_wait(cluster), ElementsAre("Gang llm 1x4"));
}

TEST(LabelledGangs, WaitInTheQueueWhileTheyAreIncomplete) {
  const auto member = [](const std::string& name) {
    return test::a_pod(name).in_gang("mpi", 3).gpus(4).managed().gated();
  };
  auto cluster = idle_nodes();
  cluster.with(member("a")).with(member("b"));
  EXPECT_THAT(rows_of(cluster.build()), ElementsAre("Gang mpi 3x4 GangIncomplete: 2 of 3 pods"));
  EXPECT_THAT(rows_of(cluster.with(member("c")).build()), ElementsAre("Gang mpi 3x4"));
}

TEST(OwnerGangs, WhoAsksForAMemberIsSentToTheGang) {
  const OwnerGang gang = gang_named("PyTorchJob", "t5");
  const auto cluster = idle_nodes().add(a_member("t5-master-0", 4, gang)).build();
  EXPECT_THAT(why_not_in_queue(cluster, {"default", "t5-master-0"}).value(),
              HasSubstr("is part of the PyTorchJob t5: ask for that"));
  EXPECT_THAT(why_not_in_queue(cluster, {"default", "t5"}).value(),
              HasSubstr("the pods of the PyTorchJob run, or were not seen by Slackline's webhook"));
}

}  // namespace
}  // namespace slackline::core
