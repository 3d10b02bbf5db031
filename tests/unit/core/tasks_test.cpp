#include "slackline/core/cluster/tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using namespace slackline::test;
using ::testing::ElementsAre;

Task task_named(const ClusterSnapshot& cluster, const std::string& name) {
  const auto task = find_task(cluster, key_of(name));
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
  EXPECT_EQ(task.kind, "Job");
  EXPECT_EQ(task.uid, job_uid("train"));
  EXPECT_EQ(task.state, TaskState::kPartlyBound);
  EXPECT_EQ(task.pods_wanted, 2);
  EXPECT_EQ(task.pods_bound, 1);
  EXPECT_EQ(task.pods_unbound, 1);
  EXPECT_EQ(task.gpu_resource, kGpu);
  EXPECT_EQ(task.priority, 7);
  EXPECT_DOUBLE_EQ(task.created_s, 50);
  EXPECT_EQ(task.written_shape(), (Placement{2, 4}));
  EXPECT_THAT(task.nodes, ElementsAre(NodeName("b")));
  EXPECT_EQ(task.intent.model, "bert");
  EXPECT_EQ(derive_tasks(cluster).size(), 1U);
}

TEST(Tasks, HaveAState) {
  const auto cluster = two_nodes()
                           .with(a_job("held").of(1).gpus(1).suspended())
                           .with(a_job("waiting").of(1).gpus(1))
                           .with(a_pod("alone").gpus(1).on("a"))
                           .build();
  EXPECT_EQ(task_named(cluster, "held").state, TaskState::kSuspended);
  EXPECT_EQ(task_named(cluster, "waiting").state, TaskState::kPending);
  EXPECT_EQ(task_named(cluster, "alone").state, TaskState::kRunning);
  EXPECT_EQ(task_named(cluster, "alone").kind, "Pod");
}

TEST(Tasks, AGangIsOneTaskAcrossItsOwners) {
  const auto cluster = two_nodes()
                           .with(a_pod("left").in_gang("g", 3).gpus(1).on("a"))
                           .with(a_pod("right").in_gang("g", 3).gpus(1))
                           .build();
  const Task gang = task_named(cluster, "g");
  EXPECT_EQ(gang.kind, "Gang");
  EXPECT_TRUE(gang.gang);
  EXPECT_EQ(gang.pods_wanted, 3);
  EXPECT_EQ(gang.written_shape(), (Placement{3, 1}));
}

TEST(Tasks, AJobSetIsOneTaskAndACronJobIsNone) {
  const auto cluster = two_nodes()
                           .with(a_job("set-a").of(2).gpus(1).owned_by("JobSet", "set"))
                           .with(a_job("set-b").of(1).gpus(2).owned_by("JobSet", "set"))
                           .with(a_job("nightly-1").of(1).gpus(1).owned_by("CronJob", "nightly"))
                           .build();
  const auto tasks = derive_tasks(cluster);
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].key.name, "nightly-1");
  EXPECT_EQ(tasks[1].kind, "JobSet");
  EXPECT_EQ(tasks[1].pods_wanted, 3);
  EXPECT_EQ(tasks[1].gpus_per_pod, 2);
}

TEST(Tasks, AreOnlyWhatAsksForGpusAndIsNotOver) {
  const auto cluster = two_nodes()
                           .with(a_pod("web").on("a"))
                           .with(a_job("cpu-job"))
                           .with(a_job("over").of(1).gpus(1).finished())
                           .build();
  EXPECT_TRUE(derive_tasks(cluster).empty());
  EXPECT_EQ(find_task(cluster, {"default", "web"}), std::nullopt);
}

TEST(Tasks, OfOneNameAreFoundJobFirst) {
  const auto cluster =
      two_nodes().with(a_pod("train").gpus(1)).with(a_job("train").of(1).gpus(1)).build();
  EXPECT_EQ(derive_tasks(cluster).size(), 2U);
  EXPECT_EQ(task_named(cluster, "train").kind, "Job");
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
