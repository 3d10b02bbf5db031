// The file source: a cluster read from what `kubectl get nodes,pods,jobs -A -o yaml|json` prints.
//
// Read-only, followed for changes: looked at once a second, read when it looks the same a moment
// later. The last good snapshot stays, and log, health and slackline_cluster_file_broken say why,
// when the file is gone or cannot be read (tried again), is no dump or a half of one, or names no
// Node where there were some: a followed dump never becomes an empty cluster by accident. At start
// an empty cluster is `items: []`. PodDisruptionBudgets in the dump are read too.
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
};

// Whether there is such a file that can be read at all.
Status check_dump(const std::string& path);

// start() fails when the file cannot be read or is no dump. `observer` may be null; it, `metrics`
// and `clock` outlive the source.
std::unique_ptr<ClusterSource> make_file_source(FileOptions options, GpuCatalog catalog,
                                                obs::MetricsRegistry& metrics,
                                                ClusterObserver* observer,
                                                const Clock& clock = system_clock());

}  // namespace slackline::cluster
