// measure: what is known of every node that is asked about for a pod, before anything is ranked.
//
// The shape: a gang's pods x GPUs per pod, otherwise 1 x GPUs. A pod that names no model is
// measured without a prediction, and model_source says so. Predictions that are not finite count as
// none.
//
// Pure. A prediction is made once per GPU type; no allocation per node without holds.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/base/stop.h"
#include "slackline/core/cluster/situation.h"
#include "slackline/core/planning/cost.h"
#include "slackline/core/throughput/predictor.h"
#include "slackline/model/extender_messages.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

struct MeasureOptions : Situation {
  const std::vector<Pool>* pools = nullptr;  // derive_pools of this snapshot; null: derived here
  StopAsked stop{};                          // asked every kNodesPerAsk nodes or types
};

// What all nodes of a GPU type share.
struct TypeEstimate {
  GpuType type;
  bool part = false;              // of a GPU: GpuCatalog::is_part
  std::optional<int> preference;  // place in gpu-types; nullopt = not accepted
  std::optional<Prediction> prediction;
  std::optional<double> cost;
  std::optional<double> cer;
  std::optional<double> lat_s;   // predicted, start to finish
  std::optional<bool> feasible;  // meets the deadline; nullopt without one, or without lat_s
  // The prediction's source ("fitted" ...), or "none: pod names no model", "none: nothing is known
  // about resnet50 on A100" ...
  std::string model_source;
};

inline constexpr NodeIndex kUnknownNode = std::numeric_limits<NodeIndex>::max();

struct MeasuredNode {
  NodeIndex index =
      kUnknownNode;        // of the snapshot; the rest is unset if it does not know the node
  std::uint32_t type = 0;  // index into Measurement::types
  bool planned = false;    // by the pod's live plan
  bool slow = false;       // Situation::slow_nodes
  bool profiler = false;   // set aside for tasks of which nothing is known, and this is one
  // Of the pod's GPU resources, less holds and the pod itself; negative if the cache says "full".
  std::int64_t free_gpus_after = 0;
  std::int64_t stranded_gpus = 0;  // of these, GPUs left without their share of CPU or memory

  bool known() const { return index != kUnknownNode; }
};

struct Measurement {
  bool gave_up = false;  // the request was stopped: there are no nodes
  Placement shape;
  std::optional<double> deadline_s;  // epoch seconds
  std::vector<TypeEstimate> types;   // the snapshot's, in the order of its node table
  std::vector<MeasuredNode> nodes;   // in the order of the request

  const TypeEstimate& type_of(const MeasuredNode& node) const { return types[node.type]; }
  // Whether the pod may use it at all, as far as its GPU type goes.
  bool is_candidate(const MeasuredNode& node) const {
    return node.known() && type_of(node).preference.has_value();
  }
};

Measurement measure(const ClusterSnapshot& snapshot, const NodesRequest& request,
                    const MeasureOptions& options);

// The features of a node, as the journal and /v1/scores name them and a learned ranker reads them.
// A change of this list is a new kDecisionSchemaVersion (model/decision.h).
inline constexpr std::array<std::string_view, 13> kFeatureNames = {
    "planned",                   // 1 for a node of the pod's live plan, else 0
    "preference",                // place of the GPU type in gpu-types, from 0
    "throughput_samples_per_s",  // predicted
    "throughput_low",            // 9 of 10 runs are expected between low and high
    "throughput_high",           //
    "cost",                      // of the shape (000 eq 10)
    "cer",                       // 000 eq 11
    "lat_s",                     // predicted, start to finish
    "meets_deadline",            // started now: 1, or 0
    "free_gpus_after",           // as MeasuredNode
    "stranded_gpus",             //
    "slow",                      // 1 for a node on which task after task was slow, else 0
    "profiler",                  // 1 for a node set aside for unknown tasks, if this is one; else 0
};

// In the order of kFeatureNames; nullopt where it is not known. The node must be known.
using FeatureRow = std::array<std::optional<double>, kFeatureNames.size()>;
FeatureRow feature_row(const Measurement& measured, const MeasuredNode& node);

// Those that are known, by name.
std::vector<std::pair<std::string, double>> named_features(const FeatureRow& row);

}  // namespace slackline::core
