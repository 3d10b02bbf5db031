// GiveBack: what a daemon outside of active mode does about tasks that an active one has
// left waiting.
//
// It always reports them. Where it is asked to (`planner.giveBack`) it also returns them to the
// stock scheduler (core/handover/return_to_scheduler.h), once the planner's Lease has not changed
// for kNobodyPlans_s of this replica's steady clock. While a planner lives, or where there never
// was one (there is no Lease), it writes nothing; where nothing waits, it asks nothing either.
// Several replicas may do it at once: each write tests what it was decided on.
//
// Thread-safety: start() once, then stop() and join(), with one thread of its own between them;
// status() at any time.
#pragma once

#include <string>

#include "cluster/watch/source.h"
#include "control/plan/actuator.h"
#include "control/plan/unled.h"
#include "control/state/planner_view.h"
#include "obs/said_once.h"
#include "slackline/base/mutex.h"
#include "slackline/base/published.h"
#include "slackline/base/worker.h"

namespace slackline::control {

// Longer than another replica needs to take over the Lease, and to restart.
inline constexpr double kNobodyPlans_s = 30;

class GiveBack {
 public:
  // `actuator` is null where nothing is to be written. `look` asks for the Lease. `view` is told
  // what waits while nobody leads. All outlive it.
  GiveBack(const cluster::ClusterSource& source, Actuator* actuator, LeaseLook look,
           Published<PlannerView>& view);

  void start();
  void stop() { worker_.stop(); }
  void join() { worker_.join(); }

  // One look, as the thread takes it; returns how many writes it began.
  std::size_t look();

  // What waits while nobody leads, for people; empty where all is well.
  std::string status() const;

 private:
  std::size_t return_now(const cluster::LeaseSight& sight);
  void report(const core::HeldBack& unled);  // nothing: all is well

  const cluster::ClusterSource& source_;
  Actuator* const actuator_;
  const LeaseLook look_;
  Published<PlannerView>& view_;
  bool returning_ = false;  // said once, like the failure
  obs::SaidOnce failures_;
  mutable Mutex mutex_;
  std::string status_ SLACKLINE_GUARDED_BY(mutex_);
  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::control
