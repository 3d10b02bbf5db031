// The keys of the contract: every label and annotation that begins with "slackline.dev/", in one
// table. docs/KEYS.md, the policies of deploy/policy, what the webhook refuses and what it takes
// for a spelling mistake follow from it.
//
// Reading those that people write into an intent is wire/kube/annotations.h.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace slackline::contract {

inline constexpr std::string_view kPrefix = "slackline.dev/";

inline constexpr std::string_view kManagedLabel = "slackline.dev/managed";
inline constexpr std::string_view kGate = "slackline.dev/queue";  // the queue's label, and the gate
inline constexpr std::string_view kBand = "slackline.dev/band";
inline constexpr std::string_view kProfilerLabel = "slackline.dev/profiler";
inline constexpr std::string_view kCalibrationLabel = "slackline.dev/calibration";
inline constexpr std::string_view kCalibrationOf = "slackline.dev/calibration-of";
inline constexpr std::string_view kModel = "slackline.dev/model";
inline constexpr std::string_view kFamily = "slackline.dev/family";
inline constexpr std::string_view kForecast = "slackline.dev/forecast";
inline constexpr std::string_view kQosClass = "slackline.dev/qos-class";
inline constexpr std::string_view kDeadline = "slackline.dev/deadline";
inline constexpr std::string_view kDeadlineAfter = "slackline.dev/deadline-after";
inline constexpr std::string_view kDeadlineBasis = "slackline.dev/deadline-basis";
inline constexpr std::string_view kExpectedDurationOn = "slackline.dev/expected-duration-on";
inline constexpr std::string_view kGpuTypes = "slackline.dev/gpu-types";
inline constexpr std::string_view kHold = "slackline.dev/hold";
inline constexpr std::string_view kDependsOn = "slackline.dev/depends-on";
inline constexpr std::string_view kResize = "slackline.dev/resize";
inline constexpr std::string_view kAdmitted = "slackline.dev/admitted";
inline constexpr std::string_view kDeviceIds = "slackline.dev/device-ids";
inline constexpr std::string_view kGpuType = "slackline.dev/gpu-type";
inline constexpr std::string_view kOriginal = "slackline.dev/original";
inline constexpr std::string_view kPreemptions = "slackline.dev/preemptions";
inline constexpr std::string_view kPlan = "slackline.dev/plan";
inline constexpr std::string_view kPreemptAt = "slackline.dev/preempt-at";
inline constexpr std::string_view kPreemptFor = "slackline.dev/preempt-for";
inline constexpr std::string_view kProgress = "slackline.dev/progress";
inline constexpr std::string_view kSuspendedBy = "slackline.dev/suspended-by";
inline constexpr std::string_view kNodes = "slackline.dev/nodes";
inline constexpr std::string_view kGpusPerNode = "slackline.dev/gpus-per-node";

// Values.
inline constexpr std::string_view kCalibrationAllowed = "allowed";
inline constexpr std::string_view kCalibrationRun = "run";
inline constexpr std::string_view kSuspendedByUs = "slackline";  // suspended to queue the Job

// Who writes a key. The webhook writes on behalf of the person whose request it changes; the
// planner (and bind) by the daemon's own account.
enum class Writer { kPeople, kWebhook, kPlanner };

enum class KeyKind { kAnnotation, kLabel };

// What a mistake in a value does: it is told, or the webhook refuses the object, because the task
// would be queued or placed other than its owner meant.
enum class Mistake { kTold, kRefused };

struct Key {
  std::string_view name;
  std::string_view meaning;  // a clause for people, without a full stop
  Writer writer = Writer::kPeople;
  KeyKind kind = KeyKind::kAnnotation;
  Mistake mistake = Mistake::kTold;
  std::string_view on = "tasks";  // on which objects; "tasks": Pods, Pod templates and Jobs
  std::string_view since = "0.1";
};

