// What queues have used and made others lose over the last day, as the cluster itself shows it: a
// restarted daemon knows what the old one knew.
//
// Used: the runs of Jobs that have ended; those that still run are in the state of the plan. Lost:
// what the book of stops charges (null: there is none), and the notes of stopped Jobs that it
// lacks; twice where the stop was in vain. A Job that is deleted takes what it used along.
#pragma once

#include <functional>
#include <string>

#include "slackline/core/cluster/stop_book.h"
#include "slackline/core/planning/loss_accounts.h"
#include "slackline/model/queue_rules.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

using NumberOfAccount = std::function<QueueNumber(const std::string& account)>;

LossAccounts past_losses(const ClusterSnapshot& snapshot, const StopBook* book,
                         const QueueRulebook& rules, const NumberOfAccount& number_of,
                         double now_wall_s);

// By its plan, else as it asks.
double gpus_of(const Job& job);

}  // namespace slackline::core
