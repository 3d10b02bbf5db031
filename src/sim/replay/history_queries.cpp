#include "sim/replay/history_queries.h"

#include <vector>

#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

constexpr std::string_view kPodLabels = "namespace,exported_namespace,pod,exported_pod,uid";
constexpr std::string_view kJobLabels = "namespace,exported_namespace,job_name";
constexpr std::string_view kNodeNames = "node,exported_node";
constexpr std::string_view kGpuResources =
    R"(resource=~"nvidia_com_.+|amd_com_gpu|habana_ai_.+|gpu_intel_com_.+")";

// {matchers,cluster="..."}
std::string selector(std::string_view metric, std::string_view matchers,
                     const HistoryQuery& query) {
  std::string inner(matchers);
  if (!query.cluster.empty())
    inner += format("{}cluster=\"{}\"", inner.empty() ? "" : ",", query.cluster);
  return inner.empty() ? std::string(metric) : format("{}{{{}}}", metric, inner);
}

std::string greatest(std::string_view by, std::string_view over, std::string_view metric,
                     std::string_view matchers, const HistoryQuery& query) {
  return format("max by ({}) ({}_over_time({}[{}s]))", by, over, selector(metric, matchers, query),
                query.length_s);
}

constexpr std::string_view kGpuRequests = "kube_pod_container_resource_requests";

// One series for each pod with GPUs.
std::string gpu_pods(const HistoryQuery& query) {
  return format("({} > 0)", greatest(kPodLabels, "max", kGpuRequests, kGpuResources, query));
}

std::string of_gpu_pods(const std::string& what, const HistoryQuery& query) {
  return format("{} and on ({}) {}", what, kPodLabels, gpu_pods(query));
}

std::string pod_time(std::string_view metric, const HistoryQuery& query) {
  return of_gpu_pods(greatest(kPodLabels, "max", metric, "", query), query);
}

// Creations of the Jobs that own pods with GPUs.
std::string job_time(std::string_view aggregate, const HistoryQuery& query) {
  const std::string owned = greatest(format("{},owner_name", kPodLabels), "max", "kube_pod_owner",
                                     R"(owner_kind="Job")", query);
  return format(
      "{0} by ({1}) ({0}_over_time({2}[{3}s])) and on ({1}) max by ({1}) (label_replace({4}, "
      R"q("job_name", "$1", "owner_name", "(.+)")))q",
      aggregate, kJobLabels, selector("kube_job_created", "", query), query.length_s,
      of_gpu_pods(owned, query));
}

std::string gpu_nodes(const HistoryQuery& query) {
  return format("max by ({},resource,cluster) ({}) > 0", kNodeNames,
                selector("kube_node_status_allocatable", kGpuResources, query));
}

std::string node_labels(const HistoryQuery& query) {
  std::string by(kNodeNames);
  for (const std::string& key : type_keys(default_gpu_catalog()))
    by += ",label_" + metric_name(key);
  return greatest(by, "max", "kube_node_labels", "", query);
}

}  // namespace

std::string metric_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    out += plain ? c : '_';
  }
  return out;
}

std::vector<std::string> type_keys(const GpuCatalog& catalog) {
  std::vector<std::string> keys = catalog.type_labels;
  keys.insert(keys.end(), {"cloud.google.com/gke-gpu-partition-size",
                           "cloud.google.com/gke-gpu-sharing-strategy"});
  return keys;
}

std::string_view history_source(HistoryFact fact) {
  switch (fact) {
    case HistoryFact::kGpus:
    case HistoryFact::kLastSeen:
      return "kube_pod_container_resource_requests (kube-state-metrics)";
    case HistoryFact::kOwner:
      return "kube_pod_owner (kube-state-metrics)";
    case HistoryFact::kPodCreated:
      return "kube_pod_created (kube-state-metrics)";
    case HistoryFact::kScheduled:
      return "kube_pod_status_scheduled_time (kube-state-metrics)";
    case HistoryFact::kStarted:
      return "kube_pod_start_time (kube-state-metrics)";
    case HistoryFact::kCompleted:
      return "kube_pod_completion_time (kube-state-metrics)";
    case HistoryFact::kEnded:
      return "kube_pod_status_phase (kube-state-metrics)";
    case HistoryFact::kJobCreated:
    case HistoryFact::kJobFirstCreated:
      return "kube_job_created (kube-state-metrics)";
    case HistoryFact::kNodeGpus:
      return "kube_node_status_allocatable (kube-state-metrics)";
    case HistoryFact::kNodeLabels:
      return "kube_node_labels (kube-state-metrics)";
    case HistoryFact::kGpuModel:
      return "DCGM_FI_DEV_FB_USED (dcgm-exporter)";
  }
  return "";
}

std::string history_promql(HistoryFact fact, const HistoryQuery& query) {
  switch (fact) {
    case HistoryFact::kGpus:
      return greatest(format("{},container,exported_container,resource,{}", kPodLabels, kNodeNames),
                      "max", kGpuRequests, kGpuResources, query) +
             " > 0";
    case HistoryFact::kLastSeen:
      return format("max by ({}) (max_over_time(timestamp({})[{}s:{}s]))", kPodLabels,
                    selector(kGpuRequests, kGpuResources, query), query.length_s, query.step_s);
    case HistoryFact::kOwner:
      return of_gpu_pods(greatest(format("{},owner_kind,owner_name", kPodLabels), "max",
                                  "kube_pod_owner", "", query),
                         query);
    case HistoryFact::kPodCreated:
      return pod_time("kube_pod_created", query);
    case HistoryFact::kScheduled:
      return pod_time("kube_pod_status_scheduled_time", query);
    case HistoryFact::kStarted:
      return pod_time("kube_pod_start_time", query);
    case HistoryFact::kCompleted:
      return pod_time("kube_pod_completion_time", query);
    case HistoryFact::kEnded:
      return of_gpu_pods(format("({} == 1)", greatest(kPodLabels, "last", "kube_pod_status_phase",
                                                      R"(phase=~"Succeeded|Failed")", query)),
                         query);
    case HistoryFact::kJobCreated:
      return job_time("max", query);
    case HistoryFact::kJobFirstCreated:
      return job_time("min", query);
    case HistoryFact::kNodeGpus:
      return gpu_nodes(query);
    case HistoryFact::kNodeLabels:
      return node_labels(query);
    case HistoryFact::kGpuModel:
      return greatest("Hostname,hostname,modelName", "max", "DCGM_FI_DEV_FB_USED", "", query);
  }
  return "";
}

}  // namespace slackline::sim
