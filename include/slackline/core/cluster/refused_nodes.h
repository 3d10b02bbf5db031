// RefusedNodes: where kube-scheduler found no node for a pod of a task that was nominated there, by
// rules that no plan knows (other pods' rules, volumes), and where a pod is that may not share a
// node with it, of the same controller. Until it ends, the task is not planned there again. The
// hand-over remembers it (core/handover/hand_over_stage.h), the queue obeys it, and answers tell it
// (core/answers/refusals.h).
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "slackline/model/ids.h"

namespace slackline::core {

struct Refusal {
  double until_s = 0;  // steady
  std::string said;    // by kube-scheduler, of all nodes

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

using TaskRefusals = std::map<NodeName, Refusal>;
using RefusedNodes = std::unordered_map<Uid, TaskRefusals>;  // by refused_as()

}  // namespace slackline::core
