#include "wire/kube/own_write_codec.h"

#include <cmath>

#include "slackline/base/duration.h"
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
bool names_container(const ShapeChange& shape) {
  return (shape.reshape && !shape.reshape->container.empty()) || shape.amounts;
}

// What it does not have is not added.
void write_quantity(JsonWriter& out, std::string_view resource, const std::string& quantity) {
  if (!quantity.empty()) out.field(resource, quantity);
}

void write_resources(JsonWriter& out, const ShapeChange& shape) {
  const bool gpus = shape.reshape && !shape.reshape->container.empty();
  out.key("containers").begin_array().begin_object();
  out.field("name", gpus ? shape.reshape->container : shape.amounts->container);
  out.key("resources").begin_object();
  for (const bool limits : {false, true}) {
    out.key(limits ? "limits" : "requests").begin_object();
    if (gpus) out.field(shape.reshape->gpu_resource, std::to_string(shape.reshape->gpus));
    if (shape.amounts) {
      const ContainerAmounts& amounts = shape.amounts->amounts;
      write_quantity(out, "cpu", limits ? amounts.cpu_limit : amounts.cpu_request);
      write_quantity(out, "memory", limits ? amounts.memory_limit : amounts.memory_request);
    }
    out.end_object();
  }
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

void write_template(JsonWriter& out, const ShapeChange& shape) {
  out.key("template").begin_object();
  const bool reshaped = shape.reshape && shape.reshape->in_template;
  if (reshaped || !shape.band.empty()) {
    out.key("metadata").begin_object().key("annotations").begin_object();
    // The containers read their shape through the downward API.
    if (reshaped)
      out.field(contract::kNodes, std::to_string(shape.reshape->parallelism))
          .field(contract::kGpusPerNode, std::to_string(shape.reshape->gpus));
    if (!shape.band.empty()) out.field(contract::kBand, shape.band);
    out.end_object().end_object();
  }
  out.key("spec").begin_object();
  if (names_container(shape)) write_resources(out, shape);
  if (shape.affinity_terms) write_affinity(out, *shape.affinity_terms);
  out.end_object().end_object();
}

using Mac = const MessageAuthenticator*;

void write_plan(JsonWriter& out, const Target& target, PlanNote plan,
                std::optional<std::int64_t> generation, Mac mac) {
  plan.generation = mac != nullptr ? generation : std::nullopt;
  const std::string text = encode_plan(plan);
  out.key(contract::kPlan);
  out.string(mac == nullptr ? text : seal_plan(*mac, {target.key, target.uid}, text));
}

// Up to the annotations, which stay open.
void begin_job_patch(JsonWriter& out, const Target& target) {
  out.begin_object().key("metadata").begin_object();
  out.field("uid", target.uid.str()).field("resourceVersion", target.resource_version);
  out.key("annotations").begin_object();
}

// From the annotation `original` on: the Job runs, in this shape.
PatchBody finish_running_job(JsonWriter& out, const ShapeChange& shape) {
  out.key(contract::kSuspendedBy).null();
  out.key(contract::kForecast).null();
  if (shape.original) {
    out.key(contract::kOriginal);
    if (shape.original->changed())
      out.string(encode_original(*shape.original));
    else
      out.null();
  }
  out.end_object().end_object();
  out.key("spec").begin_object().field("suspend", false);
  if (shape.reshape && shape.reshape->parallelism > 0)
    out.field("parallelism", shape.reshape->parallelism)
        .field("completions", shape.reshape->parallelism);
  const bool in_template = shape.reshape && shape.reshape->in_template;
  if (in_template || shape.affinity_terms || shape.amounts || !shape.band.empty())
    write_template(out, shape);
  out.end_object().end_object();
  return {names_container(shape) ? kStrategicMergePatch : kMergePatch, "", out.take()};
}

PatchBody patch_of(const Target& target, const ReleaseJob& release, Mac mac) {
  JsonWriter out;
  begin_job_patch(out, target);
  write_plan(out, target, *release.plan, release.generation, mac);
  return finish_running_job(out, release.shape);
}

PatchBody patch_of(const Target& target, const OpenJob& open, Mac /*mac*/) {
  JsonWriter out;
  begin_job_patch(out, target);
  out.key(contract::kPlan).null();
  return finish_running_job(out, open.shape);
}

// From the end of the annotations on.
PatchBody finish_suspended_job(JsonWriter& out) {
  out.key(contract::kPlan).null();
  out.field(contract::kSuspendedBy, contract::kSuspendedByUs);
  out.end_object().end_object();
  out.key("spec").begin_object().field("suspend", true);
  out.end_object().end_object();
  return {kMergePatch, "", out.take()};
}

PatchBody patch_of(const Target& target, const SuspendJob& /*suspend*/, Mac /*mac*/) {
  JsonWriter out;
  begin_job_patch(out, target);
  return finish_suspended_job(out);
}

PatchBody patch_of(const Target& target, const StopJob& stop, Mac mac) {
  JsonWriter out;
  begin_job_patch(out, target);
  const std::string text = encode_preemptions(*stop.preemptions);
  out.key(contract::kPreemptions);
  out.string(mac == nullptr ? text : seal_preemptions(*mac, {target.key, target.uid}, text));
  return finish_suspended_job(out);
}

PatchBody patch_of(const Target& target, const ClearPlan& /*clear*/, Mac /*mac*/) {
  JsonWriter out;
  begin_job_patch(out, target);
  out.key(contract::kPlan).null();
  out.end_object().end_object().end_object();
  return {kMergePatch, "", out.take()};
}

PatchBody patch_of(const Target& target, const EndCalibration& /*end*/, Mac /*mac*/) {
  JsonWriter out;
  out.begin_object().key("metadata").begin_object();
  out.field("uid", target.uid.str()).field("resourceVersion", target.resource_version);
  out.end_object().key("spec").begin_object();
  out.field("activeDeadlineSeconds", kEndedBy_s).end_object().end_object();
  return {kMergePatch, "", out.take()};
}

PatchBody patch_of(const Target& target, const RemoveCalibration& /*remove*/, Mac /*mac*/) {
  JsonWriter out;
  out.begin_object().field("apiVersion", "v1").field("kind", "DeleteOptions");
  out.field("propagationPolicy", "Background").key("preconditions").begin_object();
  out.field("uid", target.uid.str()).field("resourceVersion", target.resource_version);
  out.end_object().end_object();
  return {"application/json", "", out.take(), "DELETE"};
}

JsonWriter& begin_pod_patch(JsonWriter& out, const Target& target) {
  return out.begin_object().key("metadata").begin_object().field("uid", target.uid.str());
}

PatchBody patch_of(const Target& target, const PlanPod& planned, Mac mac) {
  JsonWriter out;
  begin_pod_patch(out, target).key("annotations").begin_object();
  write_plan(out, target, *planned.plan, std::nullopt, mac);
  out.end_object().end_object().end_object();
  return {kMergePatch, "", out.take()};
}

PatchBody patch_of(const Target& target, const UnplanPod& /*unplan*/, Mac /*mac*/) {
  JsonWriter out;
  begin_pod_patch(out, target).key("annotations").begin_object().key(contract::kPlan).null();
  out.end_object().end_object().end_object();
  return {kMergePatch, "", out.take()};
}

PatchBody patch_of(const Target& target, const NarrowPod& narrow, Mac /*mac*/) {
  JsonWriter out;
  begin_pod_patch(out, target).end_object();
  out.key("spec").begin_object();
  write_affinity(out, narrow.affinity_terms);
  out.end_object().end_object();
  return {kMergePatch, "", out.take()};
}

JsonWriter& begin_nomination(JsonWriter& out, const Target& target) {
  begin_pod_patch(out, target).end_object();
  return out.key("status").begin_object().key("nominatedNodeName");
}

PatchBody patch_of(const Target& target, const Nominate& nominate, Mac /*mac*/) {
  JsonWriter out;
  begin_nomination(out, target).string(nominate.node.str()).end_object().end_object();
  return {kMergePatch, "status", out.take()};
}

PatchBody patch_of(const Target& target, const ClearNomination& /*clear*/, Mac /*mac*/) {
  JsonWriter out;
  begin_nomination(out, target).null().end_object().end_object();
  return {kMergePatch, "status", out.take()};
}

// Only pods without any other gate are lifted, so Slackline's is the first.
PatchBody patch_of(const Target& target, const LiftGate& /*lift*/, Mac /*mac*/) {
  constexpr std::string_view kOurGate = "/spec/schedulingGates/0";
  JsonWriter out;
  const auto step = [&](std::string_view op, std::string_view path, std::string_view value) {
    out.begin_object().field("op", op).field("path", path);
    if (!value.empty()) out.field("value", value);
    out.end_object();
  };
  out.begin_array();
  step("test", "/metadata/uid", target.uid.str());
  step("test", std::string(kOurGate) + "/name", kGate);
  step("remove", kOurGate, "");
  out.end_array();
  return {kJsonPatch, "", out.take()};
}

PatchBody patch_of(const Target& target, const TellOfStop& tell, Mac mac) {
  JsonWriter out;
  begin_pod_patch(out, target).key("annotations").begin_object();
  out.field(contract::kPreemptAt, format_rfc3339(tell.notice->at_s));
  const std::string text = encode_notice(*tell.notice);
  out.key(contract::kPreemptFor);
  out.string(mac == nullptr ? text : seal_notice(*mac, {target.key, target.uid}, text));
  out.end_object().end_object().end_object();
  return {kMergePatch, "", out.take()};
}

PatchBody patch_of(const Target& target, const TakeBackStop& /*take_back*/, Mac /*mac*/) {
  JsonWriter out;
  begin_pod_patch(out, target).key("annotations").begin_object();
  out.key(contract::kPreemptAt).null();
  out.key(contract::kPreemptFor).null();
  out.end_object().end_object().end_object();
  return {kMergePatch, "", out.take()};
}

PatchBody patch_of(const Target& target, const EvictPod& /*evict*/, Mac /*mac*/) {
  JsonWriter out;
  out.begin_object().field("apiVersion", "policy/v1").field("kind", "Eviction");
  out.key("metadata").begin_object();
  out.field("name", target.key.name).field("namespace", target.key.ns).end_object();
  out.key("deleteOptions").begin_object().key("preconditions").begin_object();
  out.field("uid", target.uid.str()).end_object().end_object().end_object();
  return {"application/json", "eviction", out.take(), "POST"};
}

void write_nodes(JsonWriter& out, const std::vector<NodeName>& nodes) {
  out.key("nodes").begin_array();
  for (const NodeName& node : nodes)
    out.string(node.str());
  out.end_array();
}

// Absent, or impossible: 0.
double read_amount(JsonView value) {
  const double amount = value.number().value_or(0);
  return std::isfinite(amount) ? std::max(0.0, amount) : 0;
}

Result<PreemptionNote::GoesOn> read_goes_on(JsonView told) {
  PreemptionNote::GoesOn on;
  const auto shape = parse_placement(told["shape"].text());
  const auto from = parse_placement(told["from"].text());
  if (!shape || !from) return fail(ErrorCode::kInvalidArgument, "no shape in which it goes on");
  on.shape = *shape;
  on.from = *from;
  on.gpu_type = GpuType(std::string(told["type"].text()));
  for (const JsonView node : told["nodes"].items())
    on.nodes.emplace_back(node.text());
  return on;
}

void write_amounts(JsonWriter& out, std::string_view key, const ContainerAmounts& amounts) {
  out.key(key).begin_object();
  write_quantity(out, "cpuRequest", amounts.cpu_request);
  write_quantity(out, "cpuLimit", amounts.cpu_limit);
  write_quantity(out, "memoryRequest", amounts.memory_request);
  write_quantity(out, "memoryLimit", amounts.memory_limit);
  out.end_object();
}

// Quantities that somebody else wrote there could be anything.
constexpr std::size_t kLongestQuantity = 64;

std::optional<ContainerAmounts> read_amounts(JsonView told) {
  if (!told.is_object()) return std::nullopt;
  ContainerAmounts amounts;
  for (const auto& [key, quantity] :
       {std::pair("cpuRequest", &amounts.cpu_request), std::pair("cpuLimit", &amounts.cpu_limit),
        std::pair("memoryRequest", &amounts.memory_request),
        std::pair("memoryLimit", &amounts.memory_limit)})
    *quantity = std::string(told[key].text().substr(0, kLongestQuantity));
  return amounts;
}

void write_resize(JsonWriter& out, const ResizeNote& resize) {
  out.key("resize").begin_object().field("asked", resize.asked.str());
  if (resize.shape) out.field("shape", resize.shape->str());
  if (resize.amounts) write_amounts(out, "amounts", *resize.amounts);
  if (resize.expected_s > 0) out.field("expectedSeconds", resize.expected_s);
  if (resize.trial) out.field("trial", true);
  out.end_object();
}

}  // namespace

