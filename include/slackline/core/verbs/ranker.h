// Rankers: which of the measured nodes is the better one for a pod. A ranker is one file in
// src/core/verbs and one line in the registry.
//
//   cer  best first: nodes that are not slow (slow_nodes.h); whether the task, started now, meets
//   its
//        deadline on the node's GPU type (yes; no deadline, or unknown; no: eq 15); place in
//        gpu-types; CER of its shape on that type (descending, types without a prediction last);
//        of a task of which nothing is known, nodes set aside for such (profiling.h); fewest free
//        GPUs left; fewest stranded GPUs
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "slackline/core/verbs/measure.h"

namespace slackline::core {

// Immutable and thread-safe.
class Ranker {
 public:
  // In the journal and in the answer of /v1/scores.
  virtual std::string_view name() const = 0;
  // Writes a key for every known node, at its place in the measurement: smaller is better, equal
  // keys share a rank. All nodes at once, so that a model can take them as a batch.
  virtual void rank(const Measurement& measured, std::span<std::int64_t> keys) const = 0;

 protected:
  ~Ranker() = default;  // nobody owns a ranker by its base
};

// The first is the default.
std::span<const Ranker* const> rankers();

}  // namespace slackline::core
