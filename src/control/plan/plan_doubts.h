// PlanDoubts: tells people of plans that nobody believes: a metric by reason, and a warning.
//
// Thread-safe.
#pragma once

#include <string>

#include "cluster/watch/source.h"
#include "obs/metrics.h"

namespace slackline::control {

class PlanDoubts final : public cluster::ClusterObserver {
 public:
  explicit PlanDoubts(obs::MetricsRegistry& metrics) : metrics_(metrics) {}

  void on_pod_bound(const Pod&, double) override {}
  void on_plan_doubted(const std::string& kind, const ObjectKey& carrier, PlanDoubt doubt) override;

 private:
  obs::MetricsRegistry& metrics_;
};

}  // namespace slackline::control
