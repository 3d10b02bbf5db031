// The changes of an admission as an RFC 6902 patch. A map or list that the object lacks is added
// whole, because `add` to a member of what is absent fails.
#include <algorithm>

#include "slackline/base/text.h"
#include "slackline/model/contract.h"
#include "wire/admission/admission_codec.h"
#include "wire/format/json_writer.h"
#include "wire/kube/admitted_codec.h"
#include "wire/kube/own_write_codec.h"

namespace slackline::wire {
namespace {

// A key as one segment of a JSON Pointer.
std::string pointer_segment(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

class PatchWriter {
 public:
  PatchWriter() { out_.begin_array(); }

  // `add` also replaces an existing member.
  JsonWriter& add(std::string_view path) {
    any_ = true;
    return out_.begin_object().field("op", "add").field("path", path).key("value");
  }
  void end() { out_.end_object(); }

  void text(std::string_view path, std::string_view value) {
    add(path).string(value);
    end();
  }
  void json(std::string_view path, std::string_view value) {
    add(path).raw(value);
    end();
  }
  void number(std::string_view path, std::int64_t value) {
    add(path).integer(value);
    end();
  }
  void remove(std::string_view path) {
    any_ = true;
    out_.begin_object().field("op", "remove").field("path", path).end_object();
  }
  void truth(std::string_view path) {
    add(path).boolean(true);
    end();
  }
  void pairs(const std::string& path, bool there, const Labels& pairs) {
    if (pairs.empty()) return;
    if (there) {
      for (const auto& [key, value] : pairs)
        text(format("{}/{}", path, pointer_segment(key)), value);
      return;
    }
    JsonWriter& out = add(path);
    out.begin_object();
    for (const auto& [key, value] : pairs)
      out.field(key, value);
    out.end_object();
    end();
  }

  std::string take() {
    if (!any_) return {};
    out_.end_array();
    return out_.take();
  }

 private:
  JsonWriter out_;
  bool any_ = false;
};

void write_variable(JsonWriter& out, const EnvVariable& variable) {
  out.begin_object().field("name", variable.name);
  if (variable.annotation.empty()) {
    out.field("value", variable.value).end_object();
    return;
  }
  out.key("valueFrom").begin_object().key("fieldRef").begin_object();
  out.field("apiVersion", "v1");
  out.field("fieldPath", format("metadata.annotations['{}']", variable.annotation));
  out.end_object().end_object().end_object();
}

void write_env(PatchWriter& patch, const std::string& spec, const PodFacts& pod,
               const std::vector<EnvVariable>& env) {
  for (std::size_t i = 0; i < pod.containers.size(); ++i) {
    const ContainerFacts& container = pod.containers[i];
    if (container.gpus.empty()) continue;
    std::vector<EnvVariable> missing;
    for (const EnvVariable& variable : env)
      if (std::find(container.env.begin(), container.env.end(), variable.name) ==
          container.env.end())
        missing.push_back(variable);
    if (missing.empty()) continue;
    const std::string path = format("{}/containers/{}/env", spec, i);
    if (container.has_env) {
      for (const EnvVariable& variable : missing) {
        write_variable(patch.add(path + "/-"), variable);
        patch.end();
      }
      continue;
    }
    JsonWriter& out = patch.add(path);
    out.begin_array();
    for (const EnvVariable& variable : missing)
      write_variable(out, variable);
    out.end_array();
    patch.end();
  }
}

void write_gate(PatchWriter& patch, const PodFacts& pod) {
  const bool there = !pod.gates.empty();
  JsonWriter& out = patch.add(there ? "/spec/schedulingGates/-" : "/spec/schedulingGates");
  if (!there) out.begin_array();
  out.begin_object().field("name", contract::kGate).end_object();
  if (!there) out.end_array();
  patch.end();
}

// The API server refuses a podFailurePolicy beside another podReplacementPolicy than Failed, and
// has filled that one in.
void write_failure_policy(PatchWriter& patch) {
  patch.text("/spec/podReplacementPolicy", "Failed");
  JsonWriter& out = patch.add("/spec/podFailurePolicy");
  out.begin_object().key("rules").begin_array().begin_object().field("action", "Ignore");
  out.key("onPodConditions").begin_array().begin_object();
  out.field("type", "DisruptionTarget").field("status", "True").end_object().end_array();
  out.end_object().end_array().end_object();
  patch.end();
}

// Requests of an extended resource equal its limits; the API server has filled in both.
void write_gpus(PatchWriter& patch, const GpuCountChange& change) {
  for (const std::string_view list : {"limits", "requests"})
    patch.text(format("/spec/containers/{}/resources/{}/{}", change.container, list,
                      pointer_segment(change.resource)),
               format("{}", change.count));
}

// Quantities that the container has; the API server has filled in requests from limits.
void write_amounts(PatchWriter& patch, const ContainerAmountsChange& change) {
  const ContainerAmounts& now = change.amounts;
  const auto write = [&](std::string_view list, std::string_view resource,
                         const std::string& quantity) {
    if (quantity.empty()) return;
    patch.text(format("/spec/containers/{}/resources/{}/{}", change.container, list, resource),
               quantity);
  };
  write("requests", "cpu", now.cpu_request.empty() ? now.cpu_limit : now.cpu_request);
  write("requests", "memory", now.memory_request.empty() ? now.memory_limit : now.memory_request);
  write("limits", "cpu", now.cpu_limit);
  write("limits", "memory", now.memory_limit);
}

// The API server has given the pod a priority already; it compares all three.
void write_priority(PatchWriter& patch, const PriorityChange& change) {
  patch.text("/spec/priorityClassName", change.priority_class);
  patch.number("/spec/priority", change.value);
  patch.text("/spec/preemptionPolicy", "Never");
}

void write_pod_spec(PatchWriter& patch, const std::string& spec, const PodFacts& pod,
                    const AdmissionChanges& changes) {
  if (!changes.scheduler_name.empty()) patch.text(spec + "/schedulerName", changes.scheduler_name);
  write_env(patch, spec, pod, changes.env);
}

void write_kept(PatchWriter& patch, const PodFacts& pod, const KeptShape& kept) {
  if (kept.pods) {
    patch.number("/spec/parallelism", *kept.pods);
    patch.number("/spec/completions", *kept.pods);
  }
  for (const auto& [container, resources] : kept.resources)
    patch.json(format("/spec/template/spec/containers/{}/resources", container), resources);
  if (!kept.affinity) return;
  if (!kept.affinity->empty())
    patch.json("/spec/template/spec/affinity", *kept.affinity);
  else if (!pod.affinity.empty())
    patch.remove("/spec/template/spec/affinity");
}

Labels annotations_of(const AdmissionChanges& changes) {
  Labels annotations = changes.annotations;
  if (changes.original)
    annotations.emplace_back(contract::kOriginal, encode_original(*changes.original));
  if (changes.admitted)
    annotations.emplace_back(contract::kAdmitted, encode_admitted(*changes.admitted));
  return annotations;
}

}  // namespace

std::string encode_json_patch(const AdmissionReview& review, const AdmissionChanges& changes) {
  PatchWriter patch;
  if (const auto* job = std::get_if<ReviewedJob>(&review.object)) {
    if (changes.suspend) patch.truth("/spec/suspend");
    if (changes.ignore_disruptions) write_failure_policy(patch);
    if (changes.wait_to_replace) patch.text("/spec/podReplacementPolicy", "Failed");
    for (const std::string_view key : changes.dropped)
      patch.remove("/metadata/annotations/" + pointer_segment(key));
    patch.pairs("/metadata/annotations", job->keys.has_annotations, annotations_of(changes));
    const ContractKeys& keys = job->pod.keys;
    const std::string metadata = "/spec/template/metadata";
    patch.pairs(metadata + "/labels", keys.has_labels, changes.template_labels);
    patch.pairs(metadata + "/annotations", keys.has_annotations, changes.template_annotations);
    write_pod_spec(patch, "/spec/template/spec", job->pod, changes);
    write_kept(patch, job->pod, changes.kept);
  } else if (const auto* pod = std::get_if<ReviewedPod>(&review.object)) {
    const ContractKeys& keys = pod->facts.keys;
    patch.pairs("/metadata/annotations", keys.has_annotations, annotations_of(changes));
    patch.pairs("/metadata/labels", keys.has_labels, changes.labels);
    if (changes.gate) write_gate(patch, pod->facts);
    write_pod_spec(patch, "/spec", pod->facts, changes);
    if (changes.gpus) write_gpus(patch, *changes.gpus);
    if (changes.amounts) write_amounts(patch, *changes.amounts);
    if (changes.priority) write_priority(patch, *changes.priority);
  }
  return patch.take();
}

}  // namespace slackline::wire
