// The preset `match`: tasks of one GPU each on a cluster of several GPU types, with measured speeds
// as the truth. Which waiting task gets the GPU that became free (core/learning/match.h)?
#include "slackline/core/learning/match.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>

#include "sim/presets/each_seed.h"
#include "sim/presets/preset.h"
#include "sim/presets/sharing_run.h"
#include "slackline/base/random.h"
#include "slackline/base/text.h"
#include "wire/samples/sample_import.h"

namespace slackline::sim {
namespace {

using core::MatchPick;
using core::MatchTask;
using core::RelativeSpeeds;

constexpr std::uint64_t kKnownKindsStream =
    0x6d61746368;  // seeds of what is drawn beside the tasks
constexpr std::uint64_t kChanceStream = 0x6368616e6365;
constexpr std::string_view kFastestFree = "fastest-free";
constexpr double kLeastDue = 1.3;  // deadline, in run times on the fastest type
constexpr double kMostDue = 8;

// Kinds of tasks, and how fast they run on each type: geometric mean 1 over the types.
struct MatchWorld {
  std::vector<RelativeSpeeds::Kind> kinds;
  std::vector<std::vector<double>> speed;  // by kind and type
};

struct MatchExperiment {
  MatchWorld world;
  std::vector<std::string> types;
  int gpus = 8;  // of each type
  int tasks = 500;
  double load = 1;
  double known = 1;
};

struct MatchJob {
  std::size_t kind = 0;
  double submit_s = 0;
  double work_s = 0;  // at speed 1
  double due_s = 0;
};

struct MatchOutcome {
  double mean_completion_s = 0;
  double makespan_s = 0;
  double longest_wait_s = 0;
  double in_time = 0;  // percent
};

// Work at speed 1 that the cluster gets done in a second by random assignment, where a task always
// waits: a GPU takes the next one when it is free.
double capacity(const MatchExperiment& of) {
  double done = 0;
  for (std::size_t type = 0; type < of.types.size(); ++type) {
    double time_s = 0;
    for (const auto& speed : of.world.speed)
      time_s += 1 / speed[type] / static_cast<double>(of.world.kinds.size());
    done += of.gpus / time_s;
  }
  return done;
}

// Load 1: as much work comes as random assignment gets done.
std::vector<MatchJob> draw_jobs(const MatchExperiment& of, std::uint64_t seed) {
  Random random(seed);
  std::vector<MatchJob> jobs(static_cast<std::size_t>(of.tasks));
  double work_s = 0;
  for (MatchJob& job : jobs) {
    job.kind = random.index(of.world.kinds.size());
    job.work_s = draw_run_s(random);
    work_s += job.work_s;
  }
  const double between_s = work_s / of.tasks / capacity(of) / of.load;
  double now_s = 0;
  for (MatchJob& job : jobs) {
    job.submit_s = now_s += random.exponential(between_s);
    const auto& speed = of.world.speed[job.kind];
    const double fastest_s = job.work_s / *std::max_element(speed.begin(), speed.end());
    job.due_s = job.submit_s + fastest_s * random.uniform(kLeastDue, kMostDue);
  }
  return jobs;
}

struct MatchState {
  std::vector<MatchTask> waiting;  // as the policy sees them, the oldest first
  std::vector<int> gpus;           // by type
  std::vector<int> free;
};

using PickMatch = std::function<std::optional<MatchPick>(const MatchState&)>;

// One simulated run of one policy.
class MatchRun {
 public:
  MatchRun(const MatchExperiment& of, std::uint64_t seed, PickMatch pick)
      : of_(of),
        jobs_(draw_jobs(of, seed)),
        pick_(std::move(pick)),
        known_(of.types.size()),
        estimates_(of.world.kinds.size()),
        gpus_(of.types.size(), of.gpus),
        free_(gpus_) {
    std::vector<std::size_t> order(of.world.kinds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(seed ^ kKnownKindsStream);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.index(i)]);
    order.resize(static_cast<std::size_t>(
        std::lround(of.known * static_cast<double>(of.world.kinds.size()))));
    for (const std::size_t kind : order)
      for (std::size_t type = 0; type < of.types.size(); ++type)
        known_.observe(of.world.kinds[kind], type, of.world.speed[kind][type]);
  }

