// ReportMaker: adds up finished tasks to a report. Pure: the same tasks in any order make the same
// report, but for the rounding of sums.
//
// A run counts whole, in the window in which it ended. It held its GPUs for H = GPU-hours / GPUs.
//   asked      GPUs asked for x H; a row of an earlier version: as held
//   measured   GPUs held x the time in which their use was measured, at most what it held
//   used       mean share of a GPU x measured
//   returned   (GPUs asked for - GPUs held) x H where it held fewer
//   returnable estimate: (GPUs held - GPUs that the advice for its family says are enough) x H, as
//              if it took as long on fewer
//   CPU        requests of all pods x H; of these measured, and cores used, likewise
// Waits: the smallest wait that at least 50 % and 95 % of the runs do not exceed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "message/report_views.h"
#include "slackline/model/finished_task.h"

namespace slackline::control {

struct ReportQuestion {
  ReportBy by = ReportBy::kNamespace;
  std::string ns;  // only this namespace; empty: all
  double from_s = 0;
  double to_s = 0;
  std::optional<double> compare_s;
};

inline constexpr std::size_t kMostWasters = 10;

// How many GPUs are enough for the task by the advice for its family; nullopt: there is none.
using GpusNeeded = std::function<std::optional<std::int64_t>(const FinishedTask&)>;

class ReportMaker {
 public:
  ReportMaker(ReportQuestion question, GpusNeeded needed);

  // Ignored if it ended outside the window, or in another namespace.
  void add(const FinishedTask& task);
  ReportView make() const;

 private:
  struct Sum {
    ReportRow row;
    std::vector<double> waits_s;
  };
  // By group and period, "before" (0) first.
  using Sums = std::map<std::pair<std::string, int>, Sum>;

  std::string group_of(const FinishedTask& task, ReportBy by) const;
  std::vector<ReportRow> rows_of(const Sums& sums, ReportBy by) const;
  ReportRow row_of(const Sum& sum, const std::string& group, int period, ReportBy by) const;

  const ReportQuestion question_;
  const GpusNeeded needed_;
  Sums totals_;
  Sums groups_;
  Sums families_;
  std::map<std::int64_t, ReportDay> days_;
};

}  // namespace slackline::control
