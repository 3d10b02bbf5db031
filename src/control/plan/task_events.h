// What a person is told of our writes: Events on the Job or pod, from a fixed vocabulary.
//
//   Planned     Normal   where and in which shape the task will run
//   QuotaExceeded, PodsRejected, NodesLost, NotBound   Warning   why it went back into the queue
//   (core/hand_over.h)
#pragma once

#include <optional>

#include "cluster/source.h"
#include "slackline/model/own_write.h"

namespace slackline::control {

// nullopt: nothing worth telling.
std::optional<cluster::TaskEvent> event_of(const OwnWrite& write);

}  // namespace slackline::control