  MatchOutcome play() {
    std::size_t arrived = 0;
    while (arrived < jobs_.size() || !running_.empty()) {
      const double arrival_s = arrived < jobs_.size() ? jobs_[arrived].submit_s : kNever;
      const double finish_s = running_.empty() ? kNever : running_.top().at_s;
      now_s_ = std::min(arrival_s, finish_s);
      if (finish_s <= arrival_s)
        finish();
      else
        waiting_.push_back(arrived++);
      start_picked();
    }
    outcome_.makespan_s = now_s_;
    outcome_.mean_completion_s /= static_cast<double>(jobs_.size());
    outcome_.in_time *= 100.0 / static_cast<double>(jobs_.size());
    return outcome_;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Running {
    double at_s = 0;  // its end
    std::size_t job = 0;
    std::size_t type = 0;
    bool operator<(const Running& other) const { return at_s > other.at_s; }
  };

  // A run that ended is a measurement.
  void finish() {
    const Running done = running_.top();
    running_.pop();
    ++free_[done.type];
    const MatchJob& job = jobs_[done.job];
    outcome_.mean_completion_s += now_s_ - job.submit_s;
    outcome_.in_time += now_s_ <= job.due_s ? 1 : 0;
    known_.observe(of_.world.kinds[job.kind], done.type, of_.world.speed[job.kind][done.type]);
    estimates_.assign(of_.world.kinds.size(), std::nullopt);
  }

  void start_picked() {
    while (!waiting_.empty() && std::accumulate(free_.begin(), free_.end(), 0) > 0) {
      const auto pick = pick_({seen(), gpus_, free_});
      if (!pick) return;
      const std::size_t at = waiting_[pick->waiting];
      const MatchJob& job = jobs_[at];
      outcome_.longest_wait_s = std::max(outcome_.longest_wait_s, now_s_ - job.submit_s);
      --free_[pick->type];
      running_.push({now_s_ + job.work_s / of_.world.speed[job.kind][pick->type], at, pick->type});
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(pick->waiting));
    }
  }

  std::vector<MatchTask> seen() {
    std::vector<MatchTask> tasks;
    for (const std::size_t at : waiting_) {
      const MatchJob& job = jobs_[at];
      auto& speed = estimates_[job.kind];
      if (!speed) speed = known_.of(of_.world.kinds[job.kind]);
      MatchTask task{now_s_ - job.submit_s, {}, speed->measured};
      for (const double on : speed->speed)
        task.time_s.push_back(job.work_s / on);
      tasks.push_back(std::move(task));
    }
    return tasks;
  }

