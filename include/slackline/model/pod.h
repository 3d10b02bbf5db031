// Pod, Job and DisruptionBudget: what scheduling needs to know of them. Immutable in a snapshot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slackline/model/admitted.h"
#include "slackline/model/calibration_order.h"
#include "slackline/model/constraints.h"
#include "slackline/model/device_slots.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/ids.h"
#include "slackline/model/node.h"
#include "slackline/model/owner_gang.h"
#include "slackline/model/progress.h"
#include "slackline/model/resize.h"
#include "slackline/model/resources.h"
#include "slackline/model/task_intent.h"

namespace slackline {

struct PodAsk;

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

std::string_view to_string(PodPhase phase);

// Why a `plan` annotation does not count. It holds nothing, and the leader removes it.
enum class PlanDoubt : std::uint8_t {
  kNone,
  kUnsigned,  // no code: of an older version, or by somebody else
  kForged,    // its code is not over this plan and this object
  kEnded,     // it was withdrawn or its Job was suspended: it never counts again
  kPaused,    // somebody suspends its Job: nothing is wrong, and it never counts again
  kOutdated,  // the Job has changed since it got this plan, and this daemon did not see the change
};

std::string_view to_string(PlanDoubt doubt);  // "unsigned", for metrics and logs

// Of the scheduler that a pod names: nobody has named another one.
inline bool is_default_scheduler(const std::string& name) {
  return name.empty() || name == "default-scheduler";
}

// Who ends a pod that neither its owner nor its own containers end: the reasons of the condition
// DisruptionTarget, the reason of a pod that its node has rejected, and what happened to its node.
enum class DisruptionKind : std::uint8_t {
  kPreemptionByScheduler,
  kEvictionByEvictionApi,
  kDeletionByTaintManager,
  kDeletionByPodGc,
  kTerminationByKubelet,
  kOtherTarget,  // DisruptionTarget with another reason
  kUnexpectedAdmissionError,
  kNodeGone,
  kNodeNotReady,
};
inline constexpr std::size_t kDisruptionKindCount = 9;

std::string_view to_string(DisruptionKind kind);  // as Kubernetes spells it, for people and metrics

struct PodDisruption {
  DisruptionKind kind = DisruptionKind::kOtherTarget;
  double at_s = 0;  // epoch seconds; 0 = unknown
};

// The controller of an object (ownerReferences with controller: true).
struct OwnerRef {
  std::string kind;
  std::string name;
  Uid uid;
};

// What a pod was told of the stop of its run (annotation `preempt-for`). Only Slackline writes it.
struct StopNotice {
  ObjectKey asker;  // the task that needs the room
  Uid asker_uid;    // empty: a labelled gang
  double at_s = 0;  // not stopped before; epoch seconds, whole

  // As it was read: the signed text, and the code. Empty: it was not read, or has none.
  std::string text{};
  std::string code{};
};

struct Pod {
  Uid uid;
  std::string resource_version;
  ObjectKey key;
  std::optional<OwnerRef> owner;
  std::shared_ptr<const OwnerGang> owner_gang{};  // null: its controller makes none
  NodeName node;                                  // spec.nodeName; empty while unbound
  NodeName nominated_node;                        // status.nominatedNodeName
  PodPhase phase = PodPhase::kPending;
  bool deleting = false;              // deletionTimestamp is set
  std::optional<double> gone_by_s{};  // deletionTimestamp: when it has ended; epoch seconds
  double grace_s = 0;                 // that it may take to end, once it is to
  // Others end it or have ended it, by what the pod itself says: never a kNode... kind.
  std::optional<PodDisruption> disruption{};
  bool gated = false;         // any scheduling gate
  bool our_gate = false;      // slackline.dev/queue among them
  bool foreign_gate = false;  // any other gate: somebody else holds the pod back, too
  bool ready = false;         // the Ready condition
  bool in_pod_group = false;  // spec.schedulingGroup: only filtered and scored
  bool managed = false;       // label slackline.dev/managed=true
  std::int32_t priority = 0;  // spec.priority: the rank in kube-scheduler
  std::string scheduler_name;
  std::optional<std::string> unschedulable{};  // kube-scheduler has found no node: what it said
  double created_s = 0;                        // epoch seconds
  std::optional<double> started_s;             // status.startTime
  std::optional<double> ended_s{};  // when the last of its containers ended; of a terminal pod
  bool restarted = false;           // one of its containers has been restarted
  std::string not_starting{};       // bound and Pending: what keeps a container from starting
  bool out_of_memory = false;       // one of its containers was OOMKilled
  bool gpu_out_of_memory = false;   // one failed, and its termination message says so
  std::string image_digest{};       // "sha256:...", of the image that it runs; empty = not known
  Resources requests;               // init maximum, sidecars, overhead, pod-level; pods = 1
  std::shared_ptr<const PodAsk> ask{};  // behind `requests`, of a pod that was posted; else null
  // Of its only container, where it is a GPU pod of a Job; else nullopt.
  std::optional<ContainerAmounts> amounts{};
  Labels labels;                                             // kept for GPU pods only
  std::shared_ptr<const SchedulingConstraints> constraints;  // null = none
  std::shared_ptr<const TaskIntent> intent;                  // null = no annotation of Slackline
  std::shared_ptr<const PlanNote> plan;                      // null = none
  PlanDoubt plan_doubt = PlanDoubt::kNone;  // not kNone: there is an annotation, and `plan` is null
  std::shared_ptr<const AdmittedNote> admitted;  // null = none
  std::shared_ptr<const StopNotice> notice{};    // null = none
  bool notice_doubted = false;                   // there are such annotations, and `notice` is null
  bool unproven = false;                  // nobody admitted it: no class and queue of its own
  std::vector<DeviceSlots> device_slots;  // annotation device-ids; kept for GPU pods only
  std::vector<std::string> problems;      // unreadable quantities: ineligible, with the reason
  std::optional<double> began_s{};        // when its container with GPUs started, of a GPU pod

