// ShadowPlanner: what the planner would have done, where none runs: in shadow and advise mode, and
// on a dump. It plays a virtual cluster (core/shadow/virtual_cluster.h) beside the real one and
// writes nothing to Kubernetes.
//
//   every kShadowLook_s: look at the snapshot if it is new, play on as far as lengths are known;
//     then rest kShadowRestRatio times as long as that took: at most a fifth of one core
//
// Notes of every Job that ended in both worlds, in its row of the history, when it would have
// started and ended. Reports a journal row (verb plan, reason StartsNow, policy NAME-shadow) for
// every Job that would have been released, at its virtual time; and for every Job with a deadline,
// whether it would have been met and whether it was. Every replica plays by itself; a restart
// begins again.
//
// Thread-safety: start() once, then stop() and join(). All references outlive it.
#pragma once

#include <cstdint>

#include "control/journal/decision_log.h"
#include "control/learn/known.h"
#include "control/plan/planner.h"
#include "obs/bounded_names.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/base/worker.h"
#include "slackline/core/shadow/virtual_cluster.h"
#include "store/journal.h"

namespace slackline::control {

inline constexpr double kShadowLook_s = 0.5;
inline constexpr double kShadowRestRatio = 4;
inline constexpr std::size_t kMostShadowQueues = 30;

class ShadowPlanner {
 public:
  // `journal` may be null: then nobody keeps a history.
  ShadowPlanner(const PlannerOptions& options, const Published<Known>& known,
                const cluster::ClusterSource& source, DecisionLog& log, store::Journal* journal,
                obs::MetricsRegistry& metrics, const Clock& clock);

  void start();
  void stop() { worker_.stop(); }
  void join() { worker_.join(); }

  // One look; its thread calls it, or a test that has started none.
  void look();

 private:
  void journal(core::VirtualStart start, const Settings& settings, const Known& known,
               std::uint64_t snapshot_version);
  void note(const core::VirtualEnd& end);

  const PlannerOptions options_;
  const Published<Known>& known_;
  const cluster::ClusterSource& source_;
  DecisionLog& log_;
  store::Journal* const history_;
  obs::MetricsRegistry& metrics_;
  const Clock& clock_;
  obs::Counter starts_;
  obs::Counter begun_anew_;
  obs::Gauge waiting_;
  obs::Gauge running_;
  obs::Gauge lag_;

  // Of the thread alone:
  core::VirtualCluster cluster_;
  std::uint64_t seen_version_ = 0;
  obs::BoundedNames queues_{kMostShadowQueues};

  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::control
