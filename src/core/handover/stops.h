// The stops of running Jobs: what their notes say, and those of Jobs that others take pods from
// (disrupted_jobs.h) or that right-sizing has made too small, each suspended as a whole.
#pragma once

#include <string>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/model/own_write.h"

namespace slackline::core {

// The note of a Job of the queue after one more stop, yet without a code: with the nodes of its
// bound pods, and `left` of its work to do. Times are epoch seconds.
PreemptionNote note_of_stop(const QueueTask& task, double left, double lost_gpu_s,
                            double now_wall_s);

// The queue pays for what this stop of the Job loses.
void charge(PreemptionNote& note, const std::string& queue, double gpu_s, double now_wall_s);

std::vector<OwnWrite> stop_disrupted(const Queue& queue, double now_wall_s);

// Of resized Jobs of which a pod ran short of memory: they go on as they were written.
std::vector<OwnWrite> stop_too_small(const ClusterSnapshot& snapshot, const Queue& queue,
                                     double now_wall_s);

}  // namespace slackline::core
