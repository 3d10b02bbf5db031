// The GPUs of the cluster in figures.
#include "control/query/gpu_meters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/query/node_views.h"
#include "slackline/base/text.h"
#include "support/cluster_builder.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_node;
using test::a_pod;
using ::testing::HasSubstr;
using ::testing::Not;

class GpuMetersTest : public ::testing::Test {
 protected:
  std::string shown(const ClusterSnapshot& snapshot) {
    meters.show(pool_views(snapshot, catalog, 0));
    return metrics.expose();
  }
  static std::string gpus(std::string_view type, std::string_view state, int count) {
    return format("slackline_gpus{{gpu_type=\"{}\",state=\"{}\"}} {}\n", type, state, count);
  }

  GpuCatalog catalog = default_gpu_catalog();
  obs::MetricsRegistry metrics;
  GpuMeters meters{metrics};
};

TEST_F(GpuMetersTest, AreThereBeforeTheClusterIsRead) {
  EXPECT_THAT(metrics.expose(), HasSubstr(gpus("unknown", "total", 0)));
}

TEST_F(GpuMetersTest, CountWhatTheClusterViewCounts) {
  const std::string text = shown(a_cluster()
                                     .with(a_node("t4-1").of("T4", 4))
                                     .with(a_node("t4-2").of("T4", 4))
                                     .with(a_node("k80-1").of("K80", 2))
                                     .with(a_pod("runs").gpus(3).on("t4-1"))
                                     .build());
  EXPECT_THAT(text, HasSubstr(gpus("T4", "total", 8)));
  EXPECT_THAT(text, HasSubstr(gpus("T4", "used", 3)));
  EXPECT_THAT(text, HasSubstr(gpus("T4", "held", 0)));
  EXPECT_THAT(text, HasSubstr(gpus("T4", "free", 5)));
  EXPECT_THAT(text, HasSubstr(gpus("K80", "free", 2)));
}

TEST_F(GpuMetersTest, OfANodeThatIsNotUsableNothingIsFree) {
  Node cordoned = a_node("t4-2").of("T4", 4).build();
  cordoned.unschedulable = true;
  const std::string text =
      shown(a_cluster().with(a_node("t4-1").of("T4", 4)).add(cordoned).build());
  EXPECT_THAT(text, HasSubstr(gpus("T4", "total", 8)));
  EXPECT_THAT(text, HasSubstr(gpus("T4", "free", 4)));
}

TEST_F(GpuMetersTest, ATypeThatHasLeftIsZero) {
  shown(a_cluster().with(a_node("t4-1").of("T4", 4)).build());
  EXPECT_THAT(shown(a_cluster().with(a_node("k80-1").of("K80", 4)).build()),
              HasSubstr(gpus("T4", "total", 0)));
}

TEST_F(GpuMetersTest, PartsOfGpusAreNoGpus) {
  GpuPoolView pool;
  pool.gpu_type = GpuType("A100");
  pool.gpus = {{"nvidia.com/gpu", "whole", 4, 1, 0, 3},
               {"nvidia.com/mig-1g.5gb", "mig", 7, 2, 1, 4}};
  meters.show({pool});
  const std::string text = metrics.expose();
  EXPECT_THAT(text, HasSubstr(gpus("A100", "total", 4)));
  EXPECT_THAT(text, HasSubstr("slackline_gpu_parts{gpu_type=\"A100\",resource=\"nvidia.com/"
                              "mig-1g.5gb\",state=\"free\"} 4\n"));
}

TEST_F(GpuMetersTest, TypesBeyondTheLimitAreAddedUp) {
  std::vector<GpuPoolView> pools;
  for (std::size_t i = 0; i < kMaxGpuTypes + 3; ++i) {
    GpuPoolView pool;
    pool.gpu_type = GpuType(format("TYPE-{}", i));
    pool.gpus = {{"nvidia.com/gpu", "whole", 2, 0, 0, 2}};
    pools.push_back(pool);
  }
  meters.show(pools);
  EXPECT_THAT(metrics.expose(), HasSubstr(gpus("other", "total", 6)));
  meters.show({pools.back()});
  EXPECT_THAT(metrics.expose(), HasSubstr(gpus("other", "total", 2)));
  EXPECT_THAT(metrics.expose(), Not(HasSubstr(format("TYPE-{}", kMaxGpuTypes))));
}

}  // namespace
}  // namespace slackline::control