  bool bound() const { return !node.empty(); }
  // Succeeded and Failed pods no longer hold anything.
  bool terminal() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  bool memory_shortage() const { return out_of_memory || gpu_out_of_memory; }
};

// The shape of a Job before Slackline changed it (annotation `original`). Its requests are read
// from here, and every release writes every field again. Unset fields were never changed.
struct OriginalShape {
  std::optional<std::int64_t> parallelism;  // and completions
  std::optional<std::int64_t> gpus;         // of one pod
  std::optional<std::vector<NodeSelectorTerm>> affinity_terms;
  std::optional<ContainerAmounts> amounts{};  // of the container with GPUs

  // What Slackline wrote instead. A person who has written something else since is right: that part
  // of the note no longer counts. Unset: not known, it is still as Slackline wrote it.
  struct Given {
    std::optional<std::int64_t> gpus{};
    std::optional<ContainerAmounts> amounts{};
  };
  Given given{};

  bool changed() const { return parallelism || gpus || affinity_terms || amounts; }
};

// No Job is stopped more often in a day.
inline constexpr std::size_t kMostCharges = 32;

// What is known of the stops of a Job (annotation `preemptions`). Only Slackline writes it.
struct PreemptionNote {
  std::int64_t count = 0;         // how often it was stopped for another task, or disrupted
  double left = 1;                // share of its work that its checkpoints do not keep, (0, 1]
  double lost_gpu_s = 0;          // work done again and start-up, of all its stops
  double at_s = 0;                // the last stop; epoch seconds
  std::vector<NodeName> nodes{};  // that it ran on then, each once
  // The queues for whose tasks it was stopped, and what they pay for; of the last day.
  struct Charge {
    std::string queue;
    double at_s = 0;  // epoch seconds
    double gpu_s = 0;
    std::int64_t stop = 0;  // `count` of that stop; 0: an older version has written it
  };
  std::vector<Charge> charges{};  // in order of time
  std::int64_t disruptions = 0;   // those of `count` that others than Slackline have caused
  std::string by{};  // of the last one: a DisruptionKind, "Moved", "Grown"; empty = another task
  // Of the last one: the task goes on at once, in another shape or elsewhere. Its place is kept.
  struct GoesOn {
    Placement shape{};
    GpuType gpu_type{};
    std::vector<NodeName> nodes{};  // each once
    Placement from{};               // the shape that it had
  };
  std::optional<GoesOn> goes_on{};
  // The run that was ended because it was slow there. It is never started on these nodes again.
  struct SlowRun {
    std::vector<NodeName> nodes;
    double at_s = 0;  // epoch seconds

    bool on(const NodeName& node) const {
      return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
    }
  };
  std::optional<SlowRun> slow{};
  // Not kNone: a run of it was stopped because it was made too small. It is never resized again.
  ResizeFailure too_small = ResizeFailure::kNone;

