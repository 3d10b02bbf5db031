// What a Prometheus is asked of a cluster's past: a query for each fact about GPU pods, their Jobs
// and their nodes, of kube-state-metrics and dcgm-exporter.
//
// Every query is an instant one over the window that ends then, and answers one number for each
// object, so that a month costs a few hundred small answers. Families that have a series for every
// pod of the cluster are narrowed to pods with GPUs. Where a Prometheus renames labels of the
// exporter (honorLabels: false), both names are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/gpu_catalog.h"

namespace slackline::sim {

enum class HistoryFact : std::uint8_t {
  kGpus,             // that a container of a pod asks for, by resource and node
  kLastSeen,         // when the pod was last there
  kOwner,            // of the pod
  kPodCreated,       //
  kScheduled,        // when the pod was bound
  kStarted,          // when a kubelet took it
  kCompleted,        // when a container of it ended last
  kEnded,            // 1: the pod is Succeeded or Failed at the end of the window
  kJobCreated,       // the latest creation of a Job of this name
  kJobFirstCreated,  // the earliest
  kNodeGpus,         // allocatable at the end of the window
  kNodeLabels,       //
  kGpuModel,         // by dcgm-exporter
};
inline constexpr std::size_t kHistoryFacts = 13;

struct HistoryQuery {
  int length_s = 0;     // of the window
  int step_s = 60;      // how exactly it is known when a pod was last there
  std::string cluster;  // value of the label `cluster`; empty: all
};

std::string history_promql(HistoryFact fact, const HistoryQuery& query);

// The metric, and who exports it.
std::string_view history_source(HistoryFact fact);

// A resource or a key of a label, as kube-state-metrics writes it in a label.
std::string metric_name(std::string_view name);

// Node labels that GpuCatalog::classify() reads.
std::vector<std::string> type_keys(const GpuCatalog& catalog);

}  // namespace slackline::sim
