// The file source: a cluster read from what `kubectl get nodes,pods,jobs -A -o yaml|json` prints.
//
// Read-only, followed for changes (modification time and size, once a second). New content that
// cannot be read is logged and the last good snapshot stays. PodDisruptionBudgets in the dump are
// read too.
#pragma once

#include <memory>
#include <string>

#include "cluster/source.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::cluster {

struct FileOptions {
  std::string path;
  double poll_s = 1.0;
};

// start() fails when the file cannot be read or is no dump. `observer` may be null; it, `metrics`
// and `clock` outlive the source.
std::unique_ptr<ClusterSource> make_file_source(FileOptions options, GpuCatalog catalog,
                                                obs::MetricsRegistry& metrics,
                                                ClusterObserver* observer,
                                                const Clock& clock = system_clock());

}  // namespace slackline::cluster
