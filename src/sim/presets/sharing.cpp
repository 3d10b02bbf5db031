// The preset `sharing`: tasks that may share GPUs, with measured pairs as the truth. All policies
// know which pairs do not run, and start the oldest of the first 20 waiting tasks that they can.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "sim/presets/each_seed.h"
#include "sim/presets/pair_world.h"
#include "sim/presets/preset.h"
#include "sim/presets/sharing_run.h"
#include "slackline/base/random.h"
#include "slackline/base/text.h"
#include "slackline/core/sharing/task_variants.h"
#include "wire/samples/pair_codec.h"

namespace slackline::sim {
namespace {

constexpr std::uint64_t kKnownStream = 0x70616972;  // seeds of what is drawn beside the tasks
constexpr std::uint64_t kPlaceStream = 0x706c616365;
constexpr std::string_view kBaseline = "least-loaded";
constexpr std::string_view kFastestBaseline = "fastest-any";
constexpr double kNoLimit = 0;
constexpr double kLiteralLeastSpeed = 0.5;  // of a variant alone, over the fastest one's

struct SharingExperiment {
  PairWorld world;
  SharingLoad load;
  double known = 0;
  double bound = 0;
};

bool runs_beside(const PairWorld& world, const SharingState& state, std::size_t waiting,
                 std::size_t gpu) {
  const int kind = state.tasks[state.waiting[waiting]].kind;
  const auto& residents = state.gpus[gpu].residents;
  return residents.empty() || (residents.size() == 1 &&
                               world.speeds(kind, state.tasks[residents.front()].kind).least() > 0);
}

SharingScheduler exclusive(const SharingExperiment& /*of*/, std::uint64_t /*seed*/) {
  return {[](const SharingState& state) -> std::optional<SharingStart> {
            const auto empty = state.places().empty;
            if (state.waiting.empty() || empty.empty()) return std::nullopt;
            return SharingStart{0, empty.front(), {}};
          },
          [](int, int) {}};
}

// The oldest task that runs somewhere, on the GPU that `choose` takes of those where it does.
template <class Choose>
SharingScheduler any_partner(const PairWorld& world, Choose choose) {
  return {[&world, choose](const SharingState& state) mutable -> std::optional<SharingStart> {
            for (std::size_t i = 0; i < std::min(state.waiting.size(), core::kShareWindow); ++i) {
              std::vector<std::size_t> gpus;
              for (std::size_t gpu = 0; gpu < state.gpus.size(); ++gpu)
                if (runs_beside(world, state, i, gpu)) gpus.push_back(gpu);
              if (!gpus.empty()) return SharingStart{i, choose(state, gpus), {}};
            }
            return std::nullopt;
          },
          [](int, int) {}};
}

SharingScheduler random_partner(const SharingExperiment& of, std::uint64_t seed) {
  return any_partner(of.world,
                     [random = Random(seed ^ kPlaceStream)](
                         const SharingState&, const std::vector<std::size_t>& gpus) mutable {
                       return gpus[random.index(gpus.size())];
                     });
}

SharingScheduler least_loaded(const SharingExperiment& of, std::uint64_t /*seed*/) {
  return any_partner(of.world, [](const SharingState& state, const std::vector<std::size_t>& gpus) {
    return *std::min_element(gpus.begin(), gpus.end(), [&state](std::size_t a, std::size_t b) {
      return state.gpus[a].residents.size() < state.gpus[b].residents.size();
    });
  });
}

struct PairRules {
  core::SharingLimits limits;
  std::optional<core::VariantLimits> variants;  // nullopt: a task starts as it is
  core::SharingScore score = core::SharingScore::kPairs;
};

constexpr core::SharingLimits kNoVeto{
    .least_sum = kNoLimit, .least_speed = kNoLimit, .most_gpu_util = {}, .most_gpu_mem_util = {}};

// Partners by predicted speeds, from a table that learns from what it sees.
class ByPairs {
 public:
  ByPairs(const SharingExperiment& of, core::PairTable table, const PairRules& rules);

  std::optional<SharingStart> pick(const SharingState& state) const;
  void saw(int a, int b) {
    table_.observe(world_.task(a), world_.task(b), world_.speeds(a, b));
    model_ = core::PairModel::fit(table_);
  }

 private:
  core::VariantVerdict judge(int kind, int resident) const;

