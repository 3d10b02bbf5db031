// Which family the runs of a Job are of, for its portrait.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "slackline/core/cluster/situation.h"
#include "slackline/core/portrait/book.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/pod.h"
#include "slackline/model/portrait.h"

namespace slackline::core {

// `parameters` of its model are not known here.
PortraitIdentity identity_of(const Job& job);

// Whose use tells what the Job needs: its own family, else what the same person ran
// (PortraitBook::find_same) if the webhook proved who submits. Null: nobody's, or there is no Job.
PortraitPtr family_of(const PortraitBook* portraits, const Job* job);

// Whose run times tell how long the Job takes (PortraitBook::find_past).
KnownPast past_of(const PortraitBook* portraits, const Job* job);

// What the deadline of a class is a multiple of, and where it comes from.
struct ClassReference {
  double run_s = 0;
  GpuType gpu_type;  // empty: any whole GPU
  std::string_view source;
};

// The run on one GPU by the model, else for a class that somebody named as it was stated
// (deadline.h). Else, for such a class: how long the Job takes by its own family's past, as it is
// written, on the slowest type that it accepts on which at least three runs have succeeded. `job`:
// null of a pod. `types`: of the cluster.
std::optional<ClassReference> class_reference(const TaskIntent& intent, const Resources& of_pod,
                                              const Job* job, const Situation& situation,
                                              const std::vector<GpuType>& types);

}  // namespace slackline::core
