// The resources that the cache watches, and where the API server keeps them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "wire/kube/kube_decode.h"

namespace slackline::cluster {

struct ResourceSpec {
  wire::KubeKind kind;
  std::string_view name;  // plural: metrics, logs and RBAC rules
  std::string_view path;  // across all namespaces
  std::string_view api_group;
  bool required;  // without it no snapshot can be believed
};

inline constexpr std::array<ResourceSpec, wire::kKubeKindCount> kResources{{
    {wire::KubeKind::kNode, "nodes", "/api/v1/nodes", "", true},
    {wire::KubeKind::kPod, "pods", "/api/v1/pods", "", true},
    {wire::KubeKind::kJob, "jobs", "/apis/batch/v1/jobs", "batch", true},
    {wire::KubeKind::kDisruptionBudget, "poddisruptionbudgets",
     "/apis/policy/v1/poddisruptionbudgets", "policy", false},
    {wire::KubeKind::kResourceQuota, "resourcequotas", "/api/v1/resourcequotas", "", false},
    {wire::KubeKind::kNamespace, "namespaces", "/api/v1/namespaces", "", true},
    {wire::KubeKind::kPriorityClass, "priorityclasses",
     "/apis/scheduling.k8s.io/v1/priorityclasses", "scheduling.k8s.io", false},
    {wire::KubeKind::kRuntimeClass, "runtimeclasses", "/apis/node.k8s.io/v1/runtimeclasses",
     "node.k8s.io", false},
    {wire::KubeKind::kLimitRange, "limitranges", "/api/v1/limitranges", "", false},
    {wire::KubeKind::kDeviceClass, "deviceclasses", "/apis/resource.k8s.io/v1/deviceclasses",
     "resource.k8s.io", false},
    {wire::KubeKind::kVolumeClaim, "persistentvolumeclaims", "/api/v1/persistentvolumeclaims", "",
     false},
    {wire::KubeKind::kVolume, "persistentvolumes", "/api/v1/persistentvolumes", "", false},
}};

constexpr std::size_t index_of(wire::KubeKind kind) {
  return static_cast<std::size_t>(kind);
}
// Watched only to decide whose keys count (belief.h), and what Jobs will be: a source that trusts
// everything does not need it.
constexpr bool is_asked_for(wire::KubeKind kind, bool believes_all) {
  using enum wire::KubeKind;
  return !believes_all ||
         (kind != kNamespace && kind != kPriorityClass && kind != kRuntimeClass &&
          kind != kLimitRange && kind != kDeviceClass && kind != kVolumeClaim && kind != kVolume);
}
constexpr const ResourceSpec& resource_of(wire::KubeKind kind) {
  return kResources[index_of(kind)];
}

static_assert(kResources[index_of(wire::KubeKind::kNode)].name == "nodes");
static_assert(kResources[index_of(wire::KubeKind::kDisruptionBudget)].api_group == "policy");
static_assert(kResources[index_of(wire::KubeKind::kResourceQuota)].name == "resourcequotas");
static_assert(kResources[index_of(wire::KubeKind::kPriorityClass)].name == "priorityclasses");
static_assert(kResources[index_of(wire::KubeKind::kRuntimeClass)].name == "runtimeclasses");
static_assert(kResources[index_of(wire::KubeKind::kLimitRange)].name == "limitranges");
static_assert(kResources[index_of(wire::KubeKind::kDeviceClass)].name == "deviceclasses");
static_assert(kResources[index_of(wire::KubeKind::kVolumeClaim)].name == "persistentvolumeclaims");
static_assert(kResources[index_of(wire::KubeKind::kVolume)].name == "persistentvolumes");

}  // namespace slackline::cluster
