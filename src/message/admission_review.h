// The webhook's request and answer: an AdmissionReview of a Job or a Pod, and the decision with its
// changes, as plain values. wire/admission/admission_codec.h reads and writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "slackline/model/admitted.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/pod.h"
#include "slackline/model/reason.h"

namespace slackline {

enum class AdmissionOperation { kCreate, kUpdate, kOther };

// userInfo, in the form of a SubjectAccessReview.
struct Requester {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> extra;  // sorted by key
};

// The annotations and labels with Slackline's prefix, and whether the maps exist: a JSON Patch can
// add to a map, but not to one that is absent.
struct ContractKeys {
  bool has_annotations = false;
  bool has_labels = false;
  Labels annotations;
  Labels labels;

  const std::string* annotation(std::string_view key) const { return find_label(annotations, key); }
  const std::string* label(std::string_view key) const { return find_label(labels, key); }
};

struct ContainerFacts {
  std::vector<std::string> env;  // names
  bool has_env = false;
  std::vector<ResourceAmount> gpus;  // configured GPU resources of its limits
  ContainerAmounts amounts{};
  // Of a Job's template, as JSON: all of its resources, and those that Slackline never writes.
  std::string resources{};
  std::string other_resources{};
};

// The parts of a pod or a pod template that Slackline may change, or that forbid a change.
struct PodFacts {
  ContractKeys keys;
  std::string scheduler_name;
  std::vector<ContainerFacts> containers;
  std::vector<std::string> gates;
  std::string priority_class{};
  bool has_scheduling_group = false;
  // Of a Job's template, as JSON; empty: none. The second without the terms that Slackline writes.
  std::string affinity{};
  std::string other_affinity{};
};

struct ReviewedJob {
  Job job;
  ContractKeys keys;
  PodFacts pod;  // the template
  // Its template allows a podFailurePolicy (restartPolicy: Never), and it has none.
  bool may_ignore_disruptions = false;
  // podReplacementPolicy is Failed beside a podFailurePolicy, which demands it.
  bool must_wait_to_replace = false;
};

struct ReviewedPod {
  Pod pod;
  PodFacts facts;
  bool kueue = false;
  bool launches = false;  // it is the launcher of an MPIJob, as the MPI operator labels it
};

// Which of the two webhooks is asked.
enum class AdmissionStage { kMutate, kValidate };

struct AdmissionReview {
  std::string uid;  // echoed
  AdmissionOperation operation = AdmissionOperation::kOther;
  std::string ns;
  bool dry_run = false;
  Requester user;
  // monostate: another kind, or nothing; not Slackline's concern.
  std::variant<std::monostate, ReviewedJob, ReviewedPod> object;
  std::variant<std::monostate, ReviewedJob, ReviewedPod> old_object;  // on UPDATE
};

struct EnvVariable {
  std::string name;
  std::string annotation;  // whose value it has; empty: it has `value`
  std::string value{};
  friend bool operator==(const EnvVariable&, const EnvVariable&) = default;
};

struct GpuCountChange {
  std::size_t container = 0;
  std::string resource;
  std::int64_t count = 0;
  friend bool operator==(const GpuCountChange&, const GpuCountChange&) = default;
};

struct ContainerAmountsChange {
  std::size_t container = 0;
  ContainerAmounts amounts;
  friend bool operator==(const ContainerAmountsChange&, const ContainerAmountsChange&) = default;
};

// What an update of a running Job may not change: it gets the values of before back.
struct KeptShape {
  std::optional<std::int64_t> pods{};                            // parallelism and completions
  std::vector<std::pair<std::size_t, std::string>> resources{};  // JSON, by container
  std::optional<std::string> affinity{};                         // JSON; empty: none
  friend bool operator==(const KeptShape&, const KeptShape&) = default;
};

// The changes. For a Job, `template_*`, `scheduler_name` and `env` belong to its template.
// Of a pod: a class that makes no room for itself. The API server takes no class without its value.
struct PriorityChange {
  std::string priority_class;
  std::int32_t value = 0;
  friend bool operator==(const PriorityChange&, const PriorityChange&) = default;
};

struct AdmissionChanges {
  bool suspend = false;
  bool gate = false;  // contract::kGate
  Labels annotations;
  std::vector<std::string_view> dropped{};  // annotations of the table of keys that go
  std::optional<AdmittedNote> admitted;     // as the annotation contract::kAdmitted
  Labels labels;
  Labels template_labels;
  Labels template_annotations;
  std::string scheduler_name;    // empty: stays
  std::vector<EnvVariable> env;  // into each container with GPUs, where the name is free
  std::optional<GpuCountChange> gpus;
  std::optional<ContainerAmountsChange> amounts{};  // of a pod: CPU and memory
  std::optional<PriorityChange> priority{};         // of a pod
  // podFailurePolicy: disrupted pods count as no failure; podReplacementPolicy with it: Failed.
  bool ignore_disruptions = false;
  bool wait_to_replace = false;  // podReplacementPolicy stays Failed
  KeptShape kept{};
  std::shared_ptr<const OriginalShape> original{};  // as the annotation contract::kOriginal

  friend bool operator==(const AdmissionChanges&, const AdmissionChanges&) = default;
};

// Why a request is refused. The code is stable: metrics and documentation use it.
struct Refusal {
  ReasonCode reason;    // "QueueFull"
  std::string message;  // field and remedy
};

struct AdmissionDecision {
  std::optional<Refusal> refusal;  // absent: allowed
  std::vector<std::string> warnings;
  AdmissionChanges changes;  // only where allowed
};

}  // namespace slackline
