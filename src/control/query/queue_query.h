// QueueQuery: the queue as `slackline queue` shows it, made of the snapshot by the functions that
// plan it. Any replica answers.
//
// Starts and finishes are read from the book of forecasts, which is seconds old, or forecast for
// the question where that is quick (QueueReader::book_for).
//
// A long queue (more than kLongQueue rows) takes long to read, and people turn its pages: its last
// rows are shown again for two seconds, and for thirty while nothing has changed but the time.
//
// Thread-safe: one question at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "control/answers/viewer.h"
#include "message/queue_view.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"
#include "slackline/model/share_ledger.h"

namespace slackline::cluster {
class ClusterSource;
}

namespace slackline::control {

struct Known;
struct PlannerOptions;
struct PlannerView;
struct WrittenBook;

inline constexpr std::size_t kLongQueue = 1000;

// Who makes room for a task, or would be moved, may be of any namespace: leaves out whom the viewer
// may not see.
void hide_from(Viewer viewer, QueueView& view);

class QueueQuery {
 public:
  // All references outlive it.
  QueueQuery(const PlannerOptions& options, const Published<Known>& known,
             const cluster::ClusterSource& source, const Published<PlannerView>& planner,
             const Published<WrittenBook>& books, const Clock& clock);
  ~QueueQuery();

  // `ns`: only rows of this namespace; empty = of all. Positions count everybody. `all`: after
  // these the tasks that wait and that Slackline does not plan, NotManaged and without position.
  // kUnavailable before the cluster is read.
  Result<QueueView> ask(const std::string& ns, bool all = false);
  // What queues use of their shares; kUnavailable before the cluster is read.
  Result<ShareLedger> shares();
  // Of a task that an answer lacks: kNotFound with the reason.
  Error missing(const ObjectKey& key) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline::control
