#include "control/portrait/usage_passes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "control/portrait/run_usage.h"
#include "obs/log.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/portrait/learn.h"

namespace slackline::control {
namespace {

// One a task and step: what a query answers, and what it is made into, stays below 100 MB.
constexpr double kSamplesOfAQuery = 100'000;
// Runs must not keep the next step waiting for long.
constexpr std::size_t kRunsOfATurn = 100;
// Until the last samples are scraped: a step is at least two scrapes.
constexpr double kStepsToSettle = 1;
constexpr std::array<double, 3> kReadAgainAfter_s = {600, 3600, 6 * 3600.0};
// A run that failed with so much of a GPU's memory in use in the last steps failed for lack of it.
constexpr double kFullGpu = 0.97;
constexpr double kLastSteps = 3;
// Of a run; a smaller gap is not worth another reading. Nor are two steps: CPU has no rate before.
constexpr double kSmallGap = 0.05;
constexpr double kSmallGapSteps = 2;

std::string percent(const std::optional<Usage>& share) {
  return share ? format("{:.0f}%", 100 * share->mean) : "unknown";
}

// Of the query, as the Prometheus or we see it: the same is refused again.
bool is_too_large(const Error& error) {
  return error.code == ErrorCode::kResourceExhausted;
}

// How much the portrait already knows of the run.
double known_of(const core::PortraitBook& book, const EndedRun& ended) {
  const core::PortraitPtr portrait = book.find(ended.identity);
  if (portrait == nullptr) return 0;
  for (const PortraitRun& run : portrait->recent)
    if (run.usage.run == ended.run.usage.run) return measured_s(run.usage);
  return 0;
}

}  // namespace

UsagePasses::UsagePasses(telemetry::UsageSource& usage, World world, Portraits& portraits,
                         obs::MetricsRegistry& metrics, const Clock& clock)
    : usage_(usage),
      world_(std::move(world)),
      portraits_(portraits),
      meters_(metrics),
      nodes_(metrics),
      clock_(clock),
      step_s_(usage.step_s()),
      idle_(step_s_) {}

void UsagePasses::start() {
  worker_.start([this] {
    while (worker_.wait(std::min(step_s_, 10.0)))
      turn();
  });
}

void UsagePasses::stop() {
  worker_.stop();
  usage_.stop();
}

void UsagePasses::add(const EndedRun& run) {
  if (run.pods.empty()) return;  // nobody knows whose series to ask for
  const double due_s = run.run.finished_s + (1 + kStepsToSettle) * step_s_;
  MutexLock lock(mutex_);
  ended_.try_emplace(run.run.usage.run, Waiting{run, due_s});
  if (ended_.size() > kMostEndedRuns) {
    ended_.erase(std::min_element(ended_.begin(), ended_.end(), [](const auto& x, const auto& y) {
      return x.second.due_s < y.second.due_s;
    }));
    if (leads()) meters_.count_lost_run();
  }
  meters_.show_waiting(leads() ? ended_.size() : 0);
}

void UsagePasses::turn() {
  const double now_s = clock_.wall_s();
  if (read_to_s_ == 0) read_to_s_ = last_step_s(now_s) - first_look_s();
  if (!leads()) return rest();
  if (!world_.source.health().synced) return;
  resting_ = false;
  if (read_live(now_s)) read_runs(now_s);
}

// A replica that knows of nothing measured has an empty disk, or a new Prometheus: nothing is told
// twice.
double UsagePasses::first_look_s() const {
  if (!portraits_.problem().get()->empty()) return step_s_;  // what it has is not known yet
  const auto book = portraits_.known().get();
  const bool measured =
      std::any_of(book->portraits.begin(), book->portraits.end(), [](const auto& entry) {
        return std::any_of(entry.second->histograms.begin(), entry.second->histograms.end(),
                           [](const auto& histogram) { return !histogram.buckets.empty(); });
      });
  const double far_s = std::floor(std::min(world_.look_back_s, kMostBehind_s) / step_s_) * step_s_;
  return measured ? step_s_ : std::max(step_s_, far_s);
}

bool UsagePasses::leads() const {
  return !world_.leads || world_.leads();
}

// What another replica knows better is told no longer.
void UsagePasses::rest() {
  if (std::exchange(resting_, true)) return;
  problem_.set({});
  nodes_.clear();
  idle_.clear();
  meters_.show_tasks({});
}

// The end of the last step that is over and whose samples are scraped.
double UsagePasses::last_step_s(double now_s) const {
  return std::floor((now_s - kStepsToSettle * step_s_) / step_s_) * step_s_;
}

// False: the Prometheus did not answer. Where an answer was too large, the next turn goes on.
bool UsagePasses::read_live(double now_s) {
  const double to_s = last_step_s(now_s);
  if (const double lost_s = to_s - kMostBehind_s - read_to_s_; lost_s > 0) {
    const double steps = std::ceil(lost_s / step_s_);
    meters_.count_lost_steps(steps);
    read_to_s_ += steps * step_s_;
  }
  if (read_to_s_ < to_s && !read_nodes(to_s)) return false;
  while (read_to_s_ < to_s && !worker_.is_stopping()) {
    const Done done = read_part({read_to_s_, std::min(to_s, read_to_s_ + most_steps_ * step_s_)});
    if (done != Done::kOver) return done == Done::kAgain;
  }
  return true;
}

// The answer was too large: the next one is about half as many steps. A single step is given up.
void UsagePasses::ask_for_less(const telemetry::Window& window) {
  most_steps_ = std::max(1.0, std::floor(window.length_s() / step_s_ / 2));
  if (window.length_s() > step_s_) return;
  meters_.count_lost_steps(1);
  read_to_s_ = window.to_s;
}

UsagePasses::Done UsagePasses::read_part(telemetry::Window window) {
  std::unordered_map<Uid, PortraitIdentity> families;
  const std::vector<telemetry::MeasuredTask> tasks = tasks_in(window, families);
  const double steps =
      std::floor(kSamplesOfAQuery / std::max(1.0, static_cast<double>(tasks.size())));
  window.to_s = std::min(window.to_s, window.from_s + std::max(1.0, steps) * step_s_);
  const auto reading = usage_.read_steps(tasks, window);
  note(UsagePass::kLive, reading.has_value());
  tell(reading ? slackline::join(reading->remarks, "; ") : reading.error().message);
  if (!reading && is_too_large(reading.error())) {
    ask_for_less(window);
    return Done::kAgain;
  }
  if (!reading) return Done::kFailed;
  read_to_s_ = window.to_s;
  std::vector<ObservedWindow> windows;
  std::vector<UsageSample> last;
  for (const UsageSample& sample : reading->samples) {
    const auto family = families.find(sample.run);
    if (family == families.end()) continue;  // a pod without a Job has none
    if (measured_s(sample) > 0) windows.push_back({family->second, sample});
    if (sample.to_s > window.to_s - step_s_) last.push_back(sample);
  }
  idle_.observe(tasks, window.to_s, reading->samples, [&families](const auto& task) {
    return std::string(families.contains(task.run) ? "Job" : "Pod");
  });
  if (!windows.empty()) portraits_.observe(windows);
  meters_.show_tasks(last);
  return Done::kOver;
}

// Also where no task runs: so it is known whether the Prometheus answers.
bool UsagePasses::read_nodes(double end_s) {
  const auto loads = usage_.node_loads(end_s);
  if (loads) {
    nodes_.show(*loads, *world_.source.snapshot());
    return true;
  }
  note(UsagePass::kLive, false);
  tell(loads.error().message);
  nodes_.clear();
  return false;
}

// What ran in the window, Jobs with their families.
std::vector<telemetry::MeasuredTask> UsagePasses::tasks_in(
    const telemetry::Window& window, std::unordered_map<Uid, PortraitIdentity>& families) const {
  const SnapshotPtr snapshot = world_.source.snapshot();
  const KnownPtr known = world_.known.get();
  std::vector<telemetry::MeasuredTask> tasks;
  {
    MutexLock lock(mutex_);
    for (const auto& [run, waiting] : ended_) {
      telemetry::MeasuredTask task = measured_task_of(waiting.run, *snapshot);
      if (telemetry::overlap(task.window, window).length_s() <= 0) continue;
      families[task.run] = waiting.run.identity;
      tasks.push_back(std::move(task));
    }
  }
  for (telemetry::MeasuredTask& task :
       telemetry::running_tasks(*snapshot, world_.catalog, window.to_s)) {
    if (families.contains(task.run)) continue;
    if (telemetry::overlap(task.window, window).length_s() <= 0) continue;
    const Job* job = snapshot->find_job(task.task.ns, task.task.name);
    if (job != nullptr && job->uid == task.run) families[task.run] = family_of(*job, *known);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

void UsagePasses::read_runs(double now_s) {
  for (Waiting& waiting : due_runs(now_s)) {
    if (worker_.is_stopping()) return;
    const Done done = read_run(waiting, now_s);
    MutexLock lock(mutex_);
    if (done == Done::kOver)
      ended_.erase(waiting.run.run.usage.run);
    else
      ended_.insert_or_assign(waiting.run.run.usage.run, std::move(waiting));
    meters_.show_waiting(ended_.size());
    if (done == Done::kFailed) return;
  }
}

std::vector<UsagePasses::Waiting> UsagePasses::due_runs(double now_s) const {
  std::vector<Waiting> due;
  {
    MutexLock lock(mutex_);
    for (const auto& [run, waiting] : ended_)
      if (waiting.due_s <= now_s) due.push_back(waiting);
  }
  std::sort(due.begin(), due.end(),
            [](const Waiting& a, const Waiting& b) { return a.due_s < b.due_s; });
  if (due.size() > kRunsOfATurn) due.erase(due.begin() + kRunsOfATurn, due.end());
  return due;
}

UsagePasses::Done UsagePasses::read_run(Waiting& waiting, double now_s) {
  const EndedRun& ended = waiting.run;
  const auto task = measured_task_of(ended, *world_.source.snapshot());
  const auto pass = waiting.reads == 0 ? UsagePass::kRun : UsagePass::kCorrection;
  const auto reading = usage_.read(std::span(&task, 1), task.window);
  note(pass, reading.has_value());
  if (!reading) {
    tell(reading.error().message);
    if (is_too_large(reading.error())) {
      const Done done = read_later(waiting, now_s);
      if (done == Done::kOver) meters_.count_lost_run();
      return done;
    }
    waiting.due_s = now_s + kReadAgainAfter_s[0];  // the others do not wait for this one
    return Done::kFailed;
  }
  const UsageSample usage = usage_of_run(ended, reading->samples.at(0));
  if (measured_s(usage) >= known_of(*portraits_.known().get(), ended)) {
    PortraitRun run = ended.run;
    run.usage = usage;
    run.outcome = outcome_of(ended, task);
    portraits_.add_run(ended.identity, run);
    if (const auto use = measured_use_of(usage); use && world_.measured)
      world_.measured(usage.run, *use);
  }
  obs::log_info("run_usage_read", {{"task", usage.task.str()},
                                   {"gpu", percent(usage.gpu_share)},
                                   {"gpu_memory", percent(usage.gpu_memory_share)},
                                   {"run", format_duration(ended.run.run_s)},
                                   {"gap", format_duration(usage.gap_s)}});
  if (usage.gap_s <= std::max(kSmallGapSteps * step_s_, kSmallGap * ended.run.run_s))
    return Done::kOver;
  return read_later(waiting, now_s);
}

// Unless it was read often enough.
UsagePasses::Done UsagePasses::read_later(Waiting& waiting, double now_s) {
  if (waiting.reads == kReadAgainAfter_s.size()) return Done::kOver;
  waiting.due_s = now_s + kReadAgainAfter_s[waiting.reads++];
  return Done::kAgain;
}

RunOutcome UsagePasses::outcome_of(const EndedRun& ended, telemetry::MeasuredTask task) {
  const RunOutcome outcome = ended.run.outcome;
  if (outcome != RunOutcome::kFailed) return outcome;
  task.window.from_s = std::max(task.window.from_s, task.window.to_s - kLastSteps * step_s_);
  const auto reading = usage_.read(std::span(&task, 1), task.window);
  if (!reading) return outcome;
  const std::optional<Usage>& memory = reading->samples.at(0).gpu_memory_share;
  return memory && memory->max >= kFullGpu ? RunOutcome::kGpuOutOfMemory : outcome;
}

void UsagePasses::note(UsagePass pass, bool answered) {
  if (!answered && worker_.is_stopping()) return;
  meters_.count_read(pass, answered);
  if (answered) meters_.show_answer(clock_.wall_s());
}

void UsagePasses::tell(std::string problem) {
  if (problem == *problem_.get() || worker_.is_stopping()) return;
  if (problem.empty())
    obs::log_info("usage_measured_again", {});
  else
    obs::log_warning("usage_not_measured", {{"problem", problem}});
  problem_.set(std::move(problem));
}

}  // namespace slackline::control
