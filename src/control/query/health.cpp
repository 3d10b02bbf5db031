#include "control/query/health.h"

#include "cluster/source.h"
#include "control/learn/known.h"

namespace slackline::control {

std::vector<HealthCheck> Health::checks() const {
  const CacheHealth cache = source_.health();
  return {
      {"cache-synced", cache.synced, cache.synced ? "" : cache.detail},
      {"cache-fresh", !cache.stale, cache.stale ? cache.detail : ""},
      {"models-stored", true, board_.store_problem()},
      {"not-stopping", !stopping_, stopping_ ? "shutting down" : ""},
  };
}

}  // namespace slackline::control
