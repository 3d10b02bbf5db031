#include "cli/start_check.h"

#include <chrono>
#include <thread>

#include "cli/object_name.h"
#include "cluster/api/requirements.h"
#include "obs/log.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

constexpr double kPatience_s =
    5;  // rights are often given just before, in the same `kubectl apply`
constexpr auto kRound = std::chrono::milliseconds(500);

Status unchecked(const Error& error) {
  obs::log_warning("cluster_not_checked",
                   {{"error", error.message},
                    {"unknown", "whether it is new enough, and what this account may write"}});
  return {};
}

}  // namespace

Status check_before_start(const config::Configuration& configuration, cluster::ApiClient& api) {
  if (const Status version = cluster::require_version(api); !version)
    return version.error().code == ErrorCode::kInvalidArgument ? version
                                                               : unchecked(version.error());
  if (configuration.mode != Mode::kActive) return {};
  const cluster::ActiveNeeds needs{.lease = key_of(configuration.planner.lease),
                                   .key_secret = key_of(configuration.trust.key_secret)};
  const double until_s = system_clock().steady_s() + kPatience_s;
  auto lacking = cluster::find_lacking(api, needs);
  while (lacking && !lacking->empty() && system_clock().steady_s() < until_s) {
    std::this_thread::sleep_for(kRound);
    lacking = cluster::find_lacking(api, needs);
  }
  if (!lacking) return unchecked(lacking.error());
  if (lacking->empty()) return {};
  return fail(ErrorCode::kForbidden,
              format("active mode is not started, and nothing was written: {}. Shadow mode needs "
                     "none of it",
                     join(*lacking, "; ")));
}

}  // namespace slackline::cli
