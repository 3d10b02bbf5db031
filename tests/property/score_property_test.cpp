// What must hold of scores in every cluster; 10,000 random ones.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "slackline/core/cluster/holds.h"
#include "slackline/core/verbs/score.h"
#include "support/random_cluster.h"

namespace slackline::core {
namespace {

using namespace slackline::test;

constexpr std::uint64_t kScoredClusters = 10000;

struct ScoreQuestion : RandomQuestion {
  using RandomQuestion::RandomQuestion;
  // Every third of those asked about, also one that the cluster does not know.
  SlowNodesPtr slow = [this] {
    std::unordered_set<NodeName> nodes;
    for (std::size_t i = 0; i < names.size(); i += 3)
      nodes.insert(NodeName(names[i]));
    return std::make_shared<const std::unordered_set<NodeName>>(std::move(nodes));
  }();
  std::shared_ptr<const Predictor> predictor = std::make_shared<const Predictor>(random_profiles());

  ScoreSheet ask() const {
    return score_nodes(cluster, request,
                       {{.catalog = &catalog, .predictor = predictor, .slow_nodes = slow}});
  }
};

// The rank key as the header words it, from the features that the sheet shows.
auto rank_key(const ScoreSheet& sheet, const MeasuredNode& node) {
  const TypeEstimate& type = sheet.measured.type_of(node);
  const double worst = std::numeric_limits<double>::infinity();
  const std::int64_t last = std::numeric_limits<std::int64_t>::max();
  const int lateness = !type.feasible ? 1 : *type.feasible ? 0 : 2;
  return std::tuple(node.slow, lateness, type.preference.value_or(1000),
                    type.cer ? -*type.cer : worst,
                    node.free_gpus_after < 0 ? last : node.free_gpus_after, node.stranded_gpus);
}

void is_monotone_in_the_rank_key(ScoreQuestion question) {
  const ScoreSheet sheet = question.ask();
  const std::vector<MeasuredNode>& nodes = sheet.measured.nodes;
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    const int score = sheet.scores[a];
    ASSERT_TRUE(score >= 0 && score <= kPlannedScore);
    ASSERT_EQ(score == kPlannedScore, nodes[a].planned && score > 0);
    if (score == 0 || nodes[a].planned) continue;
    ASSERT_LE(score, kBestUnplannedScore);
    for (std::size_t b = 0; b < nodes.size(); ++b) {
      if (sheet.scores[b] == 0 || nodes[b].planned) continue;
      const bool above = rank_key(sheet, nodes[a]) < rank_key(sheet, nodes[b]);
      const bool equal = rank_key(sheet, nodes[a]) == rank_key(sheet, nodes[b]);
      ASSERT_TRUE(!above || score > sheet.scores[b] || (score == 1 && sheet.scores[b] == 1));
      ASSERT_TRUE(!equal || score == sheet.scores[b]);
    }
  }
}

void is_zero_exactly_where_the_node_is_unknown_or_its_type_not_accepted(ScoreQuestion question) {
  const ScoreSheet sheet = question.ask();
  for (std::size_t i = 0; i < sheet.scores.size(); ++i)
    ASSERT_EQ(sheet.scores[i] > 0, sheet.measured.is_candidate(sheet.measured.nodes[i]));
}

void counts_what_is_left_after_holds_and_the_pod(ScoreQuestion question) {
  const Pod& pod = question.request.pod;
  const Measurement measured = question.ask().measured;
  for (std::size_t i = 0; i < measured.nodes.size(); ++i) {
    const MeasuredNode& node = measured.nodes[i];
    if (!node.known()) continue;
    const NodeIndex index = *question.cluster.find_node(question.names[i]);
    ASSERT_EQ(node.index, index);
    const Resources left = question.cluster.node(index).free() -
                           held_against(question.cluster, index, pod, 0) - pod.requests;
    std::int64_t gpus = 0;
    for (const ResourceAmount& amount : pod.requests.gpus)
      gpus += left.gpu_count(amount.resource);
    ASSERT_EQ(node.free_gpus_after, gpus);
    ASSERT_LE(node.stranded_gpus, std::max<std::int64_t>(0, gpus));
    ASSERT_GE(node.stranded_gpus, 0);
  }
}

void never_shows_a_number_that_is_none(ScoreQuestion question) {
  for (const TypeEstimate& type : question.ask().measured.types) {
    for (const auto& value : {type.cer, type.cost})
      ASSERT_TRUE(!value || std::isfinite(*value));
    ASSERT_FALSE(type.model_source.empty());
    if (!type.prediction) continue;
    for (const double value : {type.prediction->low, type.prediction->high})
      ASSERT_TRUE(std::isfinite(value));
  }
}

void scores_in_any_order_of_the_request(ScoreQuestion question) {
  const auto answer = [&] {
    std::vector<std::pair<std::string, int>> out;
    for (const HostScore& host : to_reply(question.ask()).scores)
      out.emplace_back(question.request.node_names[host.node], host.score);
    return out;
  };
  const auto first = answer();
  ASSERT_EQ(first, answer());
  std::reverse(question.request.node_names.begin(), question.request.node_names.end());
  ASSERT_EQ(first, answer());
}

TEST(ScoreProperty, HoldsInEveryCluster) {
  constexpr void (*kChecks[])(ScoreQuestion) = {
      is_monotone_in_the_rank_key,
      is_zero_exactly_where_the_node_is_unknown_or_its_type_not_accepted,
      counts_what_is_left_after_holds_and_the_pod, never_shows_a_number_that_is_none,
      scores_in_any_order_of_the_request};
  for (std::uint64_t seed = 1; seed <= kScoredClusters; ++seed) {
    const ScoreQuestion question(seed);
    for (const auto check : kChecks)
      check(question);
    if (HasFatalFailure()) FAIL() << "in the cluster of seed " << seed;
  }
}

}  // namespace
}  // namespace slackline::core
