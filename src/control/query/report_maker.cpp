#include "control/query/report_maker.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/portrait/family.h"

namespace slackline::control {
namespace {

constexpr double kDay_s = 86400;
constexpr double kMilli = 1000;
constexpr int kBefore = 0;
constexpr int kAfter = 1;

double hours_in_shape(const FinishedTask& task) {
  return task.gpus > 0 ? task.gpu_hours / static_cast<double>(task.gpus) : 0;
}

// For which it had GPUs. What never stopped kept its shape, and its pods may have run one by one;
// of a run that was stopped, the shape at its end says nothing of the time before.
double hours_of(const FinishedTask& task) {
  const bool stopped = task.stops > 0 && task.held_s > 0;
  return stopped ? task.held_s / kHour_s : hours_in_shape(task);
}

// 0..1, of its run.
double measured_part(const FinishedTask& task, double seconds) {
  const double run_s = task.held_s > 0 ? task.held_s : hours_in_shape(task) * kHour_s;
  return run_s > 0 ? std::clamp(seconds / run_s, 0.0, 1.0) : 0;
}

// Nearest rank.
std::optional<double> quantile(std::vector<double> values, double p) {
  if (values.empty()) return std::nullopt;
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// What one run adds.
ReportRow part_of(const FinishedTask& task, std::optional<std::int64_t> needed) {
  ReportRow part;
  part.runs = 1;
  part.succeeded = task.succeeded ? 1 : 0;
  part.deadlines = task.result() == DeadlineResult::kNone ? 0 : 1;
  part.deadlines_met = task.result() == DeadlineResult::kMet ? 1 : 0;
  const double hours = hours_of(task);
  const auto asked = static_cast<double>(task.asked_gpus > 0 ? task.asked_gpus : task.gpus);
  part.gpu_hours = task.gpu_hours;
  part.asked_gpu_hours = asked * hours;
  part.returned_gpu_hours = std::max(0.0, part.asked_gpu_hours - task.gpu_hours);
  if (needed) {
    part.advised_gpu_hours = task.gpu_hours;
    part.returnable_gpu_hours =
        std::max(0.0, task.gpu_hours - static_cast<double>(*needed) * hours);
  }
  const auto pods = static_cast<double>(task.pods);
  const double cores = pods * static_cast<double>(task.cpu_milli) / kMilli;
  part.asked_core_hours = cores * hours_in_shape(task);
  if (!task.use) return part;
  part.measured_gpu_hours = task.gpu_hours * measured_part(task, task.use->gpu_s);
  part.used_gpu_hours = std::clamp(task.use->gpu_share, 0.0, 1.0) * part.measured_gpu_hours;
  if (cores <= 0) return part;
  const double cpu_hours = hours_in_shape(task) * measured_part(task, task.use->cpu_s);
  part.measured_core_hours = cores * cpu_hours;
  part.used_core_hours = task.use->cpu_cores * pods * cpu_hours;
  return part;
}

void add_up(ReportRow& sum, const ReportRow& part) {
  for (const auto count :
       {&ReportRow::runs, &ReportRow::succeeded, &ReportRow::deadlines, &ReportRow::deadlines_met})
    sum.*count += part.*count;
  for (const auto hours :
       {&ReportRow::gpu_hours, &ReportRow::asked_gpu_hours, &ReportRow::measured_gpu_hours,
        &ReportRow::used_gpu_hours, &ReportRow::returned_gpu_hours, &ReportRow::advised_gpu_hours,
        &ReportRow::returnable_gpu_hours, &ReportRow::asked_core_hours,
        &ReportRow::measured_core_hours, &ReportRow::used_core_hours})
    sum.*hours += part.*hours;
}

std::vector<std::string> notes_of(const ReportQuestion& question) {
  std::vector<std::string> notes = {
      "A run counts whole in the window in which it ended; runs that have not ended do not count.",
      ("Held: GPUs x the time for which the run had them. Asked: the GPUs asked for, before "
       "anybody changed the Job, x the same time."),
      ("Measured: the part of the held GPU-hours in which the Prometheus had the use of the run's "
       "GPUs. GPU use is the mean use of measured GPU-hours; of the others nothing is said. GPUs "
       "that several pods share count as not measured."),
      "CPU use: cores used / cores requested, while it was measured.",
      "Idle: measured minus used. Returned: asked for and not held.",
      ("Idle now: tasks that run and of whose GPUs none was busy for 5 % or more in the last ten "
       "steps that were measured, with the measured time since then."),
      ("Returnable is an estimate: what the runs held above the GPUs that the advice for their "
       "family says are enough, as if they took as long on fewer."),
      ("Deadlines met: of the runs that had one; a failed run has missed it. Waits: from the "
       "creation of the Job to its first start.")};
  if (question.compare_s)
    notes.emplace_back("Before and after: other things than the date may differ between the two.");
  return notes;
}

}  // namespace

ReportMaker::ReportMaker(ReportQuestion question, GpusNeeded needed)
    : question_(std::move(question)), needed_(std::move(needed)) {
  totals_[{"", kAfter}];
  if (question_.compare_s) totals_[{"", kBefore}];
}

std::string ReportMaker::group_of(const FinishedTask& task, ReportBy by) const {
  if (by == ReportBy::kFamily) return task.family;
  return by == ReportBy::kGpuType ? task.gpu_type.str() : task.key.ns;
}

void ReportMaker::add(const FinishedTask& task) {
  if (task.finished_s < question_.from_s || task.finished_s > question_.to_s) return;
  if (!question_.ns.empty() && task.key.ns != question_.ns) return;
  const int period =
      question_.compare_s && task.finished_s < *question_.compare_s ? kBefore : kAfter;
  const ReportRow part = part_of(task, needed_ ? needed_(task) : std::nullopt);
  for (Sum* sum : {&totals_[{"", period}], &groups_[{group_of(task, question_.by), period}],
                   &families_[{task.family, kAfter}]}) {
    add_up(sum->row, part);
    if (const auto wait_s = task.wait_s()) sum->waits_s.push_back(*wait_s);
  }
  const auto number = static_cast<std::int64_t>(std::floor(task.finished_s / kDay_s));
  ReportDay& day = days_[number];
  day.day_s = static_cast<double>(number) * kDay_s;
  day.gpu_hours += part.gpu_hours;
  day.measured_gpu_hours += part.measured_gpu_hours;
  day.used_gpu_hours += part.used_gpu_hours;
}

ReportRow ReportMaker::row_of(const Sum& sum, const std::string& group, int period,
                              ReportBy by) const {
  constexpr double kMost = 0.95;
  ReportRow row = sum.row;
  row.group = group;
  row.title = by == ReportBy::kFamily ? core::family_title(group) : group;
  if (row.title.empty()) row.title = "unknown";
  if (question_.compare_s) row.period = period == kBefore ? "before" : "after";
  row.wait_median_s = quantile(sum.waits_s, 0.5);
  row.wait_p95_s = quantile(sum.waits_s, kMost);
  row.wait_max_s = quantile(sum.waits_s, 1);
  return row;
}

// The groups that held most first.
std::vector<ReportRow> ReportMaker::rows_of(const Sums& sums, ReportBy by) const {
  std::map<std::string, double> held;
  for (const auto& [key, sum] : sums)
    held[key.first] += sum.row.gpu_hours;
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [group, hours] : held)
    order.emplace_back(-hours, group);
  std::sort(order.begin(), order.end());
  std::vector<ReportRow> rows;
  for (const auto& [hours, group] : order)
    for (const int period : {kBefore, kAfter})
      if (const auto sum = sums.find({group, period}); sum != sums.end())
        rows.push_back(row_of(sum->second, group, period, by));
  return rows;
}

ReportView ReportMaker::make() const {
  ReportView view{.by = question_.by,
                  .ns = question_.ns,
                  .from_s = question_.from_s,
                  .to_s = question_.to_s,
                  .compare_s = question_.compare_s,
                  .totals = {},
                  .rows = rows_of(groups_, question_.by),
                  .wasters = {},
                  .idle_now = {},
                  .days = {},
                  .notes = notes_of(question_)};
  for (const auto& [key, sum] : totals_) {
    view.totals.push_back(row_of(sum, "", key.second, question_.by));
    view.totals.back().title = "all";
  }
  view.wasters = rows_of(families_, ReportBy::kFamily);
  std::erase_if(view.wasters, [](const ReportRow& row) { return row.idle_gpu_hours() <= 0; });
  std::stable_sort(view.wasters.begin(), view.wasters.end(),
                   [](const ReportRow& a, const ReportRow& b) {
                     return a.idle_gpu_hours() > b.idle_gpu_hours();
                   });
  if (view.wasters.size() > kMostWasters) view.wasters.resize(kMostWasters);
  for (ReportRow& row : view.wasters)
    row.period.clear();  // of the whole window
  for (const auto& [number, day] : days_)
    view.days.push_back(day);
  return view;
}

}  // namespace slackline::control
