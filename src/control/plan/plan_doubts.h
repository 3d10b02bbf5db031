// PlanDoubts: tells people of plans that nobody believes: a metric by reason, and a line in the log
// at most every few seconds, whatever somebody writes.
//
// Thread-safe.
#pragma once

#include <string>

#include "cluster/source.h"
#include "obs/log_limit.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"

namespace slackline::control {

class PlanDoubts final : public cluster::ClusterObserver {
 public:
  explicit PlanDoubts(obs::MetricsRegistry& metrics, const Clock& clock = system_clock());

  void on_pod_bound(const Pod&, double) override {}
  void on_plan_doubted(const std::string& kind, const ObjectKey& carrier, PlanDoubt doubt) override;

 private:
  obs::MetricsRegistry& metrics_;
  const Clock& clock_;
  obs::LogLimit lines_{1, 10};
};

}  // namespace slackline::control
