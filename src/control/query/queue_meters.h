// QueueMeters: the queue in figures, by reason and by promise.
//
// Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "message/queue_view.h"
#include "obs/metrics.h"

namespace slackline::control {

class QueueMeters {
 public:
  explicit QueueMeters(obs::MetricsRegistry& metrics);
  // The whole queue, by forecasts made at `made_s`.
  void show(const std::vector<QueueRow>& rows, double made_s);

 private:
  std::map<std::string, obs::Gauge, std::less<>> waiting_;  // by reason: each from the start
  obs::Gauge at_risk_;
  obs::Gauge late_;
  obs::Gauge could_start_;
  std::map<std::string, obs::Gauge, std::less<>> spared_;  // GPUs by reason: each from the start
};

}  // namespace slackline::control
