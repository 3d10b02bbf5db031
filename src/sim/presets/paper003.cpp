// The preset `paper003`: elastic tasks that share units by how fast their loss falls, against equal
// shares. Curves of losses are drawn, or those that others measured.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/presets/each_seed.h"
#include "sim/presets/elastic_run.h"
#include "sim/presets/preset.h"
#include "slackline/base/text.h"
#include "slackline/core/elastic/accounts.h"
#include "wire/format/csv.h"

namespace slackline::sim {
namespace {

using core::ElasticRound;
using core::ElasticTask;
using MeasuredLosses = std::vector<std::shared_ptr<const LossSteps>>;

std::vector<int> fair(std::span<const ElasticTask> tasks, const ElasticRound& round) {
  return core::fair_shares(tasks, round.units);
}

// Fair shares, but a task keeps its units while they are within 1.5 times of its share. Where that
// is too much in total, those furthest above their shares do not.
std::vector<int> hysteresis(std::span<const ElasticTask> tasks, const ElasticRound& round) {
  constexpr double kWithin = 1.5;
  const std::vector<int> shares = core::fair_shares(tasks, round.units);
  std::vector<int> sizes = shares;
  int free = round.units;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const int now = tasks[i].units;
    if (now < kWithin * shares[i] && shares[i] < kWithin * now) sizes[i] = now;
    free -= sizes[i];
  }
  while (free < 0) {
    std::size_t above = 0;
    for (std::size_t i = 1; i < sizes.size(); ++i)
      if (sizes[i] - shares[i] > sizes[above] - shares[above]) above = i;
    free += sizes[above] - shares[above];
    sizes[above] = shares[above];
  }
  return sizes;
}

// Policies that pay the accounts of unit-seconds back.
std::vector<int> greedy_with_accounts(std::span<const ElasticTask> tasks,
                                      const ElasticRound& round) {
  return core::allocate_greedily(core::bound_by_accounts(tasks, round), round);
}
std::vector<int> trades_with_accounts(std::span<const ElasticTask> tasks,
                                      const ElasticRound& round) {
  return core::allocate_by_trades(core::bound_by_accounts(tasks, round), round);
}

struct Paper003Policy {
  std::string_view name;
  std::vector<int> (*units)(std::span<const ElasticTask>, const ElasticRound&);
};

constexpr std::string_view kHeavy = "heavy";
constexpr std::string_view kEarlyStop = "early-stop";
constexpr std::size_t kBaselines = 2;  // the first ones
constexpr Paper003Policy kElasticPolicies[] = {
    {"fair", fair},
    {"hysteresis", hysteresis},
    {"loss-greedy", core::allocate_greedily},
    {"trades", core::allocate_by_trades},
    {"loss-greedy/accounts", greedy_with_accounts},
    {"trades/accounts", trades_with_accounts},
};
constexpr auto kElasticNames = names_of(kElasticPolicies);

// The column `metric`, row by row, as a loss from 1 at the first row down to 0 at the best one.
// Empty: too short, or it never changes.
Result<LossSteps> read_losses(const PresetFile& file) {
  constexpr std::size_t kLeastRows = 20;
  const auto wrong = [&](const Error& error) {
    return fail(in_file(error.with_context(file.path)));
  };
  const auto table = wire::read_csv(file.text);
  if (!table) return wrong(table.error());
  const auto column = table->require("metric");
  if (!column) return wrong(column.error());
  LossSteps losses;
  for (const wire::CsvRow& row : table->rows) {
    const auto value = parse_number(row.cell(*column));
    if (!value)
      return wrong(
          {ErrorCode::kInvalidArgument, format("line {}: metric \"{}\" must be a number", row.line,
                                               printable(row.cell(*column), 40))});
    losses.push_back(*value);
  }
  if (losses.size() < kLeastRows) return LossSteps{};
  const double first = losses.front();
  const double best = *std::max_element(losses.begin(), losses.end(), [first](double a, double b) {
    return std::abs(a - first) < std::abs(b - first);
  });
  if (best == first) return LossSteps{};
  for (double& loss : losses)
    loss = (loss - best) / (first - best);
  return losses;
}

Result<MeasuredLosses> read_measured(const PresetRequest& request) {
  MeasuredLosses measured;
  if (request.text("curves") == "synthetic") return measured;
  for (const PresetFile& file : request.folders.find("curve-files")->second) {
    SLACKLINE_ASSIGN(LossSteps losses, read_losses(file));
    if (!losses.empty()) measured.push_back(std::make_shared<const LossSteps>(std::move(losses)));
  }
  if (measured.empty())
    return fail(ErrorCode::kNotFound,
                format("{} holds no validation-*.csv with a column metric of 20 rows or more: name "
                       "the folder with --curve-files",
                       request.text("curve-files")));
  return measured;
}

struct ElasticFigure {
  std::string_view name;
  double ElasticOutcome::* value;
  bool is_ratio;  // to the smaller of the baselines, in the same seed
};
constexpr ElasticFigure kElasticFigures[] = {
    {"to90_ratio", &ElasticOutcome::to90_s, true},
    {"to95_ratio", &ElasticOutcome::to95_s, true},
    {"completion_ratio", &ElasticOutcome::completion_s, true},
    {"loss_14min_ratio", &ElasticOutcome::loss_14min, true},
    {"owed_unit_min", &ElasticOutcome::owed_unit_min, false},
};
constexpr ElasticFigure kHeavyFigure = {"heavy_to90_ratio", &ElasticOutcome::heavy_to90_s, true};
constexpr ElasticFigure kStopFigures[] = {{"stopped", &ElasticOutcome::stopped, false},
                                          {"lost", &ElasticOutcome::lost, false}};

std::vector<ElasticFigure> elastic_figures(const PresetRequest& request) {
  std::vector<ElasticFigure> figures(std::begin(kElasticFigures), std::end(kElasticFigures));
  if (request.number(kHeavy) > 0) figures.push_back(kHeavyFigure);
  if (request.flag(kEarlyStop))
    figures.insert(figures.end(), std::begin(kStopFigures), std::end(kStopFigures));
  return figures;
}

// Of one seed: the baselines, which stop nobody, and behind them what is compared.
std::vector<ElasticOutcome> play_all(ElasticLoad load, const PresetRequest& request,
                                     const MeasuredLosses& measured, std::uint64_t seed) {
  std::vector<ElasticJob> jobs = draw_elastic_jobs(load.jobs, measured, seed);
  draw_weights(jobs, request.number(kHeavy), seed);
  std::vector<ElasticOutcome> outcomes;
  for (std::size_t i = 0; i < kBaselines; ++i)
    outcomes.push_back(run_elastic(load, jobs, kElasticPolicies[i].units));
  load.early_stop = request.flag(kEarlyStop);
  for (const std::string& name : request.policies)
    outcomes.push_back(run_elastic(load, jobs, policy_named(kElasticPolicies, name).units));
  return outcomes;
}

// NaN where nobody is in the mean, or there is nothing to be relative to.
double figure_of(const std::vector<ElasticOutcome>& outcomes, std::size_t at,
                 const ElasticFigure& figure) {
  const double value = outcomes[at].*figure.value;
  if (!figure.is_ratio) return value;
  const double first = outcomes[0].*figure.value;
  const double second = outcomes[1].*figure.value;
  const double better = std::min(first, second);
  const bool told = std::isfinite(first) && std::isfinite(second) && better > 0;
  return told ? value / better : std::numeric_limits<double>::quiet_NaN();
}

// Over the seeds that tell the figure; NaN: none does.
double mean_figure(const std::vector<std::vector<ElasticOutcome>>& runs, std::size_t at,
                   const ElasticFigure& figure) {
  std::vector<double> told;
  for (const auto& run : runs)
    if (const double one = figure_of(run, at, figure); std::isfinite(one)) told.push_back(one);
  if (told.empty()) return std::numeric_limits<double>::quiet_NaN();
  double mean = 0;
  for (const double one : told)
    mean += one / static_cast<double>(told.size());
  return mean;
}

Result<PresetReport> run_paper003(const PresetRequest& request) {
  SLACKLINE_ASSIGN(const MeasuredLosses measured, read_measured(request));
  const ElasticLoad load{request.whole("jobs"), request.whole("units"), request.number("restart"),
                         *core::parse_curve_shape(request.text("fit")), request.number("period")};
  const auto runs = each_seed(
      request.seeds, [&](std::uint64_t seed) { return play_all(load, request, measured, seed); });
  const auto seeds = static_cast<double>(runs.size());
  const std::vector<ElasticFigure> figures = elastic_figures(request);
  PresetReport report;
  for (const ElasticFigure& figure : figures)
    report.figures.emplace_back(figure.name);
  for (std::size_t i = 0; i < request.policies.size(); ++i) {
    PresetReport::Row row{request.policies[i], {}};
    for (const ElasticFigure& figure : figures)
      row.figures.push_back(mean_figure(runs, kBaselines + i, figure));
    report.rows.push_back(std::move(row));
  }
  double mean_run_s = 0;
  for (const auto& run : runs)
    mean_run_s += run[0].completion_s / seeds;
  report.note = format(
      "Means over tasks, over those of {} or {}, whichever is smaller in the same seed and figure; "
      "mean over seeds that tell it. to90, to95: time from submit until that percentage of the "
      "fall of the loss "
      "is done; loss 14min: what is left of it after 14 minutes; owed: what a task got less than "
      "its "
      "fair shares. {} takes {:.0f} s a task.",
      kElasticNames[0], kElasticNames[1], kElasticNames[0], mean_run_s);
  if (!measured.empty())
    report.note +=
        format(" Losses of {} measured curve{}.", measured.size(), measured.size() == 1 ? "" : "s");
  if (request.number(kHeavy) > 0)
    report.note += format(" heavy: tasks of weight {:g}, the others have 1.", kHeavyWeight);
  if (request.flag(kEarlyStop))
    report.note +=
        " stopped: share of tasks that ended early, lost: before 90 %, which to90 leaves out; "
        "nothing ends early in what ratios are to.";
  return report;
}

constexpr PresetOption kElasticOptions[] = {
    {"restart", PresetKind::kNumber, "0", "Seconds that a task does nothing after it was resized",
     0, 3600},
    {"curves", PresetKind::kChoice, "synthetic",
     "Losses: exponentials and powers that are drawn, or those of --curve-files", 0, 0,
     "synthetic|real"},
    {"curve-files", PresetKind::kFolder, "$SLACKLINE_SHARED/data/pollux-t4",
     "Folder with validation-*.csv somewhere below; column metric: loss, error or accuracy", 0, 0,
     "validation-", "curves=real"},
    {"fit", PresetKind::kChoice, "power", "Curves that losses are predicted by", 0, 0,
     "power|exponential"},
    {"period", PresetKind::kNumber, "120", "Seconds between two divisions of the units", 10, 3600},
    {kHeavy, PresetKind::kNumber, "0", "Share of the tasks whose loss weighs four times", 0, 1},
    {kEarlyStop, PresetKind::kFlag, "",
     "A task ends when its loss fell by less than 1 % in each of three rounds"},
    {"jobs", PresetKind::kWhole, "80", "Tasks of one seed", 1, 2000},
    {"units", PresetKind::kWhole, "160", "Units, 32 for one task at most", 1, 10000},
};

}  // namespace

const Preset kPaper003Preset{
    "paper003",      "Elastic tasks that share units by how fast their loss falls",
    "seeds",         "0-9",
    kElasticNames,   4,
    kElasticOptions, run_paper003};

}  // namespace slackline::sim
