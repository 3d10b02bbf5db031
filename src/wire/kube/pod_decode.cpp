#include <algorithm>
#include <array>
#include <limits>

#include "slackline/base/duration.h"
#include "slackline/base/quantity.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "wire/gangs/owner_gang.h"
#include "wire/kube/admitted_codec.h"
#include "wire/kube/annotations.h"
#include "wire/kube/kube_common.h"
#include "wire/kube/object_decode.h"
#include "wire/kube/own_write_codec.h"
#include "wire/kube/progress_note.h"
#include "wire/kube/sealed_text.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kLongestVerdict = 1024;  // bytes of kube-scheduler's words that are kept

PodPhase read_phase(std::string_view text) {
  for (const PodPhase phase :
       {PodPhase::kPending, PodPhase::kRunning, PodPhase::kSucceeded, PodPhase::kFailed})
    if (text == to_string(phase)) return phase;
  return text.empty() ? PodPhase::kPending : PodPhase::kUnknown;
}

std::int32_t read_priority(JsonView value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      value.integer().value_or(0), std::numeric_limits<std::int32_t>::min(),
      std::numeric_limits<std::int32_t>::max()));
}

// As the API server fills it in where nobody says it.
double grace_s(JsonView value) {
  return static_cast<double>(std::max<std::int64_t>(0, value.integer().value_or(30)));
}

// At most the API's limit, whatever a dump says, so that sums do not overflow.
std::int64_t count_or(JsonView value, std::int64_t otherwise) {
  return std::clamp<std::int64_t>(value.integer().value_or(otherwise), 0, kMaxPodCount);
}

// An unreadable plan does not count; read_intent() reports it.
std::shared_ptr<const PlanNote> plan_of(JsonView annotations) {
  const std::string_view text = annotations[contract::kPlan].text();
  if (text.empty()) return nullptr;
  auto plan = read_plan(text);
  return plan ? std::make_shared<const PlanNote>(*std::move(plan)) : nullptr;
}

// An unreadable one proves nothing, like an absent one.
std::shared_ptr<const AdmittedNote> admitted_of(JsonView annotations) {
  const std::string_view text = annotations[contract::kAdmitted].text();
  if (text.empty()) return nullptr;
  auto note = read_admitted(text);
  return note ? std::make_shared<const AdmittedNote>(*std::move(note)) : nullptr;
}

// Unreadable slots count as unnamed.
std::vector<DeviceSlots> device_slots_of(JsonView annotations) {
  const std::string_view text = annotations[contract::kDeviceIds].text();
  if (text.empty()) return {};
  auto slots = parse_device_ids(text);
  return slots ? *std::move(slots) : std::vector<DeviceSlots>();
}

std::shared_ptr<const TaskIntent> intent_of(JsonView metadata) {
  return read_intent(read_pairs(metadata["annotations"]), read_pairs(metadata["labels"]));
}

void read_gates(JsonView gates, Pod& pod) {
  for (const JsonView gate : gates.items()) {
    pod.gated = true;
    (gate["name"].text() == kGate ? pod.our_gate : pod.foreign_gate) = true;
  }
}

bool has_condition(JsonView conditions, std::string_view type, std::string_view value) {
  for (const JsonView condition : conditions.items())
    if (condition["type"].text() == type && condition["status"].text() == value) return true;
  return false;
}

DisruptionKind disruption_kind_of(std::string_view reason) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(DisruptionKind::kOtherTarget); ++i)
    if (reason == to_string(static_cast<DisruptionKind>(i))) return static_cast<DisruptionKind>(i);
  return DisruptionKind::kOtherTarget;
}

std::optional<std::string> why_unschedulable(JsonView status) {
  for (const JsonView condition : status["conditions"].items())
    if (condition["type"].text() == "PodScheduled" && condition["status"].text() == "False" &&
        condition["reason"].text() == "Unschedulable")
      return printable(condition["message"].text(), kLongestVerdict);
  return std::nullopt;
}

