// The traces of ElasticFlow (ASPLOS'23), in the spellings of its two repositories.
#include "sim/job_table.h"
#include "sim/trace_format.h"

namespace slackline::sim {

Result<Recording> read_elasticflow(const wire::CsvTable& table, const RecordedOptions&) {
  JobTable fields(table);
  SLACKLINE_ASSIGN(const std::size_t submit, fields.require({"submission_time", "submit_time"}));
  SLACKLINE_ASSIGN(const std::size_t model, fields.require({"model_name"}));
  SLACKLINE_ASSIGN(const std::size_t gpus, fields.require({"num_gpu"}));
  SLACKLINE_ASSIGN(const std::size_t duration, fields.require({"duration"}));
  const auto batch = fields.find({"batch_size"});
  const auto deadline = fields.find({"deadline", "ddl"});
  const auto best_effort = fields.find({"best_effort"});
  std::vector<RecordedJob> jobs;
  for (const wire::CsvRow& row : fields.rows()) {
    RecordedJob job;
    job.line = row.line;
    job.submit_s = fields.number(row, submit, 0);
    job.duration_s = fields.number(row, duration, 0);
    job.gpus = static_cast<std::int64_t>(fields.number(row, gpus, 0));
    job.type = std::string(fields.text(row, model));
    job.batch = fields.optional_number(row, batch, 1);
    job.deadline_s = fields.optional_number(row, deadline, 0);
    job.best_effort = fields.optional_number(row, best_effort, 0).value_or(0) > 0;
    jobs.push_back(std::move(job));
  }
  SLACKLINE_ASSIGN(jobs, fields.finish(std::move(jobs)));
  return Recording{std::move(jobs),
                   {deadline ? "ElasticFlow: deadlines are the file's own, all of class Normal."
                             : "ElasticFlow: the file has no deadlines."}};
}

}  // namespace slackline::sim
