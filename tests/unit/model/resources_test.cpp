#include "slackline/model/resources.h"

#include <gtest/gtest.h>

namespace slackline {
namespace {

Resources gpus(std::int64_t count, const char* name = "nvidia.com/gpu") {
  Resources resources;
  resources.set_gpus(name, count);
  return resources;
}

TEST(Resources, KeepTheirGpusSortedByName) {
  Resources resources;
  resources.set_gpus("nvidia.com/mig-1g.5gb", 2);
  resources.set_gpus("amd.com/gpu", 1);
  resources.set_gpus("nvidia.com/gpu", 4);
  resources.set_gpus("amd.com/gpu", 3);
  ASSERT_EQ(resources.gpus.size(), 3U);
  EXPECT_EQ(resources.gpus[0].resource, "amd.com/gpu");
  EXPECT_EQ(resources.gpu_count("amd.com/gpu"), 3);
  EXPECT_EQ(resources.gpu_count("unheard-of"), 0);
  EXPECT_EQ(resources.gpu_total(), 9);
}

TEST(Resources, AddAndSubtractEveryName) {
  Resources sum = gpus(2) + gpus(1, "amd.com/gpu");
  EXPECT_EQ(sum.gpu_count("nvidia.com/gpu"), 2);
  EXPECT_EQ(sum.gpu_count("amd.com/gpu"), 1);
  EXPECT_EQ((gpus(1) - gpus(3)).gpu_count("nvidia.com/gpu"), -2) << "over-commitment is visible";
}

TEST(Resources, CountWhatElseIsNamed) {
  Resources node = gpus(4);
  set_count(node.others, "rdma/hca", 2);
  Resources pod = gpus(1);
  set_count(pod.others, "rdma/hca", 1);
  EXPECT_TRUE(fits(pod, node - pod));
  EXPECT_FALSE(fits(pod, node - pod - pod)) << "GPUs alone are not enough";
  EXPECT_FALSE(fits(pod, gpus(4))) << "not listed there";
  EXPECT_EQ(count_of(max_of(pod, node).others, "rdma/hca"), 2);
  EXPECT_EQ((pod + pod).gpu_total(), 2) << "they are no GPUs";
}

TEST(Resources, TakeTheLargerOfEach) {
  Resources init{4000, 10, 0, {}};
  Resources run{1000, 20, 1, {}};
  run.set_gpus("nvidia.com/gpu", 2);
  const Resources both = max_of(init, run);
  EXPECT_EQ(both.cpu_milli, 4000);
  EXPECT_EQ(both.memory_bytes, 20);
  EXPECT_EQ(both.pods, 1);
  EXPECT_EQ(both.gpu_count("nvidia.com/gpu"), 2);
}

TEST(Resources, FitExactlyAndLookOnlyAtWhatIsAsked) {
  EXPECT_TRUE(fits(gpus(4), gpus(4)));
  EXPECT_FALSE(fits(gpus(5), gpus(4)));
  EXPECT_FALSE(fits(gpus(1, "amd.com/gpu"), gpus(4)));
  Resources over_committed = gpus(4);
  over_committed.memory_bytes = -1;
  EXPECT_TRUE(fits(gpus(4), over_committed));
  Resources wants_memory = gpus(4);
  wants_memory.memory_bytes = 1;
  EXPECT_FALSE(fits(wants_memory, over_committed));
}

TEST(Resources, AsLargeAsAnIntegerDoNotOverflow) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  Resources huge{kMax, kMax, kMax, {}};
  huge.set_gpus("nvidia.com/gpu", kMax);
  const Resources sum = huge + huge;
  EXPECT_EQ(sum.cpu_milli, kMax);
  EXPECT_EQ(sum.gpu_count("nvidia.com/gpu"), kMax);
  Resources two_names = huge;
  two_names.set_gpus("amd.com/gpu", kMax);
  EXPECT_EQ(two_names.gpu_total(), kMax);
  EXPECT_LT((Resources{} - huge - huge).memory_bytes, 0);
}

}  // namespace
}  // namespace slackline
