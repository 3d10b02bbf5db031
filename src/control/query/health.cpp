#include "control/query/health.h"

#include "cluster/watch/source.h"
#include "control/journal/decision_log.h"

namespace slackline::control {

std::vector<HealthCheck> Health::checks() const {
  const CacheHealth cache = source_.health();
  std::vector<HealthCheck> checks = {
      {"cache-synced", cache.synced, cache.synced ? "" : cache.detail},
      {"cache-fresh", !cache.stale, cache.synced ? cache.detail : ""},
      {"journal-written", true, log_.journal_problem()},
      {"not-stopping", !stopping_, stopping_ ? "shutting down" : ""},
  };
  for (const auto& [name, problem] : problems_)
    checks.push_back({name, true, *problem->get()});
  if (unled_) checks.push_back({"tasks-led", true, unled_()});
  return checks;
}

}  // namespace slackline::control
