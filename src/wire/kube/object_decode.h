// One Kubernetes object each, from a parsed document to its plain value. Names may be empty here:
// the caller checks them.
#pragma once

#include "slackline/model/gpu_catalog.h"
#include "slackline/model/namespace.h"
#include "slackline/model/node.h"
#include "slackline/model/pod.h"
#include "slackline/model/pod_admission.h"
#include "slackline/model/pod_ask.h"
#include "slackline/model/quota.h"
#include "wire/format/json_view.h"

namespace slackline::wire {

Node read_node(JsonView node, const GpuCatalog& catalog);
// A pod without GPUs has neither labels nor constraints.
Pod read_pod(JsonView pod, const GpuCatalog& catalog);
Pod read_whole_pod(JsonView pod, const GpuCatalog& catalog);
Job read_job(JsonView job, const GpuCatalog& catalog);
// As the API server stores what is created: without a status.
Job read_new_job(JsonView job, const GpuCatalog& catalog);
DisruptionBudget read_budget(JsonView budget);
Namespace read_namespace(JsonView ns);
PriorityClass read_priority_class(JsonView priority_class);
RuntimeClass read_runtime_class(JsonView runtime_class, const GpuCatalog& catalog);
// Whether the decoders read objects of this kind, such as "Pod".
bool is_decoded(std::string_view kind);

DeviceClass read_device_class(JsonView device_class);
VolumeClaim read_volume_claim(JsonView claim);
Volume read_volume(JsonView volume);

// Limits of resources that Slackline does not count are left out, as are malformed quantities
// (quota_decode.cpp).
ResourceQuota read_quota(JsonView quota);

// Of a Namespace.
inline constexpr std::string_view kPodSecurityLabel = "pod-security.kubernetes.io/enforce";

LimitRange read_limit_range(JsonView limit_range, const GpuCatalog& catalog);

PodAsk read_pod_ask(JsonView spec, const GpuCatalog& catalog, std::vector<std::string>& problems);
// The requests of one pod of this spec, as kube-scheduler counts them (pod_resources.cpp).
Resources read_pod_requests(JsonView spec, const GpuCatalog& catalog,
                            std::vector<std::string>& problems);

// CPU and memory in the resources of a container, byte for byte.
ContainerAmounts read_container_amounts(JsonView resources);

// Of a pod, or of the template of pods of a namespace. Null if it has no constraint that Slackline
// repeats (pod_constraints.cpp).
std::shared_ptr<const SchedulingConstraints> read_constraints(JsonView pod, std::string_view ns);

std::vector<Toleration> read_tolerations(JsonView list);

// nodeSelectorTerms; the matchFields of a term stand behind its matchExpressions, by their path.
std::vector<NodeSelectorTerm> read_term_list(JsonView list);

}  // namespace slackline::wire
