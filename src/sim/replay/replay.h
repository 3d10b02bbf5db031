// A cluster's past played again: its GPU Jobs as tasks on its nodes, under other policies.
//
// A task may run in the shapes that its pods give: P pods of g GPUs on P/p nodes, p on each. Where
// P divides over no number of nodes that is there, it takes the fewest GPUs that hold its pods. All
// its pods start together. It takes as long as the Job took, wherever it runs. Policies see what
// the daemon would have expected of it (RunTimeRule), by the Jobs of the same name that had ended.
// It is due at a multiple of its run time after its submission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine.h"
#include "sim/noise.h"
#include "sim/platform.h"
#include "sim/recorded_job.h"
#include "sim/replay/cluster_history.h"
#include "slackline/base/result.h"
#include "wire/format/text_table.h"

namespace slackline::sim {

struct ReplayOptions {
  RunTimeRule rule = RunTimeRule::kHistory;
  double deadline = 2;  // in run times
  double restart_s = 60;
  double checkpoint_s = 600;  // as Platform::checkpoint_s
};

struct Replay {
  core::TaskTable tasks;
  Platform platform;
  Noise noise;                   // true run times
  std::vector<HistoryJob> jobs;  // of the tasks, one each
  std::size_t too_large = 0;     // Jobs that fit on no pool, left out
  std::size_t uneven = 0;        // tasks that take more GPUs than the Job had
  std::int64_t most_more_gpus = 0;
  std::size_t unknown = 0;  // tasks of which the rule says nothing
};

// kNotFound: no Job fits on the platform.
Result<Replay> make_replay(const History& history, const ReplayOptions& options);

// How it went, or would have.
struct ReplayRow {
  double deadline = 0;
  std::string policy;
  double in_time = 0;  // share of all tasks, percent
  double mean_wait_h = 0;
  double p95_wait_h = 0;
  double max_wait_h = 0;
  double mean_done_h = 0;  // from submission to end
  double gpu_hours = 0;
  int stops = 0;
  double lost_gpu_hours = 0;
  std::size_t unserved = 0;
};

// What happened in the cluster.
ReplayRow recorded_row(const Replay& replay, const ReplayOptions& options);
ReplayRow replayed_row(const Replay& replay, const ReplayOptions& options,
                       const std::string& policy, const Outcome& outcome);

wire::TextTable replay_table(const std::vector<ReplayRow>& rows);

// What is assumed of every replay, one sentence each.
std::vector<std::string> replay_assumptions(const Replay& replay, const ReplayOptions& options);

// The Jobs as a recording that `simulate --trace` and `backtest --trace` read:
// submit_time,num_gpus,duration,cluster (the namespace), and job,start_time,end_time,pods,
// gpus_per_pod,gpu_type beside them. Times in epoch seconds.
std::string format_history_csv(const History& history);

}  // namespace slackline::sim
