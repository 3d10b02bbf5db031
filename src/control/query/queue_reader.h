// QueueReader: the queue as the planner would see it now, for those who only look.
//
// Back-offs do not hide a task from it. Not thread-safe: it keeps what was predicted from call to
// call.
#pragma once

#include "cluster/watch/source.h"
#include "control/learn/known.h"
#include "control/plan/planner.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/core/cluster/arrivals.h"
#include "slackline/core/cluster/queue.h"

namespace slackline::control {

struct QueueSight {
  SnapshotPtr snapshot;
  core::Queue queue;
  core::Policy policy;      // by which it is served now
  double now_s = 0;         // epoch
  double now_steady_s = 0;  // the same moment
  const GpuCatalog* catalog = nullptr;
};

// The name of a task that outlives a reading: its uid, or "namespace/name" of a labelled gang.
Uid name_of(const core::QueueTask& task);
std::vector<Uid> names_of(const core::Queue& queue);

class QueueReader {
 public:
  // All references outlive it.
  QueueReader(const PlannerOptions& options, const Published<Known>& known,
              const cluster::ClusterSource& source, const Clock& clock)
      : options_(options), known_(known), source_(source), clock_(clock) {}

  // Of a queue that gave up (core/cluster/queue.h) there is nothing to be read.
  QueueSight read(StopAsked stop = {});
  // As the queue that was read last would have them.
  core::Expected expect(const core::ArrivalList& arrivals) {
    return core::expected_of(arrivals, menus_);
  }

 private:
  const PlannerOptions& options_;
  const Published<Known>& known_;
  const cluster::ClusterSource& source_;
  const Clock& clock_;
  core::TaskMenus menus_;
};

}  // namespace slackline::control
