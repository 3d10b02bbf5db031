// Reports: what runs asked for, held and used.
#include <algorithm>

#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

using Group = const ReportRow&;

std::string hours_text(double hours) {
  return hours < 10 ? format("{:.2f}", hours) : format("{:.0f}", hours);
}

std::string share_text(const std::optional<double>& share) {
  return share ? format("{:.0f}", 100 * *share) : "";
}

std::optional<double> if_measured(Group row, double hours) {
  return row.measured_gpu_hours > 0 ? std::optional(hours) : std::nullopt;
}

std::optional<double> returnable(Group row) {
  return row.advised_gpu_hours > 0 ? std::optional(row.returnable_gpu_hours) : std::nullopt;
}

std::string if_hours_text(const std::optional<double>& hours) {
  return hours ? hours_text(*hours) : "";
}

using ReportColumns = std::vector<Column<ReportRow>>;

ReportColumns gpu_columns() {
  using C = Column<ReportRow>;
  return {
      C("gpuHours", &ReportRow::gpu_hours, "GPU-hours held")
          .cell(">HELD GPU H", [](Group row) { return hours_text(row.gpu_hours); }),
      C("askedGpuHours", &ReportRow::asked_gpu_hours,
        "The GPUs asked for, for as long as the runs held theirs")
          .cell(">ASKED GPU H", [](Group row) { return hours_text(row.asked_gpu_hours); }),
      C("measuredGpuHours", &ReportRow::measured_gpu_hours, "Of those held: with measured use"),
      C::only_cell(">MEASURED %", [](Group row) { return share_text(row.measured_share()); }),
      C(
          "usedGpuHours", [](Group row) { return if_measured(row, row.used_gpu_hours); },
          "Of those measured")
          .cell(">USED GPU H",
                [](Group row) { return if_hours_text(if_measured(row, row.used_gpu_hours)); })
          .wide(),
      C("gpuUse", &ReportRow::gpu_use, "Used / measured, 0..1; absent: nothing was measured")
          .cell(">GPU USE %", [](Group row) { return share_text(row.gpu_use()); }),
      C(
          "idleGpuHours", [](Group row) { return if_measured(row, row.idle_gpu_hours()); },
          "Measured minus used")
          .cell(">IDLE GPU H",
                [](Group row) { return if_hours_text(if_measured(row, row.idle_gpu_hours())); }),
      C("returnedGpuHours", &ReportRow::returned_gpu_hours, "Asked for and not held")
          .cell(">~RETURNED GPU H", [](Group row) { return hours_text(row.returned_gpu_hours); }),
      C("returnableGpuHoursEstimate", returnable,
        "An estimate: held above what the advice for the families says is enough, as if runs took "
        "as long on fewer; absent: no family has advice")
          .cell(">~RETURNABLE GPU H (ESTIMATE)",
                [](Group row) { return if_hours_text(returnable(row)); }),
      C("advisedGpuHours", &ReportRow::advised_gpu_hours,
        "Of those held: of families with advice, which the estimate is of"),
  };
}

ReportColumns other_columns() {
  using C = Column<ReportRow>;
  return {
      C("askedCoreHours", &ReportRow::asked_core_hours, "CPU requests")
          .cell(">ASKED CORE H", [](Group row) { return hours_text(row.asked_core_hours); })
          .wide(),
      C("measuredCoreHours", &ReportRow::measured_core_hours, "Of those: with measured use"),
      C("usedCoreHours", &ReportRow::used_core_hours),
      C("cpuUse", &ReportRow::cpu_use, "Used / requested while it was measured; may exceed 1")
          .cell(">~CPU USE %", [](Group row) { return share_text(row.cpu_use()); }),
      C("deadlines", &ReportRow::deadlines, "Runs that had one").cell(">DEADLINES").wide(),
      C("deadlinesMet", &ReportRow::deadlines_met).cell(">MET").wide(),
      C::only_cell(">IN TIME %", [](Group row) { return share_text(row.in_time()); }),
      C(
          "waitMedianSeconds", [](Group row) { return seconds_of(row.wait_median_s); },
          "From creation to the first start")
          .cell(">WAIT MEDIAN"),
      C("waitP95Seconds", [](Group row) { return seconds_of(row.wait_p95_s); }).cell(">~WAIT P95"),
      C("waitMaxSeconds", [](Group row) { return seconds_of(row.wait_max_s); })
          .cell(">WAIT MAX")
          .wide(),
  };
}

std::string totals_text(const ReportRow& row) {
  std::string text = format("{} runs held {} GPU-hours", row.runs, hours_text(row.gpu_hours));
  if (row.measured_gpu_hours > 0)
    text += format("; {}% of them measured: GPU use {}%, {} idle", share_text(row.measured_share()),
                   share_text(row.gpu_use()), hours_text(row.idle_gpu_hours()));
  else
    text += "; none of them measured";
  if (row.cpu_use()) text += format("; CPU use {}%", share_text(row.cpu_use()));
  if (row.deadlines > 0)
    text += format("; {} of {} deadlines met", row.deadlines_met, row.deadlines);
  if (row.wait_median_s) text += format("; median wait {}", format_duration(*row.wait_median_s));
  return text;
}

}  // namespace

