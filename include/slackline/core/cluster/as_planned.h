// AsPlanned: a run is judged by its plan, whatever its owner writes while it runs.
//
// What may be stopped, and what that loses, follows from the placement, the length and the
// checkpoints that were planned (docs/decisions/0049-a-run-is-judged-by-its-plan.md): a run that
// its owner makes another one in name, or says to be shorter, is no dearer to stop for it. What is
// written meanwhile counts once the task waits again. A plan that says nothing of a fact (of an
// older version, or of a run that nobody planned) leaves it to what is written now.
//
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/task_menu.h"

namespace slackline::core {

// Of what people write, what the length of a run follows from: PlanNote::asked. `types_of_queue`:
// the GPU types in it are not written by them (QueueTask::types_of_queue).
std::string asked_of(const TaskIntent& intent, bool types_of_queue);

// `plan`: null of what waits.
std::optional<double> checkpoint_interval_s(const PlanNote* plan, const TaskIntent& intent);

// No pod that its plan names is missing. A Job that is made wider while it runs has more.
bool has_planned_pods(const QueueTask& task);
// As runs_whole, whether it has more pods or not.
bool runs_as_planned(const QueueTask& task);

// Since when it runs: since its first pod does, as a Job is released before the pods have ended
// that are stopped for it. A pod that replaces another begins nothing anew while a member runs on,
// nor does any of a Job. Where the pods of a Job do not say it, since its release. nullopt: none
// has started. Epoch seconds.
std::optional<double> started_s(const QueueTask& task);
// When its Job ends it, whatever it has done; epoch seconds. nullopt: no limit, or it does not run.
std::optional<double> limit_end_s(const QueueTask& task);
// How long its Job lets it run, once it starts; kNever: without a limit, or it runs.
double limit_of_next_run_s(const QueueTask& task);
// Its Job ends it in the middle of its work, where that takes so long.
bool ends_unfinished(const QueueTask& task, double lasts_s);
// Whose container cannot start, of its pods that are on their nodes; null: none.
const Pod* pod_not_starting(const QueueTask& task);

// The menu of a run in terms of its plan: with the placement that it holds, and as long as planned.
// nullopt: it is what `written` says, the menu of what is asked for now.
std::optional<TaskMenu> menu_as_planned(const QueueTask& task, const TaskMenu& written,
                                        TaskMenus& menus, double theta);

// A task's place in terms of its menu.
struct PlannedRun {
  ChoiceIndex choice = 0;
  std::vector<PoolNode> nodes;  // as Run::nodes
};

// nullopt if it matches none of the choices.
std::optional<PlannedRun> planned_run(const ClusterSnapshot& snapshot, const Placement& shape,
                                      const GpuType& gpu_type, std::vector<NodeName> names,
                                      const PlacementMenu& menu,
                                      const std::vector<QueuePool>& pools);
// Of a task that runs: where its plan says, else where all pods of a planned run are.
std::optional<PlannedRun> planned_run(const ClusterSnapshot& snapshot, const QueueTask& task,
                                      const PlacementMenu& menu,
                                      const std::vector<QueuePool>& pools);

}  // namespace slackline::core
