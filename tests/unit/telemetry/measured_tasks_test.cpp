// Which tasks of a cluster are measured.
#include "telemetry/measured_tasks.h"

#include <gmock/gmock.h>

#include "support/cluster_builder.h"

namespace slackline::telemetry {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

constexpr double kNow_s = 1.8e9;

Pod started(Pod pod, double at_s) {
  pod.started_s = at_s;
  return pod;
}

TEST(MeasuredTasksTest, PodsOfAJobAreOneTaskAndAPodAloneIsOne) {
  const ClusterSnapshot cluster =
      a_cluster()
          .with(a_node("n").of("A100", 8))
          .with(a_job("ml/train").of(2).gpus(2))
          .add(started(a_pod("ml/train-1").of_job("ml/train").gpus(2).on("n").build(), kNow_s - 50))
          .add(started(a_pod("ml/train-0").of_job("ml/train").gpus(2).on("n").build(), kNow_s - 60))
          .add(started(a_pod("ml/alone").gpus(1).on("n").build(), kNow_s - 10))
          .add(started(a_pod("ml/web").on("n").build(), kNow_s - 10))
          .with(a_pod("ml/not-started").gpus(1).on("n"))
          .build();
  const auto tasks = running_tasks(cluster, default_gpu_catalog(), kNow_s);
  ASSERT_EQ(tasks.size(), 2u)
      << "a pod without GPUs is no task, one that has not started uses none";
  EXPECT_EQ(tasks[0].task.str(), "ml/alone");
  EXPECT_EQ(tasks[1].task.str(), "ml/train");
  EXPECT_EQ(tasks[1].run, test::job_uid("ml/train"));
  EXPECT_EQ(tasks[1].window.from_s, kNow_s - 60);
  EXPECT_EQ(tasks[1].window.to_s, kNow_s);
  ASSERT_EQ(tasks[1].pods.size(), 2u);
  EXPECT_EQ(tasks[1].pods[0].name, "train-0");
  EXPECT_EQ(tasks[1].pods[0].gpus, 2);
  EXPECT_FALSE(tasks[1].pods[0].shares_gpus);
}

TEST(MeasuredTasksTest, ATimeSlicedNodeSharesItsGpus) {
  const ClusterSnapshot cluster =
      a_cluster()
          .with(a_node("n").of("T4-SHARED", 8))
          .add(started(a_pod("ml/a").gpus(1).on("n").build(), kNow_s - 10))
          .build();
  const auto tasks = running_tasks(cluster, default_gpu_catalog(), kNow_s);
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_TRUE(tasks[0].pods[0].shares_gpus);
}

}  // namespace
}  // namespace slackline::telemetry
