// kube-scheduler's predicates, repeated for planning and for queries: cordon, readiness, taints,
// node selector, required node affinity. Filter does not use them: in-tree filters ran before.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

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
};

std::string_view code(Misfit misfit);     // "Taint", stable
std::string_view message(Misfit misfit);  // for people

// A pod that is not in the cluster yet (no uid) has the tolerations that its admission will add
// (Node::tolerated_by_request).
//
// The first reason in the order above why the pod may not run on the node; nullopt if it may.
std::optional<Misfit> misfit(const Pod& pod, const Node& node);

bool tolerates(const Toleration& toleration, const Taint& taint);

}  // namespace slackline::core
