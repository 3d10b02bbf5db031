#include "sim/backtest.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/planning/task_menu.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/learn.h"

namespace slackline::sim {
namespace {

constexpr double kSeveral = 5;  // times, either way: what is assumed of a time without a record

double end_of(const RecordedJob& job) {
  return std::max(job.end_s.value_or(0), job.submit_s + job.duration_s);
}

core::RunTimeFromHistory within(double median_s, double factor) {
  core::RunTimeFromHistory time;
  time.median_s = median_s;
  time.low_s = median_s / factor;
  time.high_s = median_s * factor;
  return time;
}

// What is known of a family: its portrait, and for the other rules the last and the mean time by
// number of GPUs.
class FamilyPast {
 public:
  explicit FamilyPast(PortraitIdentity identity) { portrait_.identity = std::move(identity); }

  void learn(const RecordedJob& job, int number, RunTimeRule rule) {
    last_s_[job.gpus] = job.duration_s;
    times_s_[job.gpus].add(job.duration_s);
    if (rule != RunTimeRule::kHistory && rule != RunTimeRule::kSimilar) return;
    PortraitRun run;
    run.usage.run = Uid(std::to_string(number));
    run.gpu_type = any_type_;
    run.shape = {1, static_cast<int>(job.gpus)};
    run.finished_s = end_of(job);
    run.run_s = job.duration_s;
    core::add_run(portrait_, run);
  }

  std::optional<core::RunTimeFromHistory> expect(const RecordedJob& job, RunTimeRule rule) const {
    switch (rule) {
      case RunTimeRule::kHistory:
      case RunTimeRule::kSimilar:
        return core::run_time_of(portrait_, any_type_, static_cast<int>(job.gpus));
      case RunTimeRule::kLast:
        if (const auto last = last_s_.find(job.gpus); last != last_s_.end())
          return within(last->second, kSeveral);
        return std::nullopt;
      case RunTimeRule::kMean:
        if (const auto times = times_s_.find(job.gpus); times != times_s_.end())
          return within(times->second.mean(), kSeveral);
        return std::nullopt;
      case RunTimeRule::kStated:
        return within(job.duration_s, std::exp(1.645 * core::kStatedError));
      case RunTimeRule::kNone:
        break;
    }
    return within(core::kUnknownRun_s, kSeveral);
  }

  const Portrait& portrait() const { return portrait_; }

 private:
  const GpuType any_type_{"recorded"};
  Portrait portrait_;
  std::map<std::int64_t, double> last_s_;
  std::map<std::int64_t, Tally> times_s_;
};

// Families by the owner that their jobs would have.
class Families {
 public:
  explicit Families(FamilyRule rule) : rule_(rule) {}

  FamilyPast& of(const RecordedJob& job) {
    PortraitIdentity identity;
    identity.department = identity.image = job.cluster;  // as if a team had one image
    if (rule_ == FamilyRule::kModel) identity.model = job.type;
    std::string key = core::portrait_key(identity);
    return families_.try_emplace(std::move(key), std::move(identity)).first->second;
  }

  // By the nearest other family, as if no run of the job's own had ended.
  std::optional<core::RunTimeFromHistory> expect_by_nearest(const RecordedJob& job) {
    const FamilyPast& own = of(job);
    std::map<const Portrait*, const FamilyPast*> others;
    std::vector<const Portrait*> known;
    for (const auto& [key, family] : families_)
      if (&family != &own && family.portrait().runs_s.runs > 0) {
        known.push_back(&family.portrait());
        others.emplace(known.back(), &family);
      }
    const auto nearest = core::nearest_portrait(known, own.portrait().identity);
    if (!nearest) return std::nullopt;
    const auto time = others.at(nearest->portrait)->expect(job, RunTimeRule::kHistory);
    return time ? std::optional(core::borrowed(*time)) : std::nullopt;
  }

 private:
  const FamilyRule rule_;
  std::map<std::string, FamilyPast> families_;  // by portrait_key()
};

struct Judged {
  std::int64_t jobs = 0;
  std::int64_t covered = 0;
  std::int64_t earned = 0;
  std::vector<double> errors;  // |ln(recorded / expected)|
  std::vector<double> widths;  // ln(high / median)

