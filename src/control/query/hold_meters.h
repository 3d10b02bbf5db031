// HoldMeters: capacity that is promised to unbound pods, in figures. A pure look at a snapshot.
//
// slackline_holds{state}: "active" ones count against others; "expired" ones no longer do, because
// their task made no progress for 60 s, and stand until their plan is taken back.
// slackline_held_gpus: of the active ones. Thread-safe.
#pragma once

#include "obs/metrics.h"
#include "slackline/model/snapshot.h"

namespace slackline::control {

class HoldMeters {
 public:
  explicit HoldMeters(obs::MetricsRegistry& metrics);
  void show(const ClusterSnapshot& snapshot, double now_steady_s) const;

 private:
  obs::Gauge active_;
  obs::Gauge expired_;
  obs::Gauge gpus_;
};

}  // namespace slackline::control
