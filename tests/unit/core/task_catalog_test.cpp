#include "slackline/core/cluster/task_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using namespace slackline::test;
using ::testing::ElementsAre;

Task task_named(const ClusterSnapshot& cluster, const std::string& name) {
  const auto task = TaskCatalog(cluster).find(key_of(name));
  EXPECT_TRUE(task.has_value()) << name;
  return task.value_or(Task{});
}

ClusterBuilder two_nodes() {
  return a_cluster().with(a_node("a").of("A100", 4)).with(a_node("b").of("A100", 4));
}

TEST(Tasks, AJobIsOneTaskWithItsPods) {
  const auto cluster =
      two_nodes()
          .with(a_job("train").of(2).gang().gpus(4).created(50).trains("bert", 64, 10))
          .with(a_pod("train-0").of_job("train").gpus(4).priority(7).created(60).on("b"))
          .with(a_pod("train-1").of_job("train").gpus(4).priority(7).created(60))
          .build();
  const Task task = task_named(cluster, "train");
  EXPECT_EQ(task.kind, TaskKind::kJob);
  EXPECT_EQ(task.uid, job_uid("train"));
  EXPECT_EQ(task.state, TaskState::kStarting);
  EXPECT_EQ(task.pods_wanted, 2);
  EXPECT_EQ(task.pods_bound, 1);
  EXPECT_EQ(task.pods_unbound, 1);
  EXPECT_EQ(task.gpu_resource, kGpu);
  EXPECT_EQ(task.priority, 7);
  EXPECT_DOUBLE_EQ(task.created_s, 50);
  EXPECT_EQ(task.written_shape(), (Placement{2, 4}));
  EXPECT_THAT(task.nodes, ElementsAre(NodeName("b")));
  EXPECT_EQ(task.intent.model, "bert");
  EXPECT_EQ(TaskCatalog(cluster).tasks().size(), 1U);
}

TEST(Tasks, HaveAState) {
  const auto cluster = two_nodes()
                           .with(a_job("held").of(1).gpus(1).suspended())
                           .with(a_job("void").of(1).gpus(1).planned({"a"}).suspended())
                           .with(a_job("waiting").of(1).gpus(1))
                           .with(a_job("released").of(1).gpus(1).planned({"a"}))
                           .with(a_pod("placed").gpus(1).planned({"a"}))
                           .with(a_pod("alone").gpus(1).on("a"))
                           .build();
  EXPECT_EQ(task_named(cluster, "held").state, TaskState::kWaiting);
  EXPECT_EQ(task_named(cluster, "void").state, TaskState::kWaiting);
  EXPECT_EQ(task_named(cluster, "waiting").state, TaskState::kWaiting);
  EXPECT_EQ(task_named(cluster, "released").state, TaskState::kStarting);
  EXPECT_EQ(task_named(cluster, "placed").state, TaskState::kStarting);
  EXPECT_EQ(task_named(cluster, "alone").state, TaskState::kRunning);
  EXPECT_EQ(task_named(cluster, "alone").kind, TaskKind::kPod);
}

TEST(Tasks, AGangIsOneTaskAcrossItsOwners) {
  const auto cluster = two_nodes()
                           .with(a_pod("left").in_gang("g", 3).gpus(1).on("a"))
                           .with(a_pod("right").in_gang("g", 3).gpus(1))
                           .build();
  const Task gang = task_named(cluster, "g");
  EXPECT_EQ(gang.kind, TaskKind::kGang);
  EXPECT_TRUE(gang.gang);
  EXPECT_EQ(gang.pods_wanted, 3);
  EXPECT_EQ(gang.written_shape(), (Placement{3, 1}));
}

