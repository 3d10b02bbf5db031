// Test clusters that read like prose:
//
//   const ClusterSnapshot cluster = a_cluster()
//                                       .with(a_node("gpu-1").of("A100", 4))
//                                       .with(a_job("train").of(2).gang().gpus(4).planned({"gpu-1"}))
//                                       .with(a_pod("train-0").of_job("train").gpus(4).on("gpu-1"))
//                                       .build();
//
// Names are "name" (namespace "default") or "namespace/name"; uids are "uid:namespace/name"
// ("job:..." for Jobs). A node has 8 CPUs and 64 GiB per GPU unless said otherwise, a pod asks for
// 1 CPU and 1 GiB. Every plan is sighted at steady time 0 unless said otherwise; holds are derived.
// Needs layer core.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "slackline/core/cluster/make_snapshot.h"
#include "slackline/model/snapshot.h"
#include "support/object_builders.h"

namespace slackline::test {

class ClusterBuilder {
 public:
  ClusterBuilder& add(Node node) { return nodes_.push_back(std::move(node)), *this; }
  ClusterBuilder& add(Pod pod) { return pods_.push_back(std::move(pod)), *this; }
  ClusterBuilder& add(Job job) { return jobs_.push_back(std::move(job)), *this; }
  ClusterBuilder& with(const NodeBuilder& node) { return nodes_.push_back(node.build()), *this; }
  ClusterBuilder& with(const PodBuilder& pod) { return pods_.push_back(pod.build()), *this; }
  ClusterBuilder& with(const JobBuilder& job) { return jobs_.push_back(job.build()), *this; }
  ClusterBuilder& with(DisruptionBudget budget) {
    budgets_.push_back(std::make_shared<const DisruptionBudget>(std::move(budget)));
    return *this;
  }
  ClusterBuilder& with(const QuotaBuilder& quota) {
    quotas_.push_back(std::make_shared<const ResourceQuota>(quota.build()));
    return *this;
  }
  // When the plan on this object (pod_uid("x"), job_uid("x")) was first seen, and last progressed.
  ClusterBuilder& sighted(const Uid& carrier, double first_seen_s, double last_progress_s = 0) {
    sightings_[carrier] = PlanSighting{0, first_seen_s, last_progress_s};
    return *this;
  }

  // A pod of a Job that has succeeded on its node; steady. Its Job had counted so many before it.
  ClusterBuilder& succeeded(const PodBuilder& pod, double at_s, std::int64_t counted = 0) {
    succeeded_.push_back({std::make_shared<const Pod>(pod.build()), at_s, counted});
    return *this;
  }

  ClusterSnapshot build() const {
    ClusterSnapshot snapshot;
    snapshot.succeeded = succeeded_;
    snapshot.version = 1;
    snapshot.synced = true;
    Sightings sightings;
    add_nodes(snapshot, sightings);
    for (const Job& job : jobs_) {
      snapshot.jobs.push_back(std::make_shared<const Job>(job));
      if (job.plan) sight(sightings, job.uid, job.plan->value_hash);
    }
    snapshot.sightings = std::make_shared<const Sightings>(std::move(sightings));
    std::sort(snapshot.jobs.begin(), snapshot.jobs.end(),
              [](const JobPtr& a, const JobPtr& b) { return a->key < b->key; });
    snapshot.budgets = budgets_;
    std::sort(snapshot.budgets.begin(), snapshot.budgets.end(),
              [](const auto& a, const auto& b) { return a->key < b->key; });
    snapshot.quotas = quotas_;
    std::sort(snapshot.quotas.begin(), snapshot.quotas.end(),
              [](const auto& a, const auto& b) { return a->key < b->key; });
    return core::make_snapshot(std::move(snapshot));
  }

 private:
  void sight(Sightings& sightings, const Uid& carrier, std::uint64_t value_hash) const {
    const auto at = sightings_.find(carrier);
    PlanSighting sighting = at == sightings_.end() ? PlanSighting{} : at->second;
    sighting.value_hash = value_hash;
    sightings.emplace(carrier, sighting);
  }

  void add_nodes(ClusterSnapshot& snapshot, Sightings& sightings) const {
    std::map<std::string, NodeState> states;
    for (const Node& node : nodes_)
      states[node.name.str()].node = std::make_shared<const Node>(node);
    for (const Pod& pod : pods_) {
      if (pod.plan) sight(sightings, pod.uid, pod.plan->value_hash);
      if (pod.terminal()) continue;
      const auto shared = std::make_shared<const Pod>(pod);
      const auto at = states.find(pod.node.str());
      if (!pod.bound()) {
        snapshot.unbound.push_back(shared);
      } else if (at != states.end()) {
        at->second.pods.push_back(shared);
        at->second.used += pod.requests;
      }
    }
    for (auto& [name, state] : states) {
      std::sort(state.pods.begin(), state.pods.end(),
                [](const PodPtr& a, const PodPtr& b) { return a->uid < b->uid; });
      snapshot.nodes.push_back(std::make_shared<const NodeState>(std::move(state)));
    }
    std::sort(snapshot.unbound.begin(), snapshot.unbound.end(),
              [](const PodPtr& a, const PodPtr& b) { return a->key < b->key; });
  }

  std::vector<Node> nodes_;
  std::vector<Pod> pods_;
  std::vector<Job> jobs_;
  std::vector<SucceededPod> succeeded_;
  std::vector<std::shared_ptr<const DisruptionBudget>> budgets_;
  std::vector<std::shared_ptr<const ResourceQuota>> quotas_;
  std::map<Uid, PlanSighting> sightings_;
};

inline ClusterBuilder a_cluster() {
  return ClusterBuilder{};
}
}  // namespace slackline::test
