// Planner: what is decided, one turn at a time. While this replica leads, every turn moves planned
// tasks on (core/handover/hand_over.h), and the queue is planned (core/planning/plan.h) when
// something changed or the last plan asked for it. Moving on and planning keep a pace each
// (base/pace.h): a change that comes alone is followed at once, a flood of them in turns that each
// serve many.
//
//   watch event, answer, term, time -> turn -> snapshot + own writes -> hand_over -> writes
//                                                                    -> plan     -> writes
//
// It writes nothing without the Lease, or on a cache that may not be believed. Each term begins
// with an empty memory: what it must know it reads from the snapshot. Whoever takes over therefore
// goes on after any write, also in the middle of a turn's writes.
//
// It has no thread and waits for nothing but `server_minor`; its thread is PlannerLoop
// (planner_loop.h). Thread-safety: view() from any thread, everything else from one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "control/learn/known.h"
#include "control/plan/actuator.h"
#include "control/plan/calibrator.h"
#include "control/plan/mover.h"
#include "control/plan/planner_meters.h"
#include "control/plan/preemption_meters.h"
#include "control/plan/resize_news.h"
#include "control/state/planner_view.h"
#include "control/state/settings.h"
#include "slackline/base/pace.h"
#include "slackline/base/published.h"
#include "slackline/core/cluster/gang_places.h"
#include "slackline/core/cluster/near_ends.h"
#include "slackline/core/handover/begin_starts.h"
#include "slackline/core/handover/hand_over.h"
#include "slackline/core/shadow/stock_queue.h"

namespace slackline::control {

inline constexpr PaceLimits kTurns{.share = 0.03, .most_saved_s = 0.05, .most_rest_s = 0.1};
inline constexpr PaceLimits kPlans{.share = 0.05, .most_saved_s = 0.05, .most_rest_s = 0.1};
// From this minor version on, suspended Jobs take changes of their template.
inline constexpr int kTemplatesAreOpenSince = 36;

struct PlannerOptions {
  GpuCatalog catalog;
  const Published<Settings>* settings = nullptr;             // required
  const Published<core::PortraitBook>* portraits = nullptr;  // null: no family's past is known
  std::function<std::string()> leader{};  // who holds the Lease, for people; null: nobody asks
  Calibrator* calibrator = nullptr;       // null: no calibration runs are made or ended
  StopLedger* stops = nullptr;  // null: nothing is known of stops but what stopped Jobs say
  bool reviews = false;         // this daemon's webhook is asked about new Jobs
  // Where no planner runs: what waits for kube-scheduler is read as if it waited with us.
  std::optional<core::StockScope> stock_waits{};

  // Of the API server: 36 for 1.36. Asked once, may block; nullopt: not now.
  std::function<std::optional<int>()> server_minor = [] { return kTemplatesAreOpenSince; };

  // Whether plans can be proved now: without that nothing is planned.
  std::function<bool()> can_sign = [] { return true; };

  // Whether the history has a task of that name; may read from disk. Null: nobody knows.
  std::function<bool(const ObjectKey&)> has_ended{};

  // How the queue is read now. The settings outlive it.
  core::QueueOptions queue_options(const Settings& now, const Known& known,
                                   const cluster::ClusterSource& source, const Clock& clock) const;
  std::string fingerprint(const Settings& now) const;  // for the journal
};

// When the next turn is due, in steady seconds.
struct NextTurn {
  double if_woken_s = 0;  // not before this, whatever changes
  double at_latest_s = 0;
};

class Planner {
 public:
  // `term` tells whether this replica leads, and since which election (cluster/lease/lease.h). All
  // references outlive the planner.
  Planner(PlannerOptions options, const Published<Known>& known,
          const cluster::ClusterSource& source, Actuator& actuator,
          std::function<std::optional<std::int64_t>()> term, obs::MetricsRegistry& metrics,
          const Clock& clock);

  // `woken_s`: of the first change since the last turn, steady; nullopt: there was none. A turn
  // that is stopped writes nothing more.
  NextTurn turn(std::optional<double> woken_s = {}, StopAsked stop = {});

  // What it alone knows, renewed with every turn.
  const Published<PlannerView>& view() const { return view_; }

 private:
  void follow(const ClusterSnapshot& seen, double now_s);
  void renew_term();
  void begin_term();
  void end_term();
  // Returns the snapshot with own writes; nullopt where writes were added to them.
  std::optional<Actuator::Overlay> hand_over(const SnapshotPtr& seen, double now_s, double woken_s);
  void plan(const Actuator::Overlay& seen, double changed_s);
  void read_stops(const Actuator::Overlay& seen, const core::Policy& policy);
  std::unordered_set<Uid> held_off_at(double now_s) const;
  double next_release_s(double now_s) const;
  void note_who_waits(const core::Plan& plan, const core::Queue& queue,
                      const ClusterSnapshot& snapshot);
  // The writes that move and grow runs, which are made where no run is stopped for another task.
  std::vector<OwnWrite> change_runs(const Actuator::Overlay& seen, const core::QueueOptions& asked,
                                    const core::Queue& queue, const core::Plan& plan,
                                    const Mover::Post& post);
  // When the queue is to be planned again though nothing changes, steady.
  double next_plan(const core::Plan& plan, bool place_is_kept, double planned_wall_s,
                   double ended_s) const;
  // An Event each, once; `told` are those of the last time.
  template <class Object, class EventOf>
  void tell_once(const std::vector<std::shared_ptr<const Object>>& objects, EventOf event_of,
                 std::unordered_set<Uid>& told);
  void tell_of_unreviewed(const ClusterSnapshot& snapshot);
  // False where not all could be taken now.
  bool write(std::vector<OwnWrite> writes, const ClusterSnapshot& snapshot, double woken_s);
  void show_view();

  const PlannerOptions options_;
  const Published<Known>& known_;
  const cluster::ClusterSource& source_;
  Actuator& actuator_;
  const std::function<std::optional<std::int64_t>()> term_of_;
  const Clock& clock_;
  PlannerMeters meters_;
  PreemptionMeters preemption_meters_;
  Published<PlannerView> view_;

  StopAsked stop_;  // of this turn
  std::optional<int> server_minor_;
  std::optional<std::int64_t> term_;
  core::PlanStamp stamp_;
  core::HandOverMemory memory_;
  std::unordered_map<Uid, RefusedRelease> unreleased_;   // Actuator::Overlay, of the latest plan
  std::unordered_set<Uid> denied_room_;                  // by the latest plan
  std::unordered_map<Uid, std::vector<NodeName>> kept_;  // likewise: PlannerView::kept
  std::shared_ptr<const core::StopBook> stop_book_ = std::make_shared<const core::StopBook>();
  core::NearEnds near_ends_;
  core::GangPlaces gang_places_;
  core::TaskMenus menus_;
  Mover mover_;
  ResizeNews resize_news_;
  std::unordered_set<Uid> told_;             // of which lost pods
  std::unordered_set<Uid> told_unreviewed_;  // of which Jobs, by tell_of_unreviewed()
  std::optional<double> ready_wall_s_;       // since when there are reviews here
  Pace turn_pace_{kTurns};
  Pace plan_pace_{kPlans};
  double may_turn_s_ = 0;  // steady, by their paces
  double may_plan_s_ = 0;
  double next_follow_s_ = 0;         // steady
  double next_plan_s_ = 0;           // what the last plan asked for, steady
  std::optional<double> changed_s_;  // since when the last plan is out of date; nullopt: it is not
};

}  // namespace slackline::control
