// Which family the runs of a Job are of, for its portrait.
#pragma once

#include <optional>

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

// How long the Job takes by its own family's past, as it is written, on the slowest type that it
// accepts on which that is known: at least three runs have succeeded there.
struct PastReference {
  double run_s = 0;
  GpuType gpu_type;
};
std::optional<PastReference> past_reference(const PortraitBook* portraits, const Job& job,
                                            const TaskIntent& intent, const GpuCatalog& catalog);

}  // namespace slackline::core
