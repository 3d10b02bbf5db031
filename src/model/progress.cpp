#include "slackline/model/progress.h"

#include <algorithm>

namespace slackline {

std::optional<double> ProgressNote::work_s() const {
  if (!first || iteration <= first->iteration || at_s - first->at_s < kSpeedWindow_s)
    return std::nullopt;
  return (at_s - first->at_s) * static_cast<double>(total) /
         static_cast<double>(iteration - first->iteration);
}

ProgressNote with_report(const ProgressNote* known, const ProgressReport& report,
                         std::optional<double> started_s, double now_s) {
  const double at_s = std::min(report.time_s.value_or(now_s), now_s);
  const bool same_attempt = known != nullptr && (!started_s || known->at_s >= *started_s);
  const bool falls = known != nullptr &&
                     (at_s < known->at_s || (same_attempt && report.iteration < known->iteration));
  if (falls) return *known;
  ProgressNote note{report.iteration, report.total, at_s, {}, report.loss, report.phase};
  if (same_attempt)
    note.first = known->first ? known->first : ProgressPoint{known->iteration, known->at_s};
  return note;
}

}  // namespace slackline
