// Views: what a person sees of the cluster over REST, as plain values.
//
// The control layer fills them from a snapshot, the wire layer writes them as JSON or text tables.
// Lists are sorted by their filler; nothing here decides anything. Times are epoch seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/base/text.h"
#include "slackline/model/ids.h"
#include "slackline/model/node_state.h"
#include "slackline/model/placement.h"
#include "slackline/model/task.h"

namespace slackline {

// The amounts of one GPU resource, of a node or of all nodes of a type.
struct GpuUseView {
  std::string resource;  // "nvidia.com/gpu"
  std::string sharing;   // "whole", "mig" ...: what one unit is
  std::int64_t allocatable = 0;
  std::int64_t used = 0;  // by pods bound to the node, whoever bound them
  std::int64_t held = 0;  // promised to unbound pods by plans and nominations
  std::int64_t free = 0;  // allocatable - used - held; negative = over-committed
};

// All nodes of one GPU type.
struct GpuPoolView {
  GpuType gpu_type;  // empty: the nodes have no known type
  std::int64_t nodes = 0;
  std::int64_t nodes_usable = 0;  // ready, schedulable and readable
  double cost = 1.0;
  std::vector<GpuUseView> gpus;
};

// How far what the daemon knows of the cluster can be relied on.
struct CacheView {
  bool synced = false;
  bool stale = false;
  double age_s = 0;
  std::string detail;
};

// GET /v1/cluster
struct ClusterView {
  std::string mode;     // "shadow", "advise"
  std::string version;  // of the daemon
  std::uint64_t snapshot_version = 0;
  CacheView cache;
  std::int64_t nodes = 0;
  std::int64_t pods_bound = 0;
  std::int64_t pods_unbound = 0;
  std::int64_t jobs = 0;
  std::int64_t models = 0;                                  // workload types with a profile
  std::vector<std::pair<std::string, std::int64_t>> tasks;  // state -> count
  std::vector<GpuPoolView> pools;
};

// Who has GPUs of a node, or to whom they are promised.
struct GpuOccupantView {
  std::string task;      // "namespace/name"
  std::string pod;       // "namespace/name"; empty: of a plan, for a pod that is not there yet
  std::string resource;  // "nvidia.com/gpu"
  std::int64_t gpus = 0;
  // How the pod came there: "plan" of Slackline; "scheduler", the kube-scheduler that asks
  // Slackline; "other", another one; "held": it is not there yet.
  std::string by;
  std::string_view
      spared{};  // of a pod: why it is not stopped for others (spared.h); empty: it may
};

// GET /v1/nodes: a node as it is in the snapshot, and what is computed of its GPUs.
struct ListedNode {
  NodeStatePtr state;  // never null
  std::vector<GpuUseView> gpus{};
  std::vector<GpuOccupantView> occupants{};
  std::string block{};  // of the network, by GpuCatalog::block_name

  const Node& node() const { return *state->node; }
  std::vector<std::string> gpu_pods() const {  // "namespace/name" of the pods that use its GPUs
    std::vector<std::string> names;
    for (const PodPtr& pod : state->pods)
      if (pod->requests.wants_gpus()) names.push_back(pod->key.str());
    return names;
  }
  std::vector<std::string> taints() const {  // "key=value:Effect"
    constexpr std::string_view kEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
    std::vector<std::string> texts;
    for (const Taint& taint : node().taints)
      texts.push_back(format("{}{}{}:{}", taint.key, taint.value.empty() ? "" : "=", taint.value,
                             kEffects[static_cast<std::size_t>(taint.effect)]));
    return texts;
  }
};

// GET /v1/tasks: a task as it is in the snapshot, and what is found out about it.
struct ListedTask {
  Task task;  // of a Job without `member`, which is as large as the row
  std::optional<double> deadline_s{};
  GpuType gpu_type{};  // of the node of its first bound pod; empty: none, or it is not known
  // Who starts it while it waits: a scheduler that does not ask Slackline, or "Kueue"; else empty.
  std::string left_to{};
  // What its annotations leave open, as the webhook warns of it; only where one task is asked for.
  std::vector<std::string> hints{};

  std::optional<double> started_s() const {  // since when it runs
    if (task.pods_bound == 0) return std::nullopt;
    return task.job ? task.job->started_s : task.member->started_s;
  }
};

// GET /v1/scores?pod=ns/name: one node as filter and prioritize see it for that pod.
struct ScoreView {
  NodeName node;
  GpuType gpu_type;
  bool passes = false;
  std::string verdict;           // code of the verdict, "Pass" where it passes
  std::string message;           // the sentence kube-scheduler shows; empty where it passes
  int score = 0;                 // 0..10, as prioritize answers
  int rank = 0;                  // 1 = best of the passing nodes; 0 = does not pass
  std::string source;            // of the prediction: "measured" ... "default"; empty = none
  bool extrapolated = false;     // outside what was measured
  std::optional<bool> feasible;  // started now it meets the deadline (eq 15); unset: unknown
  std::vector<std::pair<std::string, double>> features;  // "cer", "throughput_samples_per_s" ...
};

struct ScoresView {
  ObjectKey pod;
  Uid uid;
  std::uint64_t snapshot_version = 0;
  std::string policy;
  std::string
      model;  // workload type the scores were predicted for; empty = scored without the model
  std::optional<double> deadline_s;   // epoch seconds
  std::string note;                   // "no model named: scored by fit alone"
  std::vector<std::string> problems;  // annotations that are unreadable or unknown
  std::vector<ScoreView> nodes;       // best first
};

// GET /v1/tasks/{ns}/{name}/placements: one shape on one GPU type.
struct PlacementRow {
  GpuType gpu_type;
  Placement shape;
  // Unset: no prediction.
  std::optional<double> throughput_samples_per_s{};
  std::optional<double> throughput_low{};  // 9 of 10 runs are expected between low and high
  std::optional<double> throughput_high{};
  std::string source;                 // "measured" ... "default"; empty = no prediction
  bool extrapolated = false;          // outside what was measured
  std::optional<double> latency_s{};  // Lat of 000 eq 4; unset: unknown
  double cost = 0;                    // 000 eq 10
  std::optional<double> cer{};        // 000 eq 11; unset: unknown
  std::optional<bool> feasible;       // started now it meets the deadline (eq 15); unset: unknown
  bool allowed = false;               // the task's placements and gpu-types permit it
  bool fits_now = false;              // it would fit into what is free now
  bool written = false;               // the shape as submitted
  std::string reason;                 // why not
};

struct PlacementsView {
  ObjectKey task;
  std::string model;
  std::string note;  // where the numbers come from, or why there are none
  std::optional<double> deadline_s;
  std::vector<PlacementRow> rows;  // best CER first
};

}  // namespace slackline
