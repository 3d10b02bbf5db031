// Settings: what of the configuration may change while the daemon runs. They are published: read
// the pointer once per decision.
#pragma once

#include <memory>
#include <string>

#include "slackline/base/published.h"
#include "slackline/base/result.h"
#include "slackline/core/planning/policy.h"
#include "slackline/model/calibration_order.h"
#include "slackline/model/queue_rules.h"

namespace slackline::config {
struct Configuration;
}

namespace slackline::control {

// Immutable.
struct Settings {
  core::Policy policy;
  double theta = 1.0;  // 000 eq 10
  QueueRulebook queues;
  CalibrationRules calibration;
  bool learn_from_runs = true;
  double slow_after_s = 600;   // that slow a run must be before it is advised to move
  bool note_forecasts = true;  // on waiting Jobs
  bool shadow_events = false;  // of waiting tasks, where no planner runs
  std::string scheduler_name = "gpu-scheduler";  // replaces default-scheduler; empty = never
  std::string own_user;  // who may write our keys, as the API server names it
};
using SettingsPtr = std::shared_ptr<const Settings>;

// A policy that the daemon plans with. kInvalidArgument: it is none, or has an option that only the
// simulator takes.
Result<core::Policy> served_policy(const std::string& text);

// kInvalidArgument: planner.policy is no such policy.
Result<Settings> settings_of(const config::Configuration& configuration);

}  // namespace slackline::control
