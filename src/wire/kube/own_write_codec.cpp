#include "wire/kube/own_write_codec.h"

#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"
#include "wire/kube/annotations.h"
#include "wire/kube/kube_common.h"
#include "wire/kube/object_decode.h"
#include "wire/kube/sealed_text.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kMergePatch = "application/merge-patch+json";
constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";
constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kFieldKey = "metadata.name";  // of matchFields

std::string_view word(MatchOperator op) {
  switch (op) {
    case MatchOperator::kIn:
      return "In";
    case MatchOperator::kNotIn:
      return "NotIn";
    case MatchOperator::kExists:
      return "Exists";
    case MatchOperator::kDoesNotExist:
      return "DoesNotExist";
    case MatchOperator::kGt:
      return "Gt";
    case MatchOperator::kLt:
      break;
  }
  return "Lt";
}

void write_requirements(JsonWriter& out, const NodeSelectorTerm& term, bool fields) {
  for (const MatchExpression& expression : term) {
    if ((expression.key == kFieldKey) != fields) continue;
    out.begin_object().field("key", expression.key).field("operator", word(expression.op));
    out.key("values").begin_array();
    for (const std::string& value : expression.values)
      out.string(value);
    out.end_array().end_object();
  }
}

void write_terms(JsonWriter& out, const std::vector<NodeSelectorTerm>& terms) {
  out.begin_array();
  for (const NodeSelectorTerm& term : terms) {
    out.begin_object();
    out.key("matchExpressions").begin_array();
    write_requirements(out, term, false);
    out.end_array().key("matchFields").begin_array();
    write_requirements(out, term, true);
    out.end_array().end_object();
  }
  out.end_array();
}

// One container among others is only found by a strategic patch, which costs the API server twice
// as much.
bool names_container(const OwnWrite& write) {
  return write.reshape && !write.reshape->container.empty();
}

void write_gpus(JsonWriter& out, const Reshape& shape) {
  out.key("containers").begin_array().begin_object().field("name", shape.container);
  out.key("resources").begin_object();
  for (const char* list : {"requests", "limits"})
    out.key(list).begin_object().field(shape.gpu_resource, std::to_string(shape.gpus)).end_object();
  out.end_object().end_object().end_array();
}

void write_affinity(JsonWriter& out, const std::vector<NodeSelectorTerm>& terms) {
  out.key("affinity").begin_object().key("nodeAffinity").begin_object();
  out.key("requiredDuringSchedulingIgnoredDuringExecution");
  if (terms.empty()) {
    out.null();
  } else {
    out.begin_object().key("nodeSelectorTerms");
    write_terms(out, terms);
    out.end_object();
  }
  out.end_object().end_object();
}

void write_template(JsonWriter& out, const OwnWrite& write) {
  out.key("template").begin_object();
  if (write.reshape && write.reshape->in_template) {
    // The containers read their shape through the downward API.
    out.key("metadata").begin_object().key("annotations").begin_object();
    out.field(contract::kNodes, std::to_string(write.reshape->parallelism));
    out.field(contract::kGpusPerNode, std::to_string(write.reshape->gpus));
    out.end_object().end_object();
  }
  out.key("spec").begin_object();
  if (names_container(write)) write_gpus(out, *write.reshape);
  if (write.affinity_terms) write_affinity(out, *write.affinity_terms);
  out.end_object().end_object();
}

using Mac = const MessageAuthenticator*;

void write_plan(JsonWriter& out, const OwnWrite& write, Mac mac) {
  out.key(contract::kPlan);
  if (!write.plan) {
    out.null();
    return;
  }
  PlanNote note = *write.plan;
  note.generation.reset();
  if (mac != nullptr && writes_job(write.kind)) note.generation = write.generation;
  const std::string text = encode_plan(note);
  out.string(mac == nullptr ? text : seal_plan(*mac, {write.key, write.uid}, text));
}

void write_job_metadata(JsonWriter& out, const OwnWrite& write, Mac mac) {
  out.key("metadata").begin_object();
  out.field("uid", write.uid.str()).field("resourceVersion", write.resource_version);
  out.key("annotations").begin_object();
  write_plan(out, write, mac);
  out.key(contract::kSuspendedBy);
  if (write.kind == OwnWriteKind::kSuspendJob)
    out.string(contract::kSuspendedByUs);
  else
    out.null();
  if (write.original) {
    out.key(contract::kOriginal);
    if (write.original->changed())
      out.string(encode_original(*write.original));
    else
      out.null();
  }
  out.end_object().end_object();
}

std::string job_plan_patch(const OwnWrite& write) {
  JsonWriter out;
  out.begin_object().key("metadata").begin_object();
  out.field("uid", write.uid.str()).field("resourceVersion", write.resource_version);
  out.key("annotations").begin_object().key(contract::kPlan).null();
  out.end_object().end_object().end_object();
  return out.take();
}

