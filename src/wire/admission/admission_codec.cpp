#include "wire/admission/admission_codec.h"

#include <algorithm>
#include <utility>

#include "slackline/base/base64.h"
#include "slackline/base/text.h"
#include "slackline/model/contract.h"
#include "wire/format/json_copy.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"
#include "wire/kube/kube_common.h"
#include "wire/kube/object_decode.h"
#include "wire/kube/token_review_codec.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kVersion = "admission.k8s.io/v1";
constexpr std::size_t kMaxContainers = 1024;

Labels keys_of_ours(JsonView map) {
  Labels keys = read_labels(map);
  std::erase_if(keys, [](const auto& key) { return !key.first.starts_with(contract::kPrefix); });
  return keys;
}

ContractKeys read_keys(JsonView metadata) {
  return {metadata["annotations"].is_object(), metadata["labels"].is_object(),
          keys_of_ours(metadata["annotations"]), keys_of_ours(metadata["labels"])};
}

ContainerFacts read_container(JsonView container, const GpuCatalog& catalog) {
  ContainerFacts facts;
  facts.has_env = container["env"].is_array();
  for (const JsonView variable : container["env"].items())
    facts.env.emplace_back(variable["name"].text());
  std::vector<std::string> unreadable;  // the Job's and the pod's own requests report these
  Resources limits;
  ResourceReader(catalog, unreadable).apply(container["resources"]["limits"], "limits", limits);
  facts.gpus = std::move(limits.gpus);
  facts.amounts = read_container_amounts(container["resources"]);
  return facts;
}

PodFacts read_facts(JsonView metadata, JsonView spec, const GpuCatalog& catalog) {
  PodFacts facts;
  facts.keys = read_keys(metadata);
  facts.scheduler_name = std::string(spec["schedulerName"].text());
  for (const JsonView container : spec["containers"].items())
    if (facts.containers.size() < kMaxContainers)
      facts.containers.push_back(read_container(container, catalog));
  for (const JsonView gate : spec["schedulingGates"].items())
    facts.gates.emplace_back(gate["name"].text());
  facts.priority_class = std::string(spec["priorityClassName"].text());
  facts.has_scheduling_group = spec["schedulingGroup"].present();
  return facts;
}

// What an update of a running Job may have changed of what Slackline wrote.
void read_written(JsonView spec, const GpuCatalog& catalog, PodFacts& facts) {
  const auto amounts = [&](std::string_view key) {
    return key == "cpu" || key == "memory" || catalog.resource(key) != nullptr;
  };
  std::size_t at = 0;
  for (const JsonView container : spec["containers"].items()) {
    if (at == facts.containers.size()) break;
    facts.containers[at].resources = json_without(container["resources"], {});
    facts.containers[at++].other_resources = json_without(container["resources"], amounts);
  }
  facts.affinity = json_without(spec["affinity"], {});
  const auto is = [](std::string_view name) {
    return [name](std::string_view key) { return key == name; };
  };
  facts.other_affinity = json_without(spec["affinity"], is("nodeAffinity")) +
                         json_without(spec["affinity"]["nodeAffinity"],
                                      is("requiredDuringSchedulingIgnoredDuringExecution"));
}

ReviewedJob read_reviewed_job(JsonView json, AdmissionOperation operation,
                              const GpuCatalog& catalog) {
  ReviewedJob out;
  out.job = operation == AdmissionOperation::kCreate ? read_new_job(json, catalog)
                                                     : read_job(json, catalog);
  out.keys = read_keys(json["metadata"]);
  const JsonView pod_template = json["spec"]["template"];
  out.pod = read_facts(pod_template["metadata"], pod_template["spec"], catalog);
  if (out.job.plan) read_written(pod_template["spec"], catalog, out.pod);
  out.may_ignore_disruptions = pod_template["spec"]["restartPolicy"].text() == "Never" &&
                               !json["spec"]["podFailurePolicy"].present();
  out.must_wait_to_replace = json["spec"]["podReplacementPolicy"].text() == "Failed" &&
                             json["spec"]["podFailurePolicy"].present();
  return out;
}

