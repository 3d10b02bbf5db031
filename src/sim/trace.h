// A trace: the tasks of an experiment, in order of arrival. Every loader and generator makes one,
// and the engine plays it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/model/task_intent.h"

namespace slackline::sim {

// A task that says nothing of its length, and what is expected of it instead, in the shape asked
// for. The policies see `run_s` and `error`; the task takes `true_s`.
struct ExpectedRun {
  double run_s = 0;
  double error = 0;  // standard deviation of ln(true / expected)
  double true_s = 0;
};

struct TraceTask {
  std::int64_t id = 0;  // unique in its trace
  double submit_s = 0;
  std::string type;       // workload type
  double batch = 0;       // global batch, samples
  double iterations = 0;  // may be fractional
  QosClass qos = QosClass::kNormal;
  double deadline_s = 0;                  // same clock as submit_s
  int request_gpus = 1;                   // what the user asked for
  std::vector<GpuType> gpu_types{};       // accepted, in order of preference; empty: any
  std::optional<ExpectedRun> expected{};  // absent: its annotations say what it is
  int line = 0;                           // of the file that it was read from; 0: of none
};

// What a file may say; more is a mistake, and tables could not show it.
inline constexpr double kMostWork = 1e12;    // batch, iterations
inline constexpr double kMostTime_s = 1e10;  // submit_s, deadline_s: three hundred years

struct Trace {
  std::vector<TraceTask> tasks;          // by submit_s; ties keep the order of the source
  std::vector<std::string> assumptions;  // what a loader assumed, one sentence each
};

}  // namespace slackline::sim
