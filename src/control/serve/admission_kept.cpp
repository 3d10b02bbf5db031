#include "control/serve/admission_kept.h"

#include <optional>

#include "control/serve/admission_scope.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/model/contract.h"

namespace slackline::control {
namespace {

std::vector<NodeSelectorTerm> terms_of(const Job& job) {
  return job.constraints ? job.constraints->affinity_terms : std::vector<NodeSelectorTerm>{};
}

class Keeper {
 public:
  Keeper(const ReviewedJob& old, const ReviewedJob& job)
      : old_(old), job_(job), original_(core::counted_original(old.job)) {}

  KeptOfUpdate keep() {
    keep_pods();
    keep_resources();
    keep_affinity();
    if (!kept_.later.empty())
      kept_.original = std::make_shared<const OriginalShape>(std::move(original_));
    return std::move(kept_);
  }

 private:
  // Of a Job whose pods do the work together, in any number.
  void keep_pods() {
    const Job& before = old_.job;
    const Job& after = job_.job;
    if (after.parallelism == before.parallelism && after.completions == before.completions) return;
    if (!before.indexed || before.completions != before.parallelism) return;
    const bool alone = after.completions == before.completions;
    if (!alone && after.completions != after.parallelism) return;
    kept_.shape.pods = before.parallelism;
    if (original_.parallelism.value_or(before.parallelism) == after.parallelism) return;
    if (alone) {
      kept_.alone = after.parallelism;
      return;
    }
    original_.parallelism = after.parallelism;
    kept_.later.push_back(format("spec.parallelism {}", after.parallelism));
  }

  // Of the one container that asks for GPUs; where anything else differs, nothing is kept.
  void keep_resources() {
    const std::vector<ContainerFacts>& before = old_.pod.containers;
    const std::vector<ContainerFacts>& after = job_.pod.containers;
    if (before.size() != after.size() || !old_.job.gpus_may_change() ||
        old_.job.gpu_container != job_.job.gpu_container)
      return;
    std::optional<std::size_t> changed;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i].resources == after[i].resources) continue;
      if (before[i].gpus.empty() || before[i].other_resources != after[i].other_resources) return;
      changed = i;
    }
    if (!changed) return;
    kept_.shape.resources.emplace_back(*changed, before[*changed].resources);
    note_gpus();
    note_amounts();
  }

  void note_gpus() {
    const std::int64_t now = core::primary_gpu_count(old_.job.pod_requests);
    const std::int64_t wanted = core::primary_gpu_count(job_.job.pod_requests);
    if (wanted == original_.gpus.value_or(now)) return;
    original_.gpus = wanted;
    original_.given.gpus = now;
    kept_.later.push_back(format("{} GPUs", wanted));
  }

  void note_amounts() {
    if (!old_.job.amounts || !job_.job.amounts) return;
    const ContainerAmounts& now = *old_.job.amounts;
    const ContainerAmounts& wanted = *job_.job.amounts;
    if (same_amounts(wanted, original_.amounts ? *original_.amounts : now)) return;
    original_.amounts = wanted;
    original_.given.amounts = now;
    kept_.later.emplace_back("cpu and memory");
  }

  // Where Slackline has pinned the GPU type.
  void keep_affinity() {
    if (old_.pod.affinity == job_.pod.affinity || !original_.affinity_terms ||
        old_.pod.other_affinity != job_.pod.other_affinity)
      return;
    kept_.shape.affinity = old_.pod.affinity;
    std::vector<NodeSelectorTerm> wanted = terms_of(job_.job);
    if (wanted == *original_.affinity_terms) return;
    original_.affinity_terms = std::move(wanted);
    kept_.later.emplace_back("the node affinity");
  }

  const ReviewedJob& old_;
  const ReviewedJob& job_;
  OriginalShape original_;  // what its owner has written, as far as it is known by now
  KeptOfUpdate kept_;
};

}  // namespace

std::vector<std::string> annotations_for_later(const ReviewedJob& old, const ReviewedJob& job) {
  std::vector<std::string> later;
  if (!runs_by_plan(old) || !runs_by_plan(job)) return later;
  for (const std::string_view name :
       {"model", "mode", "family", "batch-size", "iterations", "tokens", "tokens-per-sample",
        "model-parallel", "expected-duration", "expected-duration-on", "gpu-types",
        "checkpoint-interval"}) {
    const std::string key = format("{}{}", contract::kPrefix, name);
    const std::string* before = old.keys.annotation(key);
    const std::string* after = job.keys.annotation(key);
    const bool same = before == nullptr ? after == nullptr : after != nullptr && *before == *after;
    if (!same) later.push_back(key);
  }
  return later;
}

KeptOfUpdate kept_of(const ReviewedJob& old, const ReviewedJob& job) {
  return Keeper(old, job).keep();
}

bool runs_by_plan(const ReviewedJob& job) {
  return job.job.plan && was_admitted(job) && !job.job.suspended && !job.job.finished &&
         !job.job.deleting;
}

}  // namespace slackline::control
