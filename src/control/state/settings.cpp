#include "control/state/settings.h"

#include <utility>

#include "config/configuration.h"
#include "slackline/base/text.h"

namespace slackline::control {

Result<Settings> settings_of(const config::Configuration& configuration) {
  Settings settings;
  auto policy = core::parse_policy(configuration.planner.policy);
  if (!policy) return fail(policy.error().with_context("planner.policy"));
  settings.policy = *std::move(policy);
  settings.theta = configuration.scoring.theta;
  settings.queues = configuration.queues;
  settings.scheduler_name = configuration.webhook.scheduler_name;
  // "namespace/name", as the configuration was checked to be.
  const auto account = split(configuration.webhook.service_account, '/');
  settings.own_user = format("system:serviceaccount:{}:{}", account.front(), account.back());
  return settings;
}

}  // namespace slackline::control
