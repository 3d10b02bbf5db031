// ShadowReportMaker: adds up what happened beside what the planner would have done. Pure: the same
// tasks in any order make the same report, but for the rounding of sums.
//
// The gain g of a run is paired: real - shadow of waits, completions and GPU-hours, shadow - real
// of deadlines met. Runs of one day have one queue and are not independent, so days are the sample:
// with the sum G_d of gains and the count n_d of runs on each of D days,
//
//   gain = sum G_d / sum n_d      s^2 = D / (D - 1) x sum (G_d - gain n_d)^2 / (sum n_d)^2
//
// and the interval is gain +- t(0.975, D - 1) s, the ratio estimator of cluster sampling (Cochran,
// Sampling Techniques, 1977, ch. 9A). None below kLeastDays.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "message/report_views.h"
#include "slackline/model/finished_task.h"

namespace slackline::control {

inline constexpr std::int64_t kLeastDays = 5;

struct ShadowQuestion {
  std::string ns;  // only this namespace; empty: all
  double from_s = 0;
  double to_s = 0;
};

class ShadowReportMaker {
 public:
  explicit ShadowReportMaker(ShadowQuestion question) : question_(std::move(question)) {}

  // Ignored if it ended outside the window, or in another namespace.
  void add(const FinishedTask& task);
  ShadowReportView make() const;

 private:
  // Of one measure on one day.
  struct Day {
    std::int64_t runs = 0;
    double real = 0;
    double shadow = 0;
  };
  using Days = std::map<std::int64_t, Day>;

  struct Sum {
    ShadowRow row;
    Days wait_s;
    Days complete_s;
    Days in_time;
    Days gpu_hours;
  };

  static void compare(Sum& sum, const FinishedTask& task);
  // `sign`: +1 where less is better.
  static std::optional<PairedMean> mean_of(const Days& days, int sign);
  static ShadowRow row_of(const Sum& sum, const std::string& ns);

  const ShadowQuestion question_;
  Sum total_;
  std::map<std::string, Sum> by_namespace_;
};

}  // namespace slackline::control
