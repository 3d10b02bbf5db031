// The workloads of Pollux (OSDI'21): applications, batches and GPU counts, but no durations, since
// there they depend on the batch that the scheduler chooses.
#include "sim/job_table.h"
#include "sim/trace_format.h"
#include "slackline/base/text.h"

namespace slackline::sim {

Result<Recording> read_pollux(const wire::CsvTable& table, const RecordedOptions& options) {
  JobTable fields(table);
  SLACKLINE_ASSIGN(const std::size_t submit, fields.require({"time"}));
  SLACKLINE_ASSIGN(const std::size_t model, fields.require({"application"}));
  SLACKLINE_ASSIGN(const std::size_t gpus, fields.require({"num_replicas"}));
  const auto batch = fields.find({"batch_size"});
  Random random(options.seed);
  std::vector<RecordedJob> jobs;
  for (const wire::CsvRow& row : fields.rows()) {
    RecordedJob job;
    job.line = row.line;
    job.submit_s = fields.number(row, submit, 0);
    job.gpus = static_cast<std::int64_t>(fields.number(row, gpus, 0));
    job.type = std::string(fields.text(row, model));
    job.batch = fields.optional_number(row, batch, 1);
    job.duration_s = random.uniform(kShortest_s, kLongest_s);
    jobs.push_back(std::move(job));
  }
  SLACKLINE_ASSIGN(jobs, fields.finish(std::move(jobs)));
  return Recording{std::move(jobs),
                   {format("Pollux: the file has no durations; drawn from {} to {} s.", kShortest_s,
                           kLongest_s)},
                   true};
}

}  // namespace slackline::sim
