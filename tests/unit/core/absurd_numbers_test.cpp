// Numbers that decode and mean nothing: whoever writes them costs neither memory nor time.
#include <gtest/gtest.h>

#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/verbs/filter.h"
#include "slackline/core/verbs/score.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

class AbsurdNumbers : public testing::Test {
 protected:
  Queue queue(const ClusterSnapshot& snapshot) {
    return make_queue(snapshot, planner_.options(0), menus_);
  }

  test::WorldPlanner planner_{3};
  TaskMenus menus_;
};

// Values whose lower half, as an int, is 8, negative or nothing.
TEST_F(AbsurdNumbers, ANodeIsPlannedWithNoMoreGpusThanAnyHas) {
  for (const std::int64_t gpus : {std::int64_t{1} << 21, std::int64_t{3'000'000'000},
                                  std::int64_t{4'294'967'304}, std::int64_t{1} << 50}) {
    const auto snapshot = a_cluster()
                              .with(a_node("typo").resource(test::kGpu, gpus))
                              .with(a_node("n1"))
                              .with(a_job("ours").gpus(1).waiting())
                              .build();
    const Queue found = queue(snapshot);
    EXPECT_EQ(found.state().free().total(), kMaxGpusPerNode + 4) << gpus;
    EXPECT_EQ(planner_.plan(snapshot, 0).size(), 1U) << gpus;
  }
}

TEST_F(AbsurdNumbers, ManyPlansOnOneNodeDoNotMakeItLarger) {
  auto cluster = a_cluster().with(a_node("n1").of("", 4096));
  for (int i = 0; i < 50; ++i)
    cluster.with(a_job("train-" + std::to_string(i)).gpus(4096).managed().planned({"n1"}));
  const Queue found = queue(cluster.build());
  EXPECT_EQ(found.size(), 50U);
  EXPECT_LE(found.state().free().total(), kMaxGpusPerNode);
}

TEST_F(AbsurdNumbers, AJobLargerThanAnyClusterHasNoPlacementAtOnce) {
  for (const std::int64_t pods : {std::int64_t{100'000'000}, std::int64_t{2'147'483'647},
                                  std::numeric_limits<std::int64_t>::max()}) {
    const auto snapshot = a_cluster()
                              .with(a_node("n1").of("", 4096))
                              .with(a_job("endless").of(pods).gang().gpus(1).waiting())
                              .with(a_job("small").gpus(1).waiting())
                              .build();
    Queue found = queue(snapshot);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(found.state().tasks()[0].menu->empty());
    EXPECT_EQ(found.state().waiting().size(), 1U);
    EXPECT_EQ(planner_.plan(snapshot, 0).size(), 1U) << "others are served";
  }
}

TEST_F(AbsurdNumbers, AGpuCountLargerThanAnyNodeHasNoPlacement) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1"))
                            .with(a_job("wide").of(3).gang().gpus(std::int64_t{1} << 50).waiting())
                            .build();
  const Queue found = queue(snapshot);
  EXPECT_TRUE(found.state().tasks()[0].menu->empty());
  EXPECT_GT(found.state().tasks()[0].request_gpus, 0);
}

TEST_F(AbsurdNumbers, PlacementsOfAllSizesAreWeighedAndNoneOverflows) {
  auto job = a_job("shapes").of(4).gang().gpus(2).waiting().trains("bert", 64, 1000);
  job.intent().placements = {{65536, 4096}, {1, 4}, {4, 2}};
  const auto snapshot = a_cluster().with(a_node("n1")).with(a_node("n2")).with(job).build();
  for (const Choice& choice : queue(snapshot).state().tasks()[0].menu->all)
    EXPECT_LE(choice.gpus, 8);
}

TEST_F(AbsurdNumbers, AGangOfATrillionIsScoredAndFiltered) {
  auto member = a_pod("member").gpus(std::int64_t{1} << 50).managed();
  member.intent().gang = "g";
  member.intent().gang_size = 1'000'000'000'000;
  member.intent().model = "bert";
  member.intent().batch_size = 1;
  const auto snapshot = a_cluster().with(a_node("n1")).with(member).build();
  const auto tasks = TaskCatalog(snapshot).tasks();
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].written_shape(), (Placement{65536, 4096}));
  NodesRequest request;
  request.pod = *snapshot.unbound.front();
  request.node_names = {"n1"};
  const GpuCatalog catalog = default_gpu_catalog();
  const auto predictor = std::make_shared<const Predictor>(WorkloadProfiles{});
  const Situation situation{.catalog = &catalog, .predictor = predictor};
  const auto sheet = score_nodes(snapshot, request, {situation});
  EXPECT_EQ(sheet.measured.shape, (Placement{65536, 4096}));
  EXPECT_TRUE(unresolvable(filter_nodes(snapshot, request, {situation}).verdicts.front()));
}

}  // namespace
}  // namespace slackline::core
