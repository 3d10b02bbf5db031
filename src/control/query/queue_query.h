// QueueQuery: the queue as `slackline queue` shows it, made of the snapshot by the functions that
// plan it. Any replica answers.
//
// Starts and finishes are read from the book of forecasts, which is seconds old. A book of another
// snapshot is not needed where at most kMostForecast tasks wait and kMostPlayed run or are
// expected: they are forecast for the question.
//
// Thread-safe: one question at a time.
#pragma once

#include <memory>
#include <string>

#include "message/queue_view.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"

namespace slackline::cluster {
class ClusterSource;
}

namespace slackline::control {

struct Known;
struct PlannerOptions;
struct PlannerView;
struct WrittenBook;

inline constexpr std::size_t kMostForecast = 50;
inline constexpr std::size_t kMostPlayed = 1000;  // some 50 ms; everybody's runs count

class QueueQuery {
 public:
  // All references outlive it.
  QueueQuery(const PlannerOptions& options, const Published<Known>& known,
             const cluster::ClusterSource& source, const Published<PlannerView>& planner,
             const Published<WrittenBook>& books, const Clock& clock);
  ~QueueQuery();

  // `ns`: only rows of this namespace; empty = of all. Positions count everybody.
  QueueView ask(const std::string& ns);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline::control
