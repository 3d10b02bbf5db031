#include "slackline/model/task_intent.h"

#include <cmath>

#include "slackline/base/text.h"

namespace slackline {
namespace {

template <class T>
void inherit(std::optional<T>& mine, const std::optional<T>& theirs) {
  if (!mine) mine = theirs;
}

}  // namespace

void count_iterations(TaskIntent& intent) {
  if (intent.iterations || !intent.tokens || !intent.batch_size || !intent.tokens_per_sample)
    return;
  const double per_iteration =
      static_cast<double>(*intent.batch_size) * static_cast<double>(*intent.tokens_per_sample);
  intent.iterations =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(*intent.tokens) / per_iteration));
}

TaskIntent merge(const TaskIntent& pod, const TaskIntent& owner) {
  TaskIntent out = pod;
  inherit(out.model, owner.model);
  inherit(out.mode, owner.mode);
  inherit(out.batch_size, owner.batch_size);
  inherit(out.model_parallel, owner.model_parallel);
  inherit(out.tokens_per_sample, owner.tokens_per_sample);
  inherit(out.tokens, owner.tokens);
  inherit(out.iterations, owner.iterations);
  inherit(out.expected_duration_s, owner.expected_duration_s);
  inherit(out.expected_duration_on, owner.expected_duration_on);
  inherit(out.qos_class, owner.qos_class);
  inherit(out.deadline_s, owner.deadline_s);
  inherit(out.deadline_after_s, owner.deadline_after_s);
  if (!out.any_gpu_type && out.gpu_types.empty()) {
    out.any_gpu_type = owner.any_gpu_type;
    out.gpu_types = owner.gpu_types;
  }
  if (!out.any_placement && out.placements.empty()) {
    out.any_placement = owner.any_placement;
    out.placements = owner.placements;
  }
  inherit(out.gang, owner.gang);
  inherit(out.gang_size, owner.gang_size);
  inherit(out.family, owner.family);
  inherit(out.queue, owner.queue);
  if (out.depends_on.empty()) out.depends_on = owner.depends_on;
  if (!out.hold) out.hold = owner.hold;
  inherit(out.checkpoint_interval_s, owner.checkpoint_interval_s);
  inherit(out.last_checkpoint_s, owner.last_checkpoint_s);
  out.own_failure_policy |= owner.own_failure_policy;
  inherit(out.resize, owner.resize);
  count_iterations(out);
  out.problems.insert(out.problems.end(), owner.problems.begin(), owner.problems.end());
  return out;
}

std::optional<std::string> TaskIntent::workload() const {
  const bool by_family = !model && batch_size && iterations;
  const std::optional<std::string>& name = by_family ? family : model;
  if (!name || mode != WorkloadMode::kInference || name->ends_with(kInferenceSuffix)) return name;
  return format("{}{}", *name, kInferenceSuffix);
}

std::string queue_of(const TaskIntent& intent, const std::string& ns) {
  return intent.queue.value_or(ns);
}

}  // namespace slackline
