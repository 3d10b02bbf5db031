// Progress: what a training Job tells of itself (docs/PROGRESS.md).
//
// A report counts as it is told, but within an attempt (from one start of the Job to its stop) the
// iteration and the time only rise. How far a planner believes it is core/cluster/run_progress.h.
// Pure. Times are epoch seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slackline {

// A speed is told by two reports that are at least so far apart.
inline constexpr double kSpeedWindow_s = 60;

// One report, as it was posted.
struct ProgressReport {
  std::int64_t iteration = 0;      // finished so far, of the whole task; 0 to total
  std::int64_t total = 0;          // of the whole task; above 0
  std::optional<double> loss{};    // finite
  std::optional<double> time_s{};  // when that was; unset: now
  std::string phase{};             // "warmup"; letters, digits, '.', '_', '-'
};

struct ProgressPoint {
  std::int64_t iteration = 0;
  double at_s = 0;
};

// What counts of all reports of a Job: the annotation `progress`.
struct ProgressNote {
  std::int64_t iteration = 0;
  std::int64_t total = 0;
  double at_s = 0;
  std::optional<ProgressPoint> first{};  // of the same attempt; unset: there was no earlier one
  std::optional<double> loss{};
  std::string phase{};

  double done() const {  // share of the work, [0, 1]
    return static_cast<double>(iteration) / static_cast<double>(total);
  }
  // How long the whole work takes at the speed of this attempt; nullopt: too little is known.
  std::optional<double> work_s() const;
};

// What counts after `report`, which came at `now_s`. `known`: what counted before, if anything.
// `started_s`: of the present attempt, if the Job runs; an earlier note is of an earlier attempt,
// and the iteration may fall. A report that would make iteration or time fall changes nothing; one
// from the future counts as of now.
ProgressNote with_report(const ProgressNote* known, const ProgressReport& report,
                         std::optional<double> started_s, double now_s);

}  // namespace slackline