  const PairWorld& world_;
  PairRules rules_;
  core::PairTable table_;
  core::PairModel model_;
  std::vector<core::ShareTask> newcomers_;  // of each kind
  std::vector<core::ShareTask> residents_;  // the same with their bound
  std::vector<std::vector<core::TaskVariant>> variants_;
};

ByPairs::ByPairs(const SharingExperiment& of, core::PairTable table, const PairRules& rules)
    : world_(of.world),
      rules_(rules),
      table_(std::move(table)),
      model_(core::PairModel::fit(table_)) {
  for (int kind = 0; kind < world_.tasks(); ++kind) {
    core::ShareTask task;
    task.task = world_.task(kind);
    task.memory_bytes = 0;  // no question: pairs that do not run are marked in the table
    task.gpu_utilisation = world_.utilisation(kind);
    task.gpu_metrics = world_.metrics(kind);
    newcomers_.push_back(task);
    if (rules_.limits.least_speed > kNoLimit) task.least_speed = of.bound;
    residents_.push_back(task);
  }
  for (int kind = 0; kind < world_.tasks(); ++kind) {
    std::vector<core::TaskVariant>& variants = variants_.emplace_back();
    for (const int variant : world_.variants(kind))
      variants.push_back(
          {newcomers_[static_cast<std::size_t>(variant)], world_.speed_alone(variant)});
  }
}

std::optional<SharingStart> ByPairs::pick(const SharingState& state) const {
  const auto kind = [&](std::size_t waiting) { return state.tasks[state.waiting[waiting]].kind; };
  const auto beside = [&](std::size_t waiting, std::size_t gpu) {
    return judge(kind(waiting), state.tasks[state.gpus[gpu].residents.front()].kind);
  };
  const auto pick = core::pick_share(
      state.waiting.size(), state.places(),
      [&](std::size_t waiting, std::size_t gpu) { return beside(waiting, gpu).share; });
  if (!pick) return std::nullopt;
  SharingStart start{pick->waiting, pick->gpu, {}};
  if (rules_.variants && !state.gpus[pick->gpu].residents.empty())
    start.variant = world_.variants(kind(pick->waiting))[beside(pick->waiting, pick->gpu).variant];
  return start;
}

core::VariantVerdict ByPairs::judge(int kind, int resident) const {
  constexpr core::SharedGpu kGpu{1, {}, {}};
  const auto at = static_cast<std::size_t>(kind);
  const core::ShareTask& beside = residents_[static_cast<std::size_t>(resident)];
  if (!rules_.variants)
    return {core::judge_share(newcomers_[at], beside, kGpu, model_, rules_.limits, rules_.score),
            0};
  return core::judge_variants(variants_[at], beside, world_.speed_alone(resident), kGpu, model_,
                              rules_.limits, *rules_.variants);
}

SharingScheduler by_pairs(const SharingExperiment& of, std::uint64_t seed, double known,
                          const PairRules& rules) {
  auto pairs = of.world.shuffled(seed ^ kKnownStream);
  pairs.resize(static_cast<std::size_t>(std::lround(known * static_cast<double>(pairs.size()))));
  const auto policy = std::make_shared<ByPairs>(of, of.world.table(pairs), rules);
  return {[policy](const SharingState& state) { return policy->pick(state); },
          [policy](int a, int b) { policy->saw(a, b); }};
}

SharingScheduler pairs(const SharingExperiment& of, std::uint64_t seed) {
  return by_pairs(of, seed, of.known, {});
}

SharingScheduler pairs_no_veto(const SharingExperiment& of, std::uint64_t seed) {
  return by_pairs(of, seed, of.known, {kNoVeto, {}});
}

template <core::SharingScore kScore>
SharingScheduler scored(const SharingExperiment& of, std::uint64_t seed) {
  return by_pairs(of, seed, of.known, {{}, {}, kScore});
}

template <core::SharingScore kScore>
SharingScheduler scored_no_veto(const SharingExperiment& of, std::uint64_t seed) {
  return by_pairs(of, seed, of.known, {kNoVeto, {}, kScore});
}

SharingScheduler pairs_from_zero(const SharingExperiment& of, std::uint64_t seed) {
  return by_pairs(of, seed, 0, {});
}

SharingScheduler pairs_exact(const SharingExperiment& of, std::uint64_t seed) {
  return by_pairs(of, seed, 1, {});
}

SharingScheduler variants(const SharingExperiment& of, std::uint64_t seed) {
  return by_pairs(of, seed, of.known, {{}, core::VariantLimits{}});
}

// As the paper has it: of all variants the one with the least overhead.
SharingScheduler variants_literal(const SharingExperiment& of, std::uint64_t seed) {
  return by_pairs(
      of, seed, of.known,
      {{}, core::VariantLimits{kLiteralLeastSpeed, 0, core::VariantScore::kLeastOverhead}});
}

struct SharingPolicy {
  std::string_view name;
  SharingScheduler (*make)(const SharingExperiment& of, std::uint64_t seed);
  bool fastest = false;  // every task is the fastest variant of its family
  std::string_view baseline = kBaseline;
};

constexpr SharingPolicy kPolicies[] = {
    {"exclusive", exclusive},
    {"random", random_partner},
    {kBaseline, least_loaded},
    {"pairs", pairs},
    {"pairs/no-veto", pairs_no_veto},
    {"pairs/from-zero", pairs_from_zero},
    {"pairs/exact", pairs_exact},
    {"utilisation", scored<core::SharingScore::kUtilisation>},
    {"utilisation/no-veto", scored_no_veto<core::SharingScore::kUtilisation>},
    {"cosine", scored<core::SharingScore::kCosine>},
    {"cosine/no-veto", scored_no_veto<core::SharingScore::kCosine>},
    {kFastestBaseline, least_loaded, true, kFastestBaseline},
    {"fastest-best", pairs, true, kFastestBaseline},
    {"variants", variants, true, kFastestBaseline},
    {"variants/literal", variants_literal, true, kFastestBaseline},
};
constexpr auto kSharingNames = names_of(kPolicies);

SharingOutcome play(const SharingExperiment& of, const SharingPolicy& policy, std::uint64_t seed) {
  auto tasks = draw_sharing_tasks(of.load, of.world.tasks(), seed);
  if (policy.fastest)
    for (SharingTask& task : tasks)
      task.kind = of.world.fastest(task.kind);
  return run_sharing(of.world, tasks, of.load.gpus, of.bound, policy.make(of, seed));
}

using SharingOutcomes = std::map<std::string_view, SharingOutcome>;  // by policy, of one seed

std::vector<double> figures_of(const std::vector<SharingOutcomes>& runs,
                               const SharingPolicy& policy) {
  double ratio = 0;
  double worst = 0;
  double joined = 0;
  double broken = 0;
  for (const SharingOutcomes& outcomes : runs) {
    const SharingOutcome& outcome = outcomes.at(policy.name);
    ratio += outcome.mean_completion_s / outcomes.at(policy.baseline).mean_completion_s;
    worst = std::max(worst, outcome.worst_slowdown);
    joined += outcome.joined;
    broken += outcome.bound_broken;
  }
  return {ratio / static_cast<double>(runs.size()), worst, joined > 0 ? broken / joined : 0};
}

Result<PresetReport> run_sharing_preset(const PresetRequest& request) {
  const PresetFile& file = request.files.find("pairs")->second;
  SLACKLINE_ASSIGN(const PairMeasurements measured,
                   read_pair_file(file.text, file.path, file.part));
  const SharingExperiment experiment{
      PairWorld(measured),
      {request.whole("gpus"), request.whole("jobs"), request.number("load")},
      request.number("known"),
      request.number("bound")};
  const auto runs = each_seed(request.seeds, [&](std::uint64_t seed) {
    SharingOutcomes outcomes;
    for (const std::string& name : request.policies)
      for (const std::string_view each :
           {policy_named(kPolicies, name).baseline, std::string_view(name)})
        if (!outcomes.contains(each))
          outcomes[each] = play(experiment, policy_named(kPolicies, each), seed);
    return outcomes;
  });
  PresetReport report;
  report.figures = {"jct_ratio", "worst_slowdown", "bound_broken"};
  for (const std::string& name : request.policies)
    report.rows.push_back({name, figures_of(runs, policy_named(kPolicies, name))});
  report.note = format(
      "{}: {} tasks, {} of {} pairs run together. jct_ratio: mean completion time over that of {}, "
      "where tasks may be the fastest of their variants over that of {}, mean over seeds; "
      "worst_slowdown: (finish - start) / run time alone; bound_broken: of the tasks started "
      "beside "
      "a resident the share that left it less than {:g} of its speed alone.",
      measured.gpu_type.str(), measured.tasks.size(), experiment.world.feasible().size(),
      measured.pairs.size(), kBaseline, kFastestBaseline, experiment.bound);
  return report;
}

constexpr PresetOption kSharingOptions[] = {
    {"pairs", PresetKind::kFile, "", "Measured pairs, FILE[:TYPE]: JSON as Gavel publishes it", 0,
     0, "TYPE"},
    {"known", PresetKind::kNumber, "0.2", "Share of the pairs that the table knows at first", 0, 1},
    {"bound", PresetKind::kNumber, "0.45", "Least speed a resident accepts, of that alone", 0.05,
     1},
    {"load", PresetKind::kNumber, "1.0", "Run time alone of all tasks over GPU time", 0.01, 10},
    {"jobs", PresetKind::kWhole, "500", "Tasks of one seed", 1, 20000},
    {"gpus", PresetKind::kWhole, "16", "GPUs, two tasks on each at most", 1, 1000},
};

}  // namespace

const Preset kSharingPreset{
    "sharing",       "Tasks that may share GPUs; who sits beside whom by measured pairs",
    "seeds",         "0-7",
    kSharingNames,   4,
    kSharingOptions, run_sharing_preset};

}  // namespace slackline::sim
