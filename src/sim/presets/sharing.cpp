// The preset `sharing`: tasks that may share GPUs, with measured pairs as the truth. All policies
// know which pairs do not run, and start the oldest of the first 20 waiting tasks that they can.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "sim/presets/each_seed.h"
#include "sim/presets/pair_world.h"
#include "sim/presets/preset.h"
#include "sim/presets/sharing_run.h"
#include "slackline/base/random.h"
#include "slackline/base/text.h"
#include "slackline/core/sharing/share.h"
#include "wire/samples/pair_codec.h"

namespace slackline::sim {
namespace {

using core::SharePick;

constexpr std::uint64_t kKnownStream = 0x70616972;  // seeds of what is drawn beside the tasks
constexpr std::uint64_t kPlaceStream = 0x706c616365;
constexpr std::string_view kBaseline = "least-loaded";
constexpr double kNoLimit = 0;

struct SharingExperiment {
  PairWorld world;
  SharingLoad load;
  double known = 0;
};

bool runs_beside(const PairWorld& world, const SharingState& state, std::size_t waiting,
                 std::size_t gpu) {
  const int kind = state.tasks[state.waiting[waiting]].kind;
  const auto& residents = state.gpus[gpu].residents;
  return residents.empty() || (residents.size() == 1 &&
                               world.speeds(kind, state.tasks[residents.front()].kind).least() > 0);
}

SharingScheduler exclusive(const SharingExperiment& /*of*/, std::uint64_t /*seed*/) {
  return {[](const SharingState& state) -> std::optional<SharePick> {
            const auto empty = state.places().empty;
            if (state.waiting.empty() || empty.empty()) return std::nullopt;
            return SharePick{0, empty.front()};
          },
          [](int, int) {}};
}

// The oldest task that runs somewhere, on the GPU that `choose` takes of those where it does.
template <class Choose>
SharingScheduler any_partner(const PairWorld& world, Choose choose) {
  return {[&world, choose](const SharingState& state) mutable -> std::optional<SharePick> {
            for (std::size_t i = 0; i < std::min(state.waiting.size(), core::kShareWindow); ++i) {
              std::vector<std::size_t> gpus;
              for (std::size_t gpu = 0; gpu < state.gpus.size(); ++gpu)
                if (runs_beside(world, state, i, gpu)) gpus.push_back(gpu);
              if (!gpus.empty()) return SharePick{i, choose(state, gpus)};
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

// Partners by predicted speeds, from a table that learns from what it sees.
class ByPairs {
 public:
  ByPairs(const PairWorld& world, core::PairTable table, const core::SharingLimits& limits)
      : world_(world),
        limits_(limits),
        table_(std::move(table)),
        model_(core::PairModel::fit(table_)) {}

  std::optional<SharePick> pick(const SharingState& state) {
    return core::pick_share(
        state.waiting.size(), state.places(), [&](std::size_t waiting, std::size_t gpu) {
          const auto resident = state.gpus[gpu].residents.front();
          return core::judge_share(portrait(state.tasks[state.waiting[waiting]].kind),
                                   portrait(state.tasks[resident].kind), {1, {}, {}}, model_,
                                   limits_);
        });
  }

  void saw(int a, int b) {
    table_.observe(world_.task(a), world_.task(b), world_.speeds(a, b));
    model_ = core::PairModel::fit(table_);
  }

 private:
  // Memory is no question: pairs that do not run are marked in the table.
  core::ShareTask portrait(int kind) const {
    core::ShareTask task;
    task.task = world_.task(kind);
    task.memory_bytes = 0;
    return task;
  }

  const PairWorld& world_;
  core::SharingLimits limits_;
  core::PairTable table_;
  core::PairModel model_;
};

SharingScheduler by_pairs(const SharingExperiment& of, std::uint64_t seed, double known,
                          const core::SharingLimits& limits) {
  auto pairs = of.world.shuffled(seed ^ kKnownStream);
  pairs.resize(static_cast<std::size_t>(std::lround(known * static_cast<double>(pairs.size()))));
  const auto policy = std::make_shared<ByPairs>(of.world, of.world.table(pairs), limits);
  return {[policy](const SharingState& state) { return policy->pick(state); },
          [policy](int a, int b) { policy->saw(a, b); }};
}

SharingScheduler pairs(const SharingExperiment& of, std::uint64_t seed) {
  return by_pairs(of, seed, of.known, {});
}

SharingScheduler pairs_no_veto(const SharingExperiment& of, std::uint64_t seed) {
  core::SharingLimits limits;
  limits.least_sum = kNoLimit;
  limits.least_speed = kNoLimit;
  return by_pairs(of, seed, of.known, limits);
}

SharingScheduler pairs_from_zero(const SharingExperiment& of, std::uint64_t seed) {
  return by_pairs(of, seed, 0, {});
}

SharingScheduler pairs_exact(const SharingExperiment& of, std::uint64_t seed) {
  return by_pairs(of, seed, 1, {});
}

struct SharingPolicy {
  std::string_view name;
  SharingScheduler (*make)(const SharingExperiment& of, std::uint64_t seed);
};

constexpr SharingPolicy kPolicies[] = {
    {"exclusive", exclusive},         {"random", random_partner},
    {kBaseline, least_loaded},        {"pairs", pairs},
    {"pairs/no-veto", pairs_no_veto}, {"pairs/from-zero", pairs_from_zero},
    {"pairs/exact", pairs_exact},
};
constexpr auto kSharingNames = names_of(kPolicies);

SharingOutcome play(const SharingExperiment& of, std::string_view name, std::uint64_t seed) {
  return run_sharing(of.world, draw_sharing_tasks(of.load, of.world.tasks(), seed), of.load.gpus,
                     policy_named(kPolicies, name).make(of, seed));
}

Result<PresetReport> run_sharing_preset(const PresetRequest& request) {
  const PresetFile& file = request.files.find("pairs")->second;
  SLACKLINE_ASSIGN(const PairMeasurements measured,
                   wire::read_pairs(file.text, file.path, file.part));
  const SharingExperiment experiment{
      PairWorld(measured),
      {request.whole("gpus"), request.whole("jobs"), request.number("load")},
      request.number("known")};
  const auto runs = each_seed(request.seeds, [&](std::uint64_t seed) {
    std::vector<SharingOutcome> outcomes = {play(experiment, kBaseline, seed)};
    for (const std::string& policy : request.policies)
      outcomes.push_back(play(experiment, policy, seed));
    return outcomes;
  });
  PresetReport report;
  report.figures = {"jct_ratio", "worst_slowdown"};
  for (std::size_t i = 0; i < request.policies.size(); ++i) {
    double ratio = 0;
    double worst = 0;
    for (const auto& outcomes : runs) {
      ratio += outcomes[i + 1].mean_completion_s / outcomes[0].mean_completion_s;
      worst = std::max(worst, outcomes[i + 1].worst_slowdown);
    }
    report.rows.push_back({request.policies[i], {ratio / static_cast<double>(runs.size()), worst}});
  }
  report.note = format(
      "{}: {} tasks, {} of {} pairs run together. jct_ratio: mean completion time over that of {}, "
      "mean over seeds; worst_slowdown: (finish - start) / run time alone.",
      measured.gpu_type.str(), measured.tasks.size(), experiment.world.feasible().size(),
      measured.pairs.size(), kBaseline);
  return report;
}

constexpr PresetOption kSharingOptions[] = {
    {"pairs", PresetKind::kFile, "", "Measured pairs, FILE[:TYPE]: JSON as Gavel publishes it"},
    {"known", PresetKind::kNumber, "0.2", "Share of the pairs that the table knows at first", 0, 1},
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
