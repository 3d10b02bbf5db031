#include "cluster/watch/cache_metrics.h"

namespace slackline::cluster {

CacheMetrics::CacheMetrics(obs::MetricsRegistry& registry)
    : age_(registry.gauge("slackline_cache_age_seconds")) {
  for (const ResourceSpec& resource : kResources)
    objects_.push_back(registry.gauge("slackline_cache_objects", {{"resource", resource.name}}));
}

void CacheMetrics::update(const Cache& cache, double age_s) const {
  for (const ResourceSpec& resource : kResources)
    objects_[index_of(resource.kind)].set(static_cast<double>(cache.count(resource.kind)));
  age_.set(age_s);
}

}  // namespace slackline::cluster