  const MatchExperiment& of_;
  const std::vector<MatchJob> jobs_;
  const PickMatch pick_;
  RelativeSpeeds known_;
  std::vector<std::optional<RelativeSpeeds::Estimate>> estimates_;  // of `known_`, by kind
  const std::vector<int> gpus_;
  std::vector<int> free_;
  std::vector<std::size_t> waiting_;
  std::priority_queue<Running> running_;
  double now_s_ = 0;
  MatchOutcome outcome_;
};

PickMatch by_match(double patience) {
  return [patience](const MatchState& state) {
    return core::match(state.waiting, state.gpus, state.free, patience);
  };
}

PickMatch pick_fastest(std::uint64_t /*seed*/) {
  return [](const MatchState& state) { return core::fastest_free(state.waiting, state.free); };
}

PickMatch pick_match(std::uint64_t /*seed*/) {
  return by_match(core::kMatchPatience);
}

PickMatch pick_match_without_aging(std::uint64_t /*seed*/) {
  return by_match(std::numeric_limits<double>::infinity());
}

// The oldest task on any free GPU.
PickMatch pick_random(std::uint64_t seed) {
  return [random = std::make_shared<Random>(seed ^ kChanceStream)](
             const MatchState& state) -> std::optional<MatchPick> {
    auto gpu = static_cast<int>(random->index(
        static_cast<std::uint64_t>(std::accumulate(state.free.begin(), state.free.end(), 0))));
    for (std::size_t type = 0; type < state.free.size(); ++type) {
      if (gpu < state.free[type]) return MatchPick{0, type};
      gpu -= state.free[type];
    }
    return std::nullopt;
  };
}

struct MatchPolicy {
  std::string_view name;
  PickMatch (*make)(std::uint64_t seed);
};

constexpr MatchPolicy kMatchPolicies[] = {{kFastestFree, pick_fastest},
                                          {"match", pick_match},
                                          {"match/no-aging", pick_match_without_aging},
                                          {"random", pick_random}};
constexpr auto kMatchNames = names_of(kMatchPolicies);

MatchOutcome play(const MatchExperiment& of, std::string_view name, std::uint64_t seed) {
  return MatchRun(of, seed, policy_named(kMatchPolicies, name).make(seed)).play();
}

Result<std::vector<std::string>> types_in(const std::string& text) {
  std::vector<std::string> types;
  for (const std::string_view type : split(text, ','))
    types.push_back(to_upper(trim(type)));
  std::vector<std::string> sorted = types;
  std::sort(sorted.begin(), sorted.end());
  if (types.size() < 2 || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return fail(ErrorCode::kInvalidArgument,
                format("--types \"{}\": name two or more GPU types, each once, as in k80,p100",
                       printable(text, 64)));
  return types;
}

// Kinds that run on one GPU of each of the types.
Result<MatchWorld> world_of(const std::vector<ThroughputSample>& samples,
                            const std::vector<std::string>& types) {
  std::map<RelativeSpeeds::Kind, std::vector<double>> speeds;
  std::vector<bool> found(types.size());
  for (const ThroughputSample& sample : samples) {
    if (sample.layout.spread().gpus != 1) continue;
    const auto type = std::find(types.begin(), types.end(), to_upper(sample.gpu_type.str()));
    if (type == types.end()) continue;
    const auto at = static_cast<std::size_t>(type - types.begin());
    found[at] = true;
    auto& of_kind = speeds[{sample.model, format("{:g}", sample.batch)}];
    of_kind.resize(types.size());
    of_kind[at] = sample.throughput_samples_per_s;
  }
  for (std::size_t type = 0; type < types.size(); ++type)
    if (!found[type])
      return fail(ErrorCode::kInvalidArgument,
                  format("--types: the file has no speed on one {}", printable(types[type], 64)));
  MatchWorld world;
  for (auto& [kind, speed] : speeds) {
    if (std::any_of(speed.begin(), speed.end(), [](double on) { return on <= 0; })) continue;
    double log_mean = 0;
    for (const double on : speed)
      log_mean += std::log(on) / static_cast<double>(speed.size());
    for (double& on : speed)
      on /= std::exp(log_mean);
    world.kinds.push_back(kind);
    world.speed.push_back(std::move(speed));
  }
  if (world.kinds.empty())
    return fail(ErrorCode::kInvalidArgument, "--types: no task of the file runs on all of them");
  return world;
}

Result<MatchExperiment> experiment_of(const PresetRequest& request) {
  const PresetFile& file = request.files.find("speeds")->second;
  MatchExperiment experiment;
  SLACKLINE_ASSIGN(experiment.types, types_in(request.text("types")));
  const auto speeds = wire::import_samples("gavel", {file.path, file.text}, {});
  if (!speeds) return fail(in_file(speeds.error()));
  SLACKLINE_ASSIGN(experiment.world, world_of(speeds->samples, experiment.types));
  experiment.gpus = request.whole("gpus");
  experiment.tasks = request.whole("jobs");
  experiment.load = request.number("load");
  experiment.known = request.number("known");
  return experiment;
}

Result<PresetReport> run_match_preset(const PresetRequest& request) {
  SLACKLINE_ASSIGN(const MatchExperiment experiment, experiment_of(request));
  const auto runs = each_seed(request.seeds, [&](std::uint64_t seed) {
    std::vector<MatchOutcome> outcomes = {play(experiment, kFastestFree, seed)};
    for (const std::string& policy : request.policies)
      outcomes.push_back(play(experiment, policy, seed));
    return outcomes;
  });
  PresetReport report;
  report.figures = {"jct_ratio", "makespan_ratio", "longest_wait_ratio", "q"};
  for (std::size_t i = 0; i < request.policies.size(); ++i) {
    std::vector<double> mean(report.figures.size());
    for (const auto& outcomes : runs) {
      const MatchOutcome& base = outcomes.front();
      const MatchOutcome& one = outcomes[i + 1];
      const double of_seed[] = {
          one.mean_completion_s / base.mean_completion_s, one.makespan_s / base.makespan_s,
          std::max(1.0, one.longest_wait_s) / std::max(1.0, base.longest_wait_s), one.in_time};
      for (std::size_t figure = 0; figure < mean.size(); ++figure)
        mean[figure] += of_seed[figure] / static_cast<double>(runs.size());
    }
    report.rows.push_back({request.policies[i], std::move(mean)});
  }
  report.note = format(
      "{} kinds of tasks, {} GPUs of each of {}. Ratios to {} in the same seed, means over seeds; "
      "q: percent of the tasks that end by their deadline.",
      experiment.world.kinds.size(), experiment.gpus, join(experiment.types, ", "), kFastestFree);
  return report;
}

constexpr PresetOption kMatchOptions[] = {
    {"speeds", PresetKind::kFile, "", "Measured speeds alone: JSON as Gavel publishes it"},
    {"types", PresetKind::kText, "k80,p100", "GPU types of the cluster, names as in the file"},
    {"load", PresetKind::kNumber, "1.1", "Work that comes over what random assignment gets done",
     0.01, 10},
    {"known", PresetKind::kNumber, "1", "Share of the kinds whose speeds are known at first", 0, 1},
    {"jobs", PresetKind::kWhole, "500", "Tasks of one seed", 1, 20000},
    {"gpus", PresetKind::kWhole, "8", "GPUs of each type", 1, 1000},
};

}  // namespace

const Preset kMatchPreset{
    "match",       "Tasks on several GPU types; which of them gets the GPU that became free",
    "seeds",       "0-5",
    kMatchNames,   2,
    kMatchOptions, run_match_preset};

}  // namespace slackline::sim
