// The formats of traces, and the one way to load any of them. Another format is one file,
// trace_NAME.cpp, and one line in the registry.
//
//   golden       Slackline's own: sim/trace_csv.h
//   elasticflow  job_id, submission_time|submit_time, model_name, num_gpu, duration; optional
//                batch_size, deadline|ddl (absolute), best_effort. Seconds.
//   philly       timestamp|submitted_time|submit_time (date and time, or seconds),
//                num_gpus|num_gpu|gpus, duration (seconds); optional vc|cluster|virtual_cluster
//   chronus      submit_time, num_gpu, duration, model_name, expect_time_list (first entry, after
//                the submission); optional user (the cluster), best_effort. Minutes.
//   pollux       name, time, application, num_replicas, batch_size. Seconds; no durations: drawn.
//
// Columns are found by name, in any order; others are ignored.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/recorded_job.h"
#include "sim/trace.h"
#include "slackline/base/result.h"
#include "wire/format/csv.h"

namespace slackline::sim {

struct Recording {
  std::vector<RecordedJob> jobs;
  std::vector<std::string> assumptions;
  bool drawn = false;  // the durations: the file has none
};

struct TraceFormat {
  std::string_view name;
  std::string_view telltale;  // a column that no other format has; the first that matches is taken
  Result<Recording> (*read)(const wire::CsvTable& table, const RecordedOptions& options);
};

std::span<const TraceFormat> trace_formats();  // of recordings: all but "golden"

// The values of --format: "auto", "golden" and those.
std::vector<std::string> trace_format_names();

// The jobs of a recording as they stand in it. kInvalidArgument as below; "golden" is none.
Result<Recording> load_recording(std::string_view text, std::string_view name);

// kInvalidArgument with file, line and column: an unknown format, a header of no format (auto) or
// not of the named one, wrong cells (all of them together), nothing to simulate.
Result<Trace> load_trace(std::string_view text, const std::string& file, std::string_view format,
                         const RecordedOptions& options);

Result<Recording> read_elasticflow(const wire::CsvTable& table, const RecordedOptions& options);
Result<Recording> read_philly(const wire::CsvTable& table, const RecordedOptions& options);
Result<Recording> read_chronus(const wire::CsvTable& table, const RecordedOptions& options);
Result<Recording> read_pollux(const wire::CsvTable& table, const RecordedOptions& options);

}  // namespace slackline::sim
