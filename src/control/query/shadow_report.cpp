#include "control/query/shadow_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"

namespace slackline::control {
namespace {

constexpr double kSecondsOfDay = 86400;

// The 0.975 quantile of Student's t with so many degrees of freedom; beyond the table that of the
// last row, which is larger.
double t_quantile(std::int64_t degrees) {
  constexpr std::array<double, 30> kTable = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  const auto last = static_cast<std::int64_t>(kTable.size());
  return kTable.at(static_cast<std::size_t>(std::clamp<std::int64_t>(degrees, 1, last) - 1));
}

std::vector<std::string> notes_of(const ShadowRow& total) {
  std::vector<std::string> notes = {
      "Compared: Jobs that this daemon saw come, start and succeed, and whose run also ended in "
      "the "
      "virtual cluster. A run lasts there as long as it really did, times what the models say of "
      "the other GPUs or shape.",
      "The virtual cluster starts a Job at once where there is room, stops none for others, and "
      "knows no autoscaler. ResourceQuotas have the size there that they have now; one that is "
      "raised is seen at the next event.",
      format("Gain: the mean of real minus virtual, of deadlines virtual minus real. In brackets "
             "its 95 % interval, with days as the sample, because runs of one day have one queue; "
             "none with fewer than {} days.",
             kLeastDays)};
  if (total.compared < total.runs)
    notes.push_back(format(
        "{} of {} runs are not compared: they ran before this daemon did, failed, were deleted, or "
        "have not ended in the virtual cluster, which is behind by as long as Jobs wait, and a day "
        "at most.",
        total.runs - total.compared, total.runs));
  return notes;
}

}  // namespace

void ShadowReportMaker::compare(Sum& sum, const FinishedTask& task) {
  ++sum.row.runs;
  const auto wait_s = task.wait_s();
  if (!task.shadow || !wait_s || !task.succeeded) return;
  ++sum.row.compared;
  const ShadowRun& shadow = *task.shadow;
  const auto day = static_cast<std::int64_t>(std::floor(task.finished_s / kSecondsOfDay));
  const auto add = [day](Days& days, double real, double in_shadow) {
    Day& of_day = days[day];
    ++of_day.runs;
    of_day.real += real;
    of_day.shadow += in_shadow;
  };
  add(sum.wait_s, *wait_s, std::max(0.0, shadow.started_s - task.created_s));
  add(sum.complete_s, task.finished_s - task.created_s,
      std::max(0.0, shadow.finished_s - task.created_s));
  add(sum.gpu_hours, task.gpu_hours, shadow.gpu_hours());
  if (task.result() == DeadlineResult::kNone) return;
  ++sum.row.deadlines;
  add(sum.in_time, task.result() == DeadlineResult::kMet ? 1 : 0,
      shadow.finished_s <= *task.deadline_s ? 1 : 0);
}

void ShadowReportMaker::add(const FinishedTask& task) {
  if (task.finished_s < question_.from_s || task.finished_s > question_.to_s) return;
  if (!question_.ns.empty() && task.key.ns != question_.ns) return;
  compare(total_, task);
  compare(by_namespace_[task.key.ns], task);
}

std::optional<PairedMean> ShadowReportMaker::mean_of(const Days& days, int sign) {
  Day all;
  for (const auto& [number, day] : days) {
    all.runs += day.runs;
    all.real += day.real;
    all.shadow += day.shadow;
  }
  if (all.runs == 0) return std::nullopt;
  const auto runs = static_cast<double>(all.runs);
  PairedMean mean{all.real / runs, all.shadow / runs, sign * (all.real - all.shadow) / runs};
  const auto count = static_cast<std::int64_t>(days.size());
  if (count < kLeastDays) return mean;
  double squares = 0;
  for (const auto& [number, day] : days) {
    const double gains = sign * (day.real - day.shadow);
    const double off = gains - mean.gain * static_cast<double>(day.runs);
    squares += off * off;
  }
  const double deviation =
      std::sqrt(static_cast<double>(count) / static_cast<double>(count - 1) * squares) / runs;
  mean.gain_low = mean.gain - t_quantile(count - 1) * deviation;
  mean.gain_high = mean.gain + t_quantile(count - 1) * deviation;
  return mean;
}

ShadowRow ShadowReportMaker::row_of(const Sum& sum, const std::string& ns) {
  ShadowRow row = sum.row;
  row.ns = ns;
  row.days = static_cast<std::int64_t>(sum.wait_s.size());
  row.wait_s = mean_of(sum.wait_s, 1);
  row.complete_s = mean_of(sum.complete_s, 1);
  row.in_time = mean_of(sum.in_time, -1);
  row.gpu_hours = mean_of(sum.gpu_hours, 1);
  return row;
}

ShadowReportView ShadowReportMaker::make() const {
  ShadowReportView view{.ns = question_.ns,
                        .from_s = question_.from_s,
                        .to_s = question_.to_s,
                        .total = row_of(total_, ""),
                        .rows = {},
                        .notes = {}};
  for (const auto& [ns, sum] : by_namespace_)
    view.rows.push_back(row_of(sum, ns));
  view.notes = notes_of(view.total);
  return view;
}

}  // namespace slackline::control
