// The cache seen from Prometheus: how many objects of each kind, how old.
#pragma once

#include <vector>

#include "cluster/watch/cache.h"
#include "obs/metrics.h"

namespace slackline::cluster {

class CacheMetrics {
 public:
  explicit CacheMetrics(obs::MetricsRegistry& registry);

  void update(const Cache& cache, double age_s) const;

 private:
  std::vector<obs::Gauge> objects_;  // in the order of kResources
  obs::Gauge age_;
};

}  // namespace slackline::cluster
