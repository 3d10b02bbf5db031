// What queues have used and made others lose over the last day, as the cluster itself shows it: a
// restarted daemon knows what the old one knew.
//
// Used: the runs of Jobs that have ended; those that still run are in the state of the plan. Lost:
// what the notes of stopped Jobs charge. A Job that is deleted takes both along.
#pragma once

#include <functional>
#include <string>

#include "slackline/core/planning/loss_accounts.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

using NumberOfQueue = std::function<QueueNumber(const std::string& queue)>;

LossAccounts past_losses(const ClusterSnapshot& snapshot, const NumberOfQueue& number_of,
                         double now_wall_s);

}  // namespace slackline::core
