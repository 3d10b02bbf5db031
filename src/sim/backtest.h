// How long jobs of a recording would have been expected to take when they were submitted, by the
// runs of their family that had ended by then, as a scheduler knows of a job that says nothing of
// its length; and how well that would have been, over the whole recording.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/recorded_job.h"
#include "slackline/core/portrait/run_time.h"
#include "wire/format/text_table.h"

namespace slackline::sim {

inline constexpr std::string_view kRunTimeRules[] = {"history", "last",   "mean",
                                                     "none",    "stated", "similar"};
std::string_view to_string(RunTimeRule rule);

// Of each job that held a GPU and ran, in the order given; nullopt: the rule says nothing of it,
// because no run of its family had ended. Where a recording does not say when a job ended, it ended
// at submission + duration, as if it had not waited. `jobs` by their submission.
//
// The intervals of kLast, kMean and kNone are from a fifth to five times the time, that of kStated
// is of core::kStatedError.
std::vector<std::optional<core::RunTimeFromHistory>> expected_run_times(
    std::span<const RecordedJob> jobs, RunTimeRule rule, FamilyRule family);

// Of one rule, over one cluster or all of them. Factors are exp |ln(recorded / expected)|: 2 is
// twice or half as long. All but `jobs` and `said` are of the jobs of which the rule said
// something; 0 where there is none.
struct BacktestRow {
  std::string cluster;  // "all": every job
  RunTimeRule rule = RunTimeRule::kNone;
  std::int64_t jobs = 0;  // that held a GPU and ran
  double said = 0;        // the share of them of which the rule said something
  double median_factor = 0;
  double p90_factor = 0;
  double covered = 0;       // the share within the interval
  double earned = 0;        // the share with an interval that was measured
  double median_width = 0;  // of the intervals: high / median
};

// "all" first, then the clusters by name; each rule but kStated, which is never wrong, and kSimilar
// only by FamilyRule::kModel: a whole cluster has no other family beside it.
std::vector<BacktestRow> backtest(std::vector<RecordedJob> jobs, FamilyRule family);

wire::TextTable backtest_table(const std::vector<BacktestRow>& rows);

}  // namespace slackline::sim
