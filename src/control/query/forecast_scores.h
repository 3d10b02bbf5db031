// ForecastScores: whether forecasts come true. The first start and the first finish that are
// forecast of a Job are kept and compared with what happens (core/shadow/real_runs.h):
//
//   slackline_forecast_error_seconds{queue,of}            what happened less the median
//   slackline_forecast_intervals_total{queue,of,held}     whether it lay between p10 and p90
//   slackline_forecast_covered_ratio{of}                  the share that did, of the last kScored
//
// Of start and finish (`of`). The API server writes whole seconds and a release takes some, so an
// interval is kForgiven_s wider at either end. Not scored: a finish where nobody knows how long the
// task runs, where it fails or is deleted, and what no book had before it happened; a median beyond
// the horizon has no error. Only Jobs that start as a whole.
//
// Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "control/query/queue_reader.h"
#include "obs/bounded_names.h"
#include "obs/metrics.h"
#include "slackline/core/planning/forecast_book.h"
#include "slackline/core/shadow/real_runs.h"

namespace slackline::control {

inline constexpr double kForgiven_s = 5;
inline constexpr std::size_t kMostScoredQueues = 30;
inline constexpr std::size_t kScored = 200;

class ForecastScores {
 public:
  explicit ForecastScores(obs::MetricsRegistry& metrics)
      : metrics_(metrics), queues_(kMostScoredQueues) {}

  // Compares what has happened with the first forecast of each, then keeps the first forecasts of
  // `book`.
  void score(const QueueSight& sight, const core::ForecastBook& book);
  // Of the last kScored intervals each; none yet after a start of the daemon.
  Coverage coverage() const;

 private:
  // Whether the last intervals held, the latest last.
  using Held = std::deque<bool>;

  struct FirstForecast {
    std::string queue;
    std::optional<core::Quantiles> start_s;
    std::optional<core::Quantiles> finish_s;
  };

  void keep(const QueueSight& sight, const core::ForecastBook& book);
  void compare(const std::string& queue, const char* of, const core::Quantiles& first,
               double happened_s);

  obs::MetricsRegistry& metrics_;
  obs::BoundedNames queues_;
  core::RealRuns runs_;
  std::unordered_map<Uid, FirstForecast> first_;  // of Jobs that have not ended
  std::map<std::string, Held> held_;              // by "start", "finish"
};

}  // namespace slackline::control
