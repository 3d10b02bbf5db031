// The preset `paper001`: which node gets a task when it arrives. Its figures are ratios to the
// least predicted finish, corrected by one ratio a family and type of node (mct+ratio).
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/presets/dispatch_dqn.h"
#include "sim/presets/dispatch_learning.h"
#include "sim/presets/dispatch_run.h"
#include "sim/presets/each_seed.h"
#include "sim/presets/network_file.h"
#include "sim/presets/preset.h"
#include "slackline/base/random.h"
#include "slackline/base/text.h"
#include "slackline/core/learning/correction_table.h"

namespace slackline::sim {
namespace {

constexpr std::string_view kMctRatio = "mct+ratio";
constexpr std::string_view kLearned = "learned";
constexpr std::string_view kNetwork = "network";
constexpr std::uint64_t kTasksStream = 0x7461736b73;
constexpr std::uint64_t kDispatchChance = 0x64696365;

// One draw of the hidden factors, and the tasks that are judged.
struct DispatchWorld {
  DispatchLoad load;
  std::uint64_t seed = 0;
  HiddenFactors hidden;
  std::vector<DispatchTask> tasks;
  std::shared_ptr<const core::CorrectionNet> net;  // null: `learned` trains its own
};

DispatchWorld world_of(const DispatchLoad& load, std::uint64_t seed,
                       std::shared_ptr<const core::CorrectionNet> net) {
  return {load, seed, draw_hidden(load, seed), draw_dispatched(load, seed ^ kTasksStream),
          std::move(net)};
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

DispatchPolicy by_table(const DispatchWorld& /*world*/) {
  return dispatch_by_table();
}

// What was learnt of the tasks before, and no more.
DispatchPolicy by_table_with_history(const DispatchWorld& world) {
  DispatchPolicy policy = dispatch_by_table();
  live_through_history(world.load, world.seed, kDispatchHistory, policy);
  policy.learn = {};
  return policy;
}

// One network for all nodes, trained on the same history unless one is given, then fixed.
DispatchPolicy by_net(const DispatchWorld& world) {
  if (world.net) return dispatch_by_net(world.net);
  const DispatchLoad& load = world.load;
  return dispatch_by_net(std::make_shared<const core::CorrectionNet>(train_net(
      {{world.seed}, load.per_minute, load.clean, kDispatchHistory, world.seed, load.nodes})));
}

// After paper 001, trained on the same history, then fixed.
template <DqnKind kKind>
DispatchPolicy by_dqn(const DispatchWorld& world) {
  DqnDispatcher dqn(kKind, world.seed);
  live_through_history(world.load, world.seed, kDispatchHistory, dqn.learning());
  return dqn.fixed();
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
                                                   {kLearned, by_net},
                                                   {"table/response", by_response},
                                                   {"clairvoyant", by_true_finish},
                                                   {"dqn", by_dqn<DqnKind::kPaper>},
                                                   {"dqn/adam", by_dqn<DqnKind::kAdam>},
                                                   {"dqn/now", by_dqn<DqnKind::kNow>},
                                                   {"dqn/shared", by_dqn<DqnKind::kShared>},
                                                   {"dqn/shared-now", by_dqn<DqnKind::kSharedNow>}};
constexpr std::size_t kDispatchCompared = 10;  // by themselves: all but the networks of rewards
constexpr auto kDispatchNames = names_of(kDispatchPolicies);

DispatchOutcome dispatch_by(const DispatchWorld& world, std::string_view name) {
  return run_dispatch(world.load, world.hidden, world.tasks,
                      policy_named(kDispatchPolicies, name).make(world));
}

// Of --network; nullopt: it was not given.
Result<std::optional<TrainedNet>> network_of(const PresetRequest& request) {
  const auto file = request.files.find(kNetwork);
  if (file == request.files.end()) return std::nullopt;
  if (std::find(request.policies.begin(), request.policies.end(), kLearned) ==
      request.policies.end())
    return fail(ErrorCode::kInvalidArgument,
                format("--{} is for the policy {}, which is not compared", kNetwork, kLearned));
  auto trained = read_network(file->second.text, file->second.path);
  if (!trained) return fail(in_file(trained.error()));
  return std::optional(*std::move(trained));
}

// Nodes join and leave by the number of the task, so few tasks do not see it.
std::string_view nodes_of(const DispatchLoad& load) {
  const auto tasks = static_cast<std::size_t>(load.tasks);
  if (load.nodes == DispatchNodes::kAll) return "11 nodes";
  if (tasks <= kDispatchNodesJoin) return "8 nodes (too few tasks for the others to join)";
  if (tasks <= kDispatchNodesLeave) return "11 nodes (8, then 11)";
  return "11 nodes (8, then 11, then 9)";
}

std::string note_of(const DispatchLoad& load, std::size_t worlds,
                    const std::optional<TrainedNet>& trained) {
  std::string note = format(
      "{} tasks at {:g} a minute on {}. Mean response time and throughput over those of {} "
      "in the same world, geometric means over {} worlds; worst_world: the largest ratio.",
      load.tasks, load.per_minute, nodes_of(load), kMctRatio, worlds);
  const bool changes = load.nodes == DispatchNodes::kChanging;
  if (changes) note += " Policies with a history have lived it on the first 8 nodes.";
  if (trained)
    note += format(" {}: trained on {}{}.", kLearned, describe(trained->training),
                   changes ? ", on all 11 nodes" : "");
  return note;
}

Result<PresetReport> run_paper001(const PresetRequest& request) {
  SLACKLINE_ASSIGN(const std::optional<TrainedNet> trained, network_of(request));
  const auto net = trained ? std::make_shared<const core::CorrectionNet>(trained->net) : nullptr;
  DispatchLoad load;
  load.tasks = request.whole("jobs");
  load.per_minute = request.number("rate");
  load.clean = request.flag("clean");
  if (request.flag("node-changes")) load.nodes = DispatchNodes::kChanging;
  const auto runs = each_seed(request.seeds, [&](std::uint64_t seed) {
    const DispatchWorld world = world_of(load, seed, net);
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
  report.note = note_of(load, request.seeds.size(), trained);
  return report;
}

constexpr PresetOption kPaper001Options[] = {
    {"rate", PresetKind::kNumber, "48", "Tasks a minute", 0.1, 1000},
    {"jobs", PresetKind::kWhole, "1500", "Tasks of one world", 1, 20000},
    {"clean", PresetKind::kFlag, "", "Predictions are right, and nobody slows anybody"},
    {"node-changes", PresetKind::kFlag, "",
     "8 nodes at first, 11 from the 1000th task on, 9 from the 2000th"},
    {kNetwork, PresetKind::kOptionalFile, "",
     "What `slackline train` wrote, for the policy learned; "
     "else it is trained on 6000 tasks of each world"},
};

}  // namespace

const Preset kPaper001Preset{
    "paper001",       "Which node gets a task when it arrives; predictions that learn (LDWP)",
    "worlds",         "0-4",
    kDispatchNames,   kDispatchCompared,
    kPaper001Options, run_paper001};

}  // namespace slackline::sim
