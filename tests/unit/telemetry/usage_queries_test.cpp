// The PromQL as it is sent. tests/e2e/test_usage.py shows what a real Prometheus makes of it.
#include "telemetry/usage_queries.h"

#include <gmock/gmock.h>

#include "telemetry/node_queries.h"

namespace slackline::telemetry {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

QueryText text(Scope scope = {}) {
  QueryText out;
  out.scope = std::move(scope);
  return out;
}

TEST(QueriesTest, MemoryOfAClusterIsOneSeriesAContainer) {
  EXPECT_EQ(promql(Quantity::kMemoryMax, text()),
            "max by (exported_namespace,exported_pod,exported_container,pod_namespace,pod_name,"
            "container_name,namespace,pod,container) "
            "(max_over_time(container_memory_working_set_bytes{exported_container!=\"\"}[60s]) or "
            "max_over_time(container_memory_working_set_bytes{container_name!=\"\"}[60s]) or "
            "max_over_time(container_memory_working_set_bytes{container!=\"\"}[60s]))")
      << "without the cgroups of pods";
}

TEST(QueriesTest, ACounterIsAskedForAsARateOverSeveralScrapes) {
  EXPECT_THAT(promql(Quantity::kCpu, text()),
              HasSubstr(" or rate(container_cpu_usage_seconds_total{container!=\"\"}[120s]) and "
                        "last_over_time(container_cpu_usage_seconds_total{container!=\"\"}[45s] "
                        "offset 75s))"))
      << "a range before the first sample is no rate of its whole";
  QueryText longer = text();
  longer.step_s = 600;
  EXPECT_THAT(promql(Quantity::kCpu, longer), HasSubstr("[600s]")) << "no step is left out";
}

TEST(QueriesTest, AMigInstanceIsMeasuredByItsProfilingCounter) {
  EXPECT_THAT(promql(Quantity::kGpuMean, text()),
              HasSubstr("((avg_over_time(DCGM_FI_DEV_GPU_UTIL{GPU_I_ID=\"\"}[60s])) / 100 or "
                        "avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[60s]))"));
}

TEST(QueriesTest, ThePeakOfAFramebufferIsAShareOfWhatTheGpuHas) {
  EXPECT_THAT(promql(Quantity::kGpuMemoryMax, text()),
              HasSubstr("(max_over_time(DCGM_FI_DEV_FB_USED[60s]) / "
                        "(avg_over_time(DCGM_FI_DEV_FB_USED[60s]) + "
                        "avg_over_time(DCGM_FI_DEV_FB_FREE[60s])))"));
}

TEST(QueriesTest, AFewPodsAreAskedForByEveryNameThatTheirLabelsMayHave) {
  const std::string asked = promql(Quantity::kMemoryMean, text({"ml", {"a-0", "b.c"}}));
  EXPECT_THAT(asked, HasSubstr("{exported_container!=\"\",exported_namespace=~\"ml\","
                               "exported_pod=~\"a-0|b\\\\.c\"}[60s]"));
  EXPECT_THAT(asked, HasSubstr(" or "));
  EXPECT_THAT(asked, HasSubstr("{container!=\"\",namespace=~\"ml\",pod=~\"a-0|b\\\\.c\"}[60s]"));
}

TEST(QueriesTest, AGpuOfANodeCountsOnceWhoeverUsesIt) {
  EXPECT_THAT(
      node_promql(NodeQuantity::kGpu, {}, 60, 120),
      HasSubstr("avg by (Hostname,hostname) (max by (UUID,uuid,Hostname,hostname,gpu,"
                "GPU_I_ID) (avg_over_time(DCGM_FI_DEV_GPU_UTIL{GPU_I_ID=\"\"}[60s]) / 100"));
  EXPECT_EQ(node_promql(NodeQuantity::kCpu, {}, 60, 120),
            "max by (node,kubernetes_io_hostname,instance) "
            "(rate(container_cpu_usage_seconds_total{id=\"/\"}[120s]))");
}

TEST(QueriesTest, LoadsAreJoinedByNode) {
  const auto series = [](const char* label, const char* node, double value) {
    return wire::Series{{{label, node}}, {{1.8e9, value}}};
  };
  std::vector<NodeLoad> loads;
  add_loads(loads, NodeQuantity::kGpu, {series("hostname", "b", 0.5), series("x", "y", 1)}, {});
  add_loads(loads, NodeQuantity::kCpu,
            {series("node", "a", 2), series("instance", "b", 4), series("node", "b", 3)}, {});
  ASSERT_EQ(loads.size(), 2u);
  EXPECT_EQ(loads[0].node.str(), "a");
  EXPECT_FALSE(loads[0].gpu_share);
  EXPECT_EQ(loads[1].gpu_share, 0.5);
  EXPECT_EQ(loads[1].cpu_cores, 4) << "the greater of two";
  add_loads(loads, NodeQuantity::kGpu, {series("hostname", "b", 71585179.9)}, {});
  EXPECT_EQ(loads[1].gpu_share, 0.5) << "what cannot be measures nothing";
}

TEST(QueriesTest, ANameCannotEndTheString) {
  EXPECT_THAT(promql(Quantity::kMemoryMean, text({"ml", {"x\"} or up #"}})),
              Not(HasSubstr("x\"}")));
}

}  // namespace
}  // namespace slackline::telemetry
