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

GiveBack::~GiveBack() {
  stop();
  join();
}

void GiveBack::start() {
  thread_ = std::thread(&GiveBack::run, this);
}

void GiveBack::stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
}

void GiveBack::join() {
  if (thread_.joinable()) thread_.join();
}

void GiveBack::run() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (!stopping_) wake_.wait_for_s(mutex_, kLook_s);
      if (stopping_) return;
    }
    look();
  }
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
