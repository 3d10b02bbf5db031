#include "slackline/core/verbs/score.h"

#include <algorithm>
#include <utility>

#include "ranking.h"

namespace slackline::core {
namespace {

bool is_better(const ScoreSheet& sheet, std::uint32_t a, std::uint32_t b) {
  const MeasuredNode& one = sheet.measured.nodes[a];
  const MeasuredNode& other = sheet.measured.nodes[b];
  if (sheet.scores[a] != sheet.scores[b]) return sheet.scores[a] > sheet.scores[b];
  if (one.known() != other.known()) return one.known();
  return std::pair(sheet.keys[a], one.index) < std::pair(sheet.keys[b], other.index);
}

}  // namespace

std::vector<std::uint32_t> ScoreSheet::best_first(const NodesRequest& request) const {
  std::vector<std::uint32_t> order(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (measured.nodes[a].known() || measured.nodes[b].known()) return is_better(*this, a, b);
    return request.node_names[a] < request.node_names[b];
  });
  return order;
}

ScoreSheet rank_nodes(Measurement measured, const Ranker& ranker) {
  ScoreSheet sheet;
  sheet.measured = std::move(measured);
  const std::vector<MeasuredNode>& nodes = sheet.measured.nodes;
  sheet.keys.resize(nodes.size());
  sheet.scores.resize(nodes.size());
  ranker.rank(sheet.measured, sheet.keys);
  BestRanks ranks;
  BestNodes best;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (!sheet.measured.is_candidate(nodes[i])) continue;
    best.add({!nodes[i].planned, sheet.keys[i], nodes[i].index, i});
    if (!nodes[i].planned) ranks.add(sheet.keys[i]);
    sheet.scores[i] = nodes[i].planned ? kPlannedScore : 1;
  }
  for (std::uint32_t i = 0; i < nodes.size(); ++i)
    if (sheet.scores[i] == 1)
      sheet.scores[i] = std::max(1, kBestUnplannedScore - ranks.rank(sheet.keys[i]));
  sheet.best = best.take();
  return sheet;
}

ScoreSheet score_nodes(const ClusterSnapshot& snapshot, const NodesRequest& request,
                       const MeasureOptions& options, const Ranker& ranker) {
  return rank_nodes(measure(snapshot, request, options), ranker);
}

PrioritizeReply to_reply(const ScoreSheet& sheet) {
  PrioritizeReply reply;
  reply.scores.reserve(sheet.best.size());
  for (const std::uint32_t node : sheet.best)
    reply.scores.push_back({node, sheet.scores[node]});
  return reply;
}

}  // namespace slackline::core