  // As it was read: the signed text, and the code. Empty: it was not read, or has none.
  std::string text{};
  std::string code{};
  double first_start_s = 0;  // of its first run; epoch seconds; 0: not known, of an older version
  double held_s = 0;         // its runs until `at_s`, likewise
  double held_gpu_s = 0;
};

struct Job {
  Uid uid;
  std::string resource_version;
  std::int64_t generation = 0;  // of its spec
  ObjectKey key;
  std::optional<OwnerRef> owner;
  std::shared_ptr<const OwnerGang> owner_gang{};  // of its pods; null: its controller makes none
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;
  bool indexed = false;
  bool suspended = false;
  bool suspended_by_us = false;  // the annotation `suspended-by` says so, and `kueue` is false
  bool halted = false;           // Suspended condition: the Job controller has removed its pods
  bool managed = false;          // the template's label slackline.dev/managed=true
  bool kueue = false;            // Kueue queues it, or another controller runs it (managedBy)
  bool holds_pods = false;       // the template has gates or a scheduling group, or names a node
  bool finished = false;         // Complete or Failed, or FailureTarget or SuccessCriteriaMet: soon
  bool deleting = false;         // deletionTimestamp is set: its controller makes no more pods
  bool resumed = false;          // it was suspended once, if only at its creation, and is no longer
  std::int64_t active = 0;
  // Pods that still end, where none is made before that (podReplacementPolicy: Failed); else 0.
  std::int64_t terminating = 0;
  std::int64_t succeeded = 0;  // and indexes that have failed for good: nothing takes their place
  std::int64_t failed = 0;
  double created_s = 0;
  std::optional<double> started_s;    // status.startTime: since the last resumption
  std::optional<double> completed_s;  // status.completionTime, or SuccessCriteriaMet: of a success
  std::optional<double> ended_s{};    // when its condition Complete or Failed came
  Resources pod_requests;             // of one pod of the template
  std::shared_ptr<const PodAsk> ask{};  // of the template, behind them; null: it wants no GPUs
  std::string priority_class;           // that the template names
  std::int32_t priority = 0;            // what that class says; never a number in the template
  std::string gpu_container;     // the one container that asks for GPUs; empty: none, or several
  std::string image{};           // reference as written, of that container; else of the first one
  std::string generate_name{};   // metadata.generateName
  std::string scheduler_name{};  // that the template names
  std::optional<std::int64_t> cpu_limit_milli{};  // of one pod; nullopt: a container has none
  std::optional<ContainerAmounts> amounts{};      // of the only container, where it has the GPUs
  std::shared_ptr<const SchedulingConstraints> constraints;  // of the template; null = none
  std::shared_ptr<const TaskIntent> intent;
  std::shared_ptr<const PlanNote> plan;
  PlanDoubt plan_doubt = PlanDoubt::kNone;  // not kNone: there is an annotation, and `plan` is null
  std::shared_ptr<const AdmittedNote> admitted;         // null = none
  bool unproven = false;                                // nobody admitted it: no class and queue
  std::shared_ptr<const OriginalShape> original;        // null: the shape was never changed
  std::shared_ptr<const PreemptionNote> preemptions{};  // null: never stopped
  std::shared_ptr<const ProgressNote> progress{};       // null: it told none
  CalibrationMark calibration = CalibrationMark::kNone;
  std::optional<std::int64_t> active_deadline_s{};  // activeDeadlineSeconds
  std::optional<std::int64_t> kueue_limit_s{};      // Kueue's label max-exec-time-seconds
  std::vector<std::string> problems;  // unreadable quantities of the template: never planned
  bool names_node = false;            // the template has a spec.nodeName; `holds_pods` is set, too

  // A run is ended by then, whatever it has done.
  std::optional<std::int64_t> run_limit_s() const {
    if (active_deadline_s && kueue_limit_s) return std::min(*active_deadline_s, *kueue_limit_s);
    return active_deadline_s ? active_deadline_s : kueue_limit_s;
  }
  // It only measures how fast its model trains.
  bool is_calibration() const { return calibration == CalibrationMark::kRun; }
  // It was suspended to be queued, and has not been released.
  bool waits_with_us() const { return !finished && !deleting && suspended && suspended_by_us; }
  // The number of pods while it runs.
  std::int64_t wanted_pods() const {
    const std::int64_t left = completions ? *completions - succeeded : parallelism;
    return std::max<std::int64_t>(0, std::min(parallelism, left));
  }
  // Slackline's to queue: nobody else decides when it runs.
  bool topmost() const { return !kueue && (!owner || owner->kind == "CronJob"); }
  // The webhook queues such a Job at its creation, in the namespaces that it is asked about.
  bool is_for_queue() const { return topmost() && pod_requests.wants_gpus() && !holds_pods; }
  // All or nothing: Indexed with parallelism = completions.
  bool is_gang() const { return indexed && completions == parallelism && parallelism > 1; }
  // Whether the planner may change the number of pods: all are alike, and any number will do.
  bool nodes_may_change() const { return indexed && completions == parallelism && succeeded == 0; }
  bool gpus_may_change() const { return !gpu_container.empty(); }
};

// policy/v1 PodDisruptionBudget, as kube-scheduler's preemption reads it.
struct DisruptionBudget {
  Uid uid;
  ObjectKey key;
  Labels match_labels;
  std::vector<MatchExpression> match_expressions;
  bool selects_nothing = false;  // a null selector
  std::int64_t disruptions_allowed = 0;
  std::vector<std::string> disrupted_pods;  // names already counted
};

}  // namespace slackline
