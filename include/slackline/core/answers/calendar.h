// calendar: how many GPUs of each type and resource are predicted to be free, and when.
//
// Time from now is cut into slots. What is free in a slot is the least that is free in it at any
// time, so that a task as long as the slot could have it; over the futures, what half of them and
// what nine of ten have at least. Tasks that are expected to come take their GPUs.
//
// Pure; times are epoch seconds.
#pragma once

#include <string>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/forecast_book.h"

namespace slackline::core {

inline constexpr double kLongestCalendar_s = 14 * 86400.0;

struct CalendarOptions {
  double horizon_s = 3 * 86400.0;  // at most kLongestCalendar_s
  double slot_s = 3600;            // above 0
  Expected expected{};
  StopAsked stop{};
};

struct CalendarSlot {
  GpuType gpu_type;      // empty: nodes of no known type
  std::string resource;  // of the GPUs, the slices or the shared GPUs
  double begins_s = 0;
  double ends_s = 0;
  int gpus = 0;      // of both, in usable nodes
  int free_p50 = 0;  // half of the futures have at least so many free
  int free_p90 = 0;  // nine of ten
};

// By (type, resource, time). Empty: it was stopped.
std::vector<CalendarSlot> make_calendar(const Queue& queue, const Policy& policy, double now_s,
                                        const CalendarOptions& options);

}  // namespace slackline::core
