#include "wire/rest/rest_encode.h"

#include "slackline/base/duration.h"
#include "wire/rest/decision_codec.h"

namespace slackline::wire {
namespace {

void strings(JsonWriter& out, std::string_view name, const std::vector<std::string>& values) {
  out.key(name).begin_array();
  for (const std::string& value : values)
    out.string(value);
  out.end_array();
}

void names(JsonWriter& out, std::string_view name, const std::vector<NodeName>& values) {
  out.key(name).begin_array();
  for (const NodeName& value : values)
    out.string(value.str());
  out.end_array();
}

template <class T>
void optional(JsonWriter& out, std::string_view name, const std::optional<T>& value) {
  if (value) out.field(name, *value);
}

void time(JsonWriter& out, std::string_view name, double epoch_s) {
  if (epoch_s > 0) out.field(name, format_rfc3339(epoch_s));
}

void gpus(JsonWriter& out, const std::vector<GpuUseView>& uses) {
  out.key("gpus").begin_array();
  for (const GpuUseView& use : uses)
    out.begin_object()
        .field("resource", use.resource)
        .field("sharing", use.sharing)
        .field("allocatable", use.allocatable)
        .field("used", use.used)
        .field("held", use.held)
        .field("free", use.free)
        .end_object();
  out.end_array();
}

}  // namespace

void encode(JsonWriter& out, const ClusterView& view) {
  out.begin_object()
      .field("mode", view.mode)
      .field("version", view.version)
      .field("snapshotVersion", view.snapshot_version);
  out.key("cache")
      .begin_object()
      .field("synced", view.synced)
      .field("stale", view.stale)
      .field("ageSeconds", view.cache_age_s)
      .field("detail", view.cache_detail)
      .end_object();
  out.field("nodes", view.nodes)
      .field("podsBound", view.pods_bound)
      .field("podsUnbound", view.pods_unbound)
      .field("jobs", view.jobs)
      .field("models", view.models);
  out.key("tasks").begin_object();
  for (const auto& [state, count] : view.tasks)
    out.field(state, count);
  out.end_object();
  out.key("pools").begin_array();
  for (const GpuPoolView& pool : view.pools) {
    out.begin_object()
        .field("gpuType", pool.gpu_type.str())
        .field("nodes", pool.nodes)
        .field("nodesUsable", pool.nodes_usable)
        .field("cost", pool.cost);
    gpus(out, pool.gpus);
    out.end_object();
  }
  out.end_array().end_object();
}

void encode(JsonWriter& out, const NodeView& view) {
  out.begin_object()
      .field("name", view.name.str())
      .field("gpuType", view.gpu_type.str())
      .field("ready", view.ready)
      .field("unschedulable", view.unschedulable);
  gpus(out, view.gpus);
  out.field("cpuMilliAllocatable", view.cpu_milli_allocatable)
      .field("cpuMilliUsed", view.cpu_milli_used)
      .field("memoryBytesAllocatable", view.memory_bytes_allocatable)
      .field("memoryBytesUsed", view.memory_bytes_used)
      .field("podsAllocatable", view.pods_allocatable)
      .field("pods", view.pods);
  strings(out, "gpuPods", view.gpu_pods);
  strings(out, "taints", view.taints);
  strings(out, "problems", view.problems);
  out.end_object();
}

void encode(JsonWriter& out, const TaskView& view) {
  out.begin_object()
      .field("kind", view.kind)
      .field("namespace", view.key.ns)
      .field("name", view.key.name)
      .field("uid", view.uid.str())
      .field("state", view.state)
      .field("model", view.model)
      .field("mode", view.mode)
      .field("qosClass", view.qos_class)
      .field("queue", view.queue)
      .field("gang", view.gang)
      .field("plan", view.plan_id)
      .field("shape", view.shape.str());
  strings(out, "placements", view.placements);
  strings(out, "gpuTypes", view.gpu_types);
  out.field("gpuResource", view.gpu_resource)
      .field("gpusPerPod", view.gpus_per_pod)
      .field("podsWanted", view.pods_wanted)
      .field("podsBound", view.pods_bound)
      .field("podsUnbound", view.pods_unbound)
      .field("priority", std::int64_t{view.priority});
  time(out, "created", view.created_s);
  if (view.deadline_s) time(out, "deadline", *view.deadline_s);
  optional(out, "batchSize", view.batch_size);
  optional(out, "iterations", view.iterations);
  optional(out, "expectedDurationSeconds", view.expected_duration_s);
  names(out, "nodes", view.nodes);
  strings(out, "problems", view.problems);
  out.end_object();
}

void encode_facts(JsonWriter& out, const ListFacts& facts) {
  for (const auto& [name, fact] : facts) {
    const auto* text = std::get_if<std::string>(&fact);
    if (text != nullptr && !text->empty()) out.field(name, *text);
    const auto* texts = std::get_if<std::vector<std::string>>(&fact);
    if (texts != nullptr && !texts->empty()) strings(out, name, *texts);
    const auto* number = std::get_if<std::int64_t>(&fact);
    if (number != nullptr) out.field(name, *number);
  }
}

void encode(JsonWriter& out, const ScoreView& view) {
  out.begin_object()
      .field("node", view.node.str())
      .field("gpuType", view.gpu_type.str())
      .field("passes", view.passes)
      .field("verdict", view.verdict)
      .field("message", view.message)
      .field("score", view.score)
      .field("rank", view.rank)
      .field("source", view.source)
      .field("extrapolated", view.extrapolated);
  if (view.feasible) out.field("feasible", *view.feasible);
  out.key("features").begin_object();
  for (const auto& [name, value] : view.features)
    out.field(name, value);
  out.end_object().end_object();
}

void encode(JsonWriter& out, const PlacementRow& row) {
  out.begin_object()
      .field("gpuType", row.gpu_type.str())
      .field("shape", row.shape.str())
      .field("throughputSamplesPerSecond", row.throughput_samples_per_s)
      .field("throughputLow", row.throughput_low)
      .field("throughputHigh", row.throughput_high)
      .field("source", row.source)
      .field("extrapolated", row.extrapolated)
      .field("latSeconds", row.latency_s)
      .field("cost", row.cost)
      .field("cer", row.cer);
  out.key("feasible");
  if (row.feasible)
    out.boolean(*row.feasible);
  else
    out.null();
  out.field("allowed", row.allowed)
      .field("fitsNow", row.fits_now)
      .field("written", row.written)
      .field("reason", row.reason)
      .end_object();
}

void encode(JsonWriter& out, const DecisionRow& row) {
  out.begin_object()
      .field("id", row.id)
      .field("schemaVersion", row.schema_version)
      .field("time", format_rfc3339(row.time_s))
      .field("verb", to_string(row.verb))
      .field("podUid", row.pod_uid.str())
      .field("namespace", row.pod.ns)
      .field("name", row.pod.name)
      .field("plan", row.plan_id)
      .field("policy", row.policy)
      .field("optionsHash", row.options_hash)
      .field("snapshotVersion", row.snapshot_version)
      .field("nodesAsked", std::int64_t{row.nodes_asked})
      .field("result", row.result)
      .field("durationMicroseconds", row.duration_us);
  out.key("reasons").raw(encode_reasons(row.reasons));
  out.key("candidates").raw(encode_candidates(row.candidates));
  if (row.outcome)
    out.key("outcome")
        .begin_object()
        .field("node", row.outcome->node)
        .field("boundAt", format_rfc3339(row.outcome->bound_s))
        .end_object();
  out.end_object();
}

}  // namespace slackline::wire
