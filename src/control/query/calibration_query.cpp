#include "control/query/calibration_query.h"

#include <algorithm>
#include <utility>

#include "cluster/watch/source.h"
#include "control/state/present_situation.h"
#include "control/state/settings.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/calibration.h"

namespace slackline::control {
namespace {

std::string why_of(const core::Trial& trial) {
  switch (trial.state) {
    case core::TrialState::kWanted:
      if (trial.tries == 0) return "nothing says how fast it is";
      return format("run {} said too little: with {} iterations", trial.tries, trial.iterations);
    case core::TrialState::kWaits:
      return "made, and waits until nobody else does";
    case core::TrialState::kRuns:
      return "";
    case core::TrialState::kMeasured:
      return "nothing more to learn here";
    case core::TrialState::kFailed:
      break;
  }
  return format("after {} runs: see their pods; deleting their Jobs tries again", trial.tries);
}

CalibrationRow row_of(const core::Trial& trial) {
  return {.model = trial.model,
          .job = trial.from->key,
          .gpu_type = trial.gpu_type,
          .shape = trial.shape,
          .iterations = trial.iterations,
          .bits = trial.bits,
          .state = std::string(to_string(trial.state)),
          .why = why_of(trial)};
}

CalibrationRow row_of(const core::NoTrials& none) {
  CalibrationRow row;
  row.model = none.model;
  row.job = none.from->key;
  row.gpu_type = none.gpu_type;
  row.state = "none";
  row.why = none.why;
  return row;
}

}  // namespace

Result<CalibrationQuery::Answer> CalibrationQuery::of(const std::string& model,
                                                      const std::string& ns) const {
  const SnapshotPtr snapshot = source_.snapshot();
  SLACKLINE_TRY(cluster_is_read(*snapshot));
  const KnownPtr known = known_.get();
  const core::Situation now = options_.situation(*known, source_, clock_);
  const SettingsPtr settings = options_.settings->get();
  const core::CalibrationStudy study =
      core::study_calibrations(*snapshot, now, settings->calibration, model);
  Answer answer;
  constexpr double kMinute_s = 60;
  answer.view.gpu_minutes_per_day = settings->calibration.gpu_minutes_per_day;
  answer.view.gpu_minutes_left =
      std::max(0.0, core::calibration_gpu_s_left(*snapshot, settings->calibration, now.now_wall_s) /
                        kMinute_s);
  for (const core::Trial& trial : study.trials)
    answer.rows.push_back(row_of(trial));
  for (const core::NoTrials& none : study.none)
    answer.rows.push_back(row_of(none));
  std::erase_if(answer.rows,
                [&](const CalibrationRow& row) { return !ns.empty() && row.job.ns != ns; });
  if (!answer.rows.empty()) return answer;
  return fail(ErrorCode::kNotFound,
              format("no Job{} that names the model {} has the label "
                     "slackline.dev/calibration=allowed: label one of which short runs may be made",
                     ns.empty() ? "" : " of " + printable(ns, 64), printable(model, 64)));
}

Result<CalibrationQuery::Answer> CalibrationQuery::ask(const std::string& model,
                                                       const std::string& ns) const {
  SLACKLINE_ASSIGN(Answer answer, of(model, ns));
  SLACKLINE_TRY(ask_(model));
  return answer;
}

}  // namespace slackline::control
