#include "wire/kube/calibration_codec.h"

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "slackline/base/text.h"
#include "slackline/model/contract.h"
#include "slackline/model/pod.h"
#include "wire/format/json_view.h"
#include "wire/kube/own_write_codec.h"

namespace slackline::wire {
namespace {

using JobJson = nlohmann::json;

constexpr std::int64_t kKept_s = 86400;  // what it has used counts for a day

std::string our_key(std::string_view name) {
  return std::string(contract::kPrefix) + std::string(name);
}

bool is_ours(const std::string& key) {
  return key.starts_with(contract::kPrefix);
}

// The Job controller gives these to every template.
bool is_of_the_controller(const std::string& key) {
  return key == "controller-uid" || key == "job-name" || key.starts_with("batch.kubernetes.io/");
}

JobJson& object_in(JobJson& parent, const char* key) {
  JobJson& child = parent[key];
  if (!child.is_object()) child = JobJson::object();
  return child;
}

template <class Unwanted>
void drop_keys(JobJson& object, Unwanted unwanted) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items())
    if (unwanted(key)) keys.push_back(key);
  for (const std::string& key : keys)
    object.erase(key);
}

void set_variable(JobJson& container, const char* name, const std::string& value) {
  JobJson& variables = container["env"];
  if (!variables.is_array()) variables = JobJson::array();
  JobJson kept = JobJson::array();
  for (JobJson& variable : variables)
    if (!variable.is_object() || variable.value("name", JobJson()) != name)
      kept.push_back(std::move(variable));
  kept.push_back({{"name", name}, {"value", value}});
  variables = std::move(kept);
}

JobJson annotations_of(const CalibrationOrder& order) {
  const TaskIntent& intent = *order.from->intent;
  JobJson annotations = {
      {std::string(contract::kModel), *intent.model},
      {our_key("batch-size"), std::to_string(*intent.batch_size)},
      {our_key("iterations"), std::to_string(order.iterations)},
      {our_key("gpu-types"), order.gpu_type.str()},
      {our_key("placements"), order.shape.str()},
      {our_key("pod-failure-policy"), "off"},
      {std::string(contract::kCalibrationOf), order.from->key.name},
      {std::string(contract::kSuspendedBy), std::string(contract::kSuspendedByUs)}};
  if (intent.model_parallel)
    annotations[our_key("model-parallel")] = std::to_string(*intent.model_parallel);
  return annotations;
}

// Changes the container that asks for GPUs; false: there is none of that name.
bool shape_container(JobJson& pod_spec, const CalibrationOrder& order) {
  JobJson& containers = pod_spec["containers"];
  if (!containers.is_array()) return false;
  for (JobJson& container : containers) {
    if (!container.is_object() || container.value("name", JobJson()) != order.from->gpu_container)
      continue;
    JobJson& amounts = object_in(container, "resources");
    for (const char* list : {"requests", "limits"})
      object_in(amounts, list)[order.gpu_resource] = std::to_string(order.shape.d_gpn);
    set_variable(container, "SLACKLINE_ITERATIONS", std::to_string(order.iterations));
    set_variable(container, "SLACKLINE_CALIBRATION", "true");
    return true;
  }
  return false;
}

void restore_affinity(JobJson& pod_spec, const OriginalShape& original) {
  if (!original.affinity_terms) return;
  JobJson& node = object_in(object_in(pod_spec, "affinity"), "nodeAffinity");
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  node.erase(kRequired);
  if (original.affinity_terms->empty()) return;
  node[kRequired] = {{"nodeSelectorTerms",
                      JobJson::parse(encode_terms(*original.affinity_terms), nullptr, false)}};
}

Result<JobJson> template_of(JobJson pod_template, const CalibrationOrder& order) {
  JobJson& metadata = object_in(pod_template, "metadata");
  JobJson& labels = object_in(metadata, "labels");
  drop_keys(labels,
            [](const std::string& key) { return is_ours(key) || is_of_the_controller(key); });
  labels[std::string(contract::kManagedLabel)] = "true";
  JobJson& annotations = object_in(metadata, "annotations");
  drop_keys(annotations, is_ours);
  annotations[std::string(contract::kNodes)] = std::to_string(order.shape.d_node);
  annotations[std::string(contract::kGpusPerNode)] = std::to_string(order.shape.d_gpn);
  JobJson& spec = object_in(pod_template, "spec");
  if (!shape_container(spec, order))
    return fail(ErrorCode::kInvalidArgument, format("its template has no container {}",
                                                    printable(order.from->gpu_container, 64)));
  if (order.from->original) restore_affinity(spec, *order.from->original);
  if (!order.priority_class.empty()) {
    spec["priorityClassName"] = order.priority_class;
    spec.erase("priority");
  }
  return pod_template;
}

}  // namespace

Result<std::string> encode_calibration_job(std::string_view job_json,
                                           const CalibrationOrder& order) {
  JsonDocument bounded;  // in depth, too
  SLACKLINE_TRY(bounded.parse(job_json));
  JobJson job = JobJson::parse(job_json, nullptr, false);
  if (!job.is_object() || !job.contains("spec") || !job["spec"].is_object() ||
      !job["spec"].contains("template") || !job["spec"]["template"].is_object())
    return fail(ErrorCode::kInvalidArgument, "the answer is not a Job");
  const JobJson& uid = object_in(job, "metadata")["uid"];
  if (uid != order.from->uid.str())
    return fail(ErrorCode::kConflict, "it is another Job of that name");
  SLACKLINE_ASSIGN(JobJson pod_template, template_of(std::move(job["spec"]["template"]), order));
  JobJson run = {
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata",
       {{"name", order.name},
        {"namespace", order.from->key.ns},
        {"labels",
         {{std::string(contract::kCalibrationLabel), std::string(contract::kCalibrationRun)}}},
        {"annotations", annotations_of(order)}}},
      {"spec",
       {{"suspend", true},
        {"completionMode", order.from->indexed ? "Indexed" : "NonIndexed"},
        {"parallelism", order.shape.d_node},
        {"completions", order.shape.d_node},
        {"backoffLimit", 0},
        {"activeDeadlineSeconds", order.deadline_s},
        {"ttlSecondsAfterFinished", kKept_s}}}};
  run["spec"]["template"] = std::move(pod_template);
  return run.dump(-1, ' ', false, JobJson::error_handler_t::replace);
}

}  // namespace slackline::wire
