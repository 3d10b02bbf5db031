// Hindrance: why a waiting task is not planned now, whatever is free.
#pragma once

#include <string>
#include <string_view>

#include "slackline/model/reason.h"

namespace slackline::core {

// The first that is true: HeldByUser, NoNodeFits of a gang with members that come later,
// GangIncomplete, NoNodeFits of a member (core/cluster/queue.h), DependencyCycle, DependencyFailed,
// DependencyMissing, DependencyPending (core/cluster/depends.h), PodsEnding, NotAdmitted,
// CalibrationWaits (core/cluster/calibration.h), QuotaExceeded, GangCannotScaleUp
// (core/cluster/queue.h).
struct Hindrance {
  std::string_view reason;  // a code of model/reason.h
  std::string detail;       // for people: "prep, clean"

  friend bool operator==(const Hindrance&, const Hindrance&) = default;
};

}  // namespace slackline::core
