// ProcessMeters: the process metrics that all Prometheus clients export: process_cpu_seconds_total,
// process_resident_memory_bytes, process_virtual_memory_bytes, process_open_fds, process_max_fds,
// process_start_time_seconds. Read from /proc; what cannot be read keeps its last value.
//
// Thread-safe. refresh() before each scrape.
#pragma once

#include "obs/metrics.h"
#include "slackline/base/mutex.h"

namespace slackline::obs {

class ProcessMeters {
 public:
  explicit ProcessMeters(MetricsRegistry& metrics);
  void refresh();

 private:
  Mutex mutex_;
  double cpu_s_ SLACKLINE_GUARDED_BY(mutex_) = 0;  // as reported so far
  const Counter cpu_;
  const Gauge resident_;
  const Gauge virtual_;
  const Gauge open_fds_;
  const Gauge max_fds_;
  const Gauge start_;
};

}  // namespace slackline::obs
