// return_to_scheduler: the writes after which nothing of Slackline is in the way. Jobs that it
// suspended run, in the shape in which they were written; nominations of gated pods are gone, and
// its gates are lifted; plans that are not carried out yet are gone too, so that no later planner
// goes on with them. Pods that appear gated afterwards are for the next call. The plans of running
// tasks stay: they say what was done. Calibration runs that are not over are deleted. What their
// pods were told of a stop is taken back.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
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

// A kube-scheduler goes away. Nobody can change which one a pod names, so a pod that waits for it
// has to be made anew, and names then what its template says.
enum class StaysWhy {
  kTemplate,    // what makes it names that scheduler, too
  kPartlyRuns,  // other pods of its Job run, which a suspension would end
  kBare,        // nobody makes it anew
};
struct StaysBehind {
  ObjectKey key;
  bool is_job = false;
  StaysWhy why = StaysWhy::kBare;
};
struct SchedulerLeave {
  // Those of return_to_scheduler(), and suspensions of Jobs none of whose pods runs: their
  // controller removes the pods. Jobs stay suspended until it has.
  std::vector<OwnWrite> writes{};
  std::vector<PodPtr> removals{};   // of gangs whose controllers make their pods anew
  std::size_t emptying = 0;         // Jobs whose pods are still to go
  std::vector<StaysBehind> stay{};  // for people
};
// Pods that were made from `since_s` on, epoch seconds, are not removed once more.
SchedulerLeave leave_scheduler(const ClusterSnapshot& snapshot, const std::string& scheduler,
                               double since_s);
// Unfinished Jobs whose template names it, in the snapshot's order.
std::vector<ObjectKey> jobs_naming(const ClusterSnapshot& snapshot, const std::string& scheduler);

// Back to the shape that was written: one that Slackline chose goes with the plan that it was
// chosen for.
ShapeChange first_shape(const Job& job);

// What cannot run before somebody acts: our suspended Jobs, and pods behind our gate.
struct HeldBack {
  std::size_t jobs = 0;
  std::size_t pods = 0;
  std::unordered_set<Uid> objects{};  // all of them

  bool any() const { return jobs > 0 || pods > 0; }
};

// O(jobs + unbound pods).
HeldBack held_back(const ClusterSnapshot& snapshot);

}  // namespace slackline::core
