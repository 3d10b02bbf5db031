// ClusterSource and ClusterWriter: the seams to Kubernetes. One real implementation each (kube),
// one read-only source (file), one hand-written fake in tests/support.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "message/pod_binding.h"
#include "message/task_event.h"
#include "slackline/base/result.h"
#include "slackline/model/ids.h"
#include "slackline/model/own_write.h"
#include "slackline/model/snapshot.h"

namespace slackline::cluster {

// Called with what the watch saw, on the source's thread; must not block.
class ClusterObserver {
 public:
  virtual ~ClusterObserver() = default;
  // A pod became bound (also during the first list). Times are epoch seconds.
  virtual void on_pod_bound(const Pod& pod, double seen_s) = 0;
  // A bound pod has its start time, or one of its containers was restarted. Pods that had ended
  // before they were first seen are not reported.
  virtual void on_pod_running(const Pod& /*pod*/) {}
  // A bound pod has ended, or is gone; the former is repeated with every list.
  virtual void on_pod_ended(const Pod& /*pod*/) {}
  // A Job is new or has changed; repeated with every list.
  virtual void on_job(const Job& /*job*/) {}
  virtual void on_job_gone(const Uid& /*job*/) {}
  // A plan that does not count appeared on a Job or pod (`kind`).
  virtual void on_plan_doubted(const std::string& /*kind*/, const ObjectKey& /*carrier*/,
                               PlanDoubt /*doubt*/) {}
};

// Thread-safe. start() once, then stop() and join(); snapshot() and health() at any time.
class ClusterSource {
 public:
  virtual ~ClusterSource() = default;
  virtual Status start() = 0;
  virtual void stop() = 0;
  virtual void join() = 0;
  // Reads its file again soon, whether or not it has changed; no effect on a watch.
  virtual void reload() {}
  // Called on the source's thread after each publication; must not block. Before start().
  virtual void on_publish(std::function<void()> /*callback*/) {}
  // Never null: before the first sync an empty snapshot with synced = false.
  virtual SnapshotPtr snapshot() const = 0;
  virtual CacheHealth health() const = 0;
  // The times of the list behind the snapshot's pods, on the steady clock: when it was requested
  // and when it was complete; its snapshot follows at once. nullopt: there was none yet.
  struct ListTimes {
    double began_s = 0;
    double ended_s = 0;
  };
  virtual std::optional<ListTimes> pods_listed() const { return std::nullopt; }
  // Lists the pods again, whatever the watch says. Returns at once.
  virtual void list_pods_again() {}
  // The keys of proofs have changed: everything is judged again.
  virtual void keys_changed() {}
};

struct BindingOrder {
  ObjectKey pod;
  Uid uid;  // precondition: this pod
  NodeName node;
  std::vector<std::pair<std::string, std::string>>
      annotations;  // merged atomically with the binding
};

class ClusterWriter {
 public:
  virtual ~ClusterWriter() = default;
  // Performs one of Slackline's writes and returns the object's new resourceVersion. kConflict: the
  // precondition did not hold. kTimeout, kUnavailable: it may have happened.
  virtual Result<std::string> write(const OwnWrite& write) = 0;
  // Makes a calibration run. It is there already: no error. kForbidden: the right is missing.
  // kConflict: the Job that it is made from is another one.
  virtual Status calibrate(const CalibrationOrder& order) = 0;
  // Notes on the Job what it told of its progress. kConflict: the Job of this name is another one.
  virtual Status note_progress(const ObjectKey& job, const Uid& uid,
                               const ProgressNote& progress) = 0;
  // Keeps the message of such an Event on its Job. kConflict: the Job of this name is another one,
  // or is not suspended any more.
  virtual Status note_forecast(const TaskEvent& event) = 0;
  // Creates the Event of (object, reason), or updates it.
  virtual Status post(const TaskEvent& event) = 0;
  // POST pods/binding, for at most this time. kConflict: uid mismatch, already bound, gated.
  // kTimeout: may have happened.
  virtual Status bind(const BindingOrder& order, double timeout_s) = 0;
  // GET the pod, uncached, for at most this time. kNotFound when it is gone.
  virtual Result<PodBinding> read_pod(const ObjectKey& pod, double timeout_s) = 0;
};

}  // namespace slackline::cluster
