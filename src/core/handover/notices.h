// Notices: the pods of a run are told before it is stopped (docs/RELIABILITY.md, rule 9), where the
// queue of one of the runs that make room asks for that, and always where one of them is a pod that
// is evicted: the Jobs of others carry what was decided, and it has none. Which pods were told what
// is read from the snapshot: the annotations are the only memory. Private to src/core. Pure; epoch
// seconds.
#pragma once

#include <set>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/model/own_write.h"

namespace slackline::core {

// Whether the runs that make room for `asker` may be stopped now: the time that their pods were
// told has come. Else appends what is to be told. All of them are told the same time, so that none
// is stopped for an asker that the others keep waiting.
bool told_in_time(const Queue& queue, const std::vector<TaskIndex>& stopped, const QueueTask& asker,
                  double now_wall_s, std::vector<OwnWrite>& writes);

// The writes that take back what nobody wants any more: of pods that are not `wanted` and whose
// Jobs are not, or that were not told by Slackline.
std::vector<OwnWrite> take_back_stops(const ClusterSnapshot& snapshot, const std::set<Uid>& wanted);

}  // namespace slackline::core
