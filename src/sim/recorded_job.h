// Turns jobs recorded on a real cluster into tasks of a trace. Data that a recording lacks are made
// up here, in the same way for every format, and listed in Trace::assumptions.
//
//   selection    jobs of the cluster asked for, submitted in [from_s, from_s + for_s) after the
//                first job of the file, in order of submission (ties: of the file), every n-th of
//                them; of those the ones that held a GPU and ran for at least least_duration_s, cut
//                at most_duration_s
//   clock        0 is the first submission that was kept
//   GPU count    rounded down to a power of two
//   type, batch  the recorded ones where the profiles know them, else drawn from the ranges
//   iterations   what the recorded duration does on the recorded GPUs, by the profile
//   deadline     the recorded one, as class Normal; else a class is drawn, and the deadline is
//                submit + kappa x duration (best-effort jobs: class Normal)
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/draw_ranges.h"
#include "sim/generate.h"
#include "sim/trace.h"
#include "slackline/base/result.h"
#include "slackline/model/workload.h"

namespace slackline::sim {

// How long a job that says nothing of its length is expected to take (backtest.h).
enum class RunTimeRule : std::uint8_t {
  kHistory,  // as the daemon: core::run_time_of
  kLast,     // as long as the last run on as many GPUs
  kMean,     // the mean of all earlier runs on as many GPUs
  kNone,     // core::kUnknownRun_s
  kStated,   // the recorded time itself, as a person who knows it would state it
  kSimilar,  // by the nearest other family of the cluster, as if the job were the first of its own
};

// Which jobs are one family: all of a cluster (or user), or those of one model in it.
enum class FamilyRule : std::uint8_t { kCluster, kModel };

struct RecordedJob {
  int line = 0;  // of the file
  double submit_s = 0;
  double duration_s = 0;             // on `gpus` GPUs
  std::optional<double> end_s;       // the clock of submit_s; absent: the wait is unknown
  std::int64_t gpus = 1;             // 0: it did not use any
  std::string type;                  // empty: unknown
  std::optional<double> batch;       // global
  std::optional<double> deadline_s;  // the clock of submit_s
  bool best_effort = false;
  std::string cluster;  // empty: unknown
};

struct RecordedOptions {
  const WorkloadProfiles* profiles = nullptr;  // required
  GpuType gpu_type;                            // on which the durations were recorded
  int gpus_per_node = 8;                       // of the recording: 16 GPUs were 2x8
  std::vector<DrawRange> ranges;               // types and batches to draw from
  ClassMix mix;
  core::DeadlineFactors kappa;
  std::uint64_t seed = 0;
  std::string cluster;  // only jobs of the cluster with this name or suffix; empty = all
  double from_s = 0;
  double for_s = std::numeric_limits<double>::infinity();
  std::size_t every = 1;
  double least_duration_s = 0;
  double most_duration_s = std::numeric_limits<double>::infinity();
  // This share of the tasks, drawn, says nothing of its length: it has the shape asked for, and
  // takes as long as the rule says; where the rule says nothing, as long as kNone does. The rule
  // knows every job of the file that is as long as one that is kept.
  double unannotated = 0;
  RunTimeRule rule = RunTimeRule::kHistory;
  FamilyRule family = FamilyRule::kModel;
};

// `assumptions` are those of the format, listed first. kInvalidArgument: nothing is left to
// simulate, or no profile predicts a job (the error names line and type).
Result<Trace> trace_of(std::vector<RecordedJob> jobs, const RecordedOptions& options,
                       std::vector<std::string> assumptions);

}  // namespace slackline::sim
