// What a person is told of our writes: Events on the Job or pod, with codes of model/reason.h.
//
//   Planned    Normal    where and in which shape the task will run
//   Released   Normal    the last gate of a task of which nothing was bound is lifted
//   ReleaseRefused  Warning  the API server refuses to let the Job start
//   Deviated   Warning   the plan was moved to other nodes
//   Preempted  Warning   it was stopped for another task
//   PreemptionPlanned  Warning  when and for whom it will be stopped; Normal: it is not after all
//   Rescheduled  Warning  it was stopped because others have ended pods of it
//   Resized   Normal     it was released with other amounts than written
//   ResizeRolledBack   Warning   it was stopped because right-sizing has made it too small
//   Moved     Warning    it was stopped so that it goes on elsewhere
//   CalibrationStopped  Warning  a calibration run was ended because a task waits
//   NodesLost, NotBound, PodsRejected ...   Warning   why it went back into the queue
#pragma once

#include <optional>

#include "cluster/watch/source.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/model/own_write.h"
#include "slackline/model/portrait.h"

namespace slackline::control {

// nullopt: nothing worth telling.
std::optional<TaskEvent> event_of(const OwnWrite& write);

// Resized, of a release; nullopt: it runs as written.
std::optional<TaskEvent> resize_of(const OwnWrite& write);

// ReleaseRefused, of a release that the API server refuses and will refuse again.
TaskEvent release_refused(const OwnWrite& write, const std::string& answer);

// ResizeSuggested. `resizing` has suggestions.
TaskEvent resize_suggestion_of(const Job& job, const core::Resizing& resizing);

// ResizeRolledBack, of the last resized run that failed.
TaskEvent rollback_of(const Portrait& portrait);

// CannotComeBack, of a pod without a controller that others have ended.
TaskEvent loss_of(const Pod& pod);

TaskEvent event_on(const Job& job, std::string_view why, std::string message, bool warning);

// A Job that no webhook reviewed (core/cluster/unreviewed.h).
TaskEvent not_reviewed(const Job& job);

// MoveSuggested, on the task that would gain.
TaskEvent suggestion_of(const core::QueueTask& task, const MoveAdvice& advice);

// NodeSlow.
TaskEvent slowness_of(const Node& node);

}  // namespace slackline::control
