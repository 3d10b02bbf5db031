// The file source: a cluster read from what `kubectl get nodes,pods,jobs -A -o yaml|json` prints.
//
// Read-only, followed for changes: checked once a second, read once it has stopped changing. If the
// file is gone or cannot be read (tried again), is not a whole dump, or names no Node while there
// were some, the last good snapshot stays, and log, health and slackline_cluster_file_broken say
// why: a followed dump never becomes an empty cluster by accident. At start an empty cluster is
// `items: []`. PodDisruptionBudgets in the dump are read too.
#pragma once

#include <memory>
#include <string>

#include "cluster/watch/source.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::cluster {

struct FileOptions {
  std::string path;
  double poll_s = 1.0;
  std::vector<std::string> schedulers{};  // as ClusterSnapshot has them
};

// Whether the file exists and can be read.
Status check_dump(const std::string& path);

// start() fails if the file cannot be read or is not a dump. `observer` may be null; it, `metrics`
// and `clock` outlive the source.
std::unique_ptr<ClusterSource> make_file_source(FileOptions options, GpuCatalog catalog,
                                                obs::MetricsRegistry& metrics,
                                                ClusterObserver* observer,
                                                const Clock& clock = system_clock());

}  // namespace slackline::cluster
