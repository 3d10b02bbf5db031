#include "slackline/core/planning/lost_work.h"

#include <algorithm>
#include <cmath>

namespace slackline::core {

double lasting_grace_s(double grace_s) {
  constexpr double kShort_s = 60;
  return grace_s > kShort_s ? grace_s : 0;
}

double unsaved_s(const SavedWork& saved) {
  const double worked_s = std::max(0.0, saved.worked_s);
  const bool told = saved.since_checkpoint_s && *saved.since_checkpoint_s >= 0;
  const bool regular = saved.checkpoint_interval_s && *saved.checkpoint_interval_s > 0;
  const double since_told_s = told ? std::min(worked_s, *saved.since_checkpoint_s) : worked_s;
  if (regular) return std::min(since_told_s, std::fmod(worked_s, *saved.checkpoint_interval_s));
  if (told) return since_told_s;
  if (saved.since_progress_s && *saved.since_progress_s >= 0)
    return std::min(worked_s, *saved.since_progress_s);
  return worked_s;
}

double lost_gpu_s(const SavedWork& saved, double gpus) {
  const double lost = (unsaved_s(saved) + saved.restart_s) * gpus;
  return std::isfinite(lost) ? std::max(0.0, lost) : 0.0;
}

}  // namespace slackline::core
