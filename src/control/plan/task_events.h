// What a person is told of our writes: Events on the Job or pod, with codes of model/reason.h.
//
//   Planned    Normal    where and in which shape the task will run
//   Released   Normal    the last gate of a task of which nothing was bound is lifted
//   Deviated   Warning   the plan was moved to other nodes
//   NodesLost, NotBound, PodsRejected ...   Warning   why it went back into the queue
#pragma once

#include <optional>

#include "cluster/watch/source.h"
#include "slackline/model/own_write.h"

namespace slackline::control {

// nullopt: nothing worth telling.
std::optional<TaskEvent> event_of(const OwnWrite& write);

}  // namespace slackline::control
