// When calibration runs begin and end (docs/CALIBRATION.md). They use GPUs that nobody waits for:
// they are made once nobody waits, wait behind everybody, and are ended before any other run is
// stopped.
//
// Pure; times are epoch seconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slackline/core/cluster/calibration_study.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/plan.h"
#include "slackline/model/calibration_order.h"
#include "slackline/model/own_write.h"

namespace slackline::core {

// What they may still use: `gpu_minutes_per_day` less what those of the last 24 hours used, and
// less what those that are not over may use yet. Deleted Jobs are not counted.
double calibration_gpu_s_left(const ClusterSnapshot& snapshot, const CalibrationRules& rules,
                              double now_wall_s);

// Whether anybody waits for GPUs: a task of the queue, calibration runs apart, or a pod that is
// kube-scheduler's. `queue` is as a plan has left it.
bool anybody_waits(const ClusterSnapshot& snapshot, const Queue& queue);

// The runs to be made now: wanted ones that fit into free GPUs, side by side, within what may be
// used. None while anybody waits. Each has its time limit.
std::vector<CalibrationOrder> begin_calibrations(const ClusterSnapshot& snapshot,
                                                 const QueueOptions& options, const Queue& queue,
                                                 const std::vector<Trial>& trials,
                                                 const CalibrationRules& rules);

// Those in the way of tasks that the plan leaves waiting, or would stop others for.
struct InTheWay {
  std::vector<OwnWrite> to_end;  // of those that run
  bool any = false;              // these, or pods of such that have ended
};
InTheWay calibrations_in_the_way(const ClusterSnapshot& snapshot, const Queue& queue,
                                 const Plan& plan, double now_wall_s);

// What the plan does before it stops the first run: nobody is stopped while a calibration run could
// make the room.
void leave_out_stops(Plan& plan);

// Calibration runs that have waited for so long that they are no longer wanted are deleted.
inline constexpr double kCalibrationWaits_s = 600;
std::vector<OwnWrite> remove_calibrations(const ClusterSnapshot& snapshot, double now_wall_s);

// While others wait, waiting calibration runs are hindered.
void hold_calibrations(std::vector<QueueTask>& tasks);

}  // namespace slackline::core
