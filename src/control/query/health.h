// Health: what /livez and /readyz say, check by check.
//
// Ready: the first full list of nodes, pods and Jobs is in, the cache is not stale, and no stop has
// begun. A daemon that is not ready still answers every verb, as stock would. Trouble with the
// journal, the model database or a followed dump is told and leaves it ready: scheduling goes on.
// So are tasks that wait while nobody leads. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "slackline/base/published.h"

namespace slackline::cluster {
class ClusterSource;
}

namespace slackline::control {

class DecisionLog;

struct HealthCheck {
  std::string name;
  bool ok = false;
  std::string detail;  // why not, or what is wrong all the same
};

class Health {
 public:
  // `unled` tells what waits while nobody leads, empty where all is well; null: nobody could lead.
  Health(const cluster::ClusterSource& source, const Published<std::string>& models_problem,
         const DecisionLog& log, std::function<std::string()> unled = {})
      : source_(source), models_problem_(models_problem), log_(log), unled_(std::move(unled)) {}

  std::vector<HealthCheck> checks() const;
  void begin_shutdown() { stopping_ = true; }

 private:
  const cluster::ClusterSource& source_;
  const Published<std::string>& models_problem_;
  const DecisionLog& log_;
  const std::function<std::string()> unled_;
  std::atomic<bool> stopping_{false};
};

}  // namespace slackline::control
