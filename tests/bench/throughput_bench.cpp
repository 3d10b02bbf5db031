// Throughput models: one prediction, all shapes of a task ranked, and 1,000 models fitted again.
#include <algorithm>
#include <random>

#include <benchmark/benchmark.h>

#include "slackline/core/planning/cost.h"
#include "slackline/core/planning/shapes.h"
#include "slackline/core/throughput/fit.h"
#include "slackline/core/throughput/predictor.h"
#include "support/throughput_samples.h"

namespace slackline {
namespace {

using namespace slackline::core;

// 50 measurements: ten layouts with five batches each, off by up to 5 %.
std::vector<ThroughputSample> fifty_samples() {
  return test::measured_by({"P2", {0.02, 0.001, 0.01, 0.004, 0.06, 0.003, 2, 0.03, 0.9}},
                           {8, 16, 32, 64, 128}, 0.05,
                           {"1x1", "1x2", "1x4", "2x1", "2x2", "2x4", "4x1", "4x4", "2+1", "4+3"});
}

ProfileEntry fitted(const std::string& kind, std::string type) {
  return to_profile_entry(fit_throughput(fifty_samples(), {kind}).value(), "resnet50",
                          GpuType(std::move(type)), 30, "bench");
}

// Target: 10^7 predictions a second on one core.
void predict(benchmark::State& state, const std::string& kind) {
  const PreparedModel model(fitted(kind, "T4"), 1024);
  int node = 0;
  for (auto _ : state) {
    node = node % 4 + 1;
    benchmark::DoNotOptimize(model.predict(Placement{node, 4}));
  }
  state.SetItemsProcessed(state.iterations());
}

// Target: 20 us for every shape of four GPU types with 64 nodes of 8 GPUs each.
void rank_shapes(benchmark::State& state) {
  const std::vector<std::string> types{"A100", "K80", "T4", "V100"};
  std::vector<ProfileEntry> entries;
  for (const std::string& type : types)
    entries.push_back(fitted("H", type));
  const Predictor predictor{WorkloadProfiles(std::move(entries))};
  std::size_t shapes = 0;
  for (auto _ : state) {
    std::vector<std::pair<double, Placement>> ranked;
    for (const std::string& type : types) {
      const Pool pool{GpuType(type), "nvidia.com/gpu", 64, 8, 1.0};
      const auto model = predictor.prepare("resnet50", 1024, pool.type);
      for (const Placement& shape : enumerate_placements(pool, {.batch = 1024}))
        if (const auto found = model->predict(shape))
          ranked.emplace_back(
              cer(found->throughput_samples_per_s, placement_cost(pool, shape, kDefaultTheta)),
              shape);
    }
    std::sort(ranked.begin(), ranked.end(), std::greater<>());
    shapes = ranked.size();
    benchmark::DoNotOptimize(ranked);
  }
  state.counters["shapes"] = static_cast<double>(shapes);
}

// Target: 10 ms a pair with its kind kept, 90 ms with the kind chosen again.
void refit(benchmark::State& state, const std::string& kind) {
  const auto samples = fifty_samples();
  for (auto _ : state)
    benchmark::DoNotOptimize(fit_throughput(samples, {kind}));
}

BENCHMARK_CAPTURE(predict, S, std::string("S"));
BENCHMARK_CAPTURE(predict, P2, std::string("P2"));
BENCHMARK_CAPTURE(predict, H, std::string("H"));
BENCHMARK(rank_shapes)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(refit, S, std::string("S"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(refit, A, std::string("A"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(refit, P2, std::string("P2"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(refit, H, std::string("H"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(refit, chosen, std::string("auto"))->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slackline
