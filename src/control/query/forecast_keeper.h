// ForecastKeeper: the thread that keeps the book of forecasts, and reports what it sees in the
// queue: metrics, and the Events that no write of Slackline stands for.
//
//   every kLook_s: has anything changed, or is the book kStale_s old while somebody waits, or
//   should
//                  somebody have started by now?
//      yes: read the queue, write the book, publish and report it; then rest kRestRatio times as
//           long as that took, so that it never takes more than a fifth of one core
//
// Thread-safety: start() once, then stop() and join(); stop() ends a book that is being written.
// `post` is called on its thread.
#pragma once

#include <functional>

#include "control/query/forecast_scores.h"
#include "control/query/hold_meters.h"
#include "control/query/overload_events.h"
#include "control/query/queue_events.h"
#include "control/query/queue_meters.h"
#include "control/query/queue_reader.h"
#include "control/query/written_book.h"
#include "control/state/planner_view.h"
#include "obs/metrics.h"
#include "slackline/base/published.h"
#include "slackline/base/worker.h"

namespace slackline::control {

inline constexpr double kLook_s = 0.5;
inline constexpr double kStale_s = 60;
inline constexpr double kSoonAgain_s = 5;  // however many should have started
inline constexpr double kRestRatio = 4;

class ForecastKeeper {
 public:
  // `post` takes an Event to be posted, or refuses it for now. All references outlive it.
  ForecastKeeper(const PlannerOptions& options, const Published<Known>& known,
                 const cluster::ClusterSource& source, const Published<PlannerView>& planner,
                 Published<WrittenBook>& books, QueueEvents::Post post,
                 obs::MetricsRegistry& metrics, const Clock& clock);

  void start();
  void stop() { worker_.stop(); }
  void join() { worker_.join(); }

  // One look; its thread calls it, or a test that has started none. Returns how long to rest.
  // Nothing is published of a look that is stopped.
  double look(const StopAsked& stop = {});

  // Before a scrape: how old the book is.
  void refresh_metrics() const;

 private:
  bool due() const;
  void renew(const StopAsked& stop);

  const PlannerOptions options_;
  const Published<Known>& known_;
  const cluster::ClusterSource& source_;
  const Published<PlannerView>& planner_;
  Published<WrittenBook>& books_;
  const QueueEvents::Post post_;
  const Clock& clock_;
  obs::Gauge age_;
  obs::Gauge size_;
  obs::Histogram duration_;

  // Of the thread alone:
  QueueReader reader_;
  core::Arrivals arrivals_;
  QueueEvents queue_events_;
  OverloadEvents overload_;
  QueueMeters meters_;
  ForecastScores scores_;
  const HoldMeters holds_;
  std::uint64_t known_version_ = 0;
  SettingsPtr settings_;  // of the book
  bool somebody_waits_ = false;

  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::control
