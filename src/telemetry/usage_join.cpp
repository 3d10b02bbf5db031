#include "telemetry/usage_join.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace slackline::telemetry {
namespace {

// Containers that only repeat others (docs/TELEMETRY.md).
bool repeats_others(const std::string& container) {
  return container.empty() || container == "POD";
}

std::size_t place(Quantity quantity) {
  return static_cast<std::size_t>(quantity);
}

// The mean and the maximum of the same thing: where one is impossible, so is the other.
std::vector<Quantity> told_together(Quantity quantity) {
  switch (quantity) {
    case Quantity::kGpuMean:
    case Quantity::kGpuMax:
      return {Quantity::kGpuMean, Quantity::kGpuMax};
    case Quantity::kGpuMemoryMean:
    case Quantity::kGpuMemoryMax:
      return {Quantity::kGpuMemoryMean, Quantity::kGpuMemoryMax};
    case Quantity::kMemoryMean:
    case Quantity::kMemoryMax:
      return {Quantity::kMemoryMean, Quantity::kMemoryMax};
    case Quantity::kCpu:
      break;
  }
  return {Quantity::kCpu};
}

}  // namespace

UsageJoin::UsageJoin(std::span<const MeasuredTask> tasks, const Steps& steps,
                     const LabelNames& names)
    : tasks_(tasks), steps_(steps), names_(names) {
  for (const MeasuredTask& task : tasks_)
    for (const MeasuredPod& pod : task.pods)
      uses_.try_emplace({task.task.ns, pod.name});
}

std::size_t UsageJoin::take(PodUse& use, Quantity quantity, const std::string& part,
                            const wire::Series& series) const {
  const auto timeline = [&](Quantity one) -> Timeline& {
    return use.parts[place(one)].try_emplace(part, steps_.count).first->second;
  };
  Timeline& own = timeline(quantity);
  std::size_t impossible = 0;
  for (const wire::SeriesPoint& point : series.points) {
    const auto step = steps_.at(point.time_s);
    if (!step) continue;
    if (const auto value = possible(quantity, point.value)) {
      own.take_max(*step, *value);
      continue;
    }
    ++impossible;
    for (const Quantity one : told_together(quantity))
      timeline(one).drop(*step);
  }
  return impossible;
}

std::size_t UsageJoin::add(Quantity quantity, const std::vector<wire::Series>& series) {
  std::size_t impossible = 0;
  for (const wire::Series& one : series) {
    const Owner owner = owner_of(one, names_);
    if (owner.pod.name.empty() || one.points.empty()) continue;
    const auto use = uses_.find(owner.pod);
    if (use == uses_.end()) continue;
    const std::string part = is_of_gpu(quantity) ? device_of(one, names_) : owner.container;
    if (is_of_gpu(quantity) ? part.empty() : repeats_others(part)) continue;
    if (is_of_gpu(quantity)) {
      use->second.devices.insert(part);
      users_[part].insert(&use->second);
      if (says_shared(one, names_)) marked_shared_.insert(part);
    }
    impossible += take(use->second, quantity, part, one);
  }
  return impossible;
}

// A GPU that goes from one pod to the next is seen with both in one step.
bool UsageJoin::several_use(const std::string& device) const {
  const std::size_t harmless = steps_.count > 1 ? 1 : 0;
  const std::set<const PodUse*>& users = users_.at(device);
  for (auto a = users.begin(); a != users.end(); ++a)
    for (auto b = std::next(a); b != users.end(); ++b)
      for (const Quantity quantity : {Quantity::kGpuMean, Quantity::kGpuMemoryMean}) {
        const Parts& left = (*a)->parts[place(quantity)];
        const Parts& right = (*b)->parts[place(quantity)];
        const auto mine = left.find(device);
        const auto other = right.find(device);
        if (mine != left.end() && other != right.end() &&
            mine->second.in_common(other->second) > harmless)
          return true;
      }
  return false;
}

const UsageJoin::PodUse* UsageJoin::use_of(const MeasuredTask& task, const MeasuredPod& pod) const {
  const auto found = uses_.find({task.task.ns, pod.name});
  return found == uses_.end() ? nullptr : &found->second;
}

