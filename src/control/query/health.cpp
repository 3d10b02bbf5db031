#include "control/query/health.h"

#include "cluster/source.h"

namespace slackline::control {

std::vector<HealthCheck> Health::checks() const {
  const CacheHealth cache = source_.health();
  return {
      {"cache-synced", cache.synced, cache.synced ? "" : cache.detail},
      {"cache-fresh", !cache.stale, cache.stale ? cache.detail : ""},
      {"not-stopping", !stopping_, stopping_ ? "shutting down" : ""},
  };
}

}  // namespace slackline::control
