// PodAdmission: what kube-apiserver's admission adds to pods at their creation
// (core/cluster/pod_admission.h adds it to templates). Immutable in a snapshot.
#pragma once

#include <map>
#include <memory>
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

struct PodAdmission {
  // Of namespaces whose annotation counts.
  std::map<std::string, Labels> node_selectors{};
  std::map<std::string, std::shared_ptr<const RuntimeClass>> runtime_classes{};  // by name
  // The API server refuses pods of a RuntimeClass that is not among them.
  bool knows_all_classes = false;
};

}  // namespace slackline
