#include "control/state/settings.h"

#include <string_view>
#include <utility>

#include "config/configuration.h"
#include "slackline/base/text.h"
#include "slackline/model/object_key.h"

namespace slackline::control {
namespace {

struct StudiedOption {
  std::string_view name;
  std::string_view served{};  // the value that no study advises against; empty: none
};
constexpr StudiedOption kStudied[] = {{"shrink"}, {"order"}, {"rest", "level"}};

// Refuses what only the simulator takes. The name of the policy comes first, then its options.
Status check_served(const core::Policy& policy) {
  for (const std::string_view part : split(policy.name, ',')) {
    const std::size_t equals = part.find('=');
    for (const StudiedOption& studied : kStudied)
      if (trim(part.substr(0, equals)) == studied.name &&
          trim(part.substr(equals + 1)) != studied.served)
        return fail(ErrorCode::kInvalidArgument,
                    format("option {}: studies advise against it, so only `slackline simulate` "
                           "takes it (docs/study/tried.md); leave it out",
                           trim(part)));
  }
  return {};
}

}  // namespace

Result<core::Policy> served_policy(const std::string& text) {
  SLACKLINE_ASSIGN(core::Policy policy, core::parse_policy(text));
  SLACKLINE_TRY(check_served(policy));
  return policy;
}

Result<Settings> settings_of(const config::Configuration& configuration) {
  Settings settings;
  auto policy = served_policy(configuration.planner.policy);
  if (!policy) return fail(policy.error().with_context("planner.policy"));
  settings.policy = *std::move(policy);
  settings.theta = configuration.scoring.theta;
  settings.queues = configuration.queues;
  settings.slow_after_s = configuration.planner.slow_after_s;
  settings.note_forecasts = configuration.planner.note_forecasts;
  settings.shadow_events = configuration.planner.shadow_events;
  settings.scheduler_name = configuration.webhook.scheduler_name;
  SLACKLINE_ASSIGN(const ObjectKey account,
                   parse_object_key(configuration.webhook.service_account));
  settings.calibration = configuration.calibration;
  settings.calibration.own_namespace = account.ns;
  settings.learn_from_runs = configuration.learning.from_runs;
  settings.own_user = format("system:serviceaccount:{}:{}", account.ns, account.name);
  return settings;
}

}  // namespace slackline::control
