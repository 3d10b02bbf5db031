// GET /v1/reports: what runs asked for, held and used, over a window of time, as plain values (as
// in views.h). GPU-hours and core-hours are those of runs that ended in the window, whole.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/ids.h"

namespace slackline {

enum class ReportBy : std::uint8_t { kNamespace, kFamily, kGpuType };
inline constexpr std::array<std::string_view, 3> kReportByNames = {"namespace", "family",
                                                                   "gpu-type"};
inline std::string_view to_string(ReportBy by) {
  return kReportByNames.at(static_cast<std::size_t>(by));
}

// One group of runs, or all of them. Absent numbers were not measured.
struct ReportRow {
  std::string group;   // a namespace, a portrait's key, a GPU type; "" where it is not known
  std::string title;   // the same for people
  std::string period;  // "before" or "after" the date of a comparison; else empty
  std::int64_t runs = 0;
  std::int64_t succeeded = 0;

  double gpu_hours = 0;             // held
  double asked_gpu_hours = 0;       // the GPUs asked for, for as long as the runs held theirs
  double measured_gpu_hours = 0;    // of those held: whose use was measured
  double used_gpu_hours = 0;        // of those measured
  double returned_gpu_hours = 0;    // asked for and not held
  double advised_gpu_hours = 0;     // of those held: of families with advice about GPUs
  double returnable_gpu_hours = 0;  // estimate: of those, what the advice would give back

  double asked_core_hours = 0;     // CPU requests
  double measured_core_hours = 0;  // of these: where use was measured
  double used_core_hours = 0;      // of those measured; may be more

  std::int64_t deadlines = 0;
  std::int64_t deadlines_met = 0;
  std::optional<double> wait_median_s;  // from creation to the first start
  std::optional<double> wait_p95_s;
  std::optional<double> wait_max_s;

  double idle_gpu_hours() const { return measured_gpu_hours - used_gpu_hours; }
  std::optional<double> measured_share() const { return part(measured_gpu_hours, gpu_hours); }
  std::optional<double> gpu_use() const { return part(used_gpu_hours, measured_gpu_hours); }
  std::optional<double> cpu_use() const { return part(used_core_hours, measured_core_hours); }
  std::optional<double> in_time() const {
    return part(static_cast<double>(deadlines_met), static_cast<double>(deadlines));
  }

 private:
  static std::optional<double> part(double of, double whole) {
    return whole > 0 ? std::optional(of / whole) : std::nullopt;
  }
};

// Runs that ended on one day, UTC.
struct ReportDay {
  double day_s = 0;  // its begin
  double gpu_hours = 0;
  double measured_gpu_hours = 0;
  double used_gpu_hours = 0;
};

// Who holds GPUs now, and has used none of them for a while.
struct IdleHolder {
  ObjectKey task;
  std::string kind;  // "Job" or "Pod"
  std::int64_t gpus = 0;
  double idle_s = 0;  // measured, since they were last used

  double idle_gpu_hours() const { return static_cast<double>(gpus) * idle_s / 3600; }
};

struct ReportView {
  ReportBy by = ReportBy::kNamespace;
  std::string ns;                      // only this namespace; empty: all
  double from_s = 0;                   // runs that ended from then
  double to_s = 0;                     // until then
  std::optional<double> compare_s;     // "before" ends and "after" begins
  std::vector<ReportRow> totals;       // one, or one for each period
  std::vector<ReportRow> rows;         // by GPU-hours held, most first; periods of a group together
  std::vector<ReportRow> wasters;      // families with the most idle GPU-hours; whole window
  std::vector<IdleHolder> idle_now{};  // most idle GPU-hours first
  std::vector<ReportDay> days;         // without those on which no run ended
  std::vector<std::string> notes;      // how the numbers are to be read
};

// GET /v1/reports/shadow: what happened beside what the planner would have done.

// The mean over the compared runs, in both worlds, and what the second one saves or wins.
struct PairedMean {
  double real = 0;
  double shadow = 0;
  double gain = 0;
  // Of the gain, 95 %; absent: too few days.
  std::optional<double> gain_low{};
  std::optional<double> gain_high{};
};

// Runs of one namespace, or of all.
struct ShadowRow {
  std::string ns;              // empty: all
  std::int64_t runs = 0;       // that ended in the window
  std::int64_t compared = 0;   // of these: that went to their end in both worlds
  std::int64_t days = 0;       // on which compared runs ended
  std::int64_t deadlines = 0;  // of the compared: that had one
  // Absent: nothing is compared.
  std::optional<PairedMean> wait_s{};      // from the creation to the start
  std::optional<PairedMean> complete_s{};  // from the creation to the end
  std::optional<PairedMean> in_time{};     // share of the deadlines, 0..1
  std::optional<PairedMean> gpu_hours{};   // of a run
};

struct ShadowReportView {
  std::string ns;  // only this namespace; empty: all
  double from_s = 0;
  double to_s = 0;
  ShadowRow total;
  std::vector<ShadowRow> rows;  // by namespace
  std::vector<std::string> notes;
};

}  // namespace slackline
