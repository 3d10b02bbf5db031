// What a person sees of the queue over REST, as plain values (as in views.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slackline/model/ids.h"
#include "slackline/model/placement.h"

namespace slackline {

// One task that waits, or that has a plan. Times are epoch seconds.
struct QueueRow {
  int position = 0;  // from 1, among those that wait: by predicted start; 0 = it has a plan
  ObjectKey key;
  std::string kind;
  std::string queue;
  std::string qos_class;
  std::string state;   // "waiting", "starting" (planned, not all pods bound) or "running"
  std::string reason;  // why it waits; empty = its turn has not come
  double created_s = 0;
  std::optional<double> deadline_s;
  std::optional<double> slack_s;  // until the last moment to start on the fastest placement; signed
  // Medians over futures played with predicted run times; unset: not within two days, or not asked.
  std::optional<double> start_s;
  std::optional<double> finish_s;
  std::optional<Placement> shape;  // of the plan
  GpuType gpu_type;
  std::string plan_id;
};

}  // namespace slackline
