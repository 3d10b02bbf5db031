// What the portrait of a task's family says of one that is to be submitted, for people. Pure;
// private to answers/.
#pragma once

#include <string>
#include <vector>

#include "slackline/core/answers/quote.h"
#include "slackline/core/cluster/queue.h"

namespace slackline::control {

// Empty: nothing is known of the family, or nothing would be better.
std::vector<std::string> portrait_advice(const core::QueueTask& task,
                                         const core::QueueOptions& options,
                                         const core::Quote& quote);

}  // namespace slackline::control
