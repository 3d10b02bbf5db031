#include "control/plan/planner_loop.h"

#include <utility>

namespace slackline::control {

PlannerLoop::~PlannerLoop() {
  stop();
  join();
}

void PlannerLoop::start() {
  thread_ = std::thread(&PlannerLoop::run, this);
}

void PlannerLoop::stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  cv_.notify_all();
}

bool PlannerLoop::is_stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

void PlannerLoop::join() {
  if (thread_.joinable()) thread_.join();
}

void PlannerLoop::wake() {
  MutexLock lock(mutex_);
  if (!woken_s_) woken_s_ = clock_.steady_s();
  cv_.notify_all();
}

void PlannerLoop::run() {
  NextTurn next;
  for (;;) {
    std::optional<double> woken_s;
    {
      MutexLock lock(mutex_);
      const auto sleep_s = [&]() SLACKLINE_REQUIRES(mutex_) {
        return (woken_s_ ? next.if_woken_s : next.at_latest_s) - clock_.steady_s();
      };
      while (!stopping_ && sleep_s() > 0)
        cv_.wait_for_s(mutex_, sleep_s());
      if (stopping_) return;
      woken_s = std::exchange(woken_s_, std::nullopt);
    }
    next = planner_.turn(woken_s, [this] { return is_stopping(); });
  }
}

}  // namespace slackline::control
