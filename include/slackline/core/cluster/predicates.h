// kube-scheduler's predicates, repeated for planning and for queries: cordon, readiness, taints,
// node selector, required node affinity, bound volumes. Filter does not use them: in-tree filters
// ran before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/node.h"
#include "slackline/model/pod.h"

namespace slackline::core {

enum class Misfit : std::uint8_t {
  kNodeUnreadable,
  kNotReady,
  kUnschedulable,
  kTaint,
  kResourceTaint,  // named like a resource that the pod asks for
  kNodeSelector,
  kNodeAffinity,
  kVolume,
};

std::string_view code(Misfit misfit);     // "Taint", stable
std::string_view message(Misfit misfit);  // for people

// A pod that is not in the cluster yet (no uid) has the tolerations that its admission will add
// (Node::tolerated_by_request).
//
// The first reason in the order above why the pod may not run on the node; nullopt if it may.
std::optional<Misfit> misfit(const Pod& pod, const Node& node);

// By the pod's node selector and required node affinity alone.
bool is_selected(const Pod& pod, const Node& node);

// Of its rules those that are kube-scheduler's alone, and may refuse nodes that count as usable
// here; a sentence each.
std::vector<std::string> rules_not_counted(const Pod& pod);

// The node's values of these labels, in this order: what rules between pods call its domain.
// nullopt: it lacks one of them, and is in none.
std::optional<std::vector<std::string>> domain_of(const Node& node,
                                                  const std::vector<std::string>& labels);

// In one domain by these labels; without labels: always.
bool in_same_domain(const Node& a, const Node& b, const std::vector<std::string>& labels);

// By this one of its taints alone.
std::optional<Misfit> taint_misfit(const Pod& pod, const Node& node, const Taint& taint);

}  // namespace slackline::core
