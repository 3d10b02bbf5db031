// Which family the runs of a Job are of, for its portrait.
#pragma once

#include "slackline/core/portrait/book.h"
#include "slackline/model/pod.h"
#include "slackline/model/portrait.h"

namespace slackline::core {

// `parameters` of its model are not known here.
PortraitIdentity identity_of(const Job& job);

// Whose use tells what the Job needs: its own family, else what the same person ran
// (PortraitBook::find_past) if the webhook proved who submits. Null: nobody's, or there is no Job.
PortraitPtr family_of(const PortraitBook* portraits, const Job* job);

// Whose run times tell how long the Job takes (PortraitBook::find_past). Null: as family_of().
PortraitPtr past_of(const PortraitBook* portraits, const Job* job);

}  // namespace slackline::core