std::optional<PodDisruption> read_disruption(JsonView status) {
  for (const JsonView condition : status["conditions"].items())
    if (condition["type"].text() == "DisruptionTarget" && condition["status"].text() == "True")
      return PodDisruption{disruption_kind_of(condition["reason"].text()),
                           read_time_s(condition["lastTransitionTime"])};
  constexpr auto kRejected = DisruptionKind::kUnexpectedAdmissionError;
  if (status["phase"].text() == "Failed" && status["reason"].text() == to_string(kRejected))
    return PodDisruption{kRejected, read_time_s(status["startTime"])};
  return std::nullopt;
}

bool restarted(JsonView container_statuses) {
  for (const JsonView container : container_statuses.items())
    if (container["restartCount"].integer().value_or(0) > 0) return true;
  return false;
}

// "ImagePullBackOff: Back-off pulling image ..."; empty: nothing is in its way.
std::string why_not_starting(JsonView status) {
  for (const std::string_view kind : {"initContainerStatuses", "containerStatuses"})
    for (const JsonView container : status[kind].items()) {
      const JsonView waiting = container["state"]["waiting"];
      const std::string_view reason = waiting["reason"].text();
      if (reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing") continue;
      const std::string_view message = waiting["message"].text();
      return printable(message.empty() ? std::string(reason) : format("{}: {}", reason, message),
                       kLongestVerdict);
    }
  return {};
}

// Ended by its memory limit, now or before it was restarted.
bool out_of_memory(JsonView container_statuses) {
  for (const JsonView container : container_statuses.items())
    for (const std::string_view state : {"state", "lastState"})
      if (container[state]["terminated"]["reason"].text() == "OOMKilled") return true;
  return false;
}

// As frameworks say it; in the status where the container has FallbackToLogsOnError, or writes it.
bool tells_of_full_gpu(std::string_view message) {
  constexpr std::array<std::string_view, 5> kTexts = {
      "CUDA out of memory", "HIP out of memory", "CUDA_ERROR_OUT_OF_MEMORY",
      "cudaErrorMemoryAllocation", "RESOURCE_EXHAUSTED: Out of memory"};
  return std::any_of(kTexts.begin(), kTexts.end(), [message](std::string_view text) {
    return message.find(text) != message.npos;
  });
}

// A container failed for lack of GPU memory, now or before it was restarted.
bool gpu_out_of_memory(JsonView container_statuses) {
  for (const JsonView container : container_statuses.items())
    for (const std::string_view state : {"state", "lastState"}) {
      const JsonView ended = container[state]["terminated"];
      if (ended["exitCode"].integer().value_or(0) != 0 &&
          tells_of_full_gpu(ended["message"].text()))
        return true;
    }
  return false;
}

// "registry/train@sha256:...", "docker-pullable://..." or "sha256:..." -> "sha256:..."
std::string digest_of(std::string_view image_id) {
  constexpr std::size_t kLongestDigest = 160;  // sha512, and some more
  const std::size_t at = image_id.rfind('@');
  const std::string_view digest = at == image_id.npos ? image_id : image_id.substr(at + 1);
  const bool named = at != image_id.npos || digest.starts_with("sha256:");
  return named && digest.size() <= kLongestDigest ? std::string(digest) : std::string();
}

// Of the image that this container runs; without a name, of the first.
std::string digest_of_container(JsonView container_statuses, std::string_view name) {
  for (const JsonView container : container_statuses.items())
    if (name.empty() || container["name"].text() == name)
      return digest_of(container["imageID"].text());
  return {};
}

std::optional<double> read_optional_time_s(JsonView value) {
  const double time_s = read_time_s(value);
  return time_s > 0 ? std::optional(time_s) : std::nullopt;
}

// When the container started: after its image was pulled and init containers had ended.
std::optional<double> start_of_container(JsonView container_statuses, std::string_view name) {
  for (const JsonView container : container_statuses.items()) {
    if (container["name"].text() != name) continue;
    const JsonView state = container["state"];
    const auto running_s = read_optional_time_s(state["running"]["startedAt"]);
    return running_s ? running_s : read_optional_time_s(state["terminated"]["startedAt"]);
  }
  return std::nullopt;
}

// When the last of these containers ended; nullopt if none has.
std::optional<double> last_end_s(JsonView container_statuses) {
  std::optional<double> last_s;
  for (const JsonView container : container_statuses.items()) {
    const auto ended_s = read_optional_time_s(container["state"]["terminated"]["finishedAt"]);
    if (ended_s) last_s = std::max(last_s.value_or(0), *ended_s);
  }
  return last_s;
}

// Complete and Failed come only once the last pod has ended, and the others before.
constexpr std::string_view kWillSucceed = "SuccessCriteriaMet";
constexpr std::array<std::string_view, 4> kEndsOfJob = {"Complete", "Failed", "FailureTarget",
                                                        kWillSucceed};

// nullopt: it is not true.
std::optional<double> true_since_s(JsonView conditions, std::string_view type) {
  for (const JsonView condition : conditions.items())
    if (condition["type"].text() == type && condition["status"].text() == "True")
      return read_optional_time_s(condition["lastTransitionTime"]);
  return std::nullopt;
}

// When the Job ended, by success or failure.
std::optional<double> end_of_job_s(JsonView conditions) {
  for (const std::string_view end : kEndsOfJob)
    if (const auto since_s = true_since_s(conditions, end)) return since_s;
  return std::nullopt;
}

// The one container that asks for GPUs: the only one whose GPU count could be changed.
std::string gpu_container_of(JsonView spec, const GpuCatalog& catalog) {
  std::string name;
  for (const std::string_view list : {"containers", "initContainers"})
    for (const JsonView container : spec[list].items())
      for (const auto& [resource, amount] : container["resources"]["limits"].fields()) {
        if (catalog.resource(resource) == nullptr) continue;
        if (!name.empty() || list != "containers") return {};
        name = std::string(container["name"].text());
      }
  return name;
}

// Whose image tells what a pod does: the container that asks for GPUs, else the first one.
std::string main_container_of(JsonView spec, const GpuCatalog& catalog) {
  std::string name = gpu_container_of(spec, catalog);
  for (const JsonView one : spec["containers"].items()) {
    if (!name.empty()) break;
    name = std::string(one["name"].text());
  }
  return name;
}

std::string image_of(JsonView spec, std::string_view container) {
  for (const JsonView one : spec["containers"].items())
    if (one["name"].text() == container) return std::string(one["image"].text());
  return {};
}

// Of all containers together; a container without one has the node's.
std::optional<std::int64_t> cpu_limit_of(JsonView spec) {
  std::int64_t sum_milli = 0;
  for (const JsonView container : spec["containers"].items()) {
    const auto limit = parse_quantity_milli(container["resources"]["limits"]["cpu"].text());
    if (!limit) return std::nullopt;
    sum_milli = saturating_add(sum_milli, *limit);
  }
  return sum_milli > 0 ? std::optional(sum_milli) : std::nullopt;
}

// Of the only container: beside others it is not clear whose a part of the pod's usage is.
std::optional<ContainerAmounts> amounts_of(JsonView spec, std::string_view gpu_container) {
  if (gpu_container.empty() || spec["resources"].present()) return std::nullopt;
  if (spec["initContainers"].items().count() > 0) return std::nullopt;
  std::optional<ContainerAmounts> amounts;
  for (const JsonView container : spec["containers"].items()) {
    if (amounts || container["name"].text() != gpu_container) return std::nullopt;
    amounts = read_container_amounts(container["resources"]);
  }
  return amounts;
}

std::shared_ptr<const OriginalShape> original_of(JsonView annotations) {
  const std::string_view text = annotations[contract::kOriginal].text();
  if (text.empty()) return nullptr;
  auto original = read_original(text);
  return original ? std::make_shared<const OriginalShape>(*std::move(original)) : nullptr;
}

std::shared_ptr<const PreemptionNote> preemptions_of(JsonView annotations) {
  const std::string_view text = annotations[contract::kPreemptions].text();
  if (text.empty()) return nullptr;
  auto note = read_preemptions(text);
  return note ? std::make_shared<const PreemptionNote>(*std::move(note)) : nullptr;
}

// What counts is `preempt-for`; `preempt-at` is the same time for containers.
void read_notice_of(JsonView annotations, Pod& pod) {
  const std::string_view at = annotations[contract::kPreemptAt].text();
  const std::string_view text = annotations[contract::kPreemptFor].text();
  if (at.empty() && text.empty()) return;
  auto notice = read_notice(text);
  pod.notice_doubted = !notice || format_rfc3339(notice->at_s) != at;
  if (!pod.notice_doubted) pod.notice = std::make_shared<const StopNotice>(*std::move(notice));
}

std::shared_ptr<const ProgressNote> progress_of(JsonView annotations) {
  const std::string_view text = annotations[contract::kProgress].text();
  if (text.empty()) return nullptr;
  auto note = read_progress(text);
  return note ? std::make_shared<const ProgressNote>(*std::move(note)) : nullptr;
}

// "zone=a, disk=ssd"; none of it if a part cannot be read.
Labels read_label_list(std::string_view text) {
  Labels labels;
  for (const std::string_view part : split(text, ',')) {
    if (trim(part).empty()) continue;
    const std::size_t at = part.find('=');
    if (at == part.npos) return {};
    const std::size_t value = part.find_first_not_of('=', at);
    labels.emplace_back(trim(part.substr(0, at)),
                        value == part.npos ? std::string_view() : trim(part.substr(value)));
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

// A list of tolerations as JSON; `all_or_none`: none where one of it cannot be read.
std::vector<Toleration> read_toleration_note(std::string_view text, bool all_or_none) {
  JsonDocument document;
  const Result<JsonView> list = document.parse(text);
  if (!list) return {};
  std::vector<Toleration> tolerations = read_tolerations(*list);
  std::size_t written = 0;
  for ([[maybe_unused]] const JsonView item : list->items())
    ++written;
  if (all_or_none && tolerations.size() != written) return {};
  return tolerations;
}

NamespaceAdmission read_namespace_admission(JsonView metadata) {
  const JsonView annotations = metadata["annotations"];
  NamespaceAdmission pods;
  // The API server asks OpenShift's only where the other is absent, be it empty.
  const JsonView selector = annotations["scheduler.alpha.kubernetes.io/node-selector"];
  pods.node_selector = read_label_list(
      (selector.present() ? selector : annotations["openshift.io/node-selector"]).text());
  pods.tolerations = read_toleration_note(
      annotations["scheduler.alpha.kubernetes.io/defaultTolerations"].text(), false);
  // An empty list allows everything.
  pods.allowed_tolerations = read_toleration_note(
      annotations["scheduler.alpha.kubernetes.io/tolerationsWhitelist"].text(), true);
  const std::string_view level = metadata["labels"][kPodSecurityLabel].text();
  if (level == "baseline" || level == "restricted") pods.pod_security = std::string(level);
  return pods;
}

CalibrationMark calibration_of(JsonView labels) {
  const std::string_view mark = labels[contract::kCalibrationLabel].text();
  if (mark == contract::kCalibrationAllowed) return CalibrationMark::kAllowed;
  return mark == contract::kCalibrationRun ? CalibrationMark::kRun : CalibrationMark::kNone;
}

// What the pods of a Job ask for, and where they may go.
void read_template(JsonView pod_template, const GpuCatalog& catalog, Job& job) {
  const JsonView spec = pod_template["spec"];
  PodAsk ask = read_pod_ask(spec, catalog, job.problems);
  job.pod_requests = requests_of(ask);
  job.gpu_container = gpu_container_of(spec, catalog);
  if (!job.pod_requests.wants_gpus()) return;
  job.ask = std::make_shared<const PodAsk>(std::move(ask));
  job.image = image_of(spec, main_container_of(spec, catalog));
  job.cpu_limit_milli = cpu_limit_of(spec);
  job.amounts = amounts_of(spec, job.gpu_container);
  job.constraints = read_constraints(pod_template, job.key.ns);
}

}  // namespace

Pod read_pod(JsonView json, const GpuCatalog& catalog) {
  const JsonView metadata = json["metadata"];
  const JsonView spec = json["spec"];
  const JsonView status = json["status"];
  Pod pod;
  pod.uid = read_uid(metadata);
  pod.resource_version = std::string(metadata["resourceVersion"].text());
  pod.key = read_key(metadata);
  pod.owner = read_owner(metadata);
  pod.node = NodeName(spec["nodeName"].text());
  pod.nominated_node = NodeName(status["nominatedNodeName"].text());
  pod.phase = read_phase(status["phase"].text());
  pod.gone_by_s = read_optional_time_s(metadata["deletionTimestamp"]);
  pod.deleting = metadata["deletionTimestamp"].present();
  pod.grace_s = grace_s(spec["terminationGracePeriodSeconds"]);
  pod.disruption = read_disruption(status);
  pod.unschedulable = why_unschedulable(status);
  pod.ready = has_condition(status["conditions"], "Ready", "True");
  read_gates(spec["schedulingGates"], pod);
  pod.in_pod_group = spec["schedulingGroup"].present();
  if (!pod.in_pod_group) pod.owner_gang = read_owner_gang(metadata);
  pod.managed = metadata["labels"][kManagedLabel].text() == "true";
  pod.priority = read_priority(spec["priority"]);
  pod.scheduler_name = std::string(spec["schedulerName"].text());
  pod.created_s = read_time_s(metadata["creationTimestamp"]);
  pod.started_s = read_optional_time_s(status["startTime"]);
  if (pod.terminal()) pod.ended_s = last_end_s(status["containerStatuses"]);
  pod.restarted = restarted(status["containerStatuses"]);
  pod.requests = read_pod_requests(spec, catalog, pod.problems);
  pod.intent = intent_of(metadata);
  pod.plan = plan_of(metadata["annotations"]);
  pod.admitted = admitted_of(metadata["annotations"]);
  read_notice_of(metadata["annotations"], pod);
  // Most pods of a cluster need no GPU: only their amounts matter, so only those are kept. An
  // unreadable pod might need one.
  if (pod.requests.wants_gpus() || !pod.problems.empty()) {
    pod.labels = read_labels(metadata["labels"]);
    pod.constraints = read_constraints(json, pod.key.ns);
    pod.device_slots = device_slots_of(metadata["annotations"]);
    const JsonView containers = status["containerStatuses"];
    if (pod.bound() && pod.phase == PodPhase::kPending) pod.not_starting = why_not_starting(status);
    pod.out_of_memory = out_of_memory(containers);
    pod.gpu_out_of_memory = gpu_out_of_memory(containers);
    const std::string main = main_container_of(spec, catalog);
    pod.image_digest = digest_of_container(containers, main);
    pod.began_s = start_of_container(containers, main);
    if (pod.owner && pod.owner->kind == "Job")
      pod.amounts = amounts_of(spec, gpu_container_of(spec, catalog));
  }
  return pod;
}

ContainerAmounts read_container_amounts(JsonView resources) {
  const JsonView requests = resources["requests"];
  const JsonView limits = resources["limits"];
  return {std::string(requests["cpu"].text()), std::string(limits["cpu"].text()),
          std::string(requests["memory"].text()), std::string(limits["memory"].text())};
}

Pod read_whole_pod(JsonView json, const GpuCatalog& catalog) {
  Pod pod = read_pod(json, catalog);
  std::vector<std::string> told;  // as `pod` has them
  pod.ask = std::make_shared<const PodAsk>(read_pod_ask(json["spec"], catalog, told));
  pod.labels = read_labels(json["metadata"]["labels"]);
  pod.constraints = read_constraints(json, pod.key.ns);
  return pod;
}

constexpr std::int64_t kMostIndexes = 100'000;  // that Kubernetes allows a Job

// "1,3-5" is 4. Of what is not written so, what comes before it counts.
std::int64_t count_of_indexes(std::string_view text) {
  std::int64_t count = 0;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const auto first = parse_int(part.substr(0, dash));
    const auto last = dash == part.npos ? first : parse_int(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMostIndexes) break;
    count += *last - *first + 1;
  }
  return count;
}

Job read_new_job(JsonView json, const GpuCatalog& catalog) {
  const JsonView metadata = json["metadata"];
  const JsonView spec = json["spec"];
  const JsonView pod_template = spec["template"];
  Job job;
  job.uid = read_uid(metadata);
  job.resource_version = std::string(metadata["resourceVersion"].text());
  job.generation = metadata["generation"].integer().value_or(0);
  job.key = read_key(metadata);
  job.owner = read_owner(metadata);
  job.parallelism = count_or(spec["parallelism"], 1);
  if (spec["completions"].present()) job.completions = count_or(spec["completions"], 1);
  job.indexed = spec["completionMode"].text() == "Indexed";
  job.suspended = spec["suspend"].is_true();
  const std::string_view manager = spec["managedBy"].text();
  job.kueue = metadata["labels"][kKueueQueueLabel].present() ||
              (!manager.empty() && manager != "kubernetes.io/job-controller");
  const JsonView annotations = metadata["annotations"];
  // Whoever has given it to Kueue since has taken it out of our queue.
  job.suspended_by_us =
      !job.kueue && annotations[contract::kSuspendedBy].text() == contract::kSuspendedByUs;
  job.managed = pod_template["metadata"]["labels"][kManagedLabel].text() == "true";
  job.deleting = metadata["deletionTimestamp"].present();
  job.names_node = !pod_template["spec"]["nodeName"].text().empty();
  job.holds_pods = job.names_node || pod_template["spec"]["schedulingGates"].items().count() > 0 ||
                   pod_template["spec"]["schedulingGroup"].present();
  job.owner_gang = read_owner_gang(metadata);
  job.created_s = read_time_s(metadata["creationTimestamp"]);
  read_template(pod_template, catalog, job);
  job.generate_name = std::string(metadata["generateName"].text());
  job.scheduler_name = std::string(pod_template["spec"]["schedulerName"].text());
  // Only the admission of pods resolves a rank: anybody may write a number into the template.
  job.priority_class = std::string(pod_template["spec"]["priorityClassName"].text());
  const auto own = intent_of(metadata);
  const auto inherited = intent_of(pod_template["metadata"]);
  if (own != nullptr && inherited != nullptr)
    job.intent = std::make_shared<const TaskIntent>(merge(*inherited, *own));
  else
    job.intent = own != nullptr ? own : inherited;
  job.plan = plan_of(annotations);
  job.admitted = admitted_of(annotations);
  job.original = original_of(annotations);
  job.preemptions = preemptions_of(annotations);
  job.progress = progress_of(annotations);
  job.calibration = calibration_of(metadata["labels"]);
  job.active_deadline_s = spec["activeDeadlineSeconds"].integer();
  if (const auto limit_s = parse_int(metadata["labels"][kKueueLimitLabel].text());
      limit_s && *limit_s > 0)
    job.kueue_limit_s = *limit_s;
  return job;
}

Job read_job(JsonView json, const GpuCatalog& catalog) {
  Job job = read_new_job(json, catalog);
  const JsonView status = json["status"];
  const JsonView conditions = status["conditions"];
  job.halted = has_condition(conditions, "Suspended", "True");
  job.finished = std::any_of(kEndsOfJob.begin(), kEndsOfJob.end(), [&](std::string_view end) {
    return has_condition(conditions, end, "True");
  });
  job.resumed = has_condition(conditions, "Suspended", "False");
  job.active = count_or(status["active"], 0);
  if (json["spec"]["podReplacementPolicy"].text() == "Failed")
    job.terminating = count_or(status["terminating"], 0);
  // Pods that have ended are no longer active, but counted only one update later.
  const JsonView uncounted = status["uncountedTerminatedPods"];
  job.succeeded = count_or(status["succeeded"], 0) +
                  static_cast<std::int64_t>(uncounted["succeeded"].items().count()) +
                  count_of_indexes(status["failedIndexes"].text());
  job.failed = count_or(status["failed"], 0) +
               static_cast<std::int64_t>(uncounted["failed"].items().count());
  job.started_s = read_optional_time_s(status["startTime"]);
  job.completed_s = read_optional_time_s(status["completionTime"]);
  if (!job.completed_s) job.completed_s = true_since_s(conditions, kWillSucceed);
  if (job.finished) job.ended_s = job.completed_s ? job.completed_s : end_of_job_s(conditions);
  return job;
}

Namespace read_namespace(JsonView json) {
  const JsonView metadata = json["metadata"];
  Namespace ns;
  ns.uid = read_uid(metadata);
  ns.key = read_key(metadata);
  ns.managed = metadata["labels"][kManagedLabel].text() == "true";
  ns.deleting = metadata["deletionTimestamp"].present();
  ns.resize = resize_mode_named(metadata["annotations"][contract::kResize].text());
  ns.pods = read_namespace_admission(metadata);
  return ns;
}

RuntimeClass read_runtime_class(JsonView json, const GpuCatalog& catalog) {
  std::vector<std::string> problems;
  RuntimeClass runtime;
  runtime.uid = read_uid(json["metadata"]);
  runtime.key = read_key(json["metadata"]);
  ResourceReader(catalog, problems)
      .apply(json["overhead"]["podFixed"], "overhead.podFixed", runtime.overhead);
  runtime.node_selector = read_labels(json["scheduling"]["nodeSelector"]);
  runtime.tolerations = read_tolerations(json["scheduling"]["tolerations"]);
  return runtime;
}

DeviceClass read_device_class(JsonView json) {
  return {read_uid(json["metadata"]), read_key(json["metadata"]),
          std::string(json["spec"]["extendedResourceName"].text())};
}

PriorityClass read_priority_class(JsonView json) {
  PriorityClass priority_class;
  priority_class.uid = read_uid(json["metadata"]);
  priority_class.key = read_key(json["metadata"]);
  priority_class.value = read_priority(json["value"]);
  priority_class.global_default = json["globalDefault"].is_true();
  priority_class.never_preempts = json["preemptionPolicy"].text() == "Never";
  return priority_class;
}

DisruptionBudget read_budget(JsonView json) {
  const JsonView metadata = json["metadata"];
  const JsonView selector = json["spec"]["selector"];
  const JsonView status = json["status"];
  DisruptionBudget budget;
  budget.uid = read_uid(metadata);
  budget.key = read_key(metadata);
  budget.selects_nothing = !selector.is_object();
  budget.match_labels = read_labels(selector["matchLabels"]);
  budget.match_expressions = read_match_expressions(selector["matchExpressions"]);
  budget.disruptions_allowed = count_or(status["disruptionsAllowed"], 0);
  for (const auto& [name, when] : status["disruptedPods"].fields())
    budget.disrupted_pods.emplace_back(name);
  return budget;
}

}  // namespace slackline::wire