std::string job_patch(const OwnWrite& write, Mac mac) {
  JsonWriter out;
  out.begin_object();
  write_job_metadata(out, write, mac);
  out.key("spec").begin_object();
  out.field("suspend", write.kind == OwnWriteKind::kSuspendJob);
  if (write.reshape)
    out.field("parallelism", write.reshape->parallelism)
        .field("completions", write.reshape->parallelism);
  const bool shaped = write.reshape && write.reshape->in_template;
  if (shaped || write.affinity_terms) write_template(out, write);
  out.end_object().end_object();
  return out.take();
}

JsonWriter& begin_pod_patch(JsonWriter& out, const OwnWrite& write) {
  return out.begin_object().key("metadata").begin_object().field("uid", write.uid.str());
}

std::string pod_plan_patch(const OwnWrite& write, Mac mac) {
  JsonWriter out;
  begin_pod_patch(out, write).key("annotations").begin_object();
  write_plan(out, write, mac);
  out.end_object().end_object().end_object();
  return out.take();
}

std::string narrowing_patch(const OwnWrite& write) {
  JsonWriter out;
  begin_pod_patch(out, write).end_object();
  out.key("spec").begin_object();
  write_affinity(out, *write.affinity_terms);
  out.end_object().end_object();
  return out.take();
}

std::string nomination_patch(const OwnWrite& write) {
  JsonWriter out;
  begin_pod_patch(out, write).end_object();
  out.key("status").begin_object().key("nominatedNodeName");
  if (write.kind == OwnWriteKind::kNominate)
    out.string(write.node.str());
  else
    out.null();
  out.end_object().end_object();
  return out.take();
}

// Only pods without any other gate are lifted, so Slackline's is the first.
std::string lift_patch(const OwnWrite& write) {
  constexpr std::string_view kOurGate = "/spec/schedulingGates/0";
  JsonWriter out;
  const auto step = [&](std::string_view op, std::string_view path, std::string_view value) {
    out.begin_object().field("op", op).field("path", path);
    if (!value.empty()) out.field("value", value);
    out.end_object();
  };
  out.begin_array();
  step("test", "/metadata/uid", write.uid.str());
  step("test", std::string(kOurGate) + "/name", kGate);
  step("remove", kOurGate, "");
  out.end_array();
  return out.take();
}

}  // namespace

PatchBody encode_own_write(const OwnWrite& write, const MessageAuthenticator* mac) {
  switch (write.kind) {
    case OwnWriteKind::kReleaseJob:
    case OwnWriteKind::kOpenJob:
    case OwnWriteKind::kSuspendJob:
      return {names_container(write) ? kStrategicMergePatch : kMergePatch, "",
              job_patch(write, mac)};
    case OwnWriteKind::kClearPlan:
      return {kMergePatch, "", job_plan_patch(write)};
    case OwnWriteKind::kPlanPod:
      return {kMergePatch, "", pod_plan_patch(write, mac)};
    case OwnWriteKind::kNarrowPod:
      return {kMergePatch, "", narrowing_patch(write)};
    case OwnWriteKind::kNominate:
    case OwnWriteKind::kClearNomination:
      return {kMergePatch, "status", nomination_patch(write)};
    case OwnWriteKind::kLiftGate:
      break;
  }
  return {kJsonPatch, "", lift_patch(write)};
}

std::string encode_plan(const PlanNote& plan) {
  JsonWriter out;
  out.begin_object().field("id", plan.id).field("epoch", plan.epoch);
  out.field("shape", plan.shape.str()).field("type", plan.gpu_type.str());
  out.key("nodes").begin_array();
  for (const NodeName& node : plan.nodes)
    out.string(node.str());
  out.end_array();
  if (plan.promoted) out.field("promoted", true);
  if (plan.generation) out.field("generation", *plan.generation);
  out.end_object();
  return out.take();
}

std::string encode_original(const OriginalShape& original) {
  JsonWriter out;
  out.begin_object();
  if (original.parallelism) out.field("parallelism", *original.parallelism);
  if (original.gpus) out.field("gpus", *original.gpus);
  if (original.affinity_terms) {
    out.key("affinity");
    write_terms(out, *original.affinity_terms);
  }
  out.end_object();
  return out.take();
}

Result<OriginalShape> read_original(std::string_view text) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(text));
  if (!root.is_object())
    return fail(ErrorCode::kInvalidArgument, "not a JSON object; only Slackline writes it");
  OriginalShape original;
  original.parallelism = root["parallelism"].integer();
  original.gpus = root["gpus"].integer();
  if (original.parallelism.value_or(1) < 0 || original.parallelism.value_or(1) > kMaxPodCount)
    return fail(ErrorCode::kInvalidArgument, "parallelism is not possible for a Job");
  if (original.gpus.value_or(0) < 0 || original.gpus.value_or(0) > kMaxAmount)
    return fail(ErrorCode::kInvalidArgument, "gpus is larger than any machine, or negative");
  if (root["affinity"].is_array()) original.affinity_terms = read_term_list(root["affinity"]);
  return original;
}

Result<std::string> decode_written_version(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  const std::string_view version = root["metadata"]["resourceVersion"].text();
  if (version.empty())
    return fail(ErrorCode::kInvalidArgument, "the answer has no metadata.resourceVersion");
  return std::string(version);
}

}  // namespace slackline::wire
