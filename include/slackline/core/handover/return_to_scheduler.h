// return_to_scheduler: the writes after which nothing of Slackline is in the way. Jobs that it
// suspended run, in the shape in which they were written; nominations of gated pods are gone, and
// its gates are lifted; plans that are not carried out yet are gone too, so that no later planner
// goes on with them. Pods that appear gated afterwards are for the next call. The plans of running
// tasks stay: they say what was done. Calibration runs that are not over are deleted. What their
// pods were told of a stop is taken back.
#pragma once

#include <cstddef>
#include <vector>

#include "slackline/model/own_write.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// In the snapshot's order, Jobs first, at most one write for each object. A gate behind
// another controller's stays: that one holds the pod. Writes in namespaces that Slackline does not
// manage come last.
std::vector<OwnWrite> return_to_scheduler(const ClusterSnapshot& snapshot);
// Only these last ones, and of them those that are due.
std::vector<OwnWrite> return_given_up(const ClusterSnapshot& snapshot, double now_steady_s);

// What cannot run before somebody acts: our suspended Jobs, and pods behind our gate.
struct HeldBack {
  std::size_t jobs = 0;
  std::size_t pods = 0;

  bool any() const { return jobs > 0 || pods > 0; }
};

// O(jobs + unbound pods).
HeldBack held_back(const ClusterSnapshot& snapshot);

}  // namespace slackline::core
