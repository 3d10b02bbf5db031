#include "slackline/core/planning/shapes.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/cluster/placement_table.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/throughput/throughput.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using namespace slackline::test;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

Pool pool_of(int nodes, int gpus) {
  return {GpuType("K80"), kGpu, nodes, gpus, 1.0};
}

TEST(Shapes, AreAllThatHaveASampleForEveryGpu) {
  EXPECT_EQ(enumerate_placements(pool_of(4, 4), {}).size(), 16U);
  EXPECT_THAT(enumerate_placements(pool_of(2, 3), {.batch = 3}),
              ElementsAre(Placement{1, 1}, Placement{1, 2}, Placement{1, 3}, Placement{2, 1}));
}

TEST(Shapes, CanBeOfOneTotalOrDivideTheBatch) {
  EXPECT_THAT(enumerate_placements(pool_of(4, 4), {.fixed_total = 4}),
              ElementsAre(Placement{1, 4}, Placement{2, 2}, Placement{4, 1}));
  for (const Placement& shape :
       enumerate_placements(pool_of(4, 4), {.batch = 12, .divisible = true}))
    EXPECT_EQ(12 % shape.gpus(), 0) << shape.str();
}

TEST(Shapes, HoldWholeReplicasOfAModel) {
  EXPECT_THAT(
      enumerate_placements(pool_of(4, 8), {.batch = 8, .divisible = true, .model_parallel = 8}),
      ElementsAre(Placement{1, 8}, Placement{2, 8}, Placement{4, 8}))
      << "not 2x4: a node could hold the replica";
  EXPECT_THAT(enumerate_placements(pool_of(4, 4), {.batch = 2, .model_parallel = 8}),
              ElementsAre(Placement{2, 4}, Placement{4, 4}));
  EXPECT_THAT(enumerate_placements(pool_of(1, 8), {.batch = 2, .model_parallel = 2}),
              ElementsAre(Placement{1, 2}, Placement{1, 4}));
  EXPECT_TRUE(holds_replicas({2, 6}, 8, 12)) << "evenly on the least number of nodes";
  EXPECT_FALSE(holds_replicas({3, 4}, 8, 12));
  EXPECT_TRUE(holds_replicas({3, 5}, 8, 1));
  EXPECT_THAT(enumerate_placements(pool_of(2, 8), {.model_parallel = 64}), ElementsAre());
}

TEST(Shapes, OfALargePoolAreCompact) {
  const auto compact = enumerate_placements(pool_of(16, 4), {});
  EXPECT_THAT(compact, Contains(Placement{2, 4}));
  EXPECT_THAT(compact, Not(Contains(Placement{3, 4}))) << "no power of two";
  EXPECT_THAT(compact, Not(Contains(Placement{2, 1}))) << "fits into half a node";
  EXPECT_EQ(enumerate_placements(pool_of(16, 4), {.compact = false}).size(), 64U);
}

class PlacementsOfATask : public ::testing::Test {
 protected:
  PlacementTable table(const ClusterBuilder& cluster, double now_s = 0) {
    const ClusterSnapshot snapshot = cluster.build();
    const auto task = TaskCatalog(snapshot).find({"default", "train"});
    EXPECT_TRUE(task.has_value());
    return placement_table(snapshot, *task,
                           {{.catalog = &catalog_, .predictor = predictor_, .now_wall_s = now_s}});
  }

  static const PlacementRow& row(const PlacementTable& table, Placement shape, const char* type) {
    const auto at = std::find_if(table.rows.begin(), table.rows.end(), [&](const auto& candidate) {
      return candidate.shape == shape && candidate.gpu_type.str() == type;
    });
    if (at == table.rows.end()) throw std::runtime_error("no such row");
    return *at;
  }

  GpuCatalog catalog_ = default_gpu_catalog();
  Coefficients fast_{"S", {100, 1, 0, 0.1, 1.4}};
  Coefficients slow_{"S", {10, 0.1, 0, 0.1, 1.4}};
  std::shared_ptr<const Predictor> predictor_ = std::make_shared<const Predictor>(
      WorkloadProfiles({{"bert", GpuType("A100"), fast_, 30, 12, 5.0, ""},
                        {"bert", GpuType("K80"), slow_, 30, 0, {}, ""}}));
  ClusterBuilder nodes_ = a_cluster()
                              .with(a_node("a1").of("A100", 4))
                              .with(a_node("a2").of("A100", 4))
                              .with(a_node("k1").of("K80", 2));
};

