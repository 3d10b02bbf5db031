// Queries: what REST and the command line show, from the same snapshot and core functions the verbs
// use.
//
// Thread-safe: every call reads one snapshot. "Not there" is kNotFound with the name in it.
#pragma once

#include <string>
#include <vector>

#include "control/answers/viewer.h"
#include "control/serve/extender.h"
#include "message/views.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"
#include "slackline/model/decision.h"
#include "slackline/model/finished_task.h"

namespace slackline::cluster {
class ClusterSource;
}
namespace slackline::store {
class Journal;
}

namespace slackline::control {

// A run may be stopped for a task of any namespace: which one is left out where the viewer may not
// see it.
void hide_from(Viewer viewer, JournalPage& page);

class Queries {
 public:
  // `journal` may be null: then decisions and history are answered with kUnavailable.
  Queries(const DecisionOptions& options, const Published<Known>& known,
          const cluster::ClusterSource& source, const store::Journal* journal, const Clock& clock,
          std::string version);

  // kUnavailable before the cluster is read: only cluster() and what comes from the stores may be
  // asked then.
  Status readable() const;
  ClusterView cluster() const;
  // Grows with every change of the cluster.
  std::uint64_t snapshot_version() const;
  // The pools of cluster().
  std::vector<GpuPoolView> pools() const;
  std::vector<ListedNode> nodes() const;
  // Of one namespace, or all where it is empty; sorted by (namespace, name, kind).
  std::vector<ListedTask> tasks(const std::string& ns) const;
  Result<ListedTask> task(const ObjectKey& key) const;
  // Every node as filter and prioritize would judge it for that pod now, best first.
  Result<ScoresView> scores(const ObjectKey& pod) const;
  // The same for a pod that is not in the cluster; neither journal nor metrics learn of it.
  Result<ScoresView> scores(const Pod& pod) const;
  Result<PlacementsView> placements(const ObjectKey& task) const;
  // Every model of which anything is known, by name.
  std::vector<ModelView> models() const { return known_.get()->models; }
  Result<ModelView> model(const std::string& name) const;
  Result<JournalPage> decisions(const JournalQuery& query) const;
  // Finished tasks, newest first.
  Result<HistoryPage> history(const HistoryQuery& query) const;
  // Whether one of that name has ended; reads from disk.
  bool has_ended(const ObjectKey& task) const;

  const GpuCatalog& catalog() const { return options_.catalog; }

 private:
  // `stock`: also by kube-scheduler's own filters, which a pod of the cluster has passed.
  Result<ScoresView> judge(const ClusterSnapshot& snapshot, const Pod& pod, bool stock) const;

  const DecisionOptions& options_;
  const Published<Known>& known_;
  const cluster::ClusterSource& source_;
  const store::Journal* journal_;
  const Clock& clock_;
  std::string version_;
};

}  // namespace slackline::control
