// What happened beside what the planner would have done.
#include <cmath>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

using Measure = std::optional<PairedMean> ShadowRow::*;

std::string span_text(double seconds) {
  return (seconds < 0 ? "-" : "") + format_duration(std::round(std::abs(seconds)));
}

std::string points_text(double share) {
  return format("{:+.1f}", 100 * share);
}

std::string gain_text(const std::optional<PairedMean>& mean, std::string (*text)(double)) {
  if (!mean) return "";
  if (!mean->gain_low) return text(mean->gain);
  return format("{} [{}, {}]", text(mean->gain), text(*mean->gain_low), text(*mean->gain_high));
}

std::string percent_text(const std::optional<PairedMean>& mean, double PairedMean::* of) {
  return mean ? format("{:.1f}", 100 * ((*mean).*of)) : "";
}

// As Seconds, or a plain number.
template <class Value>
Column<ShadowRow> of_mean(std::string_view key, Measure measure, double PairedMean::* of,
                          std::string_view about = {}) {
  return {key,
          [=](const ShadowRow& row) {
            const auto& mean = row.*measure;
            return mean ? std::optional(Value{(*mean).*of}) : std::nullopt;
          },
          about};
}

Column<ShadowRow> bound(std::string_view key, Measure measure,
                        std::optional<double> PairedMean::* of) {
  return {key, [=](const ShadowRow& row) -> std::optional<double> {
            const auto& mean = row.*measure;
            return mean ? (*mean).*of : std::nullopt;
          }};
}

using ShadowColumns = std::vector<Column<ShadowRow>>;

ShadowColumns columns_of_times() {
  using C = Column<ShadowRow>;
  using R = const ShadowRow&;
  return {
      of_mean<Seconds>("waitSeconds", &ShadowRow::wait_s, &PairedMean::real,
                       "Mean from the creation to the start; of the compared runs")
          .cell(">WAIT"),
      of_mean<Seconds>("shadowWaitSeconds", &ShadowRow::wait_s, &PairedMean::shadow,
                       "The same in the virtual cluster")
          .cell(">BY PLAN"),
      of_mean<double>("waitSavedSeconds", &ShadowRow::wait_s, &PairedMean::gain,
                      "Below 0: longer by plan"),
      bound("waitSavedSecondsLow", &ShadowRow::wait_s, &PairedMean::gain_low),
      bound("waitSavedSecondsHigh", &ShadowRow::wait_s, &PairedMean::gain_high),
      C::only_cell(">SAVED", [](R row) { return gain_text(row.wait_s, span_text); }),
      of_mean<Seconds>("completeSeconds", &ShadowRow::complete_s, &PairedMean::real,
                       "Mean from the creation to the end"),
      of_mean<Seconds>("shadowCompleteSeconds", &ShadowRow::complete_s, &PairedMean::shadow),
      of_mean<double>("completeSavedSeconds", &ShadowRow::complete_s, &PairedMean::gain),
      bound("completeSavedSecondsLow", &ShadowRow::complete_s, &PairedMean::gain_low),
      bound("completeSavedSecondsHigh", &ShadowRow::complete_s, &PairedMean::gain_high),
      C::only_cell(">~DONE EARLIER", [](R row) { return gain_text(row.complete_s, span_text); }),
  };
}

ShadowColumns columns_of_deadlines() {
  using C = Column<ShadowRow>;
  using R = const ShadowRow&;
  return {
      C("deadlines", &ShadowRow::deadlines, "Of the compared runs: that had one")
          .cell(">DEADLINES"),
      of_mean<double>("inTime", &ShadowRow::in_time, &PairedMean::real,
                      "Share of the deadlines, 0..1")
          .cell(">IN TIME %", [](R row) { return percent_text(row.in_time, &PairedMean::real); }),
      of_mean<double>("shadowInTime", &ShadowRow::in_time, &PairedMean::shadow)
          .cell(">BY PLAN %", [](R row) { return percent_text(row.in_time, &PairedMean::shadow); }),
      of_mean<double>("inTimeGain", &ShadowRow::in_time, &PairedMean::gain),
      bound("inTimeGainLow", &ShadowRow::in_time, &PairedMean::gain_low),
      bound("inTimeGainHigh", &ShadowRow::in_time, &PairedMean::gain_high),
      C::only_cell(">GAIN (POINTS)", [](R row) { return gain_text(row.in_time, points_text); }),
      of_mean<double>("gpuHours", &ShadowRow::gpu_hours, &PairedMean::real, "Mean of a run"),
      of_mean<double>("shadowGpuHours", &ShadowRow::gpu_hours, &PairedMean::shadow),
      of_mean<double>("gpuHoursSaved", &ShadowRow::gpu_hours, &PairedMean::gain),
      bound("gpuHoursSavedLow", &ShadowRow::gpu_hours, &PairedMean::gain_low),
      bound("gpuHoursSavedHigh", &ShadowRow::gpu_hours, &PairedMean::gain_high),
  };
}

}  // namespace

template <>
const Columns<ShadowRow>& columns<ShadowRow>() {
  using C = Column<ShadowRow>;
  static const Columns<ShadowRow> kColumns = {
      "ShadowRow",
      joined<ShadowRow>(
          {{C("namespace", &ShadowRow::ns, "Empty: all of them").cell("NAMESPACE"),
            C("runs", &ShadowRow::runs, "That ended in the window").cell(">RUNS"),
            C("compared", &ShadowRow::compared,
              "Of these: that went to their end in the virtual cluster, too")
                .cell(">COMPARED"),
            C("days", &ShadowRow::days, "On which compared runs ended").cell(">DAYS").wide()},
           columns_of_times(),
           columns_of_deadlines()})};
  return kColumns;
}

template <>
const Columns<ShadowReportView>& columns<ShadowReportView>() {
  using C = Column<ShadowReportView>;
  using V = const ShadowReportView&;
  static const Columns<ShadowReportView> kColumns = {
      "ShadowReport",
      {
          C(
              "onlyNamespace", [](V view) { return if_any(view.ns); }, "Only this one"),
          C(
              "from", [](V view) { return Time{view.from_s}; }, "Of runs that ended from then"),
          C(
              "to", [](V view) { return Time{view.to_s}; }, "until then"),
          C("total", &ShadowReportView::total, "All namespaces"),
          C("notes", &ShadowReportView::notes, "How the numbers are to be read"),
      }};
  return kColumns;
}

std::string preface_of(const ShadowReportView& view) {
  const ShadowRow& all = view.total;
  std::string text =
      format("Runs that ended from {} to {}: {} of {} are compared\n", format_rfc3339(view.from_s),
             format_rfc3339(view.to_s), all.compared, all.runs);
  if (all.wait_s)
    text += format("mean wait {}, by the planner {}; saved {}\n", span_text(all.wait_s->real),
                   span_text(all.wait_s->shadow), gain_text(all.wait_s, span_text));
  if (all.in_time)
    text +=
        format("{} deadlines: {} % met, by the planner {} %; {} points\n", all.deadlines,
               percent_text(all.in_time, &PairedMean::real),
               percent_text(all.in_time, &PairedMean::shadow), gain_text(all.in_time, points_text));
  for (const std::string& note : view.notes)
    text += note + '\n';
  return text + '\n';
}

}  // namespace slackline::wire
