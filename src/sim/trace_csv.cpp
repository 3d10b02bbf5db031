#include "sim/trace_csv.h"

#include <limits>
#include <unordered_set>

#include "sim/csv.h"
#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

const std::vector<std::string> kColumns = {"id",    "submit", "type",     "batch",
                                           "iters", "klass",  "deadline", "req"};
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
  return task;
}

}  // namespace

Result<Trace> parse_trace_csv(std::string_view text) {
  SLACKLINE_ASSIGN(const std::vector<CsvRow> rows, parse_csv(text, kColumns));
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

std::string format_trace_csv(const Trace& trace) {
  std::string out = format("{}\r\n", join(kColumns, ","));
  for (const TraceTask& task : trace.tasks)
    out +=
        format("{},{:.9f},{},{},{},{},{:.9f},{}\r\n", task.id, task.submit_s, task.type, task.batch,
               task.iterations, name_of(task.qos), task.deadline_s, task.request_gpus);
  return out;
}

}  // namespace slackline::sim
