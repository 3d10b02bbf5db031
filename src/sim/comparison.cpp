#include "sim/comparison.h"

#include <algorithm>

#include "slackline/base/text.h"
#include "wire/format/csv.h"
#include "wire/format/text_table.h"

namespace slackline::sim {
namespace {

struct Column {
  const char* heading;
  const char* field;  // as reports name it
  double (*value)(const Report& report);
  int decimals;
  enum { kNone, kLow, kHigh } best;
};

const Column kReportColumns[] = {
    {">Q %", "q", [](const Report& r) { return r.q; }, 1, Column::kHigh},
    {">PRIOR %", "q_prior", [](const Report& r) { return r.q_prior; }, 1, Column::kHigh},
    {">NORMAL %", "q_normal", [](const Report& r) { return r.q_normal; }, 1, Column::kHigh},
    {">MAKESPAN h", "makespan_h", [](const Report& r) { return r.makespan_h; }, 2, Column::kLow},
    {">LATENCY", "norm_latency", [](const Report& r) { return r.norm_latency; }, 2, Column::kLow},
    {">P95", "norm_latency_p95", [](const Report& r) { return r.norm_latency_p95; }, 2,
     Column::kLow},
    {">URGENT", "urgent_latency", [](const Report& r) { return r.urgent_latency; }, 2,
     Column::kLow},
    {">MAX WAIT h", "max_wait_h", [](const Report& r) { return r.max_wait_h; }, 2, Column::kLow},
    {">WAIT h", "mean_wait_h", [](const Report& r) { return r.mean_wait_h; }, 2, Column::kLow},
    {">GPU h", "gpu_hours", [](const Report& r) { return r.gpu_hours; }, 1, Column::kLow},
    {">UTIL %", "util_arrivals", [](const Report& r) { return r.util_arrivals; }, 1, Column::kNone},
    {">PREEMPTED", "preemptions",
     [](const Report& r) { return static_cast<double>(r.preemptions); }, 0, Column::kNone},
    {">LOST h", "lost_gpu_hours", [](const Report& r) { return r.lost_gpu_hours; }, 1,
     Column::kNone},
    {">MOST STOPS", "most_stops", [](const Report& r) { return static_cast<double>(r.most_stops); },
     0, Column::kNone},
    {">UNSERVED", "unserved", [](const Report& r) { return static_cast<double>(r.unserved); }, 0,
     Column::kNone},
};

std::string cell(const Column& column, double value) {
  return format("{:.{}f}", value, column.decimals);
}

// The best of a column as it is printed: figures that look equal are equally good.
std::string best_of(const Column& column, const std::vector<std::pair<std::string, Report>>& rows) {
  if (column.best == Column::kNone || rows.size() < 2) return "";
  const auto [low, high] =
      std::minmax_element(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
        return column.value(a.second) < column.value(b.second);
      });
  return cell(column, column.value((column.best == Column::kLow ? low : high)->second));
}

}  // namespace

std::string format_comparison(const std::vector<std::pair<std::string, Report>>& rows,
                              const Bounds& bounds) {
  std::vector<std::string> headings = {"POLICY"};
  std::vector<std::string> best;
  for (const Column& column : kReportColumns) {
    headings.emplace_back(column.heading);
    best.push_back(best_of(column, rows));
  }
  wire::TextTable table(headings);
  for (const auto& [name, report] : rows) {
    std::vector<std::string> cells = {name};
    for (std::size_t i = 0; i < best.size(); ++i) {
      const std::string text = cell(kReportColumns[i], kReportColumns[i].value(report));
      cells.push_back(text == best[i] ? "*" + text : text);
    }
    table.add(std::move(cells));
  }
  return table.str() +
         format(
             "bound: Q {:.1f} % ({:.1f} % feasible alone), makespan {:.2f} h; least load {:.2f}\n",
             bounds.q, bounds.feasible_alone, bounds.makespan_s / 3600, bounds.load);
}

std::string format_comparison_csv(const std::vector<std::pair<std::string, Report>>& rows,
                                  const Bounds& bounds) {
  std::string out;
  std::vector<std::string> cells = {"policy"};
  for (const Column& column : kReportColumns)
    cells.emplace_back(column.field);
  cells.insert(cells.end(), {"load", "feasible_alone"});
  wire::append_csv_row(out, cells);
  for (const auto& [name, report] : rows) {
    cells = {name};
    for (const Column& column : kReportColumns)
      cells.push_back(format("{}", column.value(report)));
    cells.insert(cells.end(), {"", ""});
    wire::append_csv_row(out, cells);
  }
  cells = {"bound"};
  for (const Column& column : kReportColumns) {
    const std::string_view field = column.field;
    cells.push_back(field == "q"            ? format("{}", bounds.q)
                    : field == "makespan_h" ? format("{}", bounds.makespan_s / 3600)
                                            : "");
  }
  cells.insert(cells.end(), {format("{}", bounds.load), format("{}", bounds.feasible_alone)});
  wire::append_csv_row(out, cells);
  return out;
}

std::vector<std::string> split_policies(std::string_view text) {
  std::vector<std::string> policies;
  for (const std::string_view part : split(text, ',')) {
    if (!policies.empty() && part.find('=') != std::string_view::npos)
      policies.back() += format(",{}", part);
    else
      policies.emplace_back(part);
  }
  return policies;
}

}  // namespace slackline::sim
