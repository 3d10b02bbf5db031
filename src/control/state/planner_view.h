// PlannerView: what only the planner knows, published for queries and the extender.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/refused_nodes.h"
#include "slackline/core/cluster/situation.h"
#include "slackline/core/cluster/stop_book.h"
#include "slackline/model/ids.h"
#include "slackline/model/move_advice.h"

namespace slackline::control {

// The name of a task that outlives a reading: its uid, or "namespace/name" of a labelled gang.
inline Uid name_of(const core::QueueTask& task) {
  return task.uid.empty() ? Uid(task.key.str()) : task.uid;
}

struct PlannerView {
  struct Backoff {
    double until_s = 0;  // steady
    std::string reason;  // a code of model/reason.h
    friend bool operator==(const Backoff&, const Backoff&) = default;
  };

  bool active = false;  // a planner runs here at all
  bool leads = false;
  std::string leader;  // who holds the Lease; empty: nobody
  // Outside of active mode: Jobs and pods that it has left waiting, while nobody leads.
  std::unordered_set<Uid> left_waiting{};
  std::unordered_map<Uid, Backoff> backoffs;  // by Job; of a leader
  // Tasks whose queue has spent what it may make others lose; of a leader.
  std::unordered_set<Uid> denied_room{};
  // Nodes on which others still run, by name_of the task for which they are kept; of a leader.
  std::unordered_map<Uid, std::vector<NodeName>> kept{};
  std::unordered_map<Uid, MoveAdvice> moves{};  // by the Job or pod that would gain; of a leader
  // What budgets pay for beside what stopped Jobs say. Of a leader; null: nothing.
  std::shared_ptr<const core::StopBook> stop_book{};
  core::RefusedNodes refused{};     // of a leader
  core::SlowNodesPtr slow_nodes{};  // also of a replica that does not lead; null: none

  friend bool operator==(const PlannerView&, const PlannerView&) = default;
};

}  // namespace slackline::control