ReviewedPod read_reviewed_pod(JsonView json, const GpuCatalog& catalog) {
  const JsonView labels = json["metadata"]["labels"];
  return {read_pod(json, catalog), read_facts(json["metadata"], json["spec"], catalog),
          labels[kKueueQueueLabel].present() || labels[kKueuePodSetLabel].present(),
          labels["training.kubeflow.org/job-role"].text() == "launcher"};
}

using Object = decltype(AdmissionReview::object);

Object read_object(JsonView request, JsonView object, AdmissionOperation operation,
                   const GpuCatalog& catalog) {
  if (!object.is_object()) return std::monostate();
  // `kind` is the object's; under matchPolicy Equivalent it may differ from the requested one.
  const JsonView kind = request["kind"];
  const auto is = [&](std::string_view group, std::string_view name) {
    return kind["group"].text() == group && kind["version"].text() == "v1" &&
           kind["kind"].text() == name && request["subResource"].text().empty();
  };
  if (is("batch", "Job")) return read_reviewed_job(object, operation, catalog);
  if (is("", "Pod")) return read_reviewed_pod(object, catalog);
  return std::monostate();
}

AdmissionOperation read_operation(std::string_view text) {
  if (text == "CREATE") return AdmissionOperation::kCreate;
  if (text == "UPDATE") return AdmissionOperation::kUpdate;
  return AdmissionOperation::kOther;
}

void write_response(JsonWriter& out, const AdmissionReview& review,
                    const AdmissionDecision& decision) {
  constexpr std::size_t kMaxWarnings = 16;
  constexpr std::size_t kMaxWarningBytes = 250;
  out.field("uid", review.uid).field("allowed", !decision.refusal.has_value());
  if (decision.refusal) {
    out.key("status").begin_object();
    out.field("code", 403).field("reason", "Forbidden");
    out.field("message",
              format("{} ({})", decision.refusal->message, decision.refusal->reason.str()));
    out.end_object();
  } else if (const std::string patch = encode_json_patch(review, decision.changes);
             !patch.empty()) {
    out.field("patchType", "JSONPatch").field("patch", encode_base64(patch));
  }
  if (decision.warnings.empty()) return;
  out.key("warnings").begin_array();
  for (std::size_t i = 0; i < std::min(decision.warnings.size(), kMaxWarnings); ++i)
    out.string(printable(decision.warnings[i], kMaxWarningBytes));
  out.end_array();
}

}  // namespace

Result<AdmissionReview> decode_admission(std::string_view json, const GpuCatalog& catalog) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  if (root["kind"].text() != "AdmissionReview" || root["apiVersion"].text() != kVersion)
    return fail(ErrorCode::kInvalidArgument,
                format("this is \"{}\" of \"{}\", expected an AdmissionReview of {}; set "
                       "admissionReviewVersions: [v1] in the webhook configuration",
                       printable(root["kind"].text(), 64), printable(root["apiVersion"].text(), 64),
                       kVersion));
  const JsonView request = root["request"];
  AdmissionReview review;
  review.uid = std::string(request["uid"].text());
  if (review.uid.empty()) return fail(ErrorCode::kInvalidArgument, "request.uid is missing");
  review.operation = read_operation(request["operation"].text());
  review.ns = std::string(request["namespace"].text());
  review.dry_run = request["dryRun"].is_true();
  review.user = read_requester(request["userInfo"]);
  review.object = read_object(request, request["object"], review.operation, catalog);
  review.old_object = read_object(request, request["oldObject"], review.operation, catalog);
  return review;
}

Result<AdmissionReview> review_of_creation(std::string_view object, const std::string& ns,
                                           const GpuCatalog& catalog) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(object));
  AdmissionReview review;
  review.operation = AdmissionOperation::kCreate;
  review.ns = ns;
  review.dry_run = true;
  if (root["kind"].text() == "Job")
    review.object = read_reviewed_job(root, review.operation, catalog);
  else
    review.object = read_reviewed_pod(root, catalog);
  return review;
}

std::string encode_admission(const AdmissionReview& review, const AdmissionDecision& decision) {
  JsonWriter out(512);
  out.begin_object().field("apiVersion", kVersion).field("kind", "AdmissionReview");
  out.key("response").begin_object();
  write_response(out, review, decision);
  out.end_object().end_object();
  return out.take();
}

}  // namespace slackline::wire