// A pod that was measured on more or fewer GPUs than it asked for does not have them alone, or not
// all of what was measured is its own.
bool UsageJoin::shared(const MeasuredTask& task) const {
  return std::any_of(task.pods.begin(), task.pods.end(), [&](const MeasuredPod& pod) {
    const PodUse* use = use_of(task, pod);
    if (pod.shares_gpus) return true;
    if (use == nullptr || use->devices.empty()) return false;  // not measured: a gap
    if (static_cast<std::int64_t>(use->devices.size()) != pod.gpus) return true;
    return std::any_of(use->devices.begin(), use->devices.end(), [&](const std::string& device) {
      return marked_shared_.contains(device) || several_use(device);
    });
  });
}

std::optional<Usage> UsageJoin::of_gpus(const MeasuredTask& task, const Window& window,
                                        Quantity mean, Quantity max) const {
  std::vector<Usage> measured;
  double expected_s = 0;
  for (const MeasuredPod& pod : task.pods) {
    const Window part = overlap(window, pod.window);
    expected_s += static_cast<double>(pod.gpus) * part.length_s();
    const PodUse* use = use_of(task, pod);
    if (use == nullptr) continue;
    for (const auto& [device, timeline] : use->parts[place(mean)]) {
      std::optional<Usage> peak;
      if (const auto found = use->parts[place(max)].find(device);
          found != use->parts[place(max)].end())
        peak = found->second.usage(steps_, part);
      if (const auto all = combine(timeline.usage(steps_, part), peak)) measured.push_back(*all);
    }
  }
  return mean_of(measured, expected_s, window.length_s());
}

std::optional<Usage> UsageJoin::of_pods(const MeasuredTask& task, const Window& window,
                                        Quantity mean, Quantity max) const {
  std::vector<Usage> measured;
  double expected_s = 0;
  for (const MeasuredPod& pod : task.pods) {
    const Window part = overlap(window, pod.window);
    expected_s += part.length_s();
    const PodUse* use = use_of(task, pod);
    if (use == nullptr) continue;
    const auto sum = [&](Quantity quantity) {
      Timeline total(steps_.count);
      for (const auto& [container, timeline] : use->parts[place(quantity)])
        total.add(timeline);
      return total.usage(steps_, part);
    };
    if (const auto all = combine(sum(mean), sum(max))) measured.push_back(*all);
  }
  return mean_of(measured, expected_s, window.length_s());
}

UsageSample UsageJoin::sample_of(const MeasuredTask& task, const Window& window) const {
  UsageSample sample;
  sample.task = task.task;
  sample.run = task.run;
  sample.from_s = window.from_s;
  sample.to_s = window.to_s;
  sample.gpu_share = of_gpus(task, window, Quantity::kGpuMean, Quantity::kGpuMax);
  sample.gpu_memory_share =
      of_gpus(task, window, Quantity::kGpuMemoryMean, Quantity::kGpuMemoryMax);
  sample.cpu_cores = of_pods(task, window, Quantity::kCpu, Quantity::kCpu);
  sample.memory_bytes = of_pods(task, window, Quantity::kMemoryMean, Quantity::kMemoryMax);
  if (sample.gpu_share || sample.gpu_memory_share)
    sample.gpus = shared(task) ? UsageQuality::kShared : UsageQuality::kMeasured;
  double measured_s = window.length_s();
  bool any = false;
  for (const auto* use :
       {&sample.gpu_share, &sample.gpu_memory_share, &sample.cpu_cores, &sample.memory_bytes}) {
    if (!*use) continue;
    any = true;
    measured_s = std::min(measured_s, (*use)->seconds);
  }
  sample.gap_s = any ? std::max(0.0, window.length_s() - measured_s) : window.length_s();
  return sample;
}

std::vector<UsageSample> UsageJoin::samples(const Window& within) const {
  std::vector<UsageSample> samples;
  samples.reserve(tasks_.size());
  for (const MeasuredTask& task : tasks_)
    samples.push_back(sample_of(task, overlap(within, task.window)));
  return samples;
}

std::vector<UsageSample> UsageJoin::samples_of_steps() const {
  std::vector<UsageSample> samples;
  for (std::size_t i = 0; i < steps_.count; ++i)
    for (const MeasuredTask& task : tasks_)
      if (const Window part = overlap(steps_.step(i), task.window); part.length_s() > 0)
        samples.push_back(sample_of(task, part));
  return samples;
}

}  // namespace slackline::telemetry
