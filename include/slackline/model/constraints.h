// SchedulingConstraints: where a pod may go by its own wishes.
#pragma once

#include <cstdint>
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

// What the required rules of a task's pods say of pods that are alike. By host name, how many may
// be on one node; absent: any number. By affinity, whatever the label, what all of them must be in.
struct OwnSpread {
  std::optional<std::int64_t> most;  // 1 by anti-affinity and host ports
  std::optional<std::int64_t>
      skew;  // maxSkew of topology spread: more where every node has as many
  std::vector<std::string> together{};  // labels whose values all of their nodes share; sorted
};

// Where a pod may go, as far as Slackline repeats kube-scheduler's predicates. Volumes stay
// kube-scheduler's, as do inter-pod affinity and spread but for what they say of the pods of one
// task: the flags only say that they are set.
struct SchedulingConstraints {
  Labels node_selector;
  std::vector<NodeSelectorTerm> affinity_terms;  // requiredDuringScheduling; empty = none
  std::vector<Toleration> tolerations;
  bool has_host_ports = false;
  bool has_pod_affinity = false;  // inter-pod affinity, anti-affinity or topology spread
  bool has_volume_claims = false;
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
