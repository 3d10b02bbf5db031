// score_nodes: the rank of each node for a pod, and why (000 eq 10-11).
//
// Rank key, best first: whether the task, started now, meets its deadline on the node's GPU type
// (yes; no deadline, or unknown; no: eq 15); place in gpu-types; CER of its shape on that type
// (descending, types without a prediction last); fewest free GPUs left; fewest stranded GPUs; name.
// Nodes that differ only in their name share a rank. Scores: 10 for a planned node of a live plan,
// then 8, 7 ... by rank, 1 from the eighth rank on. 0 for nodes that the cache does not know or
// whose type is not accepted.
//
// The shape: a gang's pods x GPUs per pod, otherwise 1 x GPUs. A pod that names no model is ranked
// without CER, and model_source says so. Predictions that are not finite count as none.
//
// Pure. A prediction is made once per GPU type; no allocation per node without holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/base/stop.h"
#include "slackline/core/planning/cost.h"
#include "slackline/core/throughput/predictor.h"
#include "slackline/core/verbs/filter.h"
#include "slackline/model/extender.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr int kPlannedScore = 10;
inline constexpr int kBestUnplannedScore = 8;
inline constexpr std::size_t kMaxScores = 128;

struct ScoreOptions {
  const GpuCatalog* catalog = nullptr;       // required
  const Predictor* predictor = nullptr;      // required
  const std::vector<Pool>* pools = nullptr;  // derive_pools of this snapshot; null: derived here
  double theta = kDefaultTheta;
  double now_wall_s = 0;
  double now_steady_s = 0;
  StopAsked stop{};  // asked every kNodesPerAsk nodes or types
};

// The features that all nodes of a GPU type share.
struct TypeEstimate {
  GpuType type;
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

struct ScoredNode {
  std::uint32_t node = 0;  // index of the request
  int score = 0;
  bool known = false;  // the node is in the cache; the rest is unset if not
  bool planned = false;
  std::uint32_t type = 0;  // index into ScoreSheet::types
  // Of the pod's GPU resources, less holds and the pod itself; negative if the cache says "full".
  std::int64_t free_gpus_after = 0;
  std::int64_t stranded_gpus = 0;  // of these, GPUs left without their share of CPU or memory
  std::uint64_t order = 0;         // the rank key as a number, smaller is better, unique if known
};

// If the request was stopped, nodes and best are empty.
struct ScoreSheet {
  bool gave_up = false;
  Placement shape;
  std::optional<double> deadline_s;  // epoch seconds
  std::vector<TypeEstimate> types;   // the snapshot's, in the order of its node table
  std::vector<ScoredNode> nodes;     // in the order of the request
  std::vector<std::uint32_t> best;   // of these, at most kMaxScores that score, best first

  // Indices into `nodes`, best first: by score, then rank key, then name.
  std::vector<std::uint32_t> best_first(const NodesRequest& request) const;
};

ScoreSheet score_nodes(const ClusterSnapshot& snapshot, const NodesRequest& request,
                       const ScoreOptions& options);

// Non-zero scores only, at most 128, best first.
PrioritizeReply to_reply(const ScoreSheet& sheet);

}  // namespace slackline::core
