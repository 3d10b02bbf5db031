// What a live pass costs: the answers of a Prometheus about 10,000 running pods become samples.
#include <string>

#include <benchmark/benchmark.h>

#include "slackline/base/text.h"
#include "telemetry/usage_join.h"
#include "wire/telemetry/prometheus_codec.h"

namespace slackline::telemetry {
namespace {

constexpr double kEnd_s = 1.8e9;
constexpr int kGpusOfAPod = 4;

std::vector<MeasuredTask> tasks_of(std::int64_t pods) {
  std::vector<MeasuredTask> tasks;
  for (std::int64_t i = 0; i < pods; ++i)
    tasks.push_back({{"ml", format("train-{}", i)},
                     Uid(format("u-{}", i)),
                     {kEnd_s - 3600, kEnd_s},
                     {{format("train-{}-0", i), kGpusOfAPod, false}}});
  return tasks;
}

// As a Prometheus writes it: one series a GPU, or a container.
std::string answer(std::int64_t pods, int parts, const char* label) {
  std::string body = R"({"status":"success","data":{"resultType":"vector","result":[)";
  for (std::int64_t i = 0; i < pods; ++i)
    for (int part = 0; part < parts; ++part)
      body += format(
          R"({}{{"metric":{{"Hostname":"node-{}","{}":"GPU-{}-{}","exported_container":"main",)"
          R"("exported_namespace":"ml","exported_pod":"train-{}-0"}},"value":[1800000000,"0.53"]}})",
          i + part > 0 ? "," : "", i / 2, label, i, part, i);
  return body + "]}}";
}

void live_pass(benchmark::State& state) {
  const std::vector<MeasuredTask> tasks = tasks_of(state.range(0));
  const std::string of_gpus = answer(state.range(0), kGpusOfAPod, "UUID");
  const std::string of_containers = answer(state.range(0), 1, "id");
  const LabelNames names;
  for (auto _ : state) {
    UsageJoin join(tasks, make_steps({kEnd_s - 60, kEnd_s}, 60), names);
    for (std::size_t i = 0; i < kQuantityCount; ++i) {
      const auto quantity = static_cast<Quantity>(i);
      const auto decoded =
          wire::decode_query_answer(quantity <= Quantity::kGpuMemoryMax ? of_gpus : of_containers);
      join.add(quantity, decoded->series);
    }
    benchmark::DoNotOptimize(join.samples_of_steps());
  }
}
BENCHMARK(live_pass)->ArgName("pods")->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace slackline::telemetry
