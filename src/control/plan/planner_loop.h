// PlannerLoop: the thread that decides. While this replica leads, every snapshot moves planned
// tasks on (core/cluster/hand_over.h) at once, and the queue is planned (core/planning/plan.h) when
// something changed or the last plan asked for it. Moving on and planning keep a pace each
// (base/pace.h): a change that comes alone is followed at once, a flood of them in turns that each
// serve many.
//
//   watch event, answer, term, time -> wake -> snapshot + own writes -> hand_over -> writes
//                                                                    -> plan     -> writes
//
// It writes nothing without the Lease, or on a cache that may not be believed. Each term begins
// with an empty memory: what it must know it reads from the snapshot.
//
// Thread-safety: start() once, then stop() and join(); wake() from any thread, never blocking. A
// turn that is stopped writes nothing more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "control/learn/known.h"
#include "control/plan/actuator.h"
#include "control/state/planner_view.h"
#include "control/state/settings.h"
#include "obs/metrics.h"
#include "slackline/base/pace.h"
#include "slackline/base/published.h"
#include "slackline/core/cluster/hand_over.h"

namespace slackline::control {

inline constexpr PaceLimits kTurns{.share = 0.03, .most_saved_s = 0.05, .most_rest_s = 0.1};
inline constexpr PaceLimits kPlans{.share = 0.05, .most_saved_s = 0.05, .most_rest_s = 0.1};
// From this minor version on, suspended Jobs take changes of their template.
inline constexpr int kTemplatesAreOpenSince = 36;

struct PlannerOptions {
  GpuCatalog catalog;
  const Published<Settings>* settings = nullptr;  // required
  std::function<std::string()> leader;  // who holds the Lease, for people; null: nobody asks
  // Where no planner runs: what waits for kube-scheduler is read as if it waited with us.
  bool stock_waits = false;

  // Of the API server: 36 for 1.36. Asked once, may block; nullopt: not now.
  std::function<std::optional<int>()> server_minor = [] { return kTemplatesAreOpenSince; };

  // Whether plans can be proved now: without that nothing is planned.
  std::function<bool()> can_sign = [] { return true; };

  // How the queue is read now. The settings outlive it.
  core::QueueOptions ask(const Settings& now, const Known& known, const Clock& clock) const;
  std::string fingerprint(const Settings& now) const;  // for the journal
};

class PlannerLoop {
 public:
  // `term` tells whether this replica leads, and since which election (cluster/lease/lease.h).
  PlannerLoop(PlannerOptions options, const Published<Known>& known,
              const cluster::ClusterSource& source, Actuator& actuator,
              std::function<std::optional<std::int64_t>()> term, obs::MetricsRegistry& metrics,
              const Clock& clock);
  ~PlannerLoop();
  PlannerLoop(const PlannerLoop&) = delete;
  PlannerLoop& operator=(const PlannerLoop&) = delete;

  void start();
  void stop();
  void join();
  void wake();

  // What it alone knows, renewed with every turn.
  const Published<PlannerView>& view() const { return view_; }

 private:
  void run();
  bool is_stopping() const;
  // Returns when to look again, steady.
  double turn(double woken_s);
  void renew_term();
  void begin_term(std::int64_t term);
  // Returns the snapshot with our writes; null where writes were added to them.
  SnapshotPtr hand_over(const SnapshotPtr& seen, double now_s, double woken_s);
  void plan(const SnapshotPtr& snapshot, double changed_s);
  // False where not all could be taken now.
  bool write(std::vector<OwnWrite> writes, const ClusterSnapshot& snapshot, double woken_s);
  void show_queue(const core::Queue& queue);
  void show_view();

  const PlannerOptions options_;
  const Published<Known>& known_;
  const cluster::ClusterSource& source_;
  Actuator& actuator_;
  const std::function<std::optional<std::int64_t>()> term_of_;
  obs::MetricsRegistry& metrics_;
  const Clock& clock_;
  obs::Histogram plan_duration_;
  obs::Histogram first_write_;
  obs::Counter starts_;
  obs::Counter refused_;
  obs::Gauge leads_;
  obs::Gauge running_;
  Published<PlannerView> view_;
  std::thread thread_;

  // Of the thread alone:
  std::optional<int> server_minor_;
  std::optional<std::int64_t> term_;
  core::PlanStamp stamp_;
  core::HandOverMemory memory_;
  core::TaskMenus menus_;
  Pace turn_pace_{kTurns};
  Pace plan_pace_{kPlans};
  double may_turn_s_ = 0;  // steady, by their paces
  double may_plan_s_ = 0;
  double next_plan_s_ = 0;           // what the last plan asked for, steady
  std::optional<double> changed_s_;  // since when the last plan is out of date; nullopt: it is not
  std::map<std::pair<std::string, std::string>, obs::Gauge> lengths_;  // by queue and class

  mutable Mutex mutex_;
  CondVar cv_;
  bool stopping_ SLACKLINE_GUARDED_BY(mutex_) = false;
  bool woken_ SLACKLINE_GUARDED_BY(mutex_) = false;
  double woken_s_ SLACKLINE_GUARDED_BY(mutex_) = 0;  // of the first wake not yet served
};

}  // namespace slackline::control
