#include "control/state/settings.h"

#include <utility>

#include "config/configuration.h"
#include "slackline/base/text.h"
#include "slackline/model/object_key.h"

namespace slackline::control {

Result<Settings> settings_of(const config::Configuration& configuration) {
  Settings settings;
  auto policy = core::parse_policy(configuration.planner.policy);
  if (!policy) return fail(policy.error().with_context("planner.policy"));
  settings.policy = *std::move(policy);
  settings.theta = configuration.scoring.theta;
  settings.queues = configuration.queues;
  settings.slow_after_s = configuration.planner.slow_after_s;
  settings.note_forecasts = configuration.planner.note_forecasts;
  settings.scheduler_name = configuration.webhook.scheduler_name;
  SLACKLINE_ASSIGN(const ObjectKey account,
                   parse_object_key(configuration.webhook.service_account));
  settings.calibration = configuration.calibration;
  settings.calibration.own_namespace = account.ns;
  settings.own_user = format("system:serviceaccount:{}:{}", account.ns, account.name);
  return settings;
}

}  // namespace slackline::control