TEST_F(PlacementsOfATask, ArePredictedPricedAndRankedByCer) {
  const auto out = table(nodes_.with(a_job("train").of(1).gpus(2).trains("bert", 64, 1000)));
  ASSERT_EQ(out.rows.size(), 8U) << "2x4 on A100, 1x2 on K80, without those of three per node";
  for (std::size_t i = 1; i < out.rows.size(); ++i)
    EXPECT_GE(*out.rows[i - 1].cer, *out.rows[i].cer);
  const PlacementRow& written = row(out, {1, 2}, "A100");
  EXPECT_TRUE(written.written);
  EXPECT_TRUE(written.allowed);
  EXPECT_EQ(written.lat_s, predict_lat_s(fast_, 64, 1000, Placement{1, 2}, 30));
  EXPECT_EQ(written.model_source, "fitted");
  EXPECT_EQ(row(out, {1, 2}, "K80").model_source, "default");
  EXPECT_FALSE(row(out, {1, 4}, "A100").allowed) << "the written shape only";
}

TEST_F(PlacementsOfATask, DivideTheBatchUnlessTheyAreNamed) {
  const auto shapes = [this](JobBuilder job) {
    std::vector<Placement> found;
    for (const PlacementRow& row : table(ClusterBuilder(nodes_).with(job)).rows)
      if (row.gpu_type == GpuType("A100")) found.push_back(row.shape);
    return found;
  };
  EXPECT_THAT(shapes(a_job("train").of(1).gpus(1).trains("bert", 250, 1000)),
              UnorderedElementsAre(Placement{1, 1}, Placement{1, 2}, Placement{2, 1}));
  EXPECT_THAT(shapes(a_job("train").of(1).gpus(4).trains("bert", 250, 1000)),
              Contains(Placement{1, 4}));
}

TEST_F(PlacementsOfATask, AreFeasibleWhereTheDeadlineCanBeMet) {
  const auto job = a_job("train").of(1).gpus(1).trains("bert", 64, 1000);
  const double slow_s = *predict_lat_s(slow_, 64, 1000, Placement{1, 1}, 30);
  const auto at_once = table(ClusterBuilder(nodes_).with(job));
  EXPECT_DOUBLE_EQ(*at_once.lat11_s, slow_s) << "the slowest type is the reference";
  EXPECT_DOUBLE_EQ(*at_once.deadline_s, 2 * slow_s);
  EXPECT_EQ(row(at_once, {1, 1}, "K80").feasible, true);
  const auto late = table(ClusterBuilder(nodes_).with(job), 1.5 * slow_s);
  EXPECT_EQ(row(late, {1, 1}, "K80").feasible, false);
  EXPECT_EQ(row(late, {1, 1}, "A100").feasible, true);
}

TEST_F(PlacementsOfATask, FitNowWhereEnoughNodesHaveRoomBesideTheHolds) {
  const auto out = table(ClusterBuilder(nodes_)
                             .with(a_pod("x").gpus(2).on("a1"))
                             .with(a_pod("y").gpus(3).nominated("a2"))
                             .with(a_job("train").of(1).gpus(1)));
  EXPECT_TRUE(row(out, {1, 2}, "A100").fits_now);
  EXPECT_TRUE(row(out, {2, 1}, "A100").fits_now);
  EXPECT_FALSE(row(out, {2, 2}, "A100").fits_now);
  EXPECT_FALSE(row(out, {1, 3}, "A100").fits_now);
  EXPECT_TRUE(row(out, {1, 2}, "K80").fits_now);
}

TEST_F(PlacementsOfATask, AreAllowedAsTheAnnotationsSay) {
  JobBuilder job = a_job("train").of(1).gang().gpus(2).waiting().trains("bert", 64, 1000);
  job.intent().placements = {{1, 4}, {2, 2}};
  job.intent().gpu_types = {GpuType("A100")};
  const auto out = table(nodes_.with(job));
  EXPECT_TRUE(row(out, {2, 2}, "A100").allowed);
  EXPECT_FALSE(row(out, {1, 2}, "A100").allowed);
  EXPECT_FALSE(row(out, {1, 2}, "K80").allowed);
  EXPECT_FALSE(row(out, {1, 2}, "K80").accepted);
  EXPECT_TRUE(row(out, {1, 2}, "A100").accepted);
  EXPECT_TRUE(out.absent.empty());
}