TEST(Tasks, AreJobsWhoeverOwnsThem) {
  const auto cluster = two_nodes()
                           .with(a_job("set-a").of(2).gpus(1).owned_by("JobSet", "set"))
                           .with(a_job("set-b").of(1).gpus(2).owned_by("JobSet", "set"))
                           .with(a_job("nightly-1").of(1).gpus(1).owned_by("CronJob", "nightly"))
                           .build();
  const auto tasks = TaskCatalog(cluster).tasks();
  ASSERT_EQ(tasks.size(), 3U);
  EXPECT_EQ(tasks[0].key.name, "nightly-1");
  EXPECT_EQ(tasks[1].key.name, "set-a");
  EXPECT_EQ(tasks[2].key.name, "set-b");
  EXPECT_EQ(tasks[1].pods_wanted, 2);
}

TEST(Tasks, OfOtherControllersCountTheirPods) {
  const auto cluster = two_nodes()
                           .with(a_pod("web-1").owned_by("ReplicaSet", "web").gpus(1).on("a"))
                           .with(a_pod("web-2").owned_by("ReplicaSet", "web").gpus(2))
                           .build();
  const Task web = task_named(cluster, "web");
  EXPECT_EQ(web.kind_name(), "ReplicaSet");
  EXPECT_EQ(web.pods_wanted, 2);
  EXPECT_EQ(web.gpus_per_pod, 2);
  const Task one = task_named(cluster, "web-2");
  EXPECT_EQ(one.kind, TaskKind::kPod) << "its pods start one by one";
  EXPECT_EQ(one.pods_wanted, 1);
}

// The label counts for pods that nothing else starts together.
TEST(Tasks, OfAGangLabelAreJobsWhereThePlannerStartsTheJob) {
  auto whole = a_job("whole").of(2).gang().gpus(1);
  auto array = a_job("array").of(2).gpus(1);
  whole.intent().gang = array.intent().gang = "g";
  const auto pod = [](const char* name, const char* job) {
    return a_pod(name).of_job(job).in_gang("g", 2).gpus(1);
  };
  const auto cluster = two_nodes()
                           .with(whole)
                           .with(array)
                           .with(pod("whole-0", "whole"))
                           .with(pod("array-x", "array"))
                           .with(pod("array-y", "array"))
                           .build();
  EXPECT_EQ(TaskCatalog(cluster).tasks().size(), 2U);
  EXPECT_EQ(task_named(cluster, "whole").pods_unbound, 1);
  EXPECT_EQ(task_named(cluster, "g").pods_unbound, 2);
  EXPECT_EQ(task_named(cluster, "array-x").kind, TaskKind::kGang) << "by the name of a pod";
}

TEST(Tasks, AreOnlyWhatAsksForGpusAndIsNotOver) {
  const auto cluster = two_nodes()
                           .with(a_pod("web").on("a"))
                           .with(a_job("cpu-job"))
                           .with(a_job("over").of(1).gpus(1).finished())
                           .build();
  EXPECT_TRUE(TaskCatalog(cluster).tasks().empty());
  EXPECT_EQ(TaskCatalog(cluster).find({"default", "web"}), std::nullopt);
}

TEST(Tasks, OfOneNameAreFoundJobFirst) {
  const auto cluster =
      two_nodes().with(a_pod("train").gpus(1)).with(a_job("train").of(1).gpus(1)).build();
  EXPECT_EQ(TaskCatalog(cluster).tasks().size(), 2U);
  EXPECT_EQ(task_named(cluster, "train").kind, TaskKind::kJob);
}

TEST(GangPods, AreAllThatStartTogether) {
  const auto cluster =
      two_nodes().with(a_job("train").of(4).gang()).with(a_job("array").of(4)).build();
  const auto count = [&](const PodBuilder& pod) {
    const Pod built = pod.build();
    return gang_pods(cluster, built, effective_intent(cluster, built));
  };
  EXPECT_EQ(count(a_pod("p").of_job("train")), 4);
  EXPECT_EQ(count(a_pod("p").of_job("array")), 1);
  EXPECT_EQ(count(a_pod("p").in_gang("g", 3)), 3);
  EXPECT_EQ(count(a_pod("p").in_gang("g", -1)), 1);
  EXPECT_EQ(count(a_pod("p")), 1);
}

}  // namespace
}  // namespace slackline::core