template <>
const Columns<ReportRow>& columns<ReportRow>() {
  using C = Column<ReportRow>;
  static const Columns<ReportRow> kColumns = [] {
    ReportColumns all = {
        C("group", &ReportRow::group,
          "A namespace, the key of a portrait or a GPU type; empty: not known, or all of them"),
        C("title", &ReportRow::title, "The group for people").cell("GROUP"),
        C(
            "period", [](Group row) { return if_any(row.period); },
            "before or after the date of a comparison")
            .cell("~PERIOD"),
        C("runs", &ReportRow::runs, "That ended in the window").cell(">RUNS"),
        C("succeeded", &ReportRow::succeeded).cell(">~SUCCEEDED"),
    };
    for (const ReportColumns& part : {gpu_columns(), other_columns()})
      all.insert(all.end(), part.begin(), part.end());
    return Columns<ReportRow>{"ReportRow", std::move(all)};
  }();
  return kColumns;
}

template <>
const Columns<ReportDay>& columns<ReportDay>() {
  using C = Column<ReportDay>;
  static const Columns<ReportDay> kColumns = {
      "ReportDay",
      {
          C(
              "day", [](const ReportDay& day) { return Time{day.day_s}; }, "Its begin, UTC")
              .cell("DAY"),
          C("gpuHours", &ReportDay::gpu_hours, "Held by runs that ended on it").cell(">HELD GPU H"),
          C("measuredGpuHours", &ReportDay::measured_gpu_hours),
          C("usedGpuHours", &ReportDay::used_gpu_hours).cell(">USED GPU H"),
      }};
  return kColumns;
}

template <>
const Columns<IdleHolder>& columns<IdleHolder>() {
  using C = Column<IdleHolder>;
  using Holder = const IdleHolder&;
  static const Columns<IdleHolder> kColumns = {
      "IdleHolder",
      {
          C(
              "task", [](Holder holder) { return holder.task.str(); }, "NAMESPACE/NAME")
              .cell("TASK"),
          C("kind", &IdleHolder::kind).one_of({"Job", "Pod"}).cell("KIND"),
          C("gpus", &IdleHolder::gpus, "That it holds").cell(">GPUS"),
          C(
              "idleSeconds", [](Holder holder) { return Seconds{holder.idle_s}; },
              "Measured, since any of them was last used")
              .cell(">IDLE"),
          C("idleGpuHours", &IdleHolder::idle_gpu_hours)
              .cell(">IDLE GPU H",
                    [](Holder holder) { return hours_text(holder.idle_gpu_hours()); }),
      }};
  return kColumns;
}

template <>
const Columns<ReportView>& columns<ReportView>() {
  using C = Column<ReportView>;
  using V = const ReportView&;
  static const Columns<ReportView> kColumns = {
      "Report",
      {
          C("by",
            [](V view) {
              return to_string(view.by);
            }).one_of({kReportByNames.begin(), kReportByNames.end()}),
          C(
              "namespace", [](V view) { return if_any(view.ns); }, "Only this one"),
          C(
              "from", [](V view) { return Time{view.from_s}; }, "Of runs that ended from then"),
          C(
              "to", [](V view) { return Time{view.to_s}; }, "until then"),
          C("compareSince", [](V view) { return time_of(view.compare_s); }),
          C("totals", &ReportView::totals, "All runs; with compareSince before and after it"),
          C("wasters", &ReportView::wasters,
            "Families with the most idle GPU-hours in the whole window"),
          C("idleNow", &ReportView::idle_now,
            "Tasks that hold GPUs now and use none of them; empty where nothing is measured"),
          C("days", &ReportView::days),
          C("notes", &ReportView::notes, "How the numbers are to be read"),
      }};
  return kColumns;
}

std::string preface_of(const ReportView& view) {
  std::string text = format("Runs that ended from {} to {}", format_rfc3339(view.from_s),
                            format_rfc3339(view.to_s));
  if (!view.ns.empty()) text += " in the namespace " + printable(view.ns, 64);
  if (view.compare_s) text += format(", compared since {}", format_rfc3339(*view.compare_s));
  text += '\n';
  for (const ReportRow& row : view.totals)
    text += (row.period.empty() ? "" : row.period + ": ") + totals_text(row) + '\n';
  std::vector<std::string> most;
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < std::min(kShown, view.wasters.size()); ++i)
    most.push_back(format("{} {}", printable(view.wasters[i].title, 80),
                          hours_text(view.wasters[i].idle_gpu_hours())));
  if (!most.empty()) text += format("Most idle GPU-hours: {}\n", join(most, "; "));
  most.clear();
  for (std::size_t i = 0; i < std::min(kShown, view.idle_now.size()); ++i)
    most.push_back(format("{} ({} for {})", printable(view.idle_now[i].task.str(), 80),
                          counted(view.idle_now[i].gpus, "GPU"),
                          format_duration(view.idle_now[i].idle_s)));
  if (!most.empty()) text += format("Idle now: {}\n", join(most, "; "));
  return text + '\n';
}

}  // namespace slackline::wire
