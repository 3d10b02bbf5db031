#include "slackline/core/cluster/pod_admission.h"

#include <algorithm>
#include <utility>

#include "slackline/base/text.h"

namespace slackline::core {
namespace {

void refuse(SchedulingConstraints& constraints, std::string why) {
  if (constraints.refused.empty()) constraints.refused = std::move(why);
}

void select(SchedulingConstraints& constraints, const Labels& added, const std::string& by) {
  for (const auto& label : added) {
    Labels& own = constraints.node_selector;
    const auto at =
        std::lower_bound(own.begin(), own.end(), label,
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    if (at == own.end() || at->first != label.first)
      own.insert(at, label);
    else if (at->second != label.second)
      refuse(constraints, format("they select nodes with {}={}, and {} those with {}={}", at->first,
                                 at->second, by, label.first, label.second));
  }
}

void run_in(const RuntimeClass& runtime, Resources& requests, SchedulingConstraints& constraints) {
  select(constraints, runtime.node_selector, "the RuntimeClass " + runtime.key.name);
  constraints.tolerations.insert(constraints.tolerations.end(), runtime.tolerations.begin(),
                                 runtime.tolerations.end());
  if (!constraints.has_overhead) requests += runtime.overhead;
}

using ConstraintsPtr = std::shared_ptr<const SchedulingConstraints>;

// False if nothing is added.
bool admit(const std::string& ns, const PodAdmission& admission, Resources& requests,
           ConstraintsPtr& constraints) {
  const auto selector = admission.node_selectors.find(ns);
  const bool selects = selector != admission.node_selectors.end();
  const std::string name = constraints ? constraints->runtime_class : std::string();
  const auto runtime = admission.runtime_classes.find(name);
  const bool found = runtime != admission.runtime_classes.end();
  const bool missing = !found && !name.empty() && admission.knows_all_classes;
  if (!selects && !found && !missing) return false;
  auto changed =
      std::make_shared<SchedulingConstraints>(constraints ? *constraints : SchedulingConstraints{});
  if (selects) select(*changed, selector->second, "the annotation of their namespace");
  if (found) run_in(*runtime->second, requests, *changed);
  if (missing) refuse(*changed, format("their RuntimeClass {} does not exist", name));
  constraints = std::move(changed);
  return true;
}

}  // namespace

JobPtr with_admission(const JobPtr& job, const PodAdmission& admission) {
  if (!job->pod_requests.wants_gpus()) return job;
  Resources requests = job->pod_requests;
  ConstraintsPtr constraints = job->constraints;
  if (!admit(job->key.ns, admission, requests, constraints)) return job;
  auto admitted = std::make_shared<Job>(*job);
  admitted->pod_requests = std::move(requests);
  admitted->constraints = std::move(constraints);
  return admitted;
}

PodPtr with_admission(const PodPtr& pod, const PodAdmission& admission) {
  Resources requests = pod->requests;
  ConstraintsPtr constraints = pod->constraints;
  if (!admit(pod->key.ns, admission, requests, constraints)) return pod;
  auto admitted = std::make_shared<Pod>(*pod);
  admitted->requests = std::move(requests);
  admitted->constraints = std::move(constraints);
  return admitted;
}

}  // namespace slackline::core
