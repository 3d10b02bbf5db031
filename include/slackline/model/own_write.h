// OwnWrite: one write of Slackline's to the API server, as a value. `core` decides it, the cluster
// writer performs it, and core/handover/own_writes.h lays it over snapshots until the watch shows
// it.
//
// What is written is a JobChange or a PodChange: one struct for each kind, with the fields of that
// kind. Code that depends on the kind visits the variants, so it does not compile without a case
// for every kind. What was decided stands in `Decision`, set by the code that decides.
//
// Every write is idempotent and carries its precondition: a Job's is the resourceVersion on which
// the write was decided, a pod's is the uid, and for lifting the gate its name too.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "slackline/model/extender_messages.h"
#include "slackline/model/ids.h"
#include "slackline/model/move_advice.h"
#include "slackline/model/pod.h"
#include "slackline/model/room_gain.h"
#include "slackline/model/task_intent.h"

namespace slackline {

// How many pods of how many GPUs.
struct Reshape {
  std::int64_t parallelism = 1;  // and completions; 0: both stay as they are
  std::int64_t gpus = 1;         // of one pod
  std::string gpu_resource;
  std::string container;    // the one that asks for GPUs; empty: its GPU count stays
  bool in_template = true;  // false: pods are given their shape when they are created
};

// CPU and memory of one container from now on. Of both the same quantities are there.
struct AmountsChange {
  std::string container;
  ContainerAmounts amounts;
};

// What changes in a Job's spec besides `suspend`.
struct ShapeChange {
  std::optional<Reshape> reshape{};
  // The required node affinity from now on, where the GPU type is pinned.
  std::optional<std::vector<NodeSelectorTerm>> affinity_terms{};
  std::optional<AmountsChange> amounts{};
  std::string band{};  // PlanNote::band, for the template; empty: it stays as it is
  // What to keep of the Job as it was written; without any change in it: the note is removed.
  std::shared_ptr<const OriginalShape> original{};  // null: the note stays as it is
};

// The word of a kind stands in metrics and logs.

// suspend: false, with a plan and its shape; on a running Job: another plan.
struct ReleaseJob {
  static constexpr std::string_view kWord = "release";
  std::shared_ptr<const PlanNote> plan{};
  ShapeChange shape{};
  std::int64_t generation = 0;  // of the Job once this is written; set by job_write()
  bool of_rest = false;         // likewise: it was stopped before, and has the rest to do
};
// suspend: false without a plan: its pods queue one by one, or go to kube-scheduler directly.
struct OpenJob {
  static constexpr std::string_view kWord = "open";
  ShapeChange shape{};
};
// suspend: true, marked as Slackline's; the plan is void.
struct SuspendJob {
  static constexpr std::string_view kWord = "suspend";
  // Pods for which it was waited in vain: nothing is written if they all have nodes by now.
  std::vector<ObjectKey> unless_bound{};
};
// suspend: true of a running Job, so that another task gets its GPUs, because others have ended
// pods of it, or so that it goes on elsewhere.
struct StopJob {
  static constexpr std::string_view kWord = "stop";
  std::shared_ptr<const PreemptionNote> preemptions{};  // never null
  double lost_gpu_s = 0;                                // by this stop
  ObjectKey asker{};                                    // the task that needs the room
  RoomGain gain{};                                      // of the asker; a move has its own
  bool risks_deadline = false;                          // it would have met its deadline
  std::optional<PodDisruption> disruption{};            // set: nobody asked, and `asker` is empty
  QosClass qos = QosClass::kNormal;                     // of the Job
  std::shared_ptr<const MoveAdvice> move{};             // not null: it goes on elsewhere
};
// Removes a plan that does not count; nothing else changes.
struct ClearPlan {
  static constexpr std::string_view kWord = "clear_plan";
};
// A calibration run is over: it fails, by activeDeadlineSeconds, and stays for what it has used.
struct EndCalibration {
  static constexpr std::string_view kWord = "end_calibration";
  ObjectKey asker{};  // the task that needs the room
};
// A calibration run that has not begun is deleted.
struct RemoveCalibration {
  static constexpr std::string_view kWord = "remove_calibration";
};
using JobChange = std::variant<ReleaseJob, OpenJob, SuspendJob, StopJob, ClearPlan, EndCalibration,
                               RemoveCalibration>;

// The plan of a pod that has no Job that carries it.
struct PlanPod {
  static constexpr std::string_view kWord = "plan";
  std::shared_ptr<const PlanNote> plan{};
};
struct UnplanPod {  // takes the plan back
  static constexpr std::string_view kWord = "plan";
};
// status.nominatedNodeName.
struct Nominate {
  static constexpr std::string_view kWord = "nominate";
  NodeName node{};
};
// Of a pod whose plan is void.
struct ClearNomination {
  static constexpr std::string_view kWord = "clear_nomination";
};
// Required node affinity of a gated pod, where its Job's template is fixed.
struct NarrowPod {
  static constexpr std::string_view kWord = "narrow";
  std::vector<NodeSelectorTerm> affinity_terms{};
};
// kube-scheduler may take the pod.
struct LiftGate {
  static constexpr std::string_view kWord = "lift";
  std::optional<OwnerRef> releases{};  // the Job or pod whose start this lift completes
};
// A bound pod is told that its run is to be stopped.
struct TellOfStop {
  static constexpr std::string_view kWord = "tell_of_stop";
  std::shared_ptr<const StopNotice> notice{};  // never null
  std::optional<OwnerRef> of{};                // set in the last such write of a run: its Job
};
// It is not stopped after all.
struct TakeBackStop {
  static constexpr std::string_view kWord = "take_back_stop";
  ObjectKey asker{};             // empty: the annotations were not Slackline's
  std::optional<OwnerRef> of{};  // as above
};
// Ends a bound pod through the Eviction API, so that another task gets its GPUs. A controller makes
// a new one in its place. The API server enforces its disruption budgets.
struct EvictPod {
  static constexpr std::string_view kWord = "evict";
  double lost_gpu_s = 0;
  ObjectKey asker{};            // the task that needs the room
  RoomGain gain{};              // of the asker
  bool risks_deadline = false;  // it would have met its deadline
  QosClass qos = QosClass::kNormal;
  Uid controller{};     // of the pod
  std::string queue{};  // that pays for what is lost
};
using PodChange = std::variant<PlanPod, UnplanPod, Nominate, ClearNomination, NarrowPod, LiftGate,
                               TellOfStop, TakeBackStop, EvictPod>;

struct Target {
  ObjectKey key{};
  Uid uid{};
  std::string resource_version{};  // of a Job
  NodeName node{};                 // of a bound pod
};

// What a planner knew when it decided.
struct DecisionStamp {
  std::uint64_t snapshot_version = 0;
  std::string policy;
  std::string options_hash;
};

// For the journal and for people.
struct Decision {
  // kPlan: a start. kMove: another plan or node. kSuspend: back into the queue. Unset: nothing new,
  // the write carries out an earlier decision.
  std::optional<Verb> verb{};
  std::string_view reason{};  // a code of reason.h; empty: the usual course
  std::string plan_id{};      // of the plan that the write carries out, replaces or ends
  std::shared_ptr<const DecisionStamp> stamp{};  // null: no planner decided it
};

struct OwnWrite {
  Target target{};
  std::variant<JobChange, PodChange> change{};
  Decision decision{};
  // Jobs and pods whose stops make its room: it is sent once they are written, and not at all if
  // one fails.
  std::vector<Uid> after{};

  // nullptr: the write is of another kind.
  template <class Kind>
  const Kind* as() const {
    constexpr bool kOfJob = std::is_constructible_v<JobChange, Kind>;
    using Group = std::conditional_t<kOfJob, JobChange, PodChange>;
    const Group* group = std::get_if<Group>(&change);
    return group == nullptr ? nullptr : std::get_if<Kind>(group);
  }
  template <class Kind>
  bool is() const {
    return as<Kind>() != nullptr;
  }

  bool of_job() const { return std::holds_alternative<JobChange>(change); }
  std::string_view word() const;
  const PlanNote* plan() const;  // of a ReleaseJob or a PlanPod; nullptr: it writes no plan
};

// A write to this very object. Where `decision` names no plan, it is about the one that the object
// has.
OwnWrite job_write(const Job& job, JobChange change, Decision decision = {});
OwnWrite pod_write(const Pod& pod, PodChange change, Decision decision = {});

}  // namespace slackline
