// Health: what /livez and /readyz say, check by check.
//
// Ready: the first full list of nodes, pods and Jobs is in, the cache is not stale, and no stop has
// begun. A daemon that is not ready still answers every verb, as stock would. Thread-safe.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace slackline::cluster {
class ClusterSource;
}

namespace slackline::control {

struct HealthCheck {
  std::string name;
  bool ok = false;
  std::string detail;  // why not
};

class Health {
 public:
  explicit Health(const cluster::ClusterSource& source) : source_(source) {}

  std::vector<HealthCheck> checks() const;
  void begin_shutdown() { stopping_ = true; }

 private:
  const cluster::ClusterSource& source_;
  std::atomic<bool> stopping_{false};
};

}  // namespace slackline::control
