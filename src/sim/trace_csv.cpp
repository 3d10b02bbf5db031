#include "sim/trace_csv.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "sim/csv_rows.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

const std::vector<std::string> kTraceColumns = {"id",    "submit", "type",     "batch",
                                                "iters", "klass",  "deadline", "req"};
constexpr std::string_view kTypes = "gpu_types";
const std::vector<std::string> kTypedColumns = [] {
  std::vector<std::string> columns = kTraceColumns;
  columns.emplace_back(kTypes);
  return columns;
}();

Result<QosClass> read_class(const CsvRow& row, std::size_t column) {
  const std::string_view name = row.cells[column];
  if (name == "Urgent") return QosClass::kUrgent;
  if (name == "Prior") return QosClass::kPrior;
  if (name == "Normal") return QosClass::kNormal;
  return row.wrong(column, "must be Urgent, Prior or Normal");
}

std::string_view name_of(QosClass qos) {
  switch (qos) {
    case QosClass::kUrgent:
      return "Urgent";
    case QosClass::kPrior:
      return "Prior";
    case QosClass::kNormal:
      break;
  }
  return "Normal";
}

Result<std::vector<GpuType>> read_types(const CsvRow& row) {
  const std::size_t column = kTraceColumns.size();
  auto types = parse_gpu_types(row.cells[column]);
  if (!types) return row.wrong(column, types.error().message);
  return types;
}

Result<TraceTask> read_task(const CsvRow& row) {
  TraceTask task;
  task.line = row.line;
  SLACKLINE_ASSIGN(task.id, row.integer(0, 0));
  SLACKLINE_ASSIGN(task.submit_s, row.number(1, 0, kMostTime_s));
  task.type = row.cells[2];
  if (task.type.empty()) return row.wrong(2, "must name a workload type");
  SLACKLINE_ASSIGN(task.batch, row.number(3, 1, kMostWork));
  SLACKLINE_ASSIGN(task.iterations, row.positive(4, kMostWork));
  SLACKLINE_ASSIGN(task.qos, read_class(row, 5));
  SLACKLINE_ASSIGN(task.deadline_s, row.number(6, -kMostTime_s, kMostTime_s));
  SLACKLINE_ASSIGN(const std::int64_t request, row.integer(7, 1));
  if (request > std::numeric_limits<int>::max()) return row.wrong(7, "is too large");
  task.request_gpus = static_cast<int>(request);
  if (row.cells.size() > kTraceColumns.size()) {
    SLACKLINE_ASSIGN(task.gpu_types, read_types(row));
  }
  return task;
}

// Of times that can hardly be meant.
std::vector<std::string> odd_times(const std::vector<TraceTask>& tasks) {
  constexpr double kLateStart_s = 366 * 24 * kHour_s;
  std::vector<std::string> said;
  if (!tasks.empty() && tasks.front().submit_s > kLateStart_s)
    said.push_back(
        format("The first task is submitted {:.0f} hours after time 0, from which MAKESPAN counts: "
               "take its submit from every submit and deadline.",
               tasks.front().submit_s / kHour_s));
  const auto is_late = [](const TraceTask& task) { return task.deadline_s < task.submit_s; };
  const auto first = std::find_if(tasks.begin(), tasks.end(), is_late);
  if (first != tasks.end())
    said.push_back(
        format("{} tasks are due before they are submitted (the first: line {}, task {}), and "
               "always late: a deadline counts from time 0, as submit does.",
               std::count_if(first, tasks.end(), is_late), first->line, first->id));
  return said;
}

}  // namespace

Result<Trace> parse_trace_csv(std::string_view text) {
  const bool typed = text.substr(0, text.find('\n')).find(kTypes) != std::string_view::npos;
  SLACKLINE_ASSIGN(const std::vector<CsvRow> rows,
                   parse_csv(text, typed ? kTypedColumns : kTraceColumns));
  Trace trace;
  std::unordered_set<std::int64_t> ids;
  for (const CsvRow& row : rows) {
    SLACKLINE_ASSIGN(TraceTask task, read_task(row));
    if (!ids.insert(task.id).second) return row.wrong(0, "is given twice");
    if (!trace.tasks.empty() && task.submit_s < trace.tasks.back().submit_s)
      return row.wrong(1, "is earlier than the line before: sort the trace by submit");
    trace.tasks.push_back(std::move(task));
  }
  trace.assumptions = odd_times(trace.tasks);
  return trace;
}

Result<std::vector<GpuType>> parse_gpu_types(std::string_view text) {
  std::vector<GpuType> types;
  if (trim(text).empty() || trim(text) == "any") return types;
  for (const std::string_view part : split(text, ',')) {
    GpuType type(trim(part));
    if (type.empty() || std::find(types.begin(), types.end(), type) != types.end())
      return fail(ErrorCode::kInvalidArgument,
                  "must be GPU types in order of preference, each once, as P100,K80, or any");
    types.push_back(std::move(type));
  }
  return types;
}

std::string format_trace_csv(const Trace& trace) {
  const bool typed = std::any_of(trace.tasks.begin(), trace.tasks.end(),
                                 [](const TraceTask& task) { return !task.gpu_types.empty(); });
  std::string out = format("{}\r\n", join(typed ? kTypedColumns : kTraceColumns, ","));
  for (const TraceTask& task : trace.tasks) {
    out += format("{},{:.9f},{},{},{},{},{:.9f},{}", task.id, task.submit_s, task.type, task.batch,
                  task.iterations, name_of(task.qos), task.deadline_s, task.request_gpus);
    std::vector<std::string> types;
    for (const GpuType& type : task.gpu_types)
      types.push_back(type.str());
    out += typed ? format(",\"{}\"\r\n", join(types, ",")) : "\r\n";
  }
  return out;
}

}  // namespace slackline::sim
