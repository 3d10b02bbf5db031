// A trace: the tasks of an experiment, in order of arrival. Every loader and generator makes one,
// and the engine plays it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slackline/model/task_intent.h"

namespace slackline::sim {

struct TraceTask {
  std::int64_t id = 0;  // unique in its trace
  double submit_s = 0;
  std::string type;       // workload type
  double batch = 0;       // global batch, samples
  double iterations = 0;  // may be fractional
  QosClass qos = QosClass::kNormal;
  double deadline_s = 0;             // same clock as submit_s
  int request_gpus = 1;              // what the user asked for
  std::vector<GpuType> gpu_types{};  // accepted, in order of preference; empty: any
};

struct Trace {
  std::vector<TraceTask> tasks;          // by submit_s; ties keep the order of the source
  std::vector<std::string> assumptions;  // what a loader assumed, one sentence each
};

}  // namespace slackline::sim
