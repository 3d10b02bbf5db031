#include "sim/presets/dispatch_learning.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "sim/presets/each_seed.h"
#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

constexpr std::uint64_t kHistoryStream = 0x6265666f7265;
constexpr std::uint64_t kNewTasksStream = 0x6166746572;
constexpr int kNewTasks = 1500;  // of all worlds, but not too few of each
constexpr int kFewestNewTasks = 100;
constexpr std::string_view kCpuPart = "/cpu";
constexpr std::string_view kGpuPart = "/gpu";

using Circumstances = core::CorrectionTable::Circumstances;
using Samples = std::vector<core::CorrectionNet::Sample>;

Circumstances part_of(Circumstances placed, std::string_view part) {
  placed.family += part;
  return placed;
}

std::vector<double> features_of(const Circumstances& placed, bool on_gpu) {
  const auto* node =
      std::find_if(kDispatchNodes.begin(), kDispatchNodes.end(),
                   [&](const DispatchNode& one) { return one.type == placed.node_type; });
  std::vector<double> features = {
      on_gpu ? 1.0 : 0.0, static_cast<double>(node->gpu),  static_cast<double>(node->gpus),
      node->memory_gb,    placed.memory_short ? 1.0 : 0.0, placed.busy_share};
  for (const DispatchFamily& family : kDispatchFamilies)
    features.push_back(family.name == placed.family ? 1 : 0);
  return features;
}

DispatchLoad load_of(const NetTraining& training) {
  DispatchLoad load;
  load.per_minute = training.per_minute;
  load.clean = training.clean;
  load.nodes = training.nodes;
  return load;
}

void live_through(DispatchLoad load, std::uint64_t world, int tasks, std::uint64_t stream,
                  const DispatchPolicy& policy) {
  load.tasks = tasks;
  if (load.nodes == DispatchNodes::kChanging) load.nodes = DispatchNodes::kFirst;
  (void)run_dispatch(load, draw_hidden(load, world), draw_dispatched(load, world ^ stream), policy);
}

// Both parts of each task that the table dispatched in the worlds, in their order.
Samples samples_of(const NetTraining& training, int tasks, std::uint64_t stream) {
  const auto worlds = each_seed(training.worlds, [&](std::uint64_t world) {
    Samples samples;
    DispatchPolicy policy = dispatch_by_table();
    policy.learn = [&samples, learn = policy.learn](const DispatchChoice& to, double response_s,
                                                    const DispatchTimes& took) {
      learn(to, response_s, took);
      samples.push_back({features_of(to.placed, false), std::log(took.cpu)});
      samples.push_back({features_of(to.placed, true), std::log(took.gpu)});
    };
    live_through(load_of(training), world, tasks, stream, policy);
    return samples;
  });
  Samples all;
  for (const Samples& samples : worlds)
    all.insert(all.end(), samples.begin(), samples.end());
  return all;
}

}  // namespace

// On the times of the two parts: the queue in front of a task is predicted by them, too.
DispatchPolicy dispatch_by_table() {
  const auto table = std::make_shared<core::CorrectionTable>();
  return {[](const DispatchChoice& to) { return to.predicted_s; },
          [table](const DispatchChoice& to, double /*response_s*/, const DispatchTimes& took) {
            table->observe(part_of(to.placed, kCpuPart), took.cpu, 1);
            table->observe(part_of(to.placed, kGpuPart), took.gpu, 1);
          },
          [table](const Circumstances& placed) {
            return DispatchTimes{std::exp(table->log_factor(part_of(placed, kCpuPart))),
                                 std::exp(table->log_factor(part_of(placed, kGpuPart)))};
          }};
}

DispatchPolicy dispatch_by_net(std::shared_ptr<const core::CorrectionNet> net) {
  DispatchPolicy policy = dispatch_by_table();
  policy.factor = [net = std::move(net), table = policy.factor](const Circumstances& placed) {
    const auto cpu = net->log_factor(features_of(placed, false));
    const auto gpu = net->log_factor(features_of(placed, true));
    return cpu && gpu ? DispatchTimes{std::exp(*cpu), std::exp(*gpu)} : table(placed);
  };
  return policy;
}

void live_through_history(DispatchLoad load, std::uint64_t world, int tasks,
                          const DispatchPolicy& policy) {
  live_through(load, world, tasks, kHistoryStream, policy);
}

std::vector<std::string> dispatch_features() {
  std::vector<std::string> names = {"on_gpu",    "gpu_is_p4",    "gpus",
                                    "memory_gb", "memory_short", "busy_share"};
  for (const DispatchFamily& family : kDispatchFamilies)
    names.push_back(format("is_{}", family.name));
  return names;
}

core::CorrectionNet train_net(const NetTraining& training, const TrainingStep& step) {
  if (step) step(format("dispatching {} tasks", training.decisions));
  const Samples samples = samples_of(training, training.decisions_of_a_world(), kHistoryStream);
  return {samples, training.seed, [&](int pass, int of) {
            if (step) step(format("pass {} of {}", pass, of));
          }};
}

NetError error_of_net(const core::CorrectionNet& net, const NetTraining& training) {
  const int tasks = std::max(kNewTasks / static_cast<int>(training.worlds.size()), kFewestNewTasks);
  const Samples samples = samples_of(training, tasks, kNewTasksStream);
  NetError error;
  for (const auto& sample : samples) {
    error.before += std::abs(sample.log_ratio);
    error.after += std::abs(sample.log_ratio - net.log_factor(sample.features).value_or(0));
  }
  error.before /= static_cast<double>(samples.size());
  error.after /= static_cast<double>(samples.size());
  return error;
}

}  // namespace slackline::sim
