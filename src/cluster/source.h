// ClusterSource and ClusterWriter: the seams to Kubernetes. One real implementation each (kube),
// one read-only source (file), one hand-written fake in tests/support.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/ids.h"
#include "slackline/model/snapshot.h"

namespace slackline::cluster {

// Told what the watch saw, on the source's thread; must not block.
class ClusterObserver {
 public:
  virtual ~ClusterObserver() = default;
  // A pod became bound (also during the first list). Times are epoch seconds.
  virtual void on_pod_bound(const Pod& pod, double seen_s) = 0;
  // A bound pod has its start time, or one of its containers was restarted. Of pods that had ended
  // before they were first seen nothing is told.
  virtual void on_pod_running(const Pod& /*pod*/) {}
  // A Job is new or has changed; comes again with every list.
  virtual void on_job(const Job& /*job*/) {}
  virtual void on_job_gone(const Uid& /*job*/) {}
};

// Thread-safe. start() once, then stop() and join(); snapshot() and health() at any time.
class ClusterSource {
 public:
  virtual ~ClusterSource() = default;
  virtual Status start() = 0;
  virtual void stop() = 0;
  virtual void join() = 0;
  // Never null: before the first sync an empty snapshot with synced = false.
  virtual SnapshotPtr snapshot() const = 0;
  virtual CacheHealth health() const = 0;
};

struct BindingOrder {
  ObjectKey pod;
  Uid uid;  // precondition: the very pod
  NodeName node;
  std::vector<std::pair<std::string, std::string>>
      annotations;  // merged atomically with the binding
};

// What the API server holds of a pod right now.
struct PodTruth {
  Uid uid;
  NodeName node;
  bool deleting = false;
};

class ClusterWriter {
 public:
  virtual ~ClusterWriter() = default;
  // POST pods/binding. kConflict: uid mismatch, already bound, gated. kTimeout: may have happened.
  virtual Status bind(const BindingOrder& order) = 0;
  // GET the pod, uncached. kNotFound when it is gone.
  virtual Result<PodTruth> read_pod(const ObjectKey& pod) = 0;
};

}  // namespace slackline::cluster
