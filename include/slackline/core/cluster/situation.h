// Situation: what every decision is taken by, besides the snapshot and the question: what is known,
// and the present moment. It is made once per decision; the options of each decision extend it.
//
// The snapshot is a parameter of its own, because callers lay writes and binds over it.
#pragma once

#include <memory>
#include <unordered_set>

#include "slackline/core/planning/cost.h"
#include "slackline/core/portrait/book.h"
#include "slackline/core/throughput/predictor.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/ids.h"
#include "slackline/model/queue_rules.h"

namespace slackline::core {

// Nodes on which task after task was slow (slow_nodes.h); null: none.
using SlowNodesPtr = std::shared_ptr<const std::unordered_set<NodeName>>;

struct Situation {
  const GpuCatalog* catalog = nullptr;                      // required; outlives the decision
  std::shared_ptr<const Predictor> predictor = nullptr;     // required where run times matter
  std::shared_ptr<const PortraitBook> portraits = nullptr;  // null: no family's past is known
  double theta = kDefaultTheta;                             // 000 eq 10
  double now_wall_s = 0;                                    // epoch seconds; deadlines are in them
  double now_steady_s = 0;                                  // the same moment; holds expire by it
  bool trusted = true;                                      // CacheHealth::trusted()
  SlowNodesPtr slow_nodes = nullptr;                        // taken only where there is no choice
  const QueueRulebook* queues = nullptr;                    // null: the defaults
};

}  // namespace slackline::core
