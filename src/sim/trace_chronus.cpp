// The SLO traces of Chronus (SoCC'21), made from Philly.
#include "sim/job_table.h"
#include "sim/trace_format.h"
#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

constexpr double kSecondsPerMinute = 60;

// "282", or "282-300-320" for deadlines of falling value: the first counts.
std::optional<double> first_deadline_min(std::string_view cell) {
  const auto minutes = parse_number(cell.substr(0, cell.find('-')));
  if (!minutes || !(*minutes >= 0)) return std::nullopt;
  return *minutes;
}

}  // namespace

Result<Recording> read_chronus(const wire::CsvTable& table, const RecordedOptions&) {
  JobTable fields(table);
  SLACKLINE_ASSIGN(const std::size_t submit, fields.require({"submit_time"}));
  SLACKLINE_ASSIGN(const std::size_t model, fields.require({"model_name"}));
  SLACKLINE_ASSIGN(const std::size_t gpus, fields.require({"num_gpu"}));
  SLACKLINE_ASSIGN(const std::size_t duration, fields.require({"duration"}));
  SLACKLINE_ASSIGN(const std::size_t expected, fields.require({"expect_time_list"}));
  const auto user = fields.find({"user"});
  const auto best_effort = fields.find({"best_effort"});
  std::vector<RecordedJob> jobs;
  for (const wire::CsvRow& row : fields.rows()) {
    RecordedJob job;
    job.line = row.line;
    job.submit_s = fields.number(row, submit, 0) * kSecondsPerMinute;
    job.duration_s = fields.number(row, duration, 0) * kSecondsPerMinute;
    job.gpus = static_cast<std::int64_t>(fields.number(row, gpus, 0));
    job.type = std::string(fields.text(row, model));
    job.cluster = std::string(fields.text(row, user));
    job.best_effort = fields.optional_number(row, best_effort, 0).value_or(0) > 0;
    if (const auto minutes = first_deadline_min(row.cell(expected)))
      job.deadline_s = job.submit_s + *minutes * kSecondsPerMinute;
    else if (!job.best_effort)
      fields.problem(row, expected, "must be minutes from the submission to the deadline");
    jobs.push_back(std::move(job));
  }
  SLACKLINE_ASSIGN(jobs, fields.finish(std::move(jobs)));
  return Recording{
      std::move(jobs),
      {"Chronus: times are read as minutes; deadlines are the file's own, all of class "
       "Normal."}};
}

}  // namespace slackline::sim
