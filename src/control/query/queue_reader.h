// QueueReader: the queue as the planner would see it now, for those who only look.
//
// Back-offs do not hide a task from it. Queues pay for what the planner has made others lose, and
// nodes that kube-scheduler refused to a task are not planned for it. Not thread-safe: it keeps
// what was predicted from call to call.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/watch/source.h"
#include "control/learn/known.h"
#include "control/plan/planner.h"
#include "control/query/written_book.h"
#include "control/state/planner_view.h"
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
  SettingsPtr settings{};                        // of this moment
  std::shared_ptr<const PlannerView> planner{};  // the same
  core::QueueOptions options{};  // by which it was read; these two keep what it points to
};

// By name_of().
std::vector<Uid> names_of(const core::Queue& queue);

// What somebody is told who asks for a task that the queue does not have; also of one whose Job is
// gone, where the history knows it.
std::string why_missing(const PlannerOptions& options, const ClusterSnapshot& snapshot,
                        const ObjectKey& key);

// While `sight` lives.
core::NodeNameOf node_names_of(const QueueSight& sight);

inline constexpr std::size_t kMostForecast = 50;
inline constexpr std::size_t kMostPlayed = 1000;  // some 50 ms; everybody's runs count

class QueueReader {
 public:
  // All references outlive it. `always`: as QueueOptions::foresee_always.
  QueueReader(const PlannerOptions& options, const Published<Known>& known,
              const cluster::ClusterSource& source, const Published<PlannerView>& planner,
              const Clock& clock, bool always = false)
      : options_(options),
        known_(known),
        source_(source),
        planner_(planner),
        clock_(clock),
        always_(always) {}

  // Makes another snapshot of what is read, before it becomes a queue by the options.
  using Change =
      std::function<ClusterSnapshot(const ClusterSnapshot&, const core::QueueOptions& by)>;

  // Of a queue that gave up (core/cluster/queue.h) there is nothing to be read.
  QueueSight read(StopAsked stop = {}, const Change& change = {});
  // What was predicted so far, for the queue that was read last.
  core::TaskMenus& menus() { return menus_; }
  // As the queue that was read last would have them.
  core::Expected expect(const core::ArrivalList& arrivals, const core::Queue& queue) {
    return core::expected_of(arrivals, menus_, queue);
  }
  // The forecasts for what was read last: those that were written last or, where they do not hold
  // any more and at most kMostForecast tasks wait and kMostPlayed run or are expected, new ones.
  std::shared_ptr<const core::ForecastBook> book_for(const QueueSight& sight,
                                                     const WrittenBook& written);

 private:
  const PlannerOptions& options_;
  const Published<Known>& known_;
  const cluster::ClusterSource& source_;
  const Published<PlannerView>& planner_;
  const Clock& clock_;
  const bool always_;
  core::TaskMenus menus_;
};

}  // namespace slackline::control
