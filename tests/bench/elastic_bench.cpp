// A round of 1,000 elastic tasks: all of their curves fitted again, and their units divided.
#include <benchmark/benchmark.h>

#include "slackline/base/random.h"
#include "slackline/core/elastic/allocation.h"

namespace slackline {
namespace {

using namespace slackline::core;

constexpr std::size_t kElasticTasks = 1000;

struct Reported {
  ElasticTask task;
  LossHistory history;
};

std::vector<Reported> reported_tasks() {
  Random random(1);
  std::vector<Reported> all(kElasticTasks);
  for (Reported& one : all) {
    const double fall = random.uniform(0.5, 3);
    const double shift = random.uniform(1, 30);
    const auto reports = 20 + random.index(200);
    for (std::uint64_t k = 0; k < reports; ++k)
      one.history.observe(static_cast<double>(k), fall * shift / (static_cast<double>(k) + shift) +
                                                      0.15 + 0.01 * random.normal());
    one.task.units = 1 << random.index(4);
    one.task.most = 32;
    one.task.loss_range = one.history.range();
    one.task.iteration = one.history.iteration();
    one.task.iterations_per_s = [](int units) { return 0.02 * units; };
  }
  return all;
}

// Target: 20 ms.
void round_of_1000(benchmark::State& state, double restart_s) {
  std::vector<Reported> all = reported_tasks();
  std::vector<ElasticTask> tasks;
  for (auto _ : state) {
    tasks.clear();
    for (Reported& one : all) {
      one.task.curve = one.history.fit();
      tasks.push_back(one.task);
    }
    benchmark::DoNotOptimize(allocate_by_trades(tasks, {4000, 120, restart_s}));
  }
}

BENCHMARK_CAPTURE(round_of_1000, loss_greedy, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(round_of_1000, trades, 30)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slackline