std::optional<ResizeNote> read_resize_note(JsonView json) {
  const auto asked = parse_placement(json["asked"].text());
  if (!asked) return std::nullopt;
  ResizeNote resize;
  resize.asked = *asked;
  if (const auto shape = parse_placement(json["shape"].text())) resize.shape = *shape;
  resize.amounts = read_amounts(json["amounts"]);
  const double expected_s = json["expectedSeconds"].number().value_or(0);
  if (std::isfinite(expected_s) && expected_s > 0) resize.expected_s = expected_s;
  resize.trial = json["trial"].is_true();
  return resize;
}

PatchBody encode_own_write(const OwnWrite& write, const MessageAuthenticator* mac) {
  const auto of_kind = [&](const auto& kind) { return patch_of(write.target, kind, mac); };
  return std::visit([&](const auto& group) { return std::visit(of_kind, group); }, write.change);
}

std::string encode_plan(const PlanNote& plan) {
  JsonWriter out;
  out.begin_object().field("id", plan.id).field("epoch", plan.epoch);
  out.field("shape", plan.shape.str()).field("type", plan.gpu_type.str());
  write_nodes(out, plan.nodes);
  if (plan.promoted) out.field("promoted", true);
  if (plan.predicted_s) out.field("predictedSeconds", *plan.predicted_s);
  if (plan.checkpoint_interval_s) out.field("checkpointSeconds", *plan.checkpoint_interval_s);
  if (plan.work_s) out.field("workSeconds", *plan.work_s);
  if (!plan.asked.empty()) out.field("asked", plan.asked);
  if (plan.generation) out.field("generation", *plan.generation);
  if (plan.resize) write_resize(out, *plan.resize);
  if (!plan.band.empty()) out.field("band", plan.band);
  if (plan.later > 0) out.field("later", plan.later);
  out.end_object();
  return out.take();
}

