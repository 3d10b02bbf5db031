#include "sim/replay/replay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "sim/backtest.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/task_menu.h"
#include "slackline/core/portrait/family.h"
#include "wire/format/csv.h"

namespace slackline::sim {
namespace {

std::vector<RecordedJob> recorded(const std::vector<HistoryJob>& jobs) {
  std::vector<RecordedJob> all;
  all.reserve(jobs.size());
  for (const HistoryJob& job : jobs) {
    RecordedJob one;
    one.submit_s = job.submit_s;
    one.end_s = job.end_s;
    one.duration_s = job.run_s;
    one.gpus = job.gpus();
    one.type = core::owner_stem(job.name);
    one.cluster = job.ns;
    all.push_back(std::move(one));
  }
  return all;
}

// P/p x p g, rounded up, for every p, where the pool has so many nodes: those with the fewest GPUs.
// No GPU is left over where a p divides P.
std::vector<core::Estimate> shapes_of(const HistoryJob& job, const ExpectedRun& expected,
                                      const std::vector<core::Pool>& pools) {
  std::vector<core::Estimate> estimates;
  int fewest = std::numeric_limits<int>::max();
  for (core::PoolIndex index = 0; index < pools.size(); ++index) {
    const core::Pool& pool = pools[index];
    if (pool.type != job.type) continue;
    for (int each = std::min(job.pods, pool.gpus_per_node / job.gpus_per_pod); each >= 1; --each) {
      const Placement shape{(job.pods + each - 1) / each, each * job.gpus_per_pod};
      if (shape.d_node > pool.nodes) continue;
      fewest = std::min(fewest, shape.gpus());
      estimates.push_back({index, shape, 1, expected.run_s, 0, expected.error});
    }
  }
  std::erase_if(estimates, [fewest](const core::Estimate& estimate) {
    return estimate.shape.gpus() > fewest;
  });
  return estimates;
}

ReplayRow row_of(std::string policy, double deadline, std::vector<double> waits_h) {
  ReplayRow row;
  row.policy = std::move(policy);
  row.deadline = deadline;
  if (waits_h.empty()) return row;
  std::sort(waits_h.begin(), waits_h.end());
  for (const double wait_h : waits_h)
    row.mean_wait_h += wait_h / static_cast<double>(waits_h.size());
  row.p95_wait_h =
      waits_h[static_cast<std::size_t>(std::floor(0.95 * static_cast<double>(waits_h.size() - 1)))];
  row.max_wait_h = waits_h.back();
  return row;
}

// Of the tasks that finished.
struct Finishes {
  std::size_t in_time = 0;
  std::size_t finished = 0;
  double sum_h = 0;

