// What the advice for portraits (core/portrait/advice.h) would do to a table of tasks: each asks
// for something, and uses the same in every run.
//
// Only requests change. It is assumed that a run takes as long with fewer GPUs, as long as its use
// fits: that is what the rule assumes, and no measurement.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "wire/format/text_table.h"

namespace slackline::sim {

struct SizedTask {
  std::string task;
  int gpus = 1;           // asked for, in even_shape() on nodes of 8; a pod on each
  double cores = 0;       // asked for, of the whole task
  double hours = 0;       // of a run
  double gpu_use = 0;     // mean, 0..1 of the GPUs asked for
  double gpu_memory = 0;  // the highest share of their memory, 0..1
  double cores_used = 0;  // mean, of the whole task
  double cores_max = 0;

  int advised_gpus = 0;
  double advised_cores = 0;
};

// CSV `task,gpus,cores,hours,gpu_use,gpu_memory,cores_used,cores_max`. kInvalidArgument with line
// and column.
Result<std::vector<SizedTask>> parse_sized_tasks(std::string_view text);

// With three runs of each task as evidence.
void right_size(std::vector<SizedTask>& tasks);

// One row per task, unrounded, for programs.
std::string format_sized_tasks_csv(const std::vector<SizedTask>& tasks);

// Requested against used in GPU-hours and core-hours, as asked and as advised.
wire::TextTable right_size_table(const std::vector<SizedTask>& tasks);

}  // namespace slackline::sim
