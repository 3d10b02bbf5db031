// OwnWrite: one write of ours to the API server, as a value: decided purely
// (core/cluster/hand_over.h), performed by the cluster writer, and laid over snapshots until the
// watch shows it (core/cluster/own_writes.h).
//
// Every write is idempotent and carries its precondition: those of Jobs the resourceVersion on
// which they were decided, those of pods the uid, and lifting the gate's name too.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/ids.h"
#include "slackline/model/pod.h"
#include "slackline/model/task_intent.h"

namespace slackline {

enum class OwnWriteKind : std::uint8_t {
  kReleaseJob,       // suspend: false, the plan, the shape; on a running Job: another plan
  kOpenJob,          // suspend: false without a plan: its pods queue one by one, or are let go
  kSuspendJob,       // suspend: true, marked as ours; the plan is void
  kClearPlan,        // the plan of a Job that does not count, or is void; nothing else changes
  kPlanPod,          // the plan of a pod that no Job of ours carries; null: it has none any more
  kNominate,         // status.nominatedNodeName
  kClearNomination,  // of a pod whose plan is void
  kNarrowPod,        // required node affinity of a gated pod, where its Job's template is fixed
  kLiftGate,         // kube-scheduler may take the pod
};
inline constexpr std::size_t kOwnWriteKindCount = 9;

std::string_view to_string(OwnWriteKind kind);  // "release" ... "lift", for metrics and logs
bool writes_job(OwnWriteKind kind);

// What a release changes of a Job whose shape we chose.
struct Reshape {
  std::int64_t parallelism = 1;  // and completions
  std::int64_t gpus = 1;         // of one pod
  std::string gpu_resource;
  std::string container;    // the one that asks for GPUs
  bool in_template = true;  // false: pods are given their shape when they are created
};

// On what a planner decided; for the journal.
struct DecisionStamp {
  std::uint64_t snapshot_version = 0;
  std::string policy;
  std::string options_hash;
};

struct OwnWrite {
  OwnWriteKind kind = OwnWriteKind::kNominate;
  ObjectKey key;
  Uid uid;
  std::string resource_version;  // of a Job
  std::int64_t generation = 0;   // of a Job, once this is written
  std::shared_ptr<const PlanNote> plan;
  std::optional<Reshape> reshape;
  // The Job's or pod's required node affinity from now on, where the GPU type is pinned.
  std::optional<std::vector<NodeSelectorTerm>> affinity_terms;
  // To be kept beside the first change of a shape; one without a change: the shape is as written.
  std::shared_ptr<const OriginalShape> original;
  NodeName node;  // of a nomination
  // Why, a code of reason.h, for people: of a suspension, of a plan or a nomination that deviates
  // from an earlier one, of the lift that completes a release. Empty: that is the usual course.
  std::string reason;
  OwnerRef task;        // whom the reason is told of, if not this object
  std::string plan_id;  // of the plan that it carries out, replaces or ends
  std::shared_ptr<const DecisionStamp> decided{};  // null: by no planner
  std::optional<double> predicted_s{};  // of a release: how long the run will take; unset: unknown
};

// A write of this very object, to be completed by what it says.
OwnWrite job_write(OwnWriteKind kind, const Job& job);
OwnWrite pod_write(OwnWriteKind kind, const Pod& pod);

}  // namespace slackline
