// The Philly trace of Microsoft (ATC'19), in the CSV form in which Pollux (OSDI'21) reads it.
#include "sim/job_table.h"
#include "sim/trace_format.h"

namespace slackline::sim {

Result<Recording> read_philly(const wire::CsvTable& table, const RecordedOptions&) {
  JobTable fields(table);
  SLACKLINE_ASSIGN(const std::size_t submit,
                   fields.require({"timestamp", "submitted_time", "submit_time"}));
  SLACKLINE_ASSIGN(const std::size_t gpus, fields.require({"num_gpus", "num_gpu", "gpus"}));
  SLACKLINE_ASSIGN(const std::size_t duration, fields.require({"duration"}));
  const auto cluster = fields.find({"vc", "cluster", "virtual_cluster"});
  const auto end = fields.find({"end_time"});  // of `slackline replay`
  std::vector<RecordedJob> jobs;
  for (const wire::CsvRow& row : fields.rows()) {
    RecordedJob job;
    job.line = row.line;
    job.submit_s = fields.time(row, submit);
    job.duration_s = fields.number(row, duration, 0);
    job.gpus = static_cast<std::int64_t>(fields.number(row, gpus, 0));
    job.cluster = std::string(fields.text(row, cluster));
    if (end && !row.cell(*end).empty()) job.end_s = fields.time(row, *end);
    jobs.push_back(std::move(job));
  }
  SLACKLINE_ASSIGN(jobs, fields.finish(std::move(jobs)));
  return Recording{std::move(jobs), {"Philly: the file has no types, batches and deadlines."}};
}

}  // namespace slackline::sim
