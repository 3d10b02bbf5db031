// The keys of the contract that more than one layer names (docs/OPERATIONS.md, "What people
// write").
//
// Reading them into an intent is wire/kube/annotations.h.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace slackline::contract {

inline constexpr std::string_view kPrefix = "slackline.dev/";

// On namespaces, Pods and Pod templates: "true" lets Slackline manage them.
inline constexpr std::string_view kManagedLabel = "slackline.dev/managed";
inline constexpr std::string_view kGate = "slackline.dev/queue";

// On nodes: "true" where tasks of which nothing is known should run first.
inline constexpr std::string_view kProfilerLabel = "slackline.dev/profiler";
// On Jobs: whether calibration runs may be made of them, or that they are such runs.
inline constexpr std::string_view kCalibrationLabel = "slackline.dev/calibration";
inline constexpr std::string_view kCalibrationAllowed = "allowed";
inline constexpr std::string_view kCalibrationRun = "run";

inline constexpr std::string_view kModel = "slackline.dev/model";
inline constexpr std::string_view kQosClass = "slackline.dev/qos-class";
inline constexpr std::string_view kDeadline = "slackline.dev/deadline";
inline constexpr std::string_view kDeadlineAfter = "slackline.dev/deadline-after";
// What a deadline was resolved from: "prior: 1 x 3h12m on K80 (fitted)". Absent if a person wrote
// the deadline.
inline constexpr std::string_view kDeadlineBasis = "slackline.dev/deadline-basis";
inline constexpr std::string_view kDependsOn = "slackline.dev/depends-on";

// What the webhook allowed, with the only proof of it: {submitter, class, queue, nonce, mac}.
inline constexpr std::string_view kAdmitted = "slackline.dev/admitted";
// On bound pods: which of the node's slots each has (model/device_slots.h).
inline constexpr std::string_view kDeviceIds = "slackline.dev/device-ids";
// On a node its GPU type, on a pod the type that it was bound to.
inline constexpr std::string_view kGpuType = "slackline.dev/gpu-type";
inline constexpr std::string_view kOriginal = "slackline.dev/original";
inline constexpr std::string_view kPreemptions = "slackline.dev/preemptions";
inline constexpr std::string_view kPlan = "slackline.dev/plan";
// On the pods of a run that is to be stopped: when, for its containers to read, and for whom, with
// the proof that Slackline wrote it.
inline constexpr std::string_view kPreemptAt = "slackline.dev/preempt-at";
inline constexpr std::string_view kPreemptFor = "slackline.dev/preempt-for";
// On Jobs and namespaces: off, advise or auto (model/resize.h).
inline constexpr std::string_view kResize = "slackline.dev/resize";
inline constexpr std::string_view kProgress = "slackline.dev/progress";
inline constexpr std::string_view kSuspendedBy = "slackline.dev/suspended-by";
// The shape of the task, as numbers that the downward API can hand to a container.
inline constexpr std::string_view kNodes = "slackline.dev/nodes";
inline constexpr std::string_view kGpusPerNode = "slackline.dev/gpus-per-node";

// The value of suspended-by where a Job was suspended to queue it.
inline constexpr std::string_view kSuspendedByUs = "slackline";

// Only Slackline writes these; `deadline` too, once a Job is admitted.
inline constexpr std::array<std::string_view, 14> kReserved = {
    kAdmitted,    "slackline.dev/band",
    kDeviceIds,   kGpuType,
    kGpusPerNode, kNodes,
    kOriginal,    kPlan,
    kPreemptAt,   kPreemptFor,
    kPreemptions, kProgress,
    kSuspendedBy, "slackline.dev/variant",
};

constexpr bool reserved(std::string_view key) {
  return std::find(kReserved.begin(), kReserved.end(), key) != kReserved.end();
}

}  // namespace slackline::contract
