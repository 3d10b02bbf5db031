// The PromQL as it is sent. tests/e2e/test_usage.py shows what a real Prometheus makes of it.
#include "telemetry/queries.h"

#include <gmock/gmock.h>

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
            "(max_over_time(container_memory_working_set_bytes[60s]))");
}

TEST(QueriesTest, ACounterIsAskedForAsARateOverSeveralScrapes) {
  EXPECT_THAT(promql(Quantity::kCpu, text()),
              HasSubstr("(rate(container_cpu_usage_seconds_total[120s]))"));
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
  EXPECT_THAT(asked, HasSubstr("{exported_namespace=~\"ml\",exported_pod=~\"a-0|b\\\\.c\"}[60s]"));
  EXPECT_THAT(asked, HasSubstr(" or "));
  EXPECT_THAT(asked, HasSubstr("{namespace=~\"ml\",pod=~\"a-0|b\\\\.c\"}[60s]"));
}

TEST(QueriesTest, ANameCannotEndTheString) {
  EXPECT_THAT(promql(Quantity::kMemoryMean, text({"ml", {"x\"} or up #"}})),
              Not(HasSubstr("x\"}")));
}

}  // namespace
}  // namespace slackline::telemetry
