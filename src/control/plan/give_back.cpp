#include "control/plan/give_back.h"

#include <cmath>
#include <utility>
#include <vector>

#include "obs/log.h"
#include "slackline/core/let_go.h"

namespace slackline::control {
namespace {

constexpr double kLook_s = 2;

}  // namespace

GiveBack::GiveBack(const cluster::ClusterSource& source, Actuator& actuator,
                   std::function<Result<double>()> lease_age_s)
    : source_(source), actuator_(actuator), lease_age_s_(std::move(lease_age_s)) {}

void GiveBack::start() {
  worker_.start([this] {
    while (worker_.wait(kLook_s))
      look();
  });
}

std::size_t GiveBack::look() {
  if (!source_.health().trusted()) return 0;
  std::vector<OwnWrite> writes = core::let_go(*actuator_.overlaid(source_.snapshot()).snapshot);
  if (writes.empty()) {
    giving_ = false;
    return 0;
  }
  const Result<double> age_s = lease_age_s_();
  const std::string failure = age_s ? "" : age_s.error().message;
  if (failure != std::exchange(failure_, failure) && !failure.empty())
    obs::log_warning("giving_back", {{"error", failure},
                                     {"remedy",
                                      "tasks of ours wait, and it cannot be told whether "
                                      "somebody plans; see `slackline release`"}});
  if (!age_s || std::isinf(*age_s) || *age_s < kNobodyPlans_s) return 0;
  if (!std::exchange(giving_, true))
    obs::log_info("giving_back", {{"because", "this mode queues nothing and nobody plans any more"},
                                  {"objects", std::to_string(writes.size())}});
  return actuator_.perform(std::move(writes));
}

}  // namespace slackline::control
