#include "slackline/model/finished_task.h"

#include <algorithm>

namespace slackline {

std::string_view to_string(DeadlineResult result) {
  switch (result) {
    case DeadlineResult::kMet:
      return "met";
    case DeadlineResult::kMissed:
      return "missed";
    case DeadlineResult::kNone:
      break;
  }
  return "none";
}

DeadlineResult FinishedTask::result() const {
  if (!deadline_s || deleted) return DeadlineResult::kNone;
  return succeeded && finished_s <= *deadline_s ? DeadlineResult::kMet : DeadlineResult::kMissed;
}

std::optional<double> FinishedTask::wait_s() const {
  return started_s ? std::optional(std::max(0.0, *started_s - created_s)) : std::nullopt;
}

std::optional<double> FinishedTask::duration_s() const {
  if (held_s > 0) return held_s;
  return started_s ? std::optional(std::max(0.0, finished_s - *started_s)) : std::nullopt;
}

}  // namespace slackline
