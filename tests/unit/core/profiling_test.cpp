// Tasks of which nothing is known prefer the nodes that were set aside for them.
#include "slackline/core/cluster/profiling.h"

#include <gtest/gtest.h>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/verbs/score.h"
#include "slackline/model/contract.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

const std::string kLabel(contract::kProfilerLabel);

class ProfilingTest : public testing::Test {
 protected:
  ProfilingTest() {
    options_.catalog = &catalog_;
    options_.predictor = std::make_shared<const Predictor>(WorkloadProfiles());
    cluster_.with(a_node("n1").of("T4", 4)).with(a_node("n2").of("T4", 4).label(kLabel, "true"));
  }

  // The node on which the plan starts the Job.
  std::string node_of(const ClusterSnapshot& snapshot) {
    Queue queue = make_queue(snapshot, options_, menus_);
    const Plan planned = plan(queue.state(), 0, *parse_policy("fifo"));
    if (planned.effects.size() != 1) return "";
    const core::Run& run = *planned.effects.front().begun;
    const Choice& choice = queue.state().choice(planned.effects.front().task, run.choice);
    const NodeIndex node = queue.pools()[choice.pool].nodes[run.nodes.front()];
    return snapshot.node(node).node->name.str();
  }
  void know_model() {
    options_.predictor =
        std::make_shared<const Predictor>(WorkloadProfiles(std::vector<ProfileEntry>{
            {"net", GpuType("T4"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""}}));
  }
  static Job a_task() { return a_job("train").gpus(1).waiting().trains("net", 64, 1000).build(); }

  const GpuCatalog catalog_ = default_gpu_catalog();
  QueueOptions options_;
  TaskMenus menus_;
  test::ClusterBuilder cluster_ = a_cluster();
};

TEST_F(ProfilingTest, ThePlanTakesThemForAnUnknownTask) {
  EXPECT_EQ(node_of(cluster_.add(a_task()).build()), "n2");
}

TEST_F(ProfilingTest, OneWithAModelTakesAnyNode) {
  know_model();
  EXPECT_EQ(node_of(cluster_.add(a_task()).build()), "n1");
}

TEST_F(ProfilingTest, SoDoesOneWhoseFamilyHasAPortrait) {
  auto book = std::make_shared<PortraitBook>();
  Portrait portrait;
  portrait.identity = identity_of(a_task());
  book->portraits[portrait_key(portrait.identity)] = std::make_shared<const Portrait>(portrait);
  options_.portraits = book;
  EXPECT_EQ(node_of(cluster_.add(a_task()).build()), "n1");
}

TEST_F(ProfilingTest, WithoutTheLabelNothingIsPreferred) {
  const auto plain = a_cluster()
                         .with(a_node("n1").of("T4", 4))
                         .with(a_node("n2").of("T4", 4).label(kLabel, "false"))
                         .add(a_task())
                         .build();
  EXPECT_FALSE(plain.node_table.any_profiler);
  EXPECT_EQ(node_of(plain), "n1");
}

TEST_F(ProfilingTest, AFullOneIsNotWaitedFor) {
  cluster_.with(a_pod("other").gpus(4).on("n2"));
  EXPECT_EQ(node_of(cluster_.add(a_task()).build()), "n1");
}

TEST_F(ProfilingTest, PrioritizeScoresThemHigherForAnUnknownPod) {
  const ClusterSnapshot snapshot = cluster_.build();
  NodesRequest request;
  request.pod = a_pod("p").gpus(1).trains("net", 64, 1000).build();
  request.node_names = {"n1", "n2"};
  MeasureOptions options;
  static_cast<Situation&>(options) = options_;
  const ScoreSheet unknown = score_nodes(snapshot, request, options);
  EXPECT_GT(unknown.scores[1], unknown.scores[0]);
  know_model();
  static_cast<Situation&>(options) = options_;
  const ScoreSheet known = score_nodes(snapshot, request, options);
  EXPECT_EQ(known.scores[1], known.scores[0]);
}

}  // namespace
}  // namespace slackline::core
