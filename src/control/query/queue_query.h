// QueueQuery: the queue as `slackline queue` shows it, made of the snapshot by the functions that
// plan it. Any replica answers.
//
// Starts and finishes are forecast (core/rollout.h) where at most kMostForecast tasks wait; beyond
// that tasks are in the order of their deadlines. Back-offs are known to the planner alone.
//
// Thread-safe: one question at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slackline/base/clock.h"
#include "slackline/model/queue_view.h"

namespace slackline::cluster {
class ClusterSource;
}

namespace slackline::control {

class KnownBoard;
struct PlannerOptions;

inline constexpr std::size_t kMostForecast = 200;

class QueueQuery {
 public:
  QueueQuery(const PlannerOptions& options, const KnownBoard& board,
             const cluster::ClusterSource& source, const Clock& clock);
  ~QueueQuery();

  // Tasks with a plan first, by name; then those that wait, by position. `ns`: only of this
  // namespace; empty = of all.
  std::vector<QueueRow> rows(const std::string& ns);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline::control
