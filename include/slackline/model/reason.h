// Reasons: the one vocabulary of codes that say why a task waits and what happened to it. Events,
// metric labels, REST and docs/reasons use these codes and no others; they never change.
//
// The reasons why the extender refuses a node are in model/verdict.h.
#pragma once

#include <array>
#include <string_view>

namespace slackline {

namespace reason {

// Why it waits. From NodesLost on: the task was released once, came back, and backs off; with
// ReplacementWaits and PodsNotStarting it still has its plan.
inline constexpr std::string_view kNotManaged = "NotManaged";
inline constexpr std::string_view kWaitsItsTurn = "WaitsItsTurn";
inline constexpr std::string_view kWaitsForRoom = "WaitsForRoom";
inline constexpr std::string_view kGpuTypeAbsent = "GpuTypeAbsent";
inline constexpr std::string_view kNoNodeFits = "NoNodeFits";
inline constexpr std::string_view kQuotaExceeded = "QuotaExceeded";
inline constexpr std::string_view kShareExceeded = "ShareExceeded";
inline constexpr std::string_view kPoolBusy = "PoolBusy";
inline constexpr std::string_view kDependencyPending = "DependencyPending";
inline constexpr std::string_view kDependencyFailed = "DependencyFailed";
inline constexpr std::string_view kDependencyMissing = "DependencyMissing";
inline constexpr std::string_view kDependencyCycle = "DependencyCycle";
inline constexpr std::string_view kGangIncomplete = "GangIncomplete";
inline constexpr std::string_view kGangCannotScaleUp = "GangCannotScaleUp";
inline constexpr std::string_view kNotAdmitted = "NotAdmitted";
inline constexpr std::string_view kHeldByUser = "HeldByUser";
inline constexpr std::string_view kNotLed = "NotLed";
inline constexpr std::string_view kStartsNow = "StartsNow";
inline constexpr std::string_view kNotKnownHere = "NotKnownHere";
inline constexpr std::string_view kPreemptionBudgetSpent = "PreemptionBudgetSpent";
inline constexpr std::string_view kWaitingForPreempted = "WaitingForPreempted";
inline constexpr std::string_view kNodesLost = "NodesLost";
inline constexpr std::string_view kNotBound = "NotBound";
inline constexpr std::string_view kPodsRejected = "PodsRejected";
inline constexpr std::string_view kReleaseRefused = "ReleaseRefused";
inline constexpr std::string_view kNotReplaced = "NotReplaced";
inline constexpr std::string_view kReplacementWaits = "ReplacementWaits";
inline constexpr std::string_view kPodsNotStarting = "PodsNotStarting";
inline constexpr std::string_view kPodsEnding = "PodsEnding";
inline constexpr std::string_view kCalibrationWaits = "CalibrationWaits";
// What happened.
inline constexpr std::string_view kQueued = "Queued";
inline constexpr std::string_view kPlanned = "Planned";
inline constexpr std::string_view kReleased = "Released";
inline constexpr std::string_view kPreemptionPlanned = "PreemptionPlanned";
inline constexpr std::string_view kPreempted = "Preempted";
inline constexpr std::string_view kBorrowedAskedBack = "BorrowedAskedBack";
inline constexpr std::string_view kShrunk = "Shrunk";
inline constexpr std::string_view kGrown = "Grown";
inline constexpr std::string_view kRescheduled = "Rescheduled";
inline constexpr std::string_view kMoveSuggested = "MoveSuggested";
inline constexpr std::string_view kMoved = "Moved";
inline constexpr std::string_view kNodeSlow = "NodeSlow";
inline constexpr std::string_view kResizeSuggested = "ResizeSuggested";
inline constexpr std::string_view kResized = "Resized";
inline constexpr std::string_view kResizeRolledBack = "ResizeRolledBack";
inline constexpr std::string_view kCannotComeBack = "CannotComeBack";
inline constexpr std::string_view kNotReviewed = "NotReviewed";
inline constexpr std::string_view kSlacklineNotAsked = "SlacklineNotAsked";
inline constexpr std::string_view kDeviated = "Deviated";
inline constexpr std::string_view kPlanDisbelieved = "PlanDisbelieved";
inline constexpr std::string_view kDeadlineAtRisk = "DeadlineAtRisk";
inline constexpr std::string_view kOverloaded = "Overloaded";
inline constexpr std::string_view kCalibrationStarted = "CalibrationStarted";
inline constexpr std::string_view kCalibrationStopped = "CalibrationStopped";
inline constexpr std::string_view kCalibrationNotAllowed = "CalibrationNotAllowed";
// Why no start and finish are predicted.
inline constexpr std::string_view kNotInBook = "NotInBook";
inline constexpr std::string_view kBeyondHorizon = "BeyondHorizon";
inline constexpr std::string_view kLengthUnknown = "LengthUnknown";
inline constexpr std::string_view kNever = "Never";
// Why the webhook refuses an object; kDependencyCycle, too.
inline constexpr std::string_view kReservedKey = "ReservedKey";
inline constexpr std::string_view kUnknownClass = "UnknownClass";
inline constexpr std::string_view kUnreadable = "Unreadable";
inline constexpr std::string_view kDeadlinePast = "DeadlinePast";
inline constexpr std::string_view kUrgentNotAllowed = "UrgentNotAllowed";
inline constexpr std::string_view kQueueNotAllowed = "QueueNotAllowed";
inline constexpr std::string_view kQueueFull = "QueueFull";

}  // namespace reason

enum class ReasonUse { kWaits, kHappened, kForecast, kRefused };

struct ReasonFact {
  std::string_view code;
  ReasonUse use;
  std::string_view meaning;  // a clause for people, without a full stop
};

inline constexpr std::array<ReasonFact, 66> kReasons = {{
    {reason::kWaitsItsTurn, ReasonUse::kWaits, "the GPUs it accepts go to others first"},
    {reason::kWaitsForRoom, ReasonUse::kWaits, "nodes are kept for it, on which others still run"},
    {reason::kGpuTypeAbsent, ReasonUse::kWaits, "no usable node has a GPU of a type it accepts"},
    {reason::kNoNodeFits, ReasonUse::kWaits, "no usable nodes could take its pods, even empty"},
    {reason::kQuotaExceeded, ReasonUse::kWaits,
     "a ResourceQuota of its namespace has no room for its pods"},
    {reason::kShareExceeded, ReasonUse::kWaits,
     "its queue uses its share of the GPUs, and the pool is in use"},
    {reason::kPoolBusy, ReasonUse::kWaits,
     "its queue has no share of the GPUs, and the pool is in use"},
    {reason::kDependencyPending, ReasonUse::kWaits, "a Job that it depends on has not ended yet"},
    {reason::kDependencyFailed, ReasonUse::kWaits, "a Job that it depends on has failed"},
    {reason::kDependencyMissing, ReasonUse::kWaits, "a Job that it depends on does not exist"},
    {reason::kDependencyCycle, ReasonUse::kWaits,
     "it depends on itself, directly or through other Jobs"},
    {reason::kGangIncomplete, ReasonUse::kWaits, "not all pods of its gang are there yet"},
    {reason::kGangCannotScaleUp, ReasonUse::kWaits,
     "no present node could ever run it, and a gang is not left to an autoscaler"},
    {reason::kNotAdmitted, ReasonUse::kWaits, "no webhook admitted it, and its queue is full"},
    {reason::kHeldByUser, ReasonUse::kWaits,
     "somebody holds it back: the Job was suspended by hand, or it has slackline.dev/hold"},
    {reason::kNotManaged, ReasonUse::kWaits,
     "Slackline does not plan it: it waits for kube-scheduler or another controller"},
    {reason::kNotLed, ReasonUse::kWaits, "no replica plans: nobody holds the Lease"},
    {reason::kStartsNow, ReasonUse::kWaits, "its turn has come: active mode would release it now"},
    {reason::kNotKnownHere, ReasonUse::kWaits,
     "another replica plans, and it alone knows whether a back-off holds the task"},
    {reason::kPreemptionBudgetSpent, ReasonUse::kWaits,
     "others could make room for it, but its queue has spent what it may make them lose in a day"},
    {reason::kWaitingForPreempted, ReasonUse::kWaits,
     "running tasks make room for it, and have not left it yet"},
    {reason::kNodesLost, ReasonUse::kWaits,
     "its planned nodes were lost before it started, and no other one had room"},
    {reason::kNotBound, ReasonUse::kWaits,
     "kube-scheduler did not bind its pods where they were planned"},
    {reason::kPodsRejected, ReasonUse::kWaits,
     "the API server refuses its pods, or did not create all of them within 30 s of its release"},
    {reason::kReleaseRefused, ReasonUse::kWaits, "the API server refuses to let it start"},
    {reason::kNotReplaced, ReasonUse::kWaits,
     "a pod of it was lost while it ran, and its replacement found no place within ten minutes"},
    {reason::kReplacementWaits, ReasonUse::kWaits,
     "a pod of it was lost while it ran, and its replacement waits for room, ten minutes at most"},
    {reason::kPodsNotStarting, ReasonUse::kWaits,
     "its pods are on their nodes, and a container of one of them cannot start"},
    {reason::kPodsEnding, ReasonUse::kWaits, "it was stopped, and its pods have not ended yet"},
    {reason::kCalibrationWaits, ReasonUse::kWaits,
     "it only measures how fast its model trains, and waits until no other task does"},
    {reason::kQueued, ReasonUse::kHappened, "it waits in the queue, at a position"},
    {reason::kPlanned, ReasonUse::kHappened, "its turn has come: nodes and shape are chosen"},
    {reason::kReleased, ReasonUse::kHappened, "its pods are nominated and free to be bound"},
    {reason::kPreemptionPlanned, ReasonUse::kHappened,
     "it will be stopped at a given time so that another task can start"},
    {reason::kPreempted, ReasonUse::kHappened,
     "it was stopped so that another task can start, and waits in the queue again"},
    {reason::kBorrowedAskedBack, ReasonUse::kHappened,
     "it ran on GPUs that another queue owns, which has them back, and waits in the queue again"},
    {reason::kShrunk, ReasonUse::kHappened,
     "it goes on with fewer GPUs so that another task can start"},
    {reason::kGrown, ReasonUse::kHappened,
     "it was shrunk before, and goes on in the shape that it had"},
    {reason::kRescheduled, ReasonUse::kHappened,
     "others ended pods of it, and it waits in the queue again with the work that is left"},
    {reason::kMoveSuggested, ReasonUse::kHappened,
     "moving running tasks would gain more than it costs"},
    {reason::kMoved, ReasonUse::kHappened,
     "it was stopped so that it goes on elsewhere, and waits in the queue again"},
    {reason::kNodeSlow, ReasonUse::kHappened,
     "three different tasks in a row were slower on the node than predicted"},
    {reason::kResizeSuggested, ReasonUse::kHappened,
     "the last runs of its family used other amounts than it asks for"},
    {reason::kResized, ReasonUse::kHappened,
     "it was released with other amounts than written, by what its family used"},
    {reason::kResizeRolledBack, ReasonUse::kHappened,
     "a resized run was too small or too slow, and its family runs as written for seven days"},
    {reason::kNotReviewed, ReasonUse::kHappened,
     "no webhook of Slackline saw it at its creation, and it does not wait its turn"},
    {reason::kCannotComeBack, ReasonUse::kHappened,
     "others ended the pod, and no Job makes another one"},
    {reason::kSlacklineNotAsked, ReasonUse::kHappened,
     "the kube-scheduler of this pod schedules, and Slackline next to it is not ready"},
    {reason::kDeviated, ReasonUse::kHappened, "it runs on other nodes than first planned"},
    {reason::kPlanDisbelieved, ReasonUse::kHappened,
     "its plan was not written by Slackline for it, or had ended, and was removed"},
    {reason::kDeadlineAtRisk, ReasonUse::kHappened, "it is predicted to end after its deadline"},
    {reason::kOverloaded, ReasonUse::kHappened,
     "no task in its queue can meet a deadline any more, though some could have"},
    {reason::kCalibrationStarted, ReasonUse::kHappened,
     "a short run of it was made on idle GPUs, to measure how fast its model trains"},
    {reason::kCalibrationStopped, ReasonUse::kHappened,
     "it only measured how fast its model trains, and was ended because a task waits"},
    {reason::kCalibrationNotAllowed, ReasonUse::kHappened,
     "calibration runs may not be made in its namespace: a RoleBinding is missing"},
    {reason::kNotInBook, ReasonUse::kForecast, "it is newer than the latest forecasts"},
    {reason::kBeyondHorizon, ReasonUse::kForecast,
     "in most futures it does not start or end as far as forecasts look"},
    {reason::kLengthUnknown, ReasonUse::kForecast,
     "its run time is unknown: name model, batch-size and iterations, or expected-duration"},
    {reason::kNever, ReasonUse::kForecast,
     "it cannot start unless the task or the cluster changes"},
    {reason::kReservedKey, ReasonUse::kRefused, "it changes a key that only Slackline writes"},
    {reason::kUnknownClass, ReasonUse::kRefused, "its qos-class is not urgent, prior or normal"},
    {reason::kUnreadable, ReasonUse::kRefused,
     "a value that decides when or where it runs cannot be read"},
    {reason::kDeadlinePast, ReasonUse::kRefused, "its deadline has passed already"},
    {reason::kUrgentNotAllowed, ReasonUse::kRefused,
     "whoever submits it has no right to be urgent in its namespace"},
    {reason::kQueueNotAllowed, ReasonUse::kRefused,
     "the user may not use a queue that the configuration names"},
    {reason::kQueueFull, ReasonUse::kRefused,
     "as many tasks wait in its queue as maxPending allows"},
}};

// nullptr if there is no such code.
constexpr const ReasonFact* find_reason(std::string_view code) {
  for (const ReasonFact& fact : kReasons)
    if (fact.code == code) return &fact;
  return nullptr;
}

// A code of the table; another one does not compile.
class ReasonCode {
 public:
  consteval ReasonCode(std::string_view code) : code_(code) {
    if (find_reason(code) == nullptr)
      throw "add the code to kReasons, and its page to docs/reasons";
  }
  consteval ReasonCode(const char* code) : ReasonCode(std::string_view(code)) {}

  constexpr std::string_view str() const { return code_; }

 private:
  std::string_view code_;
};

}  // namespace slackline
