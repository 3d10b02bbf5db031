#include "slackline/core/cluster/predicates.h"

#include <gtest/gtest.h>

#include "support/object_builders.h"

namespace slackline::core {
namespace {

using namespace slackline::test;

Pod with(SchedulingConstraints constraints) {
  return a_pod("p").gpus(1).constrained(std::move(constraints)).build();
}

Pod requiring(std::vector<NodeSelectorTerm> terms) {
  SchedulingConstraints constraints;
  constraints.affinity_terms = std::move(terms);
  return with(std::move(constraints));
}

Pod tolerating(Toleration toleration) {
  SchedulingConstraints constraints;
  constraints.tolerations.push_back(std::move(toleration));
  return with(std::move(constraints));
}

const Node kNode = a_node("gpu-1").label("zone", "west").label("generation", "7").build();

TEST(Misfit, NamesTheFirstReason) {
  const Pod pod = a_pod("p").build();
  EXPECT_EQ(misfit(pod, a_node("n").build()), std::nullopt);
  EXPECT_EQ(misfit(pod, a_node("n").unreadable("cpu").cordoned().build()), Misfit::kNodeUnreadable);
  EXPECT_EQ(misfit(pod, a_node("n").not_ready().cordoned().build()), Misfit::kNotReady);
  EXPECT_EQ(misfit(pod, a_node("n").cordoned().build()), Misfit::kUnschedulable);
  EXPECT_EQ(misfit(pod, a_node("n").taint("gpu", "yes").build()), Misfit::kTaint);
  EXPECT_EQ(code(Misfit::kTaint), "Taint");
  EXPECT_EQ(message(Misfit::kUnschedulable), "node is cordoned");
}

TEST(Taints, AreToleratedByKeyValueAndEffect) {
  const Node tainted = a_node("n").taint("gpu", "yes").build();
  EXPECT_EQ(misfit(tolerating({"gpu", false, "yes", TaintEffect::kNoSchedule}), tainted),
            std::nullopt);
  EXPECT_EQ(misfit(tolerating({"gpu", true, "", {}}), tainted), std::nullopt);
  EXPECT_EQ(misfit(tolerating({"", true, "", {}}), tainted), std::nullopt);
  EXPECT_EQ(misfit(tolerating({"gpu", false, "no", {}}), tainted), Misfit::kTaint);
  EXPECT_EQ(misfit(tolerating({"", false, "yes", {}}), tainted), Misfit::kTaint);
  EXPECT_EQ(misfit(tolerating({"gpu", true, "", TaintEffect::kNoExecute}), tainted),
            Misfit::kTaint);
}

// GKE's nodes have such a taint, and its API server adds the toleration to every pod.
TEST(Predicates, APodToBeHasTheTolerationsThatAdmissionWillAdd) {
  Node node = a_node("n").of("A100", 8).taint("nvidia.com/gpu", "present").build();
  Pod to_be = a_pod("train").gpus(1).build();
  to_be.uid = {};
  EXPECT_EQ(misfit(to_be, node), Misfit::kResourceTaint) << "elsewhere nobody knows that";
  node.tolerated_by_request = true;
  EXPECT_EQ(misfit(to_be, node), std::nullopt);
  EXPECT_EQ(misfit(a_pod("there").gpus(1).build(), node), Misfit::kTaint)
      << "it shows that it has none";
  to_be.requests.set_gpus("nvidia.com/gpu", 0);
  to_be.requests.set_gpus("amd.com/gpu", 1);
  EXPECT_EQ(misfit(to_be, node), Misfit::kTaint) << "it asks for something else";
  to_be.requests.set_gpus("nvidia.com/gpu", 1);
  node.taints.front().effect = TaintEffect::kNoExecute;
  EXPECT_EQ(misfit(to_be, node), Misfit::kTaint);
}

TEST(Taints, ThatOnlyPreferDoNotReject) {
  const Node tainted = a_node("n").taint("gpu", "yes", TaintEffect::kPreferNoSchedule).build();
  EXPECT_EQ(misfit(a_pod("p").build(), tainted), std::nullopt);
}

TEST(Taints, OfACordonCanBeTolerated) {
  EXPECT_EQ(misfit(tolerating({"node.kubernetes.io/unschedulable", true, "", {}}),
                   a_node("n").cordoned().build()),
            std::nullopt);
}

TEST(NodeSelector, NeedsEveryLabel) {
  SchedulingConstraints west;
  west.node_selector = {{"zone", "west"}};
  EXPECT_EQ(misfit(with(west), kNode), std::nullopt);
  west.node_selector.push_back({"disk", "ssd"});
  EXPECT_EQ(misfit(with(west), kNode), Misfit::kNodeSelector);
}

TEST(NodeAffinity, KnowsEveryOperator) {
  const auto holds = [](MatchExpression expression) {
    return misfit(requiring({{std::move(expression)}}), kNode) == std::nullopt;
  };
  EXPECT_TRUE(holds({"zone", MatchOperator::kIn, {"east", "west"}}));
  EXPECT_FALSE(holds({"zone", MatchOperator::kIn, {"east"}}));
  EXPECT_FALSE(holds({"disk", MatchOperator::kIn, {"ssd"}}));
  EXPECT_TRUE(holds({"zone", MatchOperator::kNotIn, {"east"}}));
  EXPECT_FALSE(holds({"zone", MatchOperator::kNotIn, {"west"}}));
  EXPECT_TRUE(holds({"disk", MatchOperator::kNotIn, {"ssd"}})) << "an absent label is not in";
  EXPECT_TRUE(holds({"zone", MatchOperator::kExists, {}}));
  EXPECT_FALSE(holds({"disk", MatchOperator::kExists, {}}));
  EXPECT_TRUE(holds({"disk", MatchOperator::kDoesNotExist, {}}));
  EXPECT_FALSE(holds({"zone", MatchOperator::kDoesNotExist, {}}));
  EXPECT_TRUE(holds({"generation", MatchOperator::kGt, {"6"}}));
  EXPECT_FALSE(holds({"generation", MatchOperator::kGt, {"7"}}));
  EXPECT_TRUE(holds({"generation", MatchOperator::kLt, {"8"}}));
  EXPECT_FALSE(holds({"zone", MatchOperator::kGt, {"6"}})) << "not a number";
  EXPECT_FALSE(holds({"generation", MatchOperator::kGt, {}}));
  EXPECT_TRUE(holds({"metadata.name", MatchOperator::kIn, {"gpu-1"}}));
  EXPECT_FALSE(holds({"metadata.name", MatchOperator::kIn, {"gpu-2"}}));
}

TEST(NodeAffinity, HasAlternativesOfWhichOneMustHoldWhole) {
  const MatchExpression west{"zone", MatchOperator::kIn, {"west"}};
  const MatchExpression ssd{"disk", MatchOperator::kExists, {}};
  EXPECT_EQ(misfit(requiring({{ssd}, {west}}), kNode), std::nullopt);
  EXPECT_EQ(misfit(requiring({{ssd, west}}), kNode), Misfit::kNodeAffinity);
  EXPECT_EQ(misfit(requiring({{}}), kNode), Misfit::kNodeAffinity)
      << "a term without requirements matches nothing";
}

TEST(VolumeNodeAffinity, EveryVolumeMustBeInReach) {
  const auto reached_in = [](const std::string& zone) {
    Volume volume{Uid(zone), {"", zone}};
    volume.terms = {{{"zone", MatchOperator::kIn, {zone}}}};
    return std::make_shared<const Volume>(volume);
  };
  SchedulingConstraints constraints;
  constraints.volumes = {reached_in("west")};
  EXPECT_EQ(misfit(with(constraints), kNode), std::nullopt);
  constraints.volumes.push_back(reached_in("east"));
  EXPECT_EQ(misfit(with(constraints), kNode), Misfit::kVolume);
  EXPECT_EQ(code(Misfit::kVolume), "VolumeNodeAffinity");
}

}  // namespace
}  // namespace slackline::core
