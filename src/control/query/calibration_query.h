// CalibrationQuery: which calibration runs a model would have and why, as the planner decides it.
//
// Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "control/serve/extender.h"
#include "message/calibration_view.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"

namespace slackline::cluster {
class ClusterSource;
}

namespace slackline::control {

class CalibrationQuery {
 public:
  // Begins runs of a model without waiting for idle GPUs any longer. Error: why nobody here does.
  using Ask = std::function<Status(const std::string& model)>;
  // All outlive it.
  CalibrationQuery(const DecisionOptions& options, const Published<Known>& known,
                   const cluster::ClusterSource& source, Ask ask, const Clock& clock)
      : options_(options), known_(known), source_(source), ask_(std::move(ask)), clock_(clock) {}

  struct Answer {
    CalibrationView view;
    std::vector<CalibrationRow> rows;
  };
  // `ns`: only of Jobs of this namespace; empty = of all. kNotFound: no Job that names the model
  // has the label.
  Result<Answer> of(const std::string& model, const std::string& ns) const;
  // The same, and the leader begins as soon as nobody waits. Also kUnavailable.
  Result<Answer> ask(const std::string& model, const std::string& ns) const;

 private:
  const DecisionOptions& options_;
  const Published<Known>& known_;
  const cluster::ClusterSource& source_;
  const Ask ask_;
  const Clock& clock_;
};

}  // namespace slackline::control
