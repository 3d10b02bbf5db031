// What must hold of holds in every cluster; 10,000 random ones.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/task_catalog.h"
#include "support/random_cluster.h"

namespace slackline::core {
namespace {

using namespace slackline::test;

constexpr std::uint64_t kHeldClusters = 10000;

std::size_t jobs_with_holds = 0;  // that the generator makes some

bool same(const Hold& a, const Hold& b) {
  return a.amount == b.amount && a.rank == b.rank && a.task == b.task && a.gang == b.gang &&
         a.pod == b.pod && a.expires_s == b.expires_s;
}

void are_the_same_for_the_same_snapshot(const ClusterSnapshot& cluster) {
  const HoldTable again = derive_holds(cluster);
  for (NodeIndex node = 0; node < cluster.nodes.size(); ++node) {
    const std::span<const Hold> holds = again.on(node);
    const std::span<const Hold> before = cluster.holds_on(node);
    ASSERT_EQ(holds.size(), before.size());
    for (std::size_t i = 0; i < holds.size(); ++i)
      ASSERT_TRUE(same(holds[i], before[i]));
  }
}

void count_every_nomination_once(const ClusterSnapshot& cluster) {
  std::map<std::string, NodeIndex> held;
  for (NodeIndex node = 0; node < cluster.nodes.size(); ++node)
    for (const Hold& hold : cluster.holds_on(node))
      ASSERT_TRUE(hold.pod.empty() || held.emplace(hold.pod.str(), node).second);
  std::size_t nominated = 0;
  for (const PodPtr& pod : cluster.unbound) {
    if (pod->nominated_node.empty() || pod->deleting) continue;
    ++nominated;
    ASSERT_EQ(held.at(pod->uid.str()), *cluster.find_node(pod->nominated_node.str()));
  }
  ASSERT_EQ(held.size(), nominated);
}

// GPUs that the pods of a Job that are not bound would take: what exists, else what it still wants.
std::int64_t unbound_request(const ClusterSnapshot& cluster, const Job& job) {
  std::int64_t bound = 0;
  for (const NodeStatePtr& state : cluster.nodes)
    for (const PodPtr& pod : state->pods)
      bound += pod->owner && pod->owner->uid == job.uid ? 1 : 0;
  std::int64_t existing = 0;
  for (const PodPtr& pod : cluster.unbound)
    existing += pod->owner && pod->owner->uid == job.uid;
  return std::max(existing, job.parallelism - bound) * job.pod_requests.gpu_count(kGpu);
}

void never_exceed_the_tasks_own_unbound_request(const ClusterSnapshot& cluster) {
  for (const JobPtr& job : cluster.jobs) {
    std::int64_t held = 0;
    for (const Hold& hold : cluster.holds.all())
      if (hold.task == job->uid) held += hold.amount.gpu_count(kGpu);
    ASSERT_LE(held, unbound_request(cluster, *job)) << job->key.str();
    jobs_with_holds += held > 0 ? 1 : 0;
  }
}

TEST(TasksProperty, HoldEveryGpuPodExactlyOnce) {
  for (std::uint64_t seed = 1; seed <= kHeldClusters / 10; ++seed) {
    const ClusterSnapshot cluster = RandomCluster(seed).make();
    std::int64_t pods = 0;
    for (const PodPtr& pod : cluster.unbound)
      pods += pod->requests.wants_gpus() ? 1 : 0;
    for (const NodeStatePtr& state : cluster.nodes)
      for (const PodPtr& pod : state->pods)
        pods += pod->requests.wants_gpus() ? 1 : 0;
    std::set<std::tuple<ObjectKey, TaskKind, std::string>> keys;
    for (const Task& task : TaskCatalog(cluster).tasks()) {
      pods -= task.pods_bound + task.pods_unbound;
      ASSERT_TRUE(keys.emplace(task.key, task.kind, task.controller).second) << "seed " << seed;
      ASSERT_GE(task.pods_wanted, task.pods_bound + task.pods_unbound);
    }
    ASSERT_EQ(pods, 0) << "seed " << seed;
  }
}

TEST(HoldsProperty, HoldsInEveryCluster) {
  constexpr void (*kChecks[])(const ClusterSnapshot&) = {
      are_the_same_for_the_same_snapshot, count_every_nomination_once,
      never_exceed_the_tasks_own_unbound_request};
  for (std::uint64_t seed = 1; seed <= kHeldClusters; ++seed) {
    const ClusterSnapshot cluster = RandomCluster(seed).make();
    for (const auto check : kChecks)
      check(cluster);
    if (HasFatalFailure()) FAIL() << "in the cluster of seed " << seed;
  }
  EXPECT_GT(jobs_with_holds, 1000U);
}

}  // namespace
}  // namespace slackline::core
