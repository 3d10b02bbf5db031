// The preset `paper001`: which node gets a task when it arrives. Its figures are ratios to the
// least predicted finish, corrected by one ratio a family and type of node (mct+ratio).
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sim/presets/dispatch_run.h"
#include "sim/presets/each_seed.h"
#include "sim/presets/preset.h"
#include "slackline/base/random.h"
#include "slackline/base/text.h"
#include "slackline/core/learning/correction_net.h"

namespace slackline::sim {
namespace {

constexpr std::string_view kMctRatio = "mct+ratio";
constexpr int kHistory = 6000;  // tasks of the same world that were dispatched before
constexpr std::uint64_t kTasksStream = 0x7461736b73;
constexpr std::uint64_t kHistoryStream = 0x6265666f7265;
constexpr std::uint64_t kDispatchChance = 0x64696365;
constexpr std::string_view kCpuPart = "/cpu";
constexpr std::string_view kGpuPart = "/gpu";

// One draw of the hidden factors, the tasks that are judged, and those that came before.
struct DispatchWorld {
  DispatchLoad load;
  std::uint64_t seed = 0;
  HiddenFactors hidden;
  std::vector<DispatchTask> tasks;
};

DispatchWorld world_of(const DispatchLoad& load, std::uint64_t seed) {
  return {load, seed, draw_hidden(load, seed), draw_dispatched(load, seed ^ kTasksStream)};
}

DispatchPolicy at_random(const DispatchWorld& world) {
  const auto random = std::make_shared<Random>(world.seed ^ kDispatchChance);
  return {[random](const DispatchChoice&) { return random->uniform(); }};
}

DispatchPolicy by_least_tasks(const DispatchWorld& /*world*/) {
  return {[](const DispatchChoice& to) { return static_cast<double>(to.residents); }};
}

// A free GPU of the type on which the family is relatively fastest; else as least-tasks.
DispatchPolicy by_pats(const DispatchWorld& /*world*/) {
  return {[](const DispatchChoice& to) {
    return to.idle_gpu ? to.relative : 1000 + static_cast<double>(to.residents);
  }};
}

DispatchPolicy by_finish(const DispatchWorld& /*world*/) {
  return {[](const DispatchChoice& to) { return to.predicted_s; }};
}

DispatchPolicy by_true_finish(const DispatchWorld& /*world*/) {
  return {[](const DispatchChoice& to) { return to.predicted_s; }, {}, {}, /*clairvoyant=*/true};
}

// Observed over predicted response time, the mean of each family and type of node.
class DispatchRatios {
 public:
  double of(const core::CorrectionTable::Circumstances& placed) const {
    const auto found = ratios_.find({placed.family, placed.node_type});
    return found == ratios_.end() ? 1 : found->second.first / found->second.second;
  }
  void observe(const core::CorrectionTable::Circumstances& placed, double ratio) {
    auto& [sum, count] = ratios_[{placed.family, placed.node_type}];
    sum += ratio;
    ++count;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::pair<double, double>> ratios_;
};

DispatchPolicy by_ratio(const DispatchWorld& /*world*/) {
  const auto ratios = std::make_shared<DispatchRatios>();
  return {[ratios](const DispatchChoice& to) { return to.predicted_s * ratios->of(to.placed); },
          [ratios](const DispatchChoice& to, double response_s, const DispatchTimes&) {
            ratios->observe(to.placed, response_s / to.predicted_s);
          }};
}

// The table on whole response times, as the paper's scorer learns them: it cannot tell a slow node
// from a long queue.
DispatchPolicy by_response(const DispatchWorld& /*world*/) {
  const auto table = std::make_shared<core::CorrectionTable>();
  return {[table](const DispatchChoice& to) {
            return std::log(to.predicted_s) + table->log_factor(to.placed);
          },
          [table](const DispatchChoice& to, double response_s, const DispatchTimes&) {
            table->observe(to.placed, response_s, to.predicted_s);
          }};
}

core::CorrectionTable::Circumstances part_of(core::CorrectionTable::Circumstances placed,
                                             std::string_view part) {
  placed.family += part;
  return placed;
}

// The table on the times of the two parts: the queue in front of a task is predicted by them, too.
DispatchPolicy by_table(const DispatchWorld& /*world*/) {
  const auto table = std::make_shared<core::CorrectionTable>();
  return {[](const DispatchChoice& to) { return to.predicted_s; },
          [table](const DispatchChoice& to, double /*response_s*/, const DispatchTimes& took) {
            table->observe(part_of(to.placed, kCpuPart), took.cpu, 1);
            table->observe(part_of(to.placed, kGpuPart), took.gpu, 1);
          },
          [table](const core::CorrectionTable::Circumstances& placed) {
            return DispatchTimes{std::exp(table->log_factor(part_of(placed, kCpuPart))),
                                 std::exp(table->log_factor(part_of(placed, kGpuPart)))};
          }};
}

// Of the tasks that came before, dispatched by this policy.
void live_through_history(const DispatchWorld& world, const DispatchPolicy& policy) {
  DispatchLoad before = world.load;
  before.tasks = kHistory;
  before.node_changes = false;
  (void)run_dispatch(before, world.hidden, draw_dispatched(before, world.seed ^ kHistoryStream),
                     policy);
}

// What was learnt of the tasks before, and no more.
DispatchPolicy by_table_with_history(const DispatchWorld& world) {
  DispatchPolicy policy = by_table(world);
  live_through_history(world, policy);
  policy.learn = {};
  return policy;
}

// What a part of a task meets on a node, in numbers: no node and no type of node has a name here.
std::vector<double> features_of(const core::CorrectionTable::Circumstances& placed, bool on_gpu) {
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

// One network for all nodes, trained on the same history, then fixed.
DispatchPolicy by_net(const DispatchWorld& world) {
  std::vector<core::CorrectionNet::Sample> samples;
  DispatchPolicy before = by_table(world);
  before.learn = [&samples, learn = before.learn](const DispatchChoice& to, double response_s,
                                                  const DispatchTimes& took) {
    learn(to, response_s, took);
    samples.push_back({features_of(to.placed, false), std::log(took.cpu)});
    samples.push_back({features_of(to.placed, true), std::log(took.gpu)});
  };
  live_through_history(world, before);
  const auto net = std::make_shared<const core::CorrectionNet>(samples, world.seed);
  return {before.cost,
          {},
          [net, table = before.factor](const core::CorrectionTable::Circumstances& placed) {
            const auto cpu = net->log_factor(features_of(placed, false));
            const auto gpu = net->log_factor(features_of(placed, true));
            return cpu && gpu ? DispatchTimes{std::exp(*cpu), std::exp(*gpu)} : table(placed);
          }};
}

struct DispatchPolicyRow {
  std::string_view name;
  DispatchPolicy (*make)(const DispatchWorld& world);
};

constexpr DispatchPolicyRow kDispatchPolicies[] = {{kMctRatio, by_ratio},
                                                   {"random", at_random},
                                                   {"least-tasks", by_least_tasks},
                                                   {"pats", by_pats},
                                                   {"mct", by_finish},
                                                   {"table", by_table},
                                                   {"table+history", by_table_with_history},
                                                   {"learned", by_net},
                                                   {"table/response", by_response},
                                                   {"clairvoyant", by_true_finish}};
constexpr auto kDispatchNames = names_of(kDispatchPolicies);

DispatchOutcome dispatch_by(const DispatchWorld& world, std::string_view name) {
  return run_dispatch(world.load, world.hidden, world.tasks,
                      policy_named(kDispatchPolicies, name).make(world));
}

Result<PresetReport> run_paper001(const PresetRequest& request) {
  DispatchLoad load;
  load.tasks = request.whole("jobs");
  load.per_minute = request.number("rate");
  load.clean = request.flag("clean");
  load.node_changes = request.flag("node-changes");
  const auto runs = each_seed(request.seeds, [&](std::uint64_t seed) {
    const DispatchWorld world = world_of(load, seed);
    std::vector<DispatchOutcome> outcomes = {dispatch_by(world, kMctRatio)};
    for (const std::string& policy : request.policies)
      outcomes.push_back(dispatch_by(world, policy));
    return outcomes;
  });
  PresetReport report;
  report.figures = {"response_ratio", "throughput_ratio", "worst_world", "response_s"};
  for (std::size_t i = 0; i < request.policies.size(); ++i) {
    double response_log = 0;
    double throughput_log = 0;
    double worst = 0;
    double mean_s = 0;
    const auto worlds = static_cast<double>(runs.size());
    for (const auto& outcomes : runs) {
      const DispatchOutcome& base = outcomes.front();
      const DispatchOutcome& one = outcomes[i + 1];
      const double ratio = one.mean_response_s / base.mean_response_s;
      response_log += std::log(ratio) / worlds;
      throughput_log += std::log(one.throughput_per_s / base.throughput_per_s) / worlds;
      worst = std::max(worst, ratio);
      mean_s += one.mean_response_s / worlds;
    }
    report.rows.push_back(
        {request.policies[i], {std::exp(response_log), std::exp(throughput_log), worst, mean_s}});
  }
  report.note = format(
      "{} tasks at {:g} a minute on 11 nodes{}. Mean response time and throughput over those of {} "
      "in the same world, geometric means over {} worlds; worst_world: the largest ratio.",
      load.tasks, load.per_minute, load.node_changes ? " (8, then 11, then 9)" : "", kMctRatio,
      request.seeds.size());
  return report;
}

constexpr PresetOption kPaper001Options[] = {
    {"rate", PresetKind::kNumber, "48", "Tasks a minute", 0.1, 1000},
    {"jobs", PresetKind::kWhole, "1500", "Tasks of one world", 1, 20000},
    {"clean", PresetKind::kFlag, "", "Predictions are right, and nobody slows anybody"},
    {"node-changes", PresetKind::kFlag, "",
     "8 nodes at first, 11 from the 1000th task on, 9 from the 2000th"},
};

}  // namespace

const Preset kPaper001Preset{
    "paper001",       "Which node gets a task when it arrives; predictions that learn (LDWP)",
    "worlds",         "0-4",
    kDispatchNames,   kDispatchNames.size(),
    kPaper001Options, run_paper001};

}  // namespace slackline::sim
