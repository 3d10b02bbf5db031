// Accounts of elastic tasks in unit-seconds, GPU-seconds where a unit is a GPU (003 counts tokens
// of CPU time): what a task was given less than its fair share it is owed, by those that got more.
//
// Dividing units anew moves time between accounts and makes none: what a round adds to them sums to
// 0. A task that ends takes its account with it.
#pragma once

#include <span>
#include <vector>

#include "slackline/core/elastic/allocation.h"

namespace slackline::core {

// What a round in which the tasks have so many units adds to the account of each. Where units stay
// idle, all fair shares are less by the same factor.
std::vector<double> booked_in_round(std::span<const ElasticTask> tasks, std::span<const int> units,
                                    const ElasticRound& round);

// The tasks with bounds that pay accounts back: who is owed more than five rounds of its fair share
// keeps at least that share, and who owes as much gets no more than it.
std::vector<ElasticTask> bound_by_accounts(std::span<const ElasticTask> tasks,
                                           const ElasticRound& round);

}  // namespace slackline::core
