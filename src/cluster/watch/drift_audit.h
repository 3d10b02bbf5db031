// DriftAudit: compares the cache with fresh lists now and then, because a cache that is wrong
// forever would look healthy.
//
// Two comparisons, `settle` apart: only a difference that is the same in both is a drift; anything
// in flight changes on one side in between. A drift is counted (slackline_cache_drift_total),
// logged with one example, and healed by a relist.
//
// Thread-safety: start() once, then stop() and join().
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/api/api_client.h"
#include "cluster/watch/cache.h"
#include "cluster/watch/fingerprint.h"
#include "cluster/watch/kube_source.h"
#include "net/interrupt.h"
#include "obs/metrics.h"
#include "slackline/base/worker.h"
#include "wire/kube/kube_decode.h"

namespace slackline::cluster {

class DriftAudit {
 public:
  // `relist` makes the reflector of a kind list again.
  DriftAudit(ApiClient& client, const Cache& cache, obs::MetricsRegistry& metrics,
             const KubeOptions& options, const GpuCatalog& catalog,
             std::function<void(wire::KubeKind)> relist);
  ~DriftAudit();  // stop() and join()
  DriftAudit(const DriftAudit&) = delete;
  DriftAudit& operator=(const DriftAudit&) = delete;

  void start();
  void stop();
  void join() { worker_.join(); }

 private:
  struct Look {
    Fingerprints truth;
    Fingerprints cached;
  };

  void run();
  void audit(const ResourceSpec& resource);
  std::optional<Look> look(const ResourceSpec& resource);

  ApiClient& client_;
  const Cache& cache_;
  const KubeOptions options_;
  wire::KubeDecoder decoder_;
  const std::function<void(wire::KubeKind)> relist_;
  std::vector<obs::Counter> drift_;  // in the order of kResources
  net::Interrupt interrupt_;
  Worker worker_;  // last: its thread ends first
};

// The keys on which truth and cache differ.
std::vector<std::string> differences(const Fingerprints& truth, const Fingerprints& cached);

}  // namespace slackline::cluster
