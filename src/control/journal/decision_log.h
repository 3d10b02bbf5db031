// DecisionLog: writes every verb's decision to the journal, the metrics, and one line of the log
// (info; debug for filter and prioritize, a warning for a bind that failed) with the pod's uid and
// the time it took, never a body. At most ten preemptions and failed binds are logged in ten
// seconds; the journal has all of them.
//
// record() never waits: the journal's queue is bounded and drops (and counts) when it is full. A
// daemon without a journal (it could not be opened) still counts. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/watch/source.h"
#include "obs/log_limit.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/model/decision.h"
#include "store/journal.h"

namespace slackline::control {

class DecisionLog : public cluster::ClusterObserver {
 public:
  // `journal` may be null.
  DecisionLog(store::Journal* journal, obs::MetricsRegistry& metrics);

  // Nodes by verdict are counted for filter; `row` goes to the journal.
  void record(DecisionRow row);
  // How long a released task will run; for the history.
  void predict(const Uid& task, double predicted_s);
  // One bind and how it ended: "bound", "already_bound", "conflict", "not_found", "unavailable",
  // ...
  void count_bind(std::string_view outcome);
  void count_victims(std::size_t victims);
  // A verb that ran out of time; what to write into its row.
  std::string count_late(Verb verb);

  // The watch saw the pod bound: that is the outcome of its last decision.
  void on_pod_bound(const Pod& pod, double seen_s) override;

  // Why decisions are not on disk, with the remedy, and what was lost with a damaged file; empty
  // where they all are.
  std::string journal_problem() const;
  // Brings the journal's own counters into the metrics; called before each scrape.
  void refresh_metrics();

 private:
  store::Journal* journal_;
  obs::MetricsRegistry& metrics_;
  obs::LogLimit preempt_lines_;
  obs::Counter victims_;
  obs::Gauge written_;
  obs::Gauge dropped_;
  obs::Gauge queued_;
  obs::Gauge unreadable_;
  obs::Gauge degraded_;
  obs::Gauge damaged_;
};

}  // namespace slackline::control
