// Random clusters for property tests: small, crowded and odd, the same for the same seed. Needs
// layer core.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "slackline/model/extender_messages.h"
#include "slackline/model/workload.h"
#include "support/cluster_builder.h"

namespace slackline::test {

inline constexpr const char* kShare = "gpu.example.com/mem-mib";  // counted by Slackline alone

inline GpuCatalog random_catalog() {
  GpuCatalog catalog = default_gpu_catalog();
  catalog.resources.push_back({kShare, GpuSharing::kVgpu, true});
  return catalog;
}

inline WorkloadProfiles random_profiles() {
  return WorkloadProfiles(
      {{"bert", GpuType("A100"), {"S", {100, 1, 0, 0.1, 1.4}}, 30, 12, std::nullopt, ""},
       {"bert", GpuType("K80"), {"S", {10, 0.1, 0, 0.1, 1.4}}, 30, 0, std::nullopt, ""},
       {"lstm", GpuType("T4"), {"S/mean", {80, 13.5, -0.107, 0.6, 1.35}}, 30, 3, std::nullopt, ""},
       {"lstm", GpuType("A100"), {"S", {0, 0, 0, 0, 1}}, 30, 3, std::nullopt, ""}});
}

class RandomCluster {
 public:
  explicit RandomCluster(std::uint64_t seed) : random_(seed) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool one_in(std::int64_t n) { return pick(1, n) == 1; }
  std::mt19937_64& engine() { return random_; }

  std::string node_name() { return "n" + std::to_string(pick(0, nodes_ - 1)); }

  ClusterSnapshot make() {
    ClusterBuilder cluster;
    nodes_ = pick(1, 8);
    for (std::int64_t i = 0; i < nodes_; ++i)
      cluster.with(node("n" + std::to_string(i)));
    for (std::int64_t i = pick(0, 3); i > 0; --i)
      add_job(cluster, "job-" + std::to_string(i));
    for (std::int64_t i = pick(0, 14); i > 0; --i)
      cluster.with(pod("pod-" + std::to_string(i)));
    if (one_in(3)) cluster.with(budget());
    return cluster.build();
  }

  // Any pod: bound, nominated, planned or none of it.
  PodBuilder pod(const std::string& name) {
    PodBuilder pod = request(name);
    if (one_in(2)) pod.on(node_name()).started(static_cast<double>(pick(0, 9000)));
    if (one_in(4)) pod.nominated(node_name());
    if (one_in(8)) pod.planned({node_name(), node_name()}, "plan-" + std::to_string(pick(1, 2)));
    if (one_in(8)) pod.deleting();
    return pod;
  }

  // What a pod asks for and says, without a place.
  PodBuilder request(const std::string& name) {
    PodBuilder pod = a_pod(name);
    if (!one_in(8)) pod.gpus(pick(1, 4));
    if (one_in(8)) pod.gpus(pick(1, 900), kShare);
    if (one_in(4)) pod.cpus(pick(1, 30));
    pod.priority(static_cast<std::int32_t>(pick(-1, 3)));
    if (one_in(2)) pod.managed();
    if (one_in(4)) pod.in_gang("g" + std::to_string(pick(1, 2)), 2);
    if (one_in(4)) pod.label("app", "guarded");
    if (one_in(4)) pod.trains(one_in(2) ? "bert" : "lstm", pick(1, 256), pick(0, 9000));
    if (one_in(5)) pod.accepts({type(), type()});
    if (one_in(4)) pod.intent().checkpoint_interval_s = static_cast<double>(pick(60, 600));
    return pod;
  }

 private:
  std::string type() {
    constexpr const char* kTypes[] = {"A100", "K80", "T4", "Quantum"};
    return kTypes[pick(0, 3)];
  }

  NodeBuilder node(const std::string& name) {
    NodeBuilder node = a_node(name).of(one_in(6) ? "" : type(), pick(0, 8));
    if (one_in(3)) node.resource(kShare, 1000);
    if (one_in(10)) node.unreadable("allocatable cpu: \"-1\"");
    if (one_in(10)) node.cordoned();
    return node;
  }

  void add_job(ClusterBuilder& cluster, const std::string& name) {
    const std::int64_t pods = pick(1, 3);
    const std::int64_t gpus = pick(1, 4);
    JobBuilder job =
        a_job(name).of(pods).gpus(gpus).priority(static_cast<std::int32_t>(pick(0, 3)));
    if (one_in(2)) job.gang();
    if (one_in(6)) job.suspended();
    std::vector<std::string> planned;
    for (std::int64_t i = 0; i < pods; ++i)
      planned.push_back(node_name());
    if (!one_in(3)) job.planned(planned);
    cluster.with(job);
    for (std::int64_t i = pick(0, pods); i > 0; --i) {
      PodBuilder member = a_pod(name + "-" + std::to_string(i)).of_job(name).gpus(gpus).managed();
      if (one_in(3)) member.on(node_name()).started(static_cast<double>(pick(0, 9000)));
      if (one_in(3)) member.nominated(planned[static_cast<std::size_t>(pick(0, pods - 1))]);
      cluster.with(member);
    }
  }

  DisruptionBudget budget() {
    DisruptionBudget budget;
    budget.key = {"default", "guard"};
    budget.match_labels = {{"app", "guarded"}};
    budget.disruptions_allowed = pick(0, 2);
    return budget;
  }

  std::mt19937_64 random_;
  std::int64_t nodes_ = 1;
};

// A request of filter and prioritize: a pod, and all nodes of a cluster with one that the cache
// does not know, in random order.
struct RandomQuestion {
  explicit RandomQuestion(std::uint64_t seed) {
    RandomCluster random(seed);
    cluster = random.make();
    request.pod = random.pod("asking").build();
    for (const NodeStatePtr& state : cluster.nodes)
      names.push_back(state->node->name.str());
    names.emplace_back("not-seen-yet");
    std::shuffle(names.begin(), names.end(), random.engine());
    request.node_names.assign(names.begin(), names.end());
  }

  ClusterSnapshot cluster;
  NodesRequest request;  // its views are into the names of the question that was made first
  GpuCatalog catalog = random_catalog();
  std::vector<std::string> names;
};

}  // namespace slackline::test
