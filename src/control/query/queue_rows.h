// queue_rows: a reading of the queue, what the planner knows and what is forecast, as rows for
// people. Pure.
//
// Why a task waits, the first that holds: its hindrance (core/cluster/hindrance.h), and then
// nothing is forecast; its menu is empty (GpuTypeAbsent, NoNodeFits); it backs off; this replica
// plans nothing (StartsNow: its turn has come; else WaitsItsTurn) or cannot say (NotLed,
// NotKnownHere); else it waits for its turn. A task that backs off does not start before that is
// over.
#pragma once

#include <vector>

#include "control/query/queue_reader.h"
#include "control/state/planner_view.h"
#include "message/queue_view.h"
#include "slackline/core/planning/forecast_book.h"
#include "slackline/model/task.h"

namespace slackline::control {

// Tasks with a plan first, by name; then those that wait: by predicted start, then deadline, then
// creation.
std::vector<QueueRow> queue_rows(const QueueSight& sight, const PlannerView& planner,
                                 const core::ForecastBook& book);

// Nodes that are kept for a task while others run there: by this leader's plan, else by the one of
// now in the forecasts.
const std::vector<NodeName>& kept_nodes(const PlannerView& planner, const core::ForecastBook& book,
                                        const core::QueueTask& task);

// After `rows`, by age: the tasks of `sight` that wait and are not among them (NotManaged).
void add_not_managed(const QueueSight& sight, std::vector<QueueRow>& rows);

TaskState state_of(const core::QueueTask& task);

}  // namespace slackline::control