std::string encode_terms(const std::vector<NodeSelectorTerm>& terms) {
  JsonWriter out;
  write_terms(out, terms);
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
  if (original.amounts) write_amounts(out, "amounts", *original.amounts);
  if (original.given.gpus || original.given.amounts) {
    out.key("given").begin_object();
    if (original.given.gpus) out.field("gpus", *original.given.gpus);
    if (original.given.amounts) write_amounts(out, "amounts", *original.given.amounts);
    out.end_object();
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
  original.amounts = read_amounts(root["amounts"]);
  original.given.gpus = root["given"]["gpus"].integer();
  original.given.amounts = read_amounts(root["given"]["amounts"]);
  return original;
}

std::string encode_preemptions(const PreemptionNote& note) {
  JsonWriter out;
  out.begin_object().field("count", note.count).field("left", note.left);
  out.field("lostGpuSeconds", note.lost_gpu_s).field("at", format_rfc3339(note.at_s));
  write_nodes(out, note.nodes);
  out.key("charged").begin_array();
  for (const PreemptionNote::Charge& charge : note.charges)
    out.begin_object()
        .field("queue", charge.queue)
        .field("at", format_rfc3339(charge.at_s))
        .field("gpuSeconds", charge.gpu_s)
        .field("stop", charge.stop)
        .end_object();
  out.end_array();
  if (note.disruptions > 0) out.field("disruptions", note.disruptions);
  if (!note.by.empty()) out.field("by", note.by);
  if (note.goes_on) {
    out.key("goesOn").begin_object().field("shape", note.goes_on->shape.str());
    out.field("type", note.goes_on->gpu_type.str()).field("from", note.goes_on->from.str());
    write_nodes(out, note.goes_on->nodes);
    out.end_object();
  }
  if (note.slow) {
    out.key("slow").begin_object().field("at", format_rfc3339(note.slow->at_s));
    write_nodes(out, note.slow->nodes);
    out.end_object();
  }
  if (note.too_small != ResizeFailure::kNone) out.field("tooSmall", to_string(note.too_small));
  if (note.first_start_s > 0)
    out.field("firstStart", format_rfc3339(note.first_start_s))
        .field("heldSeconds", note.held_s)
        .field("heldGpuSeconds", note.held_gpu_s);
  out.end_object();
  return out.take();
}

Result<PreemptionNote> read_preemptions(std::string_view annotation) {
  PreemptionNote note;
  const SealedText sealed = split_seal(annotation);
  note.text = sealed.text;
  note.code = sealed.code;
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(note.text));
  note.count = root["count"].integer().value_or(0);
  note.left = root["left"].number().value_or(0);
  note.lost_gpu_s = root["lostGpuSeconds"].number().value_or(0);
  note.at_s = read_time_s(root["at"]);
  for (const JsonView node : root["nodes"].items())
    note.nodes.emplace_back(node.text());
  for (const JsonView charge : root["charged"].items()) {
    if (note.charges.size() == kMostCharges) break;
    const double gpu_s = charge["gpuSeconds"].number().value_or(0);
    if (!(gpu_s > 0)) continue;
    note.charges.push_back({std::string(charge["queue"].text()), read_time_s(charge["at"]), gpu_s,
                            charge["stop"].integer().value_or(0)});
  }
  note.disruptions = std::clamp<std::int64_t>(root["disruptions"].integer().value_or(0), 0,
                                              std::max<std::int64_t>(0, note.count));
  note.by = std::string(root["by"].text());
  if (root["goesOn"].present()) {
    SLACKLINE_ASSIGN(note.goes_on, read_goes_on(root["goesOn"]));
  }
  if (root["slow"].present()) {
    note.slow = PreemptionNote::SlowRun{.nodes = {}, .at_s = read_time_s(root["slow"]["at"])};
    for (const JsonView node : root["slow"]["nodes"].items())
      note.slow->nodes.emplace_back(node.text());
  }
  note.too_small = resize_failure_named(root["tooSmall"].text());
  note.first_start_s = read_time_s(root["firstStart"]);
  note.held_s = read_amount(root["heldSeconds"]);
  note.held_gpu_s = read_amount(root["heldGpuSeconds"]);
  const bool possible = note.count > 0 && note.count <= kMaxAmount && note.left > 0 &&
                        note.left <= 1 && note.lost_gpu_s >= 0 && std::isfinite(note.lost_gpu_s);
  if (!possible)
    return fail(ErrorCode::kInvalidArgument, "not what Slackline notes of a preemption");
  return note;
}

std::string encode_notice(const StopNotice& notice) {
  JsonWriter out;
  out.begin_object().field("at", format_rfc3339(notice.at_s));
  out.field("namespace", notice.asker.ns).field("name", notice.asker.name);
  out.field("uid", notice.asker_uid.str()).end_object();
  return out.take();
}

Result<StopNotice> read_notice(std::string_view annotation) {
  StopNotice notice;
  SealedText sealed = split_seal(annotation);
  notice.text = std::move(sealed.text);
  notice.code = std::move(sealed.code);
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(notice.text));
  notice.at_s = read_time_s(root["at"]);
  notice.asker = {std::string(root["namespace"].text()), std::string(root["name"].text())};
  notice.asker_uid = Uid(std::string(root["uid"].text()));
  if (notice.at_s <= 0 || notice.asker.name.empty())
    return fail(ErrorCode::kInvalidArgument, "not what Slackline tells of a stop");
  return notice;
}

Result<std::string> decode_written_version(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  const std::string_view version = root["metadata"]["resourceVersion"].text();
  if (version.empty())
    return fail(ErrorCode::kUnavailable, "the answer has no metadata.resourceVersion");
  return std::string(version);
}

}  // namespace slackline::wire
