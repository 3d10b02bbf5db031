// SchedulingConstraints: where a pod may go by its own wishes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

// Whether all of the wanted ones are there.
bool has_labels(const Labels& labels, const Labels& wanted);

// One requirement over labels; "metadata.name" reads the node's name. Gt and Lt compare integers.
bool matches(const MatchExpression& expression, const Labels& labels,
             std::string_view node_name = {});

// Whether a label selector of these parts selects what has these labels; one without parts does.
bool selects(const Labels& match_labels, const std::vector<MatchExpression>& match_expressions,
             const Labels& labels);

// Requirements of one nodeSelectorTerm: all must hold; terms are alternatives.
using NodeSelectorTerm = std::vector<MatchExpression>;

struct Toleration {
  std::string key;  // empty with `exists` tolerates everything
  bool exists = false;
  std::string value;
  std::optional<TaintEffect> effect;  // absent = all effects
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// How the pods of a task are spread over the values of a label, such as a zone.
struct DomainSpread {
  std::string label;
  std::int64_t skew = 0;  // maxSkew; 0: no two of them in one, by anti-affinity
  friend bool operator==(const DomainSpread&, const DomainSpread&) = default;
};

// What the required rules of a task's pods say of pods that are alike. By host name, how many may
// be on one node; absent: any number. By affinity, whatever the label, what all of them must be in.
// By anti-affinity or topology spread, the one label over which they are spread.
struct OwnSpread {
  std::optional<std::int64_t> most;  // 1 by anti-affinity and host ports
  // maxSkew of topology spread: more where every node has as many.
  std::optional<std::int64_t> skew;
  std::vector<std::string> together{};  // labels whose values all of their nodes share; sorted
  std::optional<DomainSpread> apart{};
  friend bool operator==(const OwnSpread&, const OwnSpread&) = default;
};

// core/v1 PersistentVolumeClaim.
struct VolumeClaim {
  Uid uid;
  ObjectKey key;
  std::string volume{};  // spec.volumeName; empty: it is not bound
};

// core/v1 PersistentVolume.
struct Volume {
  Uid uid;
  ObjectKey key;                          // the name alone
  ObjectKey claim{};                      // spec.claimRef
  std::vector<NodeSelectorTerm> terms{};  // of the nodes that reach it; empty = all
};

// Where a pod may go, as far as Slackline repeats kube-scheduler's predicates. Claims that are not
// bound stay kube-scheduler's, as do inter-pod affinity and spread but for what they say of the
// pods of one task: the flags only say that they are set.
struct SchedulingConstraints {
  Labels node_selector;
  std::vector<NodeSelectorTerm> affinity_terms;  // requiredDuringScheduling; empty = none
  std::vector<Toleration> tolerations;
  bool has_host_ports = false;
  bool has_pod_affinity = false;  // inter-pod affinity, anti-affinity or topology spread
  bool has_volume_claims = false;
  std::vector<std::string> claims{};  // their names, as far as the pod has one itself
  // Those of its volumes that some nodes do not reach (core/cluster/pod_admission.h).
  std::vector<std::shared_ptr<const Volume>> volumes{};
  OwnSpread own_spread;
  std::string runtime_class{};  // runtimeClassName
  bool has_overhead = false;    // the spec states that of its RuntimeClass itself
  // Of a template: why the API server would refuse its pods; empty: it would not.
  std::string refused{};
};

inline OwnSpread spread_of(const SchedulingConstraints* constraints) {
  return constraints != nullptr ? constraints->own_spread : OwnSpread{};
}

}  // namespace slackline
