// Situation: what every decision is taken by, besides the snapshot and the question: what is known,
// and the present moment. It is made once per decision; the options of each decision extend it.
//
// The snapshot is a parameter of its own, because callers lay writes and binds over it.
#pragma once

#include <memory>

#include "slackline/core/planning/cost.h"
#include "slackline/core/throughput/predictor.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::core {

struct Situation {
  const GpuCatalog* catalog = nullptr;                   // required; outlives the decision
  std::shared_ptr<const Predictor> predictor = nullptr;  // required where run times matter
  double theta = kDefaultTheta;                          // 000 eq 10
  double now_wall_s = 0;                                 // epoch seconds; deadlines are in them
  double now_steady_s = 0;                               // the same moment; holds expire by it
  bool trusted = true;                                   // CacheHealth::trusted()
};

}  // namespace slackline::core
