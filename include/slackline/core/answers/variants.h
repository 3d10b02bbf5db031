// Variants: tasks that are not in the cluster, added to a snapshot so that they are planned as the
// others are: a Job that somebody may submit, or a Job as it would be after a change.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// A Job, or a pod that starts by itself; the other one is null.
struct Variant {
  JobPtr job{};
  PodPtr pod{};

  const Uid& uid() const { return job ? job->uid : pod->uid; }
};

// Copies with a uid that no object of the cluster has, as they wait in the queue: the Job is
// suspended by Slackline, the pod is behind its gate.
Variant as_variant(const Job& job, const std::string& uid);
Variant as_variant(const Pod& pod, const std::string& uid);
// Of the task as it waits; neither: it is a labelled gang, whose pods are several objects.
Variant variant_of(const QueueTask& task, const std::string& uid);

// The same intent, changed. The variant has the only pointer to the copy.
TaskIntent& changed_intent(Variant& variant);

ClusterSnapshot with_variants(const ClusterSnapshot& snapshot,
                              const std::vector<Variant>& variants);

// The task with this uid; Queue::size(): it is in none.
TaskIndex find_task(const Queue& queue, const Uid& uid);

}  // namespace slackline::core
