#include "sim/engine.h"

#include <algorithm>
#include <numeric>

namespace slackline::sim {
namespace {

constexpr int kProgressEvery = 1024;  // calls of the policy

// Records a run.
class Recorder {
 public:
  Recorder(const core::TaskTable& tasks, const SimulationOptions& options)
      : tasks_(tasks), options_(options) {
    for (const core::PlanTask& task : tasks.tasks())
      last_submit_s_ = std::max(last_submit_s_, task.submit_s);
  }

  void on_event(double now_s, core::RunEvent event, core::TaskIndex task, const core::Run& run) {
    if (event != core::RunEvent::kStart) charge(now_s, task, run);
    if (event == core::RunEvent::kPreempt) ++outcome_.preemptions;
    if (event == core::RunEvent::kFinish) ++finished_;
    if (options_.keep_events) outcome_.events.push_back({now_s, event, task, run});
  }

  void report_progress(double now_s) {
    if (options_.progress && ++calls_ % kProgressEvery == 0) options_.progress(now_s, finished_);
  }

  Outcome collect(const core::PlanState& state, int calls) {
    outcome_.batches = calls;
    outcome_.lost_gpu_seconds = state.lost_gpu_s();
    for (core::TaskIndex task = 0; task < tasks_.size(); ++task) {
      const core::TaskProgress& progress = state.progress(task);
      outcome_.tasks.push_back({progress.phase == core::TaskPhase::kFinished, progress.finished_s,
                                progress.first_start_s.value_or(0), progress.stops});
    }
    return std::move(outcome_);
  }

 private:
  void charge(double now_s, core::TaskIndex task, const core::Run& run) {
    const int gpus = tasks_[task].menu->all[run.choice].gpus;
    const double until_s = std::min(now_s, last_submit_s_);
    outcome_.gpu_seconds += gpus * (now_s - run.started_s);
    outcome_.gpu_seconds_arrivals += gpus * std::max(0.0, until_s - run.started_s);
  }

  const core::TaskTable& tasks_;
  const SimulationOptions& options_;
  double last_submit_s_ = 0;
  std::size_t finished_ = 0;
  int calls_ = 0;
  Outcome outcome_;
};

}  // namespace

Outcome simulate(const core::TaskTable& tasks, const Platform& platform, const core::Policy& policy,
                 const Noise& noise, const SimulationOptions& options) {
  core::PlanState state(tasks, core::FreeGpus(platform.pools));
  Recorder recorder(tasks, options);
  core::PlayHooks hooks;
  hooks.work_s = [&](core::TaskIndex task, const core::Run& run) {
    return noise.true_work_s(tasks[task], platform.pools, state.choice(task, run.choice));
  };
  hooks.on_event = [&](double now_s, core::RunEvent event, core::TaskIndex task,
                       const core::Run& run) { recorder.on_event(now_s, event, task, run); };
  hooks.go_on = [&](double now_s) {
    recorder.report_progress(now_s);
    return !options.watch || options.watch(state, now_s);
  };
  std::vector<core::TaskIndex> arrivals(tasks.size());
  std::iota(arrivals.begin(), arrivals.end(), core::TaskIndex{0});
  const int calls = core::play(state, policy, arrivals, hooks);
  return recorder.collect(state, calls);
}

}  // namespace slackline::sim
