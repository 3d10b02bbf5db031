#include "control/portrait/run_usage.h"

#include <algorithm>
#include <optional>

namespace slackline::control {

telemetry::MeasuredTask measured_task_of(const EndedRun& ended, const ClusterSnapshot& snapshot) {
  const UsageSample& known = ended.run.usage;
  telemetry::MeasuredTask task{
      .task = known.task, .run = known.run, .window = {known.from_s, known.to_s}, .pods = {}};
  for (const EndedPod& pod : ended.pods) {
    const auto node = snapshot.find_node(pod.node.str());
    const bool shared =
        pod.shares_gpus || (node && telemetry::marks_shared(snapshot.node(*node).node->gpu_type));
    task.pods.push_back({pod.name, pod.gpus, shared, {pod.started_s, pod.ended_s}});
  }
  return task;
}

UsageSample usage_of_run(const EndedRun& ended, UsageSample measured) {
  const double window_s = measured.to_s - measured.from_s;
  const double part = window_s > 0 ? std::min(1.0, ended.run.run_s / window_s) : 0;
  for (std::optional<Usage>* usage : {&measured.cpu_cores, &measured.memory_bytes,
                                      &measured.gpu_share, &measured.gpu_memory_share})
    if (*usage) (*usage)->seconds *= part;
  measured.gap_s *= part;
  return measured;
}

std::optional<MeasuredUse> measured_use_of(const UsageSample& usage) {
  MeasuredUse use;
  if (usage.gpus == UsageQuality::kMeasured && usage.gpu_share) {
    use.gpu_share = usage.gpu_share->mean;
    use.gpu_s = usage.gpu_share->seconds;
    if (usage.gpu_memory_share) use.gpu_memory = usage.gpu_memory_share->max;
  }
  if (usage.cpu_cores) {
    use.cpu_cores = usage.cpu_cores->mean;
    use.cpu_s = usage.cpu_cores->seconds;
  }
  return use.gpu_s > 0 || use.cpu_s > 0 ? std::optional(use) : std::nullopt;
}

double measured_s(const UsageSample& usage) {
  double sum_s = 0;
  for (const std::optional<Usage>* one :
       {&usage.cpu_cores, &usage.memory_bytes, &usage.gpu_share, &usage.gpu_memory_share})
    if (*one) sum_s += (*one)->seconds;
  return sum_s;
}

}  // namespace slackline::control