  void add(double recorded_s, const std::optional<core::RunTimeFromHistory>& expected) {
    ++jobs;
    if (!expected) return;
    covered += recorded_s >= expected->low_s && recorded_s <= expected->high_s ? 1 : 0;
    earned += expected->earned ? 1 : 0;
    errors.push_back(std::abs(std::log(recorded_s / expected->median_s)));
    widths.push_back(std::log(expected->high_s / expected->median_s));
  }
};

// exp of the value that this share does not exceed.
double factor_at(std::vector<double> logs, double share) {
  if (logs.empty()) return 0;
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(logs.size() - 1));
  const auto at = logs.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(logs.begin(), at, logs.end());
  return std::exp(*at);
}

BacktestRow row_of(const std::string& cluster, RunTimeRule rule, const Judged& judged) {
  BacktestRow row{.cluster = cluster, .rule = rule};
  row.jobs = judged.jobs;
  if (judged.errors.empty()) return row;
  const auto said = static_cast<double>(judged.errors.size());
  row.said = said / static_cast<double>(judged.jobs);
  row.median_factor = factor_at(judged.errors, 0.5);
  row.p90_factor = factor_at(judged.errors, 0.9);
  row.covered = static_cast<double>(judged.covered) / said;
  row.earned = static_cast<double>(judged.earned) / said;
  row.median_width = factor_at(judged.widths, 0.5);
  return row;
}

}  // namespace

std::string_view to_string(RunTimeRule rule) {
  return kRunTimeRules[static_cast<std::size_t>(rule)];
}

std::vector<std::optional<core::RunTimeFromHistory>> expected_run_times(
    std::span<const RecordedJob> jobs, RunTimeRule rule, FamilyRule family) {
  using End = std::pair<double, std::size_t>;  // when, and of which job
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  Families families(family);
  std::vector<std::optional<core::RunTimeFromHistory>> expected(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const RecordedJob& job = jobs[i];
    for (; !ends.empty() && ends.top().first <= job.submit_s; ends.pop()) {
      const RecordedJob& ended = jobs[ends.top().second];
      families.of(ended).learn(ended, static_cast<int>(ends.top().second), rule);
    }
    if (job.gpus < 1 || !(job.duration_s > 0)) continue;
    expected[i] = rule == RunTimeRule::kSimilar ? families.expect_by_nearest(job)
                                                : families.of(job).expect(job, rule);
    ends.emplace(end_of(job), i);
  }
  return expected;
}

std::vector<BacktestRow> backtest(std::vector<RecordedJob> jobs, FamilyRule family) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const RecordedJob& a, const RecordedJob& b) {
    return a.submit_s < b.submit_s;
  });
  std::vector<RunTimeRule> rules = {RunTimeRule::kHistory, RunTimeRule::kLast, RunTimeRule::kMean,
                                    RunTimeRule::kNone};
  if (family == FamilyRule::kModel) rules.push_back(RunTimeRule::kSimilar);
  std::map<std::pair<std::string, RunTimeRule>, Judged> judged;  // "" is all of them
  for (const RunTimeRule rule : rules) {
    const auto expected = expected_run_times(jobs, rule, family);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].gpus < 1 || !(jobs[i].duration_s > 0)) continue;
      judged[{"", rule}].add(jobs[i].duration_s, expected[i]);
      if (!jobs[i].cluster.empty())
        judged[{jobs[i].cluster, rule}].add(jobs[i].duration_s, expected[i]);
    }
  }
  std::vector<BacktestRow> rows;
  for (const auto& [key, one] : judged)
    rows.push_back(row_of(key.first.empty() ? "all" : key.first, key.second, one));
  return rows;
}

wire::TextTable backtest_table(const std::vector<BacktestRow>& rows) {
  wire::TextTable table({"CLUSTER", "RULE", ">JOBS", ">SAID %", ">MEDIAN FACTOR", ">P90 FACTOR",
                         ">COVERED %", ">EARNED %", ">MEDIAN WIDTH"});
  for (const BacktestRow& row : rows)
    table.add({row.cluster, std::string(to_string(row.rule)), std::to_string(row.jobs),
               format("{:.1f}", 100 * row.said), format("{:.2f}", row.median_factor),
               format("{:.2f}", row.p90_factor), format("{:.1f}", 100 * row.covered),
               format("{:.1f}", 100 * row.earned), format("{:.2f}", row.median_width)});
  return table;
}

}  // namespace slackline::sim
