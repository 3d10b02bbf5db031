// PlannerLoop: the thread of the planner (planner.h). It takes a turn when it is woken, and when
// the last turn asked for one; wakes that come meanwhile are one.
//
// Thread-safety: start() once, then stop() and join(); wake() from any thread, never blocking.
#pragma once

#include <optional>
#include <thread>

#include "control/plan/planner.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"

namespace slackline::control {

class PlannerLoop {
 public:
  // Both outlive it.
  PlannerLoop(Planner& planner, const Clock& clock) : planner_(planner), clock_(clock) {}
  ~PlannerLoop();
  PlannerLoop(const PlannerLoop&) = delete;
  PlannerLoop& operator=(const PlannerLoop&) = delete;

  void start();
  // Also ends a turn in progress, early.
  void stop();
  void join();
  void wake();

 private:
  void run();
  bool is_stopping() const;

  Planner& planner_;
  const Clock& clock_;
  std::thread thread_;

  mutable Mutex mutex_;
  CondVar cv_;
  bool stopping_ SLACKLINE_GUARDED_BY(mutex_) = false;
  std::optional<double> woken_s_ SLACKLINE_GUARDED_BY(mutex_);  // the first wake not yet served
};

}  // namespace slackline::control
