// The runs of GPU pods that no plan placed: started before Slackline, by other schedulers, in other
// namespaces; and those that are not as planned, because a node of their plan was cordoned, or has
// another GPU type now: the others run on. Forecasts use them to know when GPUs become free; plans
// do not.
//
// A pod is a run of its own on its node. Its run time is predicted for its gang's shape on the
// node's GPU type, else it is its `expected-duration`, or as its plan says; all count from its
// start, or from what its Job reported of its progress, which tells a run time too. Without any of
// these it is unknown: the pod is expected to run as long again as it has, at least kUnknownRun_s
// in all, with an error to match; one that serves does not end in any forecast. A pod that is
// ending is gone by the time that it has for that.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/room.h"
#include "slackline/model/progress.h"

namespace slackline::core {

struct OtherRun {
  PodPtr pod;
  std::uint64_t part_of = 0;  // a name of its Job or gang; a pod by itself: its own
  PoolNode node = 0;
  double started_s = 0;                        // epoch
  Estimate estimate;                           // of the whole run; with its pool and GPUs
  bool known = true;                           // false: its run time is unknown
  bool planned = false;                        // on nodes of which one is in no pool any more
  std::optional<double> gone_by_s{};           // it is ending; epoch
  std::shared_ptr<const ProgressNote> told{};  // by its Job, of this run; null: nothing

  bool endless() const { return !known && serves(*pod); }
};

// The runs of pods on nodes of the pools, in the order of the snapshot; those of the snapshot that
// are ending are none. Some only, once options.stop says yes.
std::vector<OtherRun> find_other_runs(const ClusterSnapshot& snapshot,
                                      const std::vector<QueuePool>& pools, const EndingPods& ending,
                                      const QueueOptions& options);

// Whose run that is: the gang's, whose pods carry one plan; else its Job's, or its own.
ObjectKey known_as(const Pod& pod);

// As a task of nobody's that runs. `id`: of the task; `queue`: nobody's.
PlanTask task_of(const OtherRun& run, std::int64_t id, QueueNumber queue,
                 const std::vector<Pool>& pools);

// When they leave their GPUs, as predicted; never, where one serves.
std::vector<FreeGpus::ToCome> gpus_to_come(const std::vector<OtherRun>& runs, double now_s);

// `gpus`: what is free and what runs hold, by pool and node. A node may have lost GPUs that its
// pods go on to hold: these are not given back when the pods end.
FreeGpus without_lost_gpus(std::vector<std::vector<int>> gpus, const std::vector<QueuePool>& pools,
                           const RoomTable& room, const std::vector<OtherRun>& other_runs);

}  // namespace slackline::core
