#include "slackline/core/cluster/task_family.h"

#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/task_menu.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/run_time.h"

namespace slackline::core {
namespace {

Placement asked_by(const Job& job) {
  const std::string resource = primary_gpu_resource(job.pod_requests);
  return clamped_placement(written_pods(job), written_pod(job)->requests.gpu_count(resource));
}

std::optional<ClassReference> past_reference(const PortraitBook* portraits, const Job& job,
                                             const TaskIntent& intent, const GpuCatalog& catalog) {
  constexpr int kLeastRuns = 3;
  const PortraitPtr family = portraits == nullptr ? nullptr : portraits->find(identity_of(job));
  if (!family) return std::nullopt;
  const AcceptedTypes accepted(intent, catalog, primary_gpu_resource(job.pod_requests));
  const int gpus = asked_by(job).gpus();
  std::optional<ClassReference> slowest;
  for (const PastRun& run : family->past) {
    if (!accepted.preference(run.gpu_type)) continue;
    const auto time = run_time_of(*family, run.gpu_type, gpus);
    if (!time || time->runs < kLeastRuns) continue;
    if (!slowest || time->median_s > slowest->run_s)
      slowest = ClassReference{time->median_s, run.gpu_type, to_string(LengthSource::kHistory)};
  }
  return slowest;
}

}  // namespace

PortraitIdentity identity_of(const Job& job) {
  static const TaskIntent kNothing;
  const TaskIntent& intent = job.intent ? *job.intent : kNothing;
  PortraitIdentity identity;
  identity.department = job.key.ns;
  identity.family = intent.family.value_or("");
  identity.owner =
      job.owner ? owner_stem(job.owner->name) : owner_stem(job.key.name, job.generate_name);
  identity.image = job.image;
  identity.model = intent.model.value_or("");
  identity.framework = job.owner ? job.owner->kind : "Job";
  if (job.admitted) identity.submitter = job.admitted->submitter;
  identity.mode = intent.mode.value_or(WorkloadMode::kTraining);
  return identity;
}

PortraitPtr family_of(const PortraitBook* portraits, const Job* job) {
  if (portraits == nullptr || portraits->portraits.empty() || job == nullptr) return nullptr;
  const PortraitIdentity identity = identity_of(*job);
  return identity.submitter.empty() ? portraits->find(identity)
                                    : portraits->find_same(identity, asked_by(*job));
}

KnownPast past_of(const PortraitBook* portraits, const Job* job) {
  if (portraits == nullptr || portraits->portraits.empty() || job == nullptr) return {};
  if (starts_one_by_one(*job)) return {};  // it is of whole Jobs, and each pod is a task
  return portraits->find_past(identity_of(*job), asked_by(*job));
}

std::optional<ClassReference> class_reference(const TaskIntent& intent, const Resources& of_pod,
                                              const Job* job, const Situation& situation,
                                              const std::vector<GpuType>& types) {
  const std::string resource = primary_gpu_resource(of_pod);
  const auto waves = static_cast<double>(job == nullptr ? 1 : waves_left(*job));
  if (const auto run =
          reference_run({intent, resource, *situation.catalog}, *situation.predictor, types))
    return ClassReference{run->lat_s * waves, run->gpu_type, run->source};
  if (job == nullptr || !intent.qos_class) return std::nullopt;
  return past_reference(situation.portraits.get(), *job, intent, *situation.catalog);
}

}  // namespace slackline::core