// By name.
inline constexpr std::array kKeys = {
    Key{.name = kAdmitted,
        .meaning = "what was allowed, with its proof: submitter, class, queue",
        .writer = Writer::kWebhook},
    Key{.name = kBand,
        .meaning = "the band that it was released in: the PriorityClass of its pods",
        .writer = Writer::kPlanner,
        .on = "pod templates of Jobs"},
    Key{.name = "slackline.dev/batch-size", .meaning = "the global batch, in samples"},
    Key{.name = kCalibrationLabel,
        .meaning = "`allowed`: short runs of it may be made on idle GPUs; `run`: it is such a run",
        .kind = KeyKind::kLabel,
        .on = "Jobs"},
    Key{.name = kCalibrationOf,
        .meaning = "the Job that a calibration run was made of",
        .writer = Writer::kPlanner,
        .on = "Jobs"},
    Key{.name = "slackline.dev/checkpoint-interval",
        .meaning = "how often it saves its work, a duration",
        .mistake = Mistake::kRefused},
    Key{.name = kDeadline,
        .meaning = "when it should be done, RFC 3339; the webhook resolves it where people write "
                   "another way",
        .mistake = Mistake::kRefused},
    Key{.name = kDeadlineAfter,
        .meaning = "how long after its creation it should be done, a duration",
        .mistake = Mistake::kRefused},
    Key{.name = kDeadlineBasis,
        .meaning = "what the deadline was resolved from; absent if a person wrote it",
        .writer = Writer::kWebhook},
    Key{.name = kDependsOn,
        .meaning = "Jobs of the namespace that must have succeeded first",
        .mistake = Mistake::kRefused},
    Key{.name = kDeviceIds,
        .meaning = "which of the node's slots the pod has, by resource",
        .writer = Writer::kPlanner,
        .on = "bound pods"},
    Key{.name = "slackline.dev/expected-duration",
        .meaning = "how long it runs as written, if no throughput model can predict it",
        .mistake = Mistake::kRefused},
    Key{.name = kExpectedDurationOn,
        .meaning = "the GPU type that `expected-duration` holds for, where `gpu-types` is not that "
                   "type alone",
        .mistake = Mistake::kRefused},
    Key{.name = kFamily,
        .meaning = "runs that belong together: they share a portrait, and their speed where "
                   "nothing else does"},
    Key{.name = kForecast,
        .meaning = "what is predicted while it waits, as in the Event `Queued`",
        .writer = Writer::kPlanner,
        .on = "Jobs"},
    Key{.name = "slackline.dev/gang",
        .meaning = "pods with one name start together",
        .kind = KeyKind::kLabel,
        .on = "pods"},
    Key{.name = "slackline.dev/gang-size",
        .meaning = "how many pods the gang has",
        .mistake = Mistake::kRefused,
        .on = "pods"},
    Key{.name = kGpuType,
        .meaning =
            "the GPU type that it was bound to; people label nodes whose type no other label names",
        .writer = Writer::kWebhook,
        .on = "tasks, nodes"},
    Key{.name = kGpuTypes,
        .meaning = "acceptable GPU types in order of preference, or `any`",
        .mistake = Mistake::kRefused},
    Key{.name = kGpusPerNode,
        .meaning = "GPUs a pod in the shape that it was released in, for the downward API",
        .writer = Writer::kWebhook},
    Key{.name = kHold,
        .meaning = "`true`: it stays in the queue and does not start; `false`, or no such "
                   "annotation: it waits for its turn",
        .mistake = Mistake::kRefused},
    Key{.name = "slackline.dev/iterations", .meaning = "the number of iterations to train"},
    Key{.name = "slackline.dev/last-checkpoint-time",
        .meaning = "when it saved its work last, RFC 3339",
        .mistake = Mistake::kRefused},
    Key{.name = kManagedLabel,
        .meaning = "`true`: Slackline may manage them",
        .kind = KeyKind::kLabel,
        .on = "namespaces, Pods, Pod templates"},
    Key{.name = "slackline.dev/max-replicas", .meaning = "checked, and not used yet"},
    Key{.name = "slackline.dev/min-replicas", .meaning = "checked, and not used yet"},
    Key{.name = "slackline.dev/mode", .meaning = "`training` (default) or `inference`"},
    Key{.name = kModel, .meaning = "what is trained: the key of its throughput model"},
    Key{.name = "slackline.dev/model-parallel",
        .meaning = "how many GPUs share one copy of the model"},
    Key{.name = "slackline.dev/monitoring",
        .meaning = "`true`: pods there may scrape the metrics (NetworkPolicy)",
        .kind = KeyKind::kLabel,
        .on = "namespaces"},
    Key{.name = kNodes,
        .meaning = "nodes in the shape that it was released in, for the downward API",
        .writer = Writer::kWebhook},
    Key{.name = kOriginal,
        .meaning = "what its owner wrote, where Slackline changed it",
        .writer = Writer::kWebhook},
    Key{.name = "slackline.dev/placements",
        .meaning = "acceptable shapes, nodes x GPUs per node, or `auto`",
        .mistake = Mistake::kRefused},
    Key{.name = kPlan, .meaning = "where and when it starts, signed", .writer = Writer::kPlanner},
    Key{.name = "slackline.dev/pod-failure-policy",
        .meaning = "`off`: the webhook adds no `podFailurePolicy`",
        .on = "Jobs"},
    Key{.name = kPreemptAt,
        .meaning = "when it will be stopped for another task",
        .writer = Writer::kPlanner,
        .on = "running pods"},
    Key{.name = kPreemptFor,
        .meaning = "the task that it will be stopped for, with the proof that Slackline wrote it",
        .writer = Writer::kPlanner,
        .on = "running pods"},
    Key{.name = kPreemptions,
        .meaning = "how often it was stopped, what that lost, and the work that is left",
        .writer = Writer::kPlanner,
        .on = "Jobs"},
    Key{.name = kProfilerLabel,
        .meaning = "`true`: tasks of which nothing is known run there first",
        .kind = KeyKind::kLabel,
        .on = "nodes"},
    Key{.name = kProgress,
        .meaning = "the last report of its progress",
        .writer = Writer::kPlanner,
        .on = "Jobs"},
    Key{.name = kQosClass,
        .meaning = "`urgent`, `prior` or `normal`: the deadline of a task that names none",
        .mistake = Mistake::kRefused},
    Key{.name = kGate,
        .meaning = "the queue in which it waits (default: its namespace); on pods also the "
                   "scheduling gate",
        .kind = KeyKind::kLabel},
    Key{.name = kResize,
        .meaning = "right-sizing: `off`, `advise` or `auto`",
        .mistake = Mistake::kRefused,
        .on = "Jobs, namespaces"},
    Key{.name = kSuspendedBy,
        .meaning = "`slackline`: it was suspended to wait in the queue",
        .writer = Writer::kWebhook,
        .on = "Jobs"},
    Key{.name = "slackline.dev/tokens",
        .meaning = "the tokens to train on, instead of `iterations`"},
    Key{.name = "slackline.dev/tokens-per-sample", .meaning = "the sequence length, in tokens"},
    Key{.name = "slackline.dev/variant",
        .meaning = "kept for the choice among variants",
        .writer = Writer::kPlanner},
    Key{.name = "slackline.dev/variants", .meaning = "checked, and not used yet"},
    Key{.name = "slackline.dev/weight", .meaning = "checked, and not used yet"},
};

// nullptr: no key of the contract.
constexpr const Key* find_key(std::string_view name) {
  const auto at =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& key) { return key.name == name; });
  return at == kKeys.end() ? nullptr : &*at;
}

// True if only Slackline may write it on a task. The basis of a deadline goes with the deadline,
// which people may write. Nothing is decided by what a calibration run was made of.
constexpr bool reserved(const Key& key) {
  return key.writer != Writer::kPeople && key.name != kDeadlineBasis && key.name != kCalibrationOf;
}

constexpr bool reserved(std::string_view name) {
  const Key* key = find_key(name);
  return key != nullptr && reserved(*key);
}

}  // namespace slackline::contract
