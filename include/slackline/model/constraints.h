// SchedulingConstraints: where a pod may go by its own wishes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slackline/model/gpu_catalog.h"
#include "slackline/model/node.h"

namespace slackline {

enum class MatchOperator { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

// One matchExpression over node labels ("metadata.name" for matchFields) or object labels.
struct MatchExpression {
  std::string key;
  MatchOperator op = MatchOperator::kIn;
  std::vector<std::string> values;
  friend bool operator==(const MatchExpression&, const MatchExpression&) = default;
};

// Requirements of one nodeSelectorTerm: all must hold; terms are alternatives.
using NodeSelectorTerm = std::vector<MatchExpression>;

struct Toleration {
  std::string key;  // empty with `exists` tolerates everything
  bool exists = false;
  std::string value;
  std::optional<TaintEffect> effect;  // absent = all effects
};

// Where a pod may go, as far as Slackline repeats kube-scheduler's predicates. Volumes, inter-pod
// affinity and spread stay kube-scheduler's; the flags only say that they are set.
struct SchedulingConstraints {
  Labels node_selector;
  std::vector<NodeSelectorTerm> affinity_terms;  // requiredDuringScheduling; empty = none
  std::vector<Toleration> tolerations;
  bool has_host_ports = false;
  bool has_pod_affinity = false;  // inter-pod affinity, anti-affinity or topology spread
  bool has_volume_claims = false;
};

}  // namespace slackline
