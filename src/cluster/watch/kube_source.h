// The live cluster: list/watch of nodes, pods, Jobs, PodDisruptionBudgets, ResourceQuotas,
// Namespaces, PriorityClasses, RuntimeClasses, LimitRanges and DeviceClasses from an API server.
//
// One thread per resource keeps the cache, one publishes snapshots, one audits the cache against
// fresh lists now and then. A server that is down, slow or wrong never stops the source: health()
// reports it.
#pragma once

#include <cstdint>
#include <memory>

#include "cluster/watch/source.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/mac.h"

namespace slackline::cluster {

class ApiClient;

// Defaults are client-go's; tests shorten them.
struct WatchTimers {
  double head_s = 20;        // for a watch to open; longer: half-open, or overloaded
  double silence_s = 180;    // no byte for three bookmark intervals: half-open
  double watch_min_s = 300;  // timeoutSeconds of a watch, drawn from [min, max)
  double watch_max_s = 600;
  double backoff_min_s = 0.8;  // doubles up to max, with jitter
  double backoff_max_s = 30;
  double healthy_reset_s = 120;   // a stream that lived this long resets the backoff
  double request_timeout_s = 30;  // of one page of a list
};

struct KubeOptions {
  // Proves plans and admissions (cluster/watch/belief.h), and outlives the source. Null: they are
  // believed as they are, in every namespace; then only what is_asked_for() (resource.h) is read.
  const MessageAuthenticator* mac = nullptr;
  // Of who only looks: keys count in namespaces without Slackline's label too.
  bool keys_count_everywhere = false;
  std::vector<std::string> schedulers{};  // as ClusterSnapshot has them
  WatchTimers timers;
  double stale_after_s = 150;  // older than this the cache is not trusted
  double audit_every_s = 300;  // 0 = no audit
  double audit_settle_s = 5;   // between the two comparisons that find a drift
  bool reads_gangs = true;     // the objects that own gangs, for their sizes and clocks
  int page_size = 500;
  std::uint64_t seed = 0;  // of the jitter; 0 = from the system
};

// `observer` may be null; it, `client`, `metrics` and `clock` outlive the source.
std::unique_ptr<ClusterSource> make_kube_source(ApiClient& client, const KubeOptions& options,
                                                const GpuCatalog& catalog,
                                                obs::MetricsRegistry& metrics,
                                                ClusterObserver* observer,
                                                const Clock& clock = system_clock());

}  // namespace slackline::cluster
