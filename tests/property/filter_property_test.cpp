// What must hold of filter in every cluster; 10,000 random ones.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "slackline/core/cluster/holds.h"
#include "slackline/core/verbs/filter.h"
#include "support/random_cluster.h"

namespace slackline::core {
namespace {

using namespace slackline::test;

constexpr std::uint64_t kClusters = 10000;

// That the generator makes holds that matter.
struct {
  std::size_t rejected = 0;
  std::size_t beside_a_hold = 0;
} seen;

struct FilterQuestion : RandomQuestion {
  using RandomQuestion::RandomQuestion;

  std::vector<Verdict> ask() const {
    return filter_nodes(cluster, request, {{.catalog = &catalog}}).verdicts;
  }
};

// The holds of others that count against the pod, summed the plain way.
Resources foreign_holds(const ClusterSnapshot& cluster, NodeIndex node, const Pod& pod) {
  const HoldIdentity self = hold_identity(cluster, pod);
  Resources sum;
  for (const Hold& hold : cluster.holds_on(node)) {
    const bool own = hold.pod == pod.uid || hold.task == self.task ||
                     (!hold.gang.empty() && hold.gang == self.gang);
    if (!own && hold.rank >= pod.priority) sum += hold.amount;
  }
  return sum;
}

void answers_every_node_once_and_the_same_twice(FilterQuestion question) {
  const auto first = question.ask();
  ASSERT_EQ(first.size(), question.names.size());
  ASSERT_EQ(first, question.ask());
}

void does_not_depend_on_the_order_of_the_request(FilterQuestion question) {
  std::map<std::string, Verdict> by_name;
  const auto first = question.ask();
  for (std::size_t i = 0; i < first.size(); ++i)
    by_name[question.names[i]] = first[i];
  std::reverse(question.request.node_names.begin(), question.request.node_names.end());
  const auto again = question.ask();
  for (std::size_t i = 0; i < again.size(); ++i)
    ASSERT_EQ(again[i], by_name[std::string(question.request.node_names[i])]);
}

void gives_a_held_gpu_to_nobody_of_equal_or_lower_rank(FilterQuestion question) {
  question.request.pod.managed = true;
  const Pod& pod = question.request.pod;
  const auto verdicts = question.ask();
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const auto node = question.cluster.find_node(question.names[i]);
    if (!node) continue;
    const Resources holds = foreign_holds(question.cluster, *node, pod);
    const bool room = fits(pod.requests, question.cluster.node(*node).free() - holds);
    const bool none = holds == Resources{};
    const bool rejected = verdicts[i] == Verdict::kHeldForOthers;
    ASSERT_TRUE(!passes(verdicts[i]) || none || room);
    ASSERT_TRUE(!rejected || (!none && !room));
    seen.rejected += rejected ? 1 : 0;
    seen.beside_a_hold += passes(verdicts[i]) && !none ? 1 : 0;
  }
}

void lets_a_higher_rank_take_what_is_held(FilterQuestion question) {
  question.request.pod.priority = 1000;
  for (const Verdict verdict : question.ask())
    ASSERT_NE(verdict, Verdict::kHeldForOthers);
}

void never_lets_a_gang_collide_with_itself(FilterQuestion question) {
  Pod& pod = question.request.pod;
  TaskIntent intent = *pod.intent;
  intent.gang = "ours";
  pod.intent = std::make_shared<const TaskIntent>(intent);
  std::vector<NodeIndex> nodes;
  std::vector<Hold> holds;
  for (NodeIndex node = 0; node < question.cluster.nodes.size(); ++node)
    for (Hold hold : question.cluster.holds_on(node)) {
      hold.gang = "default/ours";
      nodes.push_back(node);
      holds.push_back(hold);
    }
  question.cluster.holds = HoldTable(question.cluster.nodes.size(), nodes, holds);
  for (const Verdict verdict : question.ask())
    ASSERT_NE(verdict, Verdict::kHeldForOthers);
}

void turns_an_unmanaged_pod_away_from_a_hold_only_if_a_node_remains(FilterQuestion question) {
  question.request.pod.managed = false;
  const auto verdicts = question.ask();
  const bool held = std::count(verdicts.begin(), verdicts.end(), Verdict::kHeldForOthers) > 0;
  ASSERT_TRUE(!held || std::any_of(verdicts.begin(), verdicts.end(), passes));
}

TEST(FilterProperty, HoldsInEveryCluster) {
  constexpr void (*kChecks[])(FilterQuestion) = {
      answers_every_node_once_and_the_same_twice,
      does_not_depend_on_the_order_of_the_request,
      gives_a_held_gpu_to_nobody_of_equal_or_lower_rank,
      lets_a_higher_rank_take_what_is_held,
      never_lets_a_gang_collide_with_itself,
      turns_an_unmanaged_pod_away_from_a_hold_only_if_a_node_remains};
  for (std::uint64_t seed = 1; seed <= kClusters; ++seed) {
    const FilterQuestion question(seed);
    for (const auto check : kChecks)
      check(question);
    if (HasFatalFailure()) FAIL() << "in the cluster of seed " << seed;
  }
  EXPECT_GT(seen.rejected, 1000U);
  EXPECT_GT(seen.beside_a_hold, 1000U);
}

}  // namespace
}  // namespace slackline::core
