// Where `slackline simulate` takes its tasks and profiles from: a file or a generator.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "sim/generate.h"
#include "sim/platform.h"
#include "sim/recorded_job.h"
#include "sim/trace.h"
#include "slackline/base/result.h"
#include "slackline/model/workload.h"

namespace slackline::cli {

struct TraceSource {
  std::string file;
  std::string format = "auto";
  std::string generator;  // "paper000", or empty
  std::string write_to;
  std::vector<std::string> profiles;
  std::vector<std::string> scaling_tables;
  std::string mix = "5:35:60";
  std::string gpu_types = "any";
  sim::GenerateOptions generate;
  sim::RecordedOptions recorded;
  double from_h = 0;
  double for_h = 0;  // 0: all
  double least_duration_s = 0;
  double most_duration_h = 0;  // 0: all
  std::string run_times = "history";
  std::string family = "model";
};

void add_trace_options(CLI::App& command, TraceSource& source);

struct Workload {
  sim::Trace trace;
  WorkloadProfiles profiles;
};

// Gives the pools the types that the profiles name (sim::match_types); writes the trace if
// requested.
Result<Workload> load_workload(const TraceSource& source, std::vector<core::Pool>& pools);

}  // namespace slackline::cli
