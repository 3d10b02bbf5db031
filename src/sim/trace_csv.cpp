#include "sim/trace_csv.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "sim/csv_rows.h"
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
constexpr double kAnyNumber = std::numeric_limits<double>::lowest();
constexpr double kPositive = std::numeric_limits<double>::min();

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
  SLACKLINE_ASSIGN(task.id, row.integer(0, 0));
  SLACKLINE_ASSIGN(task.submit_s, row.number(1, 0));
  task.type = row.cells[2];
  if (task.type.empty()) return row.wrong(2, "must name a workload type");
  SLACKLINE_ASSIGN(task.batch, row.number(3, 1));
  SLACKLINE_ASSIGN(task.iterations, row.number(4, kPositive));
  SLACKLINE_ASSIGN(task.qos, read_class(row, 5));
  SLACKLINE_ASSIGN(task.deadline_s, row.number(6, kAnyNumber));
  SLACKLINE_ASSIGN(const std::int64_t request, row.integer(7, 1));
  if (request > std::numeric_limits<int>::max()) return row.wrong(7, "is too large");
  task.request_gpus = static_cast<int>(request);
  if (row.cells.size() > kTraceColumns.size()) {
    SLACKLINE_ASSIGN(task.gpu_types, read_types(row));
  }
  return task;
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