  void add(double submit_s, double finish_s, double due_s) {
    ++finished;
    in_time += finish_s <= due_s + core::kDeadlineTolerance_s ? 1 : 0;
    sum_h += (finish_s - submit_s) / kHour_s;
  }
  void write(std::size_t tasks, ReplayRow& row) const {
    row.in_time =
        100 * static_cast<double>(in_time) / static_cast<double>(std::max<std::size_t>(1, tasks));
    row.mean_done_h = finished > 0 ? sum_h / static_cast<double>(finished) : 0;
    row.unserved = tasks - finished;
  }
};

}  // namespace

Result<Replay> make_replay(const History& history, const ReplayOptions& options) {
  Replay replay;
  replay.platform.pools = history.pools;
  replay.platform.restart_s = options.restart_s;
  replay.platform.checkpoint_s = options.checkpoint_s;
  replay.platform.max_gpus = std::numeric_limits<int>::max();
  const auto expected =
      expected_run_times(recorded(history.jobs), options.rule, FamilyRule::kModel);
  std::vector<core::PlanTask> tasks;
  for (std::size_t i = 0; i < history.jobs.size(); ++i) {
    const HistoryJob& job = history.jobs[i];
    ExpectedRun run{core::kUnknownRun_s, core::kUnknownError, job.run_s};
    if (expected[i]) {
      run.run_s = expected[i]->median_s;
      run.error = core::error_of(*expected[i]);
    }
    const auto estimates = shapes_of(job, run, history.pools);
    if (estimates.empty()) {
      ++replay.too_large;
      continue;
    }
    replay.unknown += expected[i] ? 0 : 1;
    TraceTask task;
    task.id = static_cast<std::int64_t>(tasks.size());
    task.submit_s = job.submit_s - history.time.from_s;
    task.type = core::owner_stem(job.name);
    task.deadline_s = task.submit_s + options.deadline * job.run_s;
    task.request_gpus = estimates.front().shape.gpus();
    const auto more = task.request_gpus - job.gpus();
    replay.uneven += more > 0 ? 1 : 0;
    replay.most_more_gpus = std::max(replay.most_more_gpus, more);
    tasks.push_back(prepare_task(task, estimates, replay.platform));
    replay.noise.add({task.id, "", "", 0, 0, run.true_s / run.run_s});
    replay.jobs.push_back(job);
  }
  if (tasks.empty())
    return fail(
        ErrorCode::kNotFound,
        format("none of the {} Jobs fits on the nodes that were there", history.jobs.size()));
  replay.tasks = core::TaskTable(std::move(tasks));
  return replay;
}

ReplayRow recorded_row(const Replay& replay, const ReplayOptions& options) {
  std::vector<double> waits_h;
  Finishes finishes;
  double gpu_s = 0;
  for (const HistoryJob& job : replay.jobs) {
    waits_h.push_back((job.start_s - job.submit_s) / kHour_s);
    finishes.add(job.submit_s, job.end_s, job.submit_s + options.deadline * job.run_s);
    gpu_s += static_cast<double>(job.gpus()) * job.run_s;
  }
  ReplayRow row = row_of("(recorded)", options.deadline, std::move(waits_h));
  finishes.write(replay.jobs.size(), row);
  row.gpu_hours = gpu_s / kHour_s;
  return row;
}

ReplayRow replayed_row(const Replay& replay, const ReplayOptions& options,
                       const std::string& policy, const Outcome& outcome) {
  std::vector<double> waits_h;
  Finishes finishes;
  for (core::TaskIndex index = 0; index < replay.tasks.size(); ++index) {
    const core::PlanTask& task = replay.tasks[index];
    const TaskOutcome& done = outcome.tasks[index];
    if (!done.finished) continue;
    waits_h.push_back((done.first_start_s - task.submit_s) / kHour_s);
    finishes.add(task.submit_s, done.finish_s, task.deadline_s);
  }
  ReplayRow row = row_of(policy, options.deadline, std::move(waits_h));
  finishes.write(replay.tasks.size(), row);
  row.gpu_hours = outcome.gpu_seconds / kHour_s;
  row.stops = outcome.preemptions;
  row.lost_gpu_hours = outcome.lost_gpu_seconds / kHour_s;
  return row;
}

wire::TextTable replay_table(const std::vector<ReplayRow>& rows) {
  wire::TextTable table({">DUE", "POLICY", ">IN TIME %", ">WAIT h", ">P95 WAIT h", ">MAX WAIT h",
                         ">DONE h", ">GPU h", ">STOPS", ">LOST GPU h", ">UNSERVED"});
  for (const ReplayRow& row : rows)
    table.add({format("{:g}x", row.deadline), row.policy, format("{:.1f}", row.in_time),
               format("{:.2f}", row.mean_wait_h), format("{:.2f}", row.p95_wait_h),
               format("{:.2f}", row.max_wait_h), format("{:.2f}", row.mean_done_h),
               format("{:.1f}", row.gpu_hours), std::to_string(row.stops),
               format("{:.1f}", row.lost_gpu_hours), std::to_string(row.unserved)});
  return table;
}

std::vector<std::string> replay_assumptions(const Replay& replay, const ReplayOptions& options) {
  std::vector<std::string> said;
  said.push_back(
      "DUE: every Job is due at this multiple of its run time after it was created; the cluster "
      "itself had no deadlines.");
  said.push_back(
      "A Job takes as long as it took, on the GPU type on which it ran and no other, with as many "
      "GPUs as its pods held at once; all its pods start together. Priorities, quotas, node "
      "selectors, CPUs and memory are not known.");
  said.push_back(format(
      "A stop costs {} and the work of at most {}, as if every Job wrote checkpoints and went on "
      "from them; --compare fifo/skip,savable plays without stops.",
      format_duration(options.restart_s), format_duration(options.checkpoint_s)));
  said.push_back(
      format("Policies expect run times by the rule \"{}\"; of {} of {} Jobs it says "
             "nothing, and an hour is expected.",
             to_string(options.rule), replay.unknown, replay.tasks.size()));
  said.push_back(
      "fifo/skip is how kube-scheduler serves: in order of creation, and what does not fit lets "
      "others pass. Unlike it, it never starts a part of a gang.");
  if (replay.uneven > 0)
    said.push_back(format(
        "{} Jobs take up to {} GPUs more than they had: their pods do not divide evenly over "
        "nodes.",
        replay.uneven, replay.most_more_gpus));
  if (replay.too_large > 0)
    said.push_back(
        format("{} Jobs fit on no nodes of their GPU type; left out.", replay.too_large));
  return said;
}

std::string format_history_csv(const History& history) {
  std::string out;
  wire::append_csv_row(out, {"submit_time", "num_gpus", "duration", "cluster", "job", "start_time",
                             "end_time", "pods", "gpus_per_pod", "gpu_type"});
  for (const HistoryJob& job : history.jobs)
    wire::append_csv_row(
        out,
        {format("{:.0f}", job.submit_s), std::to_string(job.gpus()), format("{:.0f}", job.run_s),
         job.ns, job.name, format("{:.0f}", job.start_s), format("{:.0f}", job.end_s),
         std::to_string(job.pods), std::to_string(job.gpus_per_pod), job.type.str()});
  return out;
}

}  // namespace slackline::sim
