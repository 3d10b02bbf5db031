// filter and score at 500 and 5,000 requested nodes: idle, busy, with holds, with a model,
// shuffled.
#include <random>

#include <benchmark/benchmark.h>

#include "slackline/base/text.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/verbs/filter.h"
#include "slackline/core/verbs/score.h"
#include "support/cluster_builder.h"

namespace slackline {
namespace {

using namespace slackline::test;

constexpr const char* kTypes[] = {"A100", "V100", "T4", "K80"};

// Three of four nodes run pods; every tenth node is held for a gated pod.
ClusterSnapshot busy_cluster(std::int64_t nodes) {
  ClusterBuilder cluster;
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::string name = format("gpu-node-{:05}", i);
    cluster.with(a_node(name).of(kTypes[i / 7 % 4], 8));
    for (std::int64_t p = 0; p < i % 4; ++p)
      cluster.with(a_pod(format("train-{}-{}", i, p)).gpus(1 + i % 2).on(name));
    if (i % 10 == 0)
      cluster.with(a_pod(format("next-{}", i)).gpus(4).priority(5).gated().nominated(name));
  }
  return cluster.build();
}

WorkloadProfiles profiles() {
  std::vector<ProfileEntry> entries;
  double speed = 96;
  for (const char* type : kTypes) {
    entries.push_back({"resnet50",
                       GpuType(type),
                       {"S", {speed, 0.42, -0.0021, 0.12, 1.4}},
                       30,
                       12,
                       std::nullopt,
                       "bench"});
    speed /= 2;
  }
  return WorkloadProfiles(std::move(entries));
}

NodesRequest request_for(const ClusterSnapshot& snapshot, PodBuilder pod, bool shuffled) {
  NodesRequest request;
  request.pod = pod.build();
  for (const NodeStatePtr& state : snapshot.nodes)
    request.node_names.push_back(state->node->name.str());
  if (shuffled) std::shuffle(request.node_names.begin(), request.node_names.end(), std::mt19937(7));
  return request;
}

PodBuilder typical_pod() {
  return a_pod("new").gpus(2).trains("resnet50", 256, 9000).accepts({"A100", "V100", "T4"});
}

void filter(benchmark::State& state) {
  const ClusterSnapshot snapshot = busy_cluster(state.range(0));
  const NodesRequest request = request_for(snapshot, typical_pod(), state.range(1) != 0);
  const GpuCatalog catalog = default_gpu_catalog();
  for (auto _ : state)
    benchmark::DoNotOptimize(core::filter_nodes(snapshot, request, {{.catalog = &catalog}}));
}

void score(benchmark::State& state) {
  const ClusterSnapshot snapshot = busy_cluster(state.range(0));
  const NodesRequest request = request_for(snapshot, typical_pod(), state.range(1) != 0);
  const GpuCatalog catalog = default_gpu_catalog();
  const auto known = std::make_shared<const core::Predictor>(profiles());
  const std::vector<core::Pool> pools = core::derive_pools(snapshot, catalog);
  const bool given = state.range(2) != 0;
  for (auto _ : state) {
    const auto sheet = core::score_nodes(
        snapshot, request, {{.catalog = &catalog, .predictor = known}, given ? &pools : nullptr});
    benchmark::DoNotOptimize(core::to_reply(sheet));
  }
}

void derive_holds(benchmark::State& state) {
  const ClusterSnapshot snapshot = busy_cluster(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(core::derive_holds(snapshot));
}

void make_node_table(benchmark::State& state) {
  const ClusterSnapshot snapshot = busy_cluster(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(slackline::make_node_table(snapshot.nodes));
}

BENCHMARK(filter)
    ->ArgNames({"nodes", "shuffled"})
    ->ArgsProduct({{500, 5000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(score)
    ->ArgNames({"nodes", "shuffled", "pools_given"})
    ->ArgsProduct({{500, 5000}, {0, 1}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(make_node_table)->Arg(5000)->Unit(benchmark::kMicrosecond);
BENCHMARK(derive_holds)->Arg(5000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace slackline