TEST_F(PlacementsOfATask, WithoutAModelOnlyTheWrittenShapeIsAllowed) {
  JobBuilder job = a_job("train").of(1).gang().gpus(2).waiting();
  job.intent().any_placement = true;
  const auto out = table(nodes_.with(job));
  EXPECT_TRUE(row(out, {1, 2}, "A100").allowed);
  EXPECT_FALSE(row(out, {1, 4}, "A100").allowed) << "the planner would not choose it";
  EXPECT_EQ(out.deadline_s, std::nullopt) << "no model, no deadline";
  EXPECT_EQ(out.rows[0].model_source, "none: task names no model");
}

TEST_F(PlacementsOfATask, TakeWhatIsSaidOnTheFirstTypeThatIsThere) {
  JobBuilder job = a_job("train").of(2).gang().gpus(2).waiting();
  job.intent().expected_duration_s = 600;
  job.intent().gpu_types = {GpuType("H100"), GpuType("A100"), GpuType("K80")};
  const auto out = table(nodes_.with(job));
  EXPECT_EQ(row(out, {1, 4}, "A100").lat_s, 600) << "two pods on one node";
  EXPECT_EQ(row(out, {2, 2}, "A100").lat_s, 600);
  EXPECT_EQ(row(out, {1, 2}, "K80").lat_s, std::nullopt);
}

TEST_F(PlacementsOfATask, PredictNothingForPartsOfGpus) {
  const std::string slice = "nvidia.com/mig-1g.5gb";
  const auto cluster = a_cluster()
                           .with(a_node("m1").of("A100", 1).resource(kGpu, 0).resource(slice, 7))
                           .with(a_job("train").of(1).gpus(2, slice).trains("bert", 64, 1000));
  const auto out = table(cluster);
  ASSERT_FALSE(out.rows.empty());
  EXPECT_EQ(out.deadline_s, std::nullopt) << "its class gives no deadline";
  for (const PlacementRow& row : out.rows) {
    EXPECT_EQ(row.lat_s, std::nullopt);
    EXPECT_EQ(row.model_source, "none: only whole GPUs are modelled");
  }
}

TEST_F(PlacementsOfATask, NameTheAcceptedTypesThatNoNodeHas) {
  JobBuilder job = a_job("train").of(1).gpus(2);
  job.intent().gpu_types = {GpuType("H100"), GpuType("A100")};
  EXPECT_THAT(table(nodes_.with(job)).absent, ElementsAre(GpuType("H100")));
}

TEST_F(PlacementsOfATask, TakeAnExpectedDurationForTheWrittenShape) {
  JobBuilder job = a_job("train").of(1).gpus(2);
  job.intent().expected_duration_s = 600;
  job.intent().deadline_after_s = 900;
  const auto out = table(nodes_.with(job));
  EXPECT_EQ(row(out, {1, 2}, "A100").lat_s, 600);
  EXPECT_EQ(row(out, {1, 2}, "A100").feasible, true);
  EXPECT_EQ(row(out, {1, 4}, "A100").lat_s, std::nullopt);
}

TEST(Deadline, IsExplicitElseAfterElseByClass) {
  TaskIntent intent;
  EXPECT_EQ(resolve_deadline(intent, 1000, 100), 1200) << "normal is the default";
  intent.qos_class = QosClass::kPrior;
  EXPECT_EQ(resolve_deadline(intent, 1000, 100), 1100);
  intent.qos_class = QosClass::kUrgent;
  EXPECT_EQ(resolve_deadline(intent, 1000, 100), 1000);
  EXPECT_EQ(resolve_deadline(intent, 1000, std::nullopt), std::nullopt);
  intent.deadline_after_s = 50;
  EXPECT_EQ(resolve_deadline(intent, 1000, std::nullopt), 1050);
  intent.deadline_s = 5;
  EXPECT_EQ(resolve_deadline(intent, 1000, 100), 5);
}

}  // namespace
}  // namespace slackline::core
