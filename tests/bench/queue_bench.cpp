// A turn of the planner, part by part: the queue of Jobs that wait on a full cluster, and what is
// read of Jobs under way.
#include <benchmark/benchmark.h>

#include "slackline/base/text.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/handover/begin_starts.h"
#include "slackline/core/handover/hand_over.h"
#include "slackline/core/handover/own_writes.h"
#include "slackline/core/throughput/predictor.h"
#include "support/cluster_builder.h"

namespace slackline {
namespace {

using namespace slackline::test;

constexpr int kNodes = 500;

// As names come: not in the order of the creation.
std::string job_name(std::int64_t index) {
  return format("train-{:05}", index * 7919 % 100'000);
}

ClusterSnapshot full_cluster(std::int64_t jobs, std::int64_t nodes) {
  ClusterBuilder cluster;
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::string name = format("node-{:04}", i);
    cluster.with(a_node(name).of("K80", 4));
    cluster.with(a_pod(format("filler-{}", i)).gpus(4).on(name));
  }
  for (std::int64_t i = 0; i < jobs; ++i)
    cluster.with(a_job(job_name(i)).gpus(4).waiting());
  return cluster.build();
}

// Released Jobs, each with its pod behind the gate.
ClusterSnapshot released_jobs(std::int64_t jobs) {
  ClusterBuilder cluster;
  for (int i = 0; i < kNodes; ++i)
    cluster.with(a_node(format("node-{:04}", i)).of("K80", 4));
  for (std::int64_t i = 0; i < jobs; ++i) {
    const std::string node = format("node-{:04}", i % kNodes);
    cluster.with(a_job(job_name(i)).gpus(1).planned({node}));
    cluster.with(a_pod(job_name(i) + "-0").of_job(job_name(i)).gpus(1).gated());
  }
  return cluster.build();
}

// Bare pods on nodes, those of Deployments, and those of gangs that run.
ClusterSnapshot many_pods(std::int64_t nodes) {
  ClusterBuilder cluster;
  for (std::int64_t i = 0; i < nodes; ++i) {
    const std::string name = format("node-{:04}", i);
    cluster.with(a_node(name).of("K80", 8));
    for (int p = 0; p < 4; ++p)
      cluster.with(a_pod(format("serve-{}-{}", i, p)).gpus(1).on(name));
    cluster.with(a_job(job_name(i)).of(4).gang().gpus(1));
    for (int p = 0; p < 4; ++p)
      cluster.with(a_pod(format("{}-{}", job_name(i), p)).of_job(job_name(i)).gpus(1).on(name));
  }
  return cluster.build();
}

// A nomination of every second pod is on its way.
std::vector<OwnWrite> nominations(const ClusterSnapshot& snapshot) {
  std::vector<OwnWrite> writes;
  for (std::size_t i = 0; i < snapshot.unbound.size(); i += 2) {
    const NodeName& node = snapshot.node(static_cast<NodeIndex>(i % kNodes)).node->name;
    writes.push_back(pod_write(*snapshot.unbound[i], Nominate{node}));
  }
  return writes;
}

void make_queue(benchmark::State& state) {
  const ClusterSnapshot snapshot = full_cluster(state.range(0), state.range(1));
  const GpuCatalog catalog = default_gpu_catalog();
  core::QueueOptions options;
  options.catalog = &catalog;
  options.predictor = std::make_shared<const core::Predictor>(WorkloadProfiles{});
  core::TaskMenus menus;
  for (auto _ : state)
    benchmark::DoNotOptimize(core::make_queue(snapshot, options, menus));
}

void task_catalog(benchmark::State& state) {
  const ClusterSnapshot snapshot = many_pods(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(core::TaskCatalog(snapshot).parts().size());
}

void with_writes(benchmark::State& state) {
  const ClusterSnapshot snapshot = released_jobs(state.range(0));
  const std::vector<OwnWrite> writes = nominations(snapshot);
  for (auto _ : state)
    benchmark::DoNotOptimize(core::with_writes(snapshot, writes));
}

void hand_over(benchmark::State& state) {
  const ClusterSnapshot snapshot = released_jobs(state.range(0));
  const core::HandOverMemory fresh;
  for (auto _ : state) {
    core::HandOverMemory memory = fresh;
    core::PlanStamp stamp;
    benchmark::DoNotOptimize(core::hand_over(snapshot, {}, memory, stamp, 0, 0));
  }
}

BENCHMARK(make_queue)
    ->Args({600, kNodes})
    ->Args({10'000, kNodes})
    ->Args({100'000, 5'000})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(task_catalog)->Arg(1'400)->Unit(benchmark::kMicrosecond);
BENCHMARK(with_writes)->Arg(600)->Unit(benchmark::kMicrosecond);
BENCHMARK(hand_over)->Arg(600)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace slackline
