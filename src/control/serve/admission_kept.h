// What the plan of a running Job wrote into its spec stays there: an update that sets shape or
// template to what was written first, or to something else, changes what the Job has at its next
// start (annotation `original`). Pure; private to serve/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/serve/admission.h"

namespace slackline::control {

struct KeptOfUpdate {
  KeptShape shape;
  // What its owner has written by now, where that is something else than before; null: it is not.
  std::shared_ptr<const OriginalShape> original{};
  std::vector<std::string> later{};  // which fields count from the next start, for people
  // A parallelism that was asked for without the completions, and never counts: the indexes that
  // are left to do would start one after the other.
  std::optional<std::int64_t> alone{};
};

// Of a Job with a plan that runs, before and after the update. What Slackline never writes is left
// to the API server, which refuses changes of a running Job's template.
KeptOfUpdate kept_of(const ReviewedJob& old, const ReviewedJob& job);

// The annotations that the update changes, and that count from the next start: a run is judged by
// its plan (core/cluster/as_planned.h).
std::vector<std::string> annotations_for_later(const ReviewedJob& old, const ReviewedJob& job);

// Whether a plan of Slackline stands in the Job's spec.
bool runs_by_plan(const ReviewedJob& job);

}  // namespace slackline::control
