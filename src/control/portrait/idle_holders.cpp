#include "control/portrait/idle_holders.h"

#include <algorithm>
#include <utility>

namespace slackline::control {

void IdleHolders::observe(
    const std::vector<telemetry::MeasuredTask>& tasks, double end_s,
    const std::vector<UsageSample>& samples,
    const std::function<std::string(const telemetry::MeasuredTask&)>& kind_of) {
  std::unordered_map<Uid, IdleHolder> now;
  for (const telemetry::MeasuredTask& task : tasks)
    if (task.window.to_s >= end_s) now.emplace(task.run, holder_of(task, kind_of(task)));
  for (const UsageSample& sample : samples)
    if (const auto holder = now.find(sample.run); holder != now.end()) take(holder->second, sample);
  holders_.swap(now);
  publish();
}

IdleHolder IdleHolders::holder_of(const telemetry::MeasuredTask& task, std::string kind) const {
  IdleHolder holder{.task = task.task, .kind = std::move(kind)};
  if (const auto before = holders_.find(task.run); before != holders_.end())
    holder.idle_s = before->second.idle_s;
  for (const telemetry::MeasuredPod& pod : task.pods)
    holder.gpus += pod.gpus;
  return holder;
}

void IdleHolders::take(IdleHolder& holder, const UsageSample& sample) {
  if (sample.gpus != UsageQuality::kMeasured || !sample.gpu_share) return;
  if (sample.gpu_share->max >= kUsedShare)
    holder.idle_s = 0;
  else
    holder.idle_s += sample.gpu_share->seconds;
}

void IdleHolders::publish() {
  std::vector<IdleHolder> idle;
  for (const auto& [run, holder] : holders_)
    if (holder.idle_s >= least_s_) idle.push_back(holder);
  std::sort(idle.begin(), idle.end(), [](const IdleHolder& a, const IdleHolder& b) {
    return std::pair(-a.idle_gpu_hours(), a.task) < std::pair(-b.idle_gpu_hours(), b.task);
  });
  if (idle.size() > kMostIdle) idle.resize(kMostIdle);
  known_.set(std::move(idle));
}

void IdleHolders::clear() {
  holders_.clear();
  publish();
}

}  // namespace slackline::control
