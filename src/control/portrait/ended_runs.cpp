#include "control/portrait/ended_runs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "slackline/base/clock.h"
#include "slackline/base/saturating.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::control {
namespace {

std::vector<EndedPod> pods_of(const RunSeen& seen, double finished_s) {
  std::vector<EndedPod> pods;
  for (const auto& [uid, member] : seen.pods) {
    const double ended_s = std::min(member.ended_s.value_or(finished_s), finished_s);
    pods.push_back({member.name, member.node, member.gpus, member.started_s,
                    std::max(member.started_s, ended_s), member.shared});
  }
  std::sort(pods.begin(), pods.end(),
            [](const EndedPod& a, const EndedPod& b) { return a.name < b.name; });
  return pods;
}

// On as many nodes as its pods had, where its GPUs divide by them; else one pod a node.
Placement shape_of(const Job& job, const RunSeen& seen) {
  std::set<NodeName> nodes;
  for (const auto& [uid, member] : seen.pods)
    nodes.insert(member.node);
  const auto wide = static_cast<std::int64_t>(nodes.size());
  const std::int64_t per_pod = core::primary_gpu_count(job.pod_requests);
  const Placement told = clamped_placement(job.parallelism, per_pod);
  if (wide == 0 || wide > job.parallelism || told.gpus() % wide != 0) return told;
  return clamped_placement(wide, told.gpus() / wide);
}

RunOutcome outcome_of(const Job& job, const RunSeen& seen) {
  if (job.completed_s) return RunOutcome::kSucceeded;
  const auto any = [&seen](bool RunSeen::Member::* member) {
    return std::any_of(seen.pods.begin(), seen.pods.end(),
                       [member](const auto& pod) { return pod.second.*member; });
  };
  if (any(&RunSeen::Member::out_of_memory)) return RunOutcome::kOutOfMemory;
  return any(&RunSeen::Member::gpu_out_of_memory) ? RunOutcome::kGpuOutOfMemory
                                                  : RunOutcome::kFailed;
}

std::optional<ResizedRun> resized_of(const Job& job, const PodRequests& written) {
  if (!job.plan || !job.plan->resize) return std::nullopt;
  const ResizeNote& note = *job.plan->resize;
  ResizedRun resized{.given = written, .expected_s = note.expected_s};
  if (note.amounts)
    resized.given = {requested_cpu_milli(*note.amounts), limited_cpu_milli(*note.amounts),
                     requested_memory_bytes(*note.amounts)};
  return resized;
}

// Somebody else's webhook, or an update in place, gave a pod other amounts than its Job has and
// than Slackline gave: a VerticalPodAutoscaler, a policy of the cluster.
bool others_changed(const Job& job, const RunSeen& seen) {
  if (!job.amounts) return false;
  const ContainerAmounts* given = job.plan && job.plan->resize && job.plan->resize->amounts
                                      ? &*job.plan->resize->amounts
                                      : nullptr;
  return std::any_of(seen.pods.begin(), seen.pods.end(), [&](const auto& pod) {
    const auto& amounts = pod.second.amounts;
    return amounts && !has_amounts(*amounts, *job.amounts) &&
           (given == nullptr || !has_amounts(*amounts, *given));
  });
}

std::string digest_of(const RunSeen& seen) {
  const RunSeen::Member* last = nullptr;
  for (const auto& [uid, member] : seen.pods)
    if (!member.image_digest.empty() && (last == nullptr || last->started_s < member.started_s))
      last = &member;
  return last == nullptr ? std::string() : last->image_digest;
}

}  // namespace

PortraitIdentity family_of(const Job& job, const Known& known) {
  PortraitIdentity identity = core::identity_of(job);
  if (const ModelView* model = known.find(identity.model))
    identity.parameters = model->descriptor.parameters;
  return identity;
}

EndedRun ended_run_of(const Job& job, const RunSeen& seen, const OutcomeFacts& facts) {
  const FinishedTask task = finished_task(job, seen, facts);
  EndedRun ended{.identity = core::identity_of(job), .run = {}};
  ended.pods = pods_of(seen, task.finished_s);
  const PodPtr written = core::written_pod(job);
  const std::string resource = core::primary_gpu_resource(job.pod_requests);
  PortraitRun& run = ended.run;
  run.usage.task = job.key;
  run.usage.run = job.uid;
  run.usage.from_s = task.started_s.value_or(task.finished_s);
  run.usage.to_s = task.finished_s;
  run.gpu_type = task.gpu_type;
  run.shape = shape_of(job, seen);
  run.asked = clamped_placement(core::written_pods(job), written->requests.gpu_count(resource));
  run.requests = core::written_requests(job);
  run.resized = resized_of(job, run.requests);
  run.others_changed = others_changed(job, seen);
  run.finished_s = task.finished_s;
  run.run_s = task.held_s;  // a run that was stopped for another task waits in between
  run.wait_s = task.wait_s();
  run.outcome = outcome_of(job, seen);
  if (job.preemptions) run.preemptions = saturating_int(job.preemptions->count);
  run.retried = run.preemptions == 0 && (job.failed > 0 || seen.retried);
  const bool one_run =
      run.outcome == RunOutcome::kSucceeded && run.preemptions == 0 && !run.retried;
  if (one_run && job.plan && job.plan->predicted_s && run.run_s > 0)
    run.speed = *job.plan->predicted_s / run.run_s;
  run.image_digest = digest_of(seen);
  return ended;
}

void EndedRuns::follow(const GpuCatalog& catalog, const Published<Known>& known,
                       const cluster::ClusterSource& source) {
  catalog_ = &catalog;
  known_ = &known;
  source_ = &source;
}

bool EndedRuns::on_ended(const Job& job, const RunSeen& seen) {
  // Neither says how its family runs.
  if (job.is_calibration() || !job.finished) return true;
  const KnownPtr known = known_->get();
  EndedRun ended = ended_run_of(
      job, seen, {*source_->snapshot(), *catalog_, *known->predictor, system_clock().wall_s()});
  ended.identity = family_of(job, *known);
  for (const Tell& listener : listeners_)
    listener(ended);
  return true;
}

void EndedRuns::on_rolled_back(const Job& job) {
  const PreemptionNote& note = *job.preemptions;
  tell_rollback_(family_of(job, *known_->get()),
                 {note.at_s, job.uid, job.key.name, note.too_small});
}

}  // namespace slackline::control
