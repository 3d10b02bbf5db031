// PodAdmission: what kube-apiserver's admission adds to pods at their creation, and which volumes
// they will have (core/cluster/pod_admission.h adds it to templates). Immutable in a snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slackline/model/constraints.h"
#include "slackline/model/ids.h"
#include "slackline/model/resources.h"

namespace slackline {

// node.k8s.io/v1 RuntimeClass.
struct RuntimeClass {
  Uid uid;
  ObjectKey key;         // the name alone
  Resources overhead{};  // of each pod
  Labels node_selector{};
  std::vector<Toleration> tolerations{};
};

// Of one resource: "cpu" (milli), "memory" (bytes) or a GPU resource.
struct NamedAmount {
  std::string resource;
  std::int64_t amount = 0;
  friend bool operator==(const NamedAmount&, const NamedAmount&) = default;
};

// core/v1 LimitRange, as far as it concerns what Slackline counts.
struct LimitRange {
  struct Item {
    bool of_pod = false;  // of its containers together; else of each of them
    std::vector<NamedAmount> default_requests{};
    std::vector<NamedAmount> default_limits{};
    std::vector<NamedAmount> least{};
    std::vector<NamedAmount> most{};
    std::vector<NamedAmount> ratios{};  // of limit to request at most, in thousandths
    friend bool operator==(const Item&, const Item&) = default;
  };
  Uid uid;
  ObjectKey key;
  std::vector<Item> items{};
};

// resource.k8s.io/v1 DeviceClass: kube-scheduler may satisfy requests for a resource by devices.
struct DeviceClass {
  Uid uid;
  ObjectKey key;              // the name alone
  std::string resource = {};  // its extendedResourceName; empty: none
};

// What plug-ins read in a Namespace for its pods.
struct NamespaceAdmission {
  Labels node_selector{};                         // PodNodeSelector, OriginPodNodeEnvironment
  std::vector<Toleration> tolerations{};          // PodTolerationRestriction adds these
  std::vector<Toleration> allowed_tolerations{};  // and refuses others than these; empty: none
  std::string pod_security{};  // the level that PodSecurity enforces, if any but "privileged"
  friend bool operator==(const NamespaceAdmission&, const NamespaceAdmission&) = default;
};

struct PodAdmission {
  // By namespace, in the order of their names.
  std::map<std::string, std::vector<std::shared_ptr<const LimitRange>>> limit_ranges{};
  std::map<std::string, NamespaceAdmission> namespaces{};  // the part of each that counts
  std::map<std::string, std::shared_ptr<const RuntimeClass>> runtime_classes{};  // by name
  // By the claim that is bound to it: those that some nodes do not reach.
  std::map<ObjectKey, std::shared_ptr<const Volume>> volumes{};
  // The API server refuses pods of a RuntimeClass that is not among them.
  bool knows_all_classes = false;
  // Nor does it take pods of a PriorityClass that is not here. nullopt: not all are known.
  std::optional<std::set<std::string>> priority_classes{};
  // The PriorityClasses that are bands (model/band.h) and make no room for themselves, with their
  // values.
  std::map<std::string, std::int32_t> bands{};
};

}  // namespace slackline
