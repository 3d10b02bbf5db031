#include "control/plan/give_back.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "obs/log.h"
#include "slackline/core/handover/return_to_scheduler.h"

namespace slackline::control {
namespace {

constexpr double kIdleLook_s = 2;

}  // namespace

GiveBack::GiveBack(const cluster::ClusterSource& source, Actuator* actuator, LeaseLook look,
                   Published<PlannerView>& view)
    : source_(source), actuator_(actuator), look_(std::move(look)), view_(view) {}

void GiveBack::start() {
  worker_.start([this] {
    while (worker_.wait(kIdleLook_s))
      look();
  });
}

std::size_t GiveBack::look() {
  if (!source_.health().trusted()) return 0;
  const SnapshotPtr snapshot = source_.snapshot();
  const core::HeldBack held = core::held_back(*snapshot);
  if (!held.any() && (actuator_ == nullptr || core::return_to_scheduler(*snapshot).empty())) {
    returning_ = false;
    report({});
    return 0;
  }
  const Result<cluster::LeaseSight> sight = look_();
  if (failures_.is_news(sight))
    obs::log_warning("giving_back", {{"error", sight.error().message},
                                     {"remedy",
                                      "tasks wait for Slackline, and the Lease that tells whether "
                                      "a planner runs cannot be read; see `slackline release`"}});
  if (!sight) return 0;
  report(sight->lost() ? held : core::HeldBack());
  return return_now(*sight);
}

std::size_t GiveBack::return_now(const cluster::LeaseSight& sight) {
  if (actuator_ == nullptr || !sight.exists) return 0;
  if (sight.unchanged_s < std::max(kNobodyPlans_s, sight.duration_s)) return 0;
  std::vector<OwnWrite> writes =
      core::return_to_scheduler(*actuator_->overlaid(source_.snapshot()).snapshot);
  if (writes.empty()) return 0;
  if (!std::exchange(returning_, true))
    obs::log_info("giving_back",
                  {{"because", "this mode queues nothing, and no planner runs any more"},
                   {"objects", std::to_string(writes.size())}});
  return actuator_->perform(std::move(writes));
}

std::string GiveBack::status() const {
  MutexLock lock(mutex_);
  return status_;
}

void GiveBack::report(const core::HeldBack& unled) {
  PlannerView view;
  view.left_waiting = unled.objects;
  if (*view_.get() != view) view_.set(std::move(view));
  MutexLock lock(mutex_);
  status_ = unled_text(unled);
}

}  // namespace slackline::control
