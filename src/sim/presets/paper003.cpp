// The preset `paper003`: elastic tasks that share units by how fast their loss falls, against equal
// shares. Curves of losses are drawn, or those that others measured.
#include <algorithm>
#include <array>
#include <cmath>

#include "sim/presets/each_seed.h"
#include "sim/presets/elastic_run.h"
#include "sim/presets/preset.h"
#include "slackline/base/text.h"
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

struct Paper003Policy {
  std::string_view name;
  std::vector<int> (*units)(std::span<const ElasticTask>, const ElasticRound&);
};

constexpr std::size_t kBaselines = 2;  // the first ones
constexpr Paper003Policy kElasticPolicies[] = {
    {"fair", fair},
    {"hysteresis", hysteresis},
    {"loss-greedy", core::allocate_greedily},
    {"trades", core::allocate_by_trades},
};
constexpr auto kElasticNames = names_of(kElasticPolicies);

// The column `metric`, row by row, as a loss from 1 at the first row down to 0 at the best one.
// Empty: too short, or it never changes.
Result<LossSteps> read_losses(const PresetFile& file) {
  constexpr std::size_t kLeastRows = 20;
  const auto wrong = [&](const Error& error) { return fail(error.with_context(file.path)); };
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

constexpr std::size_t kElasticFigures = 4;
using ElasticFigures = std::array<double, kElasticFigures>;

ElasticFigures figures_of(const ElasticOutcome& outcome) {
  return {outcome.to90_s, outcome.to95_s, outcome.completion_s, outcome.loss_14min};
}

// Of every policy that there is.
std::vector<ElasticFigures> play_all(const ElasticLoad& load, const MeasuredLosses& measured,
                                     std::uint64_t seed) {
  const std::vector<ElasticJob> jobs = draw_elastic_jobs(load.jobs, measured, seed);
  std::vector<ElasticFigures> figures;
  for (const Paper003Policy& policy : kElasticPolicies)
    figures.push_back(figures_of(run_elastic(load, jobs, policy.units)));
  return figures;
}

Result<PresetReport> run_paper003(const PresetRequest& request) {
  SLACKLINE_ASSIGN(const MeasuredLosses measured, read_measured(request));
  const ElasticLoad load{request.whole("jobs"), request.whole("units"), request.number("restart"),
                         *core::parse_curve_shape(request.text("fit"))};
  const auto runs =
      each_seed(request.seeds, [&](std::uint64_t seed) { return play_all(load, measured, seed); });
  PresetReport report;
  report.figures = {"to90_ratio", "to95_ratio", "completion_ratio", "loss_14min_ratio"};
  for (const std::string& name : request.policies) {
    const auto at = static_cast<std::size_t>(
        std::find(std::begin(kElasticNames), std::end(kElasticNames), name) -
        std::begin(kElasticNames));
    PresetReport::Row row{name, std::vector<double>(kElasticFigures)};
    for (const auto& run : runs)
      for (std::size_t f = 0; f < kElasticFigures; ++f) {
        const double better = std::min(run[0][f], run[kBaselines - 1][f]);
        row.figures[f] += run[at][f] / better;
      }
    for (double& figure : row.figures)
      figure /= static_cast<double>(runs.size());
    report.rows.push_back(std::move(row));
  }
  double mean_run_s = 0;
  for (const auto& run : runs)
    mean_run_s += run[0][2] / static_cast<double>(runs.size());
  report.note = format(
      "Means over tasks, over those of {} or {}, whichever is smaller in the same seed and figure; "
      "mean over seeds. to90, to95: time from submit until that percentage of the fall of the loss "
      "is done; loss 14min: what is left of it after 14 minutes. {} takes {:.0f} s a task.",
      kElasticNames[0], kElasticNames[1], kElasticNames[0], mean_run_s);
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
     "validation-"},
    {"fit", PresetKind::kChoice, "power", "Curves that losses are predicted by", 0, 0,
     "power|exponential"},
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
