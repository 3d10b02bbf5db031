// GiveBack: what a daemon outside of active mode does about tasks that an active one has left
// waiting: leaving active mode releases them all.
//
// Once nobody has renewed the planner's Lease for kNobodyPlans_s, every task of ours is given back
// to the stock path (core/let_go.h). While a planner lives, or where there never was one (there is
// no Lease), it writes nothing; where nothing waits, it asks nothing either. Several replicas may
// do it at once: each write tests what it was decided on.
//
// Thread-safety: start() once, then stop() and join(); one thread of its own between them.
#pragma once

#include <functional>
#include <string>

#include "cluster/source.h"
#include "control/plan/actuator.h"
#include "slackline/base/result.h"
#include "slackline/base/worker.h"

namespace slackline::control {

// Longer than another replica needs to take over the Lease, and to restart.
inline constexpr double kNobodyPlans_s = 30;

class GiveBack {
 public:
  // `lease_age_s`: how long ago the Lease was renewed; infinity where there is none. All outlive
  // it.
  GiveBack(const cluster::ClusterSource& source, Actuator& actuator,
           std::function<Result<double>()> lease_age_s);

  void start();
  void stop() { worker_.stop(); }
  void join() { worker_.join(); }

  // One look, as the thread takes it; returns how many writes it began.
  std::size_t look();

 private:
  const cluster::ClusterSource& source_;
  Actuator& actuator_;
  const std::function<Result<double>()> lease_age_s_;
  bool giving_ = false;  // said once, like the failure
  std::string failure_;
  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::control
