// Node: what scheduling needs to know of a Kubernetes node. Immutable once in a snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/model/gpu_catalog.h"
#include "slackline/model/ids.h"
#include "slackline/model/resources.h"

namespace slackline {

enum class TaintEffect { kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kNoSchedule;
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Node {
  NodeName name;
  Uid uid;
  Resources allocatable;
  // GPUs of its capacity that it does not offer: their device plugin is down, or says they are.
  ResourceAmounts unhealthy{};
  GpuType gpu_type;                     // by GpuCatalog::classify; empty if no label names it
  Labels labels;                        // sorted by key
  std::vector<std::uint64_t> blocks{};  // of the network: GpuCatalog::blocks_of
  std::vector<Taint> taints;
  bool unschedulable = false;  // cordoned
  // Pods are admitted with a toleration of NoSchedule taints that are named like a resource that
  // they ask for: kube-apiserver's ExtendedResourceToleration, or a webhook that does the same.
  bool tolerated_by_request = false;
  bool ready = true;                        // the Ready condition
  std::optional<double> unready_since_s{};  // epoch seconds; of a node that is not ready
  // Unreadable values (a malformed quantity, F44): such a node is ineligible, with the reason.
  std::vector<std::string> problems;
  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace slackline
