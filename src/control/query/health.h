// Health: what /livez and /readyz say, check by check.
//
// Ready: the first full list of nodes, pods and Jobs is in, the cache is not stale, and no stop has
// begun. A daemon that is not ready still answers every verb, as stock would. Trouble with the
// journal, a database or a followed dump is told and leaves it ready: scheduling goes on.
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
  Health(const cluster::ClusterSource& source, const DecisionLog& log,
         std::function<std::string()> unled = {})
      : source_(source), log_(log), unled_(std::move(unled)) {}
  // One more check, which never fails; `problem` is empty where nothing is wrong, and outlives it.
  // Before the first question.
  void tell_of(std::string check, const Published<std::string>& problem) {
    problems_.emplace_back(std::move(check), &problem);
  }

  std::vector<HealthCheck> checks() const;
  void begin_shutdown() { stopping_ = true; }

 private:
  const cluster::ClusterSource& source_;
  const DecisionLog& log_;
  const std::function<std::string()> unled_;
  std::vector<std::pair<std::string, const Published<std::string>*>> problems_;
  std::atomic<bool> stopping_{false};
};

}  // namespace slackline::control
