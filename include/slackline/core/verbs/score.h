// The answer to prioritize: measure (measure.h), then rank (ranker.h), then scores.
//
// Scores: 10 for a planned node of a live plan, then 8, 7 ... by the ranker's keys, 1 from the
// eighth rank on. Nodes with equal keys share a rank. 0 for nodes that the cache does not know or
// whose type is not accepted.
#pragma once

#include <cstdint>
#include <vector>

#include "slackline/core/verbs/measure.h"
#include "slackline/core/verbs/ranker.h"

namespace slackline::core {

inline constexpr int kPlannedScore = 10;
inline constexpr int kBestUnplannedScore = 8;
inline constexpr std::size_t kMaxScores = 128;

// If the request was stopped, there are no nodes.
struct ScoreSheet {
  Measurement measured;
  std::vector<std::int64_t> keys;   // of the ranker, by place in the request
  std::vector<int> scores;          // the same; 0..10
  std::vector<std::uint32_t> best;  // of these places, at most kMaxScores that score, best first

  // All places, best first: by score, then key, then name.
  std::vector<std::uint32_t> best_first(const NodesRequest& request) const;
};

ScoreSheet rank_nodes(Measurement measured, const Ranker& ranker);

// Both steps.
ScoreSheet score_nodes(const ClusterSnapshot& snapshot, const NodesRequest& request,
                       const MeasureOptions& options, const Ranker& ranker = *rankers().front());

// Non-zero scores only, at most 128, best first.
PrioritizeReply to_reply(const ScoreSheet& sheet);

}  // namespace slackline::core
