#include "sim/presets/sharing_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace slackline::sim {
namespace {

constexpr double kLeastWatched_s = 60;  // a rate over less says nothing
constexpr double kNever = std::numeric_limits<double>::infinity();

class SharingRun {
 public:
  SharingRun(const PairWorld& world, const std::vector<SharingTask>& tasks, int gpus, double bound,
             const SharingScheduler& scheduler)
      : world_(world),
        bound_(bound),
        scheduler_(scheduler),
        state_{tasks, {}, std::vector<SharingGpu>(static_cast<std::size_t>(gpus))},
        left_s_(tasks.size()),
        start_s_(tasks.size()) {
    for (std::size_t i = 0; i < tasks.size(); ++i)
      left_s_[i] = tasks[i].solo_s;
  }

  SharingOutcome play();

 private:
  double speed(const SharingGpu& gpu, std::size_t resident) const;
  double next_finish_s() const;
  void advance(double until_s);
  void finish_done();
  void start_picked();
  void join(const SharingGpu& gpu, int kind);
  void leave(SharingGpu& gpu);

  const PairWorld& world_;
  double bound_;
  const SharingScheduler& scheduler_;
  SharingState state_;
  std::vector<double> left_s_;  // at the speed alone
  std::vector<double> start_s_;
  double now_s_ = 0;
  SharingOutcome outcome_;
};

// Of the first or second resident, over the one for which its run time alone is told.
double SharingRun::speed(const SharingGpu& gpu, std::size_t resident) const {
  const auto task = [&](std::size_t i) -> const SharingTask& {
    return state_.tasks[gpu.residents[i]];
  };
  const double pace = task(resident).pace;
  if (gpu.residents.size() < 2) return pace;
  return pace * world_.speeds(task(resident).kind, task(1 - resident).kind).first;
}

double SharingRun::next_finish_s() const {
  double next_s = kNever;
  for (const SharingGpu& gpu : state_.gpus)
    for (std::size_t i = 0; i < gpu.residents.size(); ++i)
      next_s = std::min(next_s, now_s_ + left_s_[gpu.residents[i]] / speed(gpu, i));
  return next_s;
}

void SharingRun::advance(double until_s) {
  for (const SharingGpu& gpu : state_.gpus)
    for (std::size_t i = 0; i < gpu.residents.size(); ++i)
      left_s_[gpu.residents[i]] -= (until_s - now_s_) * speed(gpu, i);
  now_s_ = until_s;
}

// The neighbours of a GPU change: what they did to each other is known.
void SharingRun::leave(SharingGpu& gpu) {
  if (gpu.residents.size() == 2 && now_s_ - gpu.together_since_s >= kLeastWatched_s)
    scheduler_.saw(state_.tasks[gpu.residents[0]].kind, state_.tasks[gpu.residents[1]].kind);
}

void SharingRun::finish_done() {
  constexpr double kDone_s = 1e-6;
  for (SharingGpu& gpu : state_.gpus) {
    const auto done = [this](std::size_t task) { return left_s_[task] <= kDone_s; };
    if (std::none_of(gpu.residents.begin(), gpu.residents.end(), done)) continue;
    leave(gpu);
    for (const std::size_t task : gpu.residents) {
      if (!done(task)) continue;
      const SharingTask& of = state_.tasks[task];
      outcome_.mean_completion_s += (now_s_ - of.submit_s) / static_cast<double>(left_s_.size());
      outcome_.worst_slowdown =
          std::max(outcome_.worst_slowdown, (now_s_ - start_s_[task]) / of.solo_s);
    }
    std::erase_if(gpu.residents, done);
  }
}

void SharingRun::join(const SharingGpu& gpu, int kind) {
  ++outcome_.joined;
  const int resident = state_.tasks[gpu.residents.front()].kind;
  if (world_.speeds(resident, kind).first < bound_) ++outcome_.bound_broken;
}

void SharingRun::start_picked() {
  while (const auto pick = scheduler_.pick(state_)) {
    SharingGpu& gpu = state_.gpus[pick->gpu];
    const std::size_t task = state_.waiting[pick->waiting];
    SharingTask& starts = state_.tasks[task];
    if (pick->variant) {
      starts.kind = *pick->variant;
      starts.pace = world_.speed_alone(starts.kind);
    }
    if (!gpu.residents.empty()) join(gpu, starts.kind);
    gpu.residents.push_back(task);
    gpu.together_since_s = now_s_;
    start_s_[task] = now_s_;
    state_.waiting.erase(state_.waiting.begin() + static_cast<std::ptrdiff_t>(pick->waiting));
  }
}

SharingOutcome SharingRun::play() {
  std::size_t arrived = 0;
  for (;;) {
    const double arrival_s =
        arrived < state_.tasks.size() ? state_.tasks[arrived].submit_s : kNever;
    const double finish_s = next_finish_s();
    if (arrival_s == kNever && finish_s == kNever) return outcome_;
    advance(std::min(arrival_s, finish_s));
    finish_done();
    if (arrival_s <= finish_s) state_.waiting.push_back(arrived++);
    start_picked();
  }
}

}  // namespace

double draw_run_s(Random& random) {
  constexpr double kMean_s = 3600;
  constexpr double kLeast_s = 300;
  constexpr double kMost_s = 48 * 3600.0;
  return std::clamp(std::exp(std::log(kMean_s) - 0.5 + random.normal()), kLeast_s, kMost_s);
}

core::SharePlaces SharingState::places() const {
  core::SharePlaces places;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].residents.empty()) places.empty.push_back(i);
    if (gpus[i].residents.size() == 1) places.one_task.push_back(i);
  }
  return places;
}

std::vector<SharingTask> draw_sharing_tasks(const SharingLoad& load, int kinds,
                                            std::uint64_t seed) {
  Random random(seed);
  std::vector<SharingTask> tasks(static_cast<std::size_t>(load.tasks));
  double work_s = 0;
  for (SharingTask& task : tasks) {
    task.kind = static_cast<int>(random.index(static_cast<std::uint64_t>(kinds)));
    task.solo_s = draw_run_s(random);
    work_s += task.solo_s;
  }
  double now_s = 0;
  for (SharingTask& task : tasks)
    task.submit_s = now_s +=
        random.exponential(work_s / static_cast<double>(load.tasks) / load.gpus / load.load);
  return tasks;
}

SharingOutcome run_sharing(const PairWorld& world, const std::vector<SharingTask>& tasks, int gpus,
                           double bound, const SharingScheduler& scheduler) {
  return SharingRun(world, tasks, gpus, bound, scheduler).play();
}

}  // namespace slackline::sim
