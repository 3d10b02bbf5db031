// What ResourceQuotas leave, as the admission plug-in of the API server would see it.
#include "slackline/core/cluster/quotas.h"

#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using test::a_quota;
using test::kGiB;
using test::kGpu;

Resources gpus(std::int64_t count) {
  Resources pod{1000, kGiB, 1, {}};
  pod.set_gpus(kGpu, count);
  return pod;
}

TEST(Quotas, LeaveHardMinusUsed) {
  const auto cluster = a_cluster().with(a_quota("q").limit(kGpu, 8, 3)).build();
  const QuotaBook book(cluster);
  EXPECT_TRUE(book.admits("default", gpus(5), 1));
  EXPECT_FALSE(book.admits("default", gpus(6), 1));
  EXPECT_FALSE(book.admits("default", gpus(2), 3));
  EXPECT_TRUE(book.admits("elsewhere", gpus(100), 100));
}

TEST(Quotas, EveryQuotaAndEveryLimitMustAgree) {
  const auto cluster =
      a_cluster()
          .with(a_quota("gpus").limit(kGpu, 8))
          .with(a_quota("rest").limit("cpu", 4000).limit("memory", 4 * kGiB).limit("pods", 3))
          .build();
  const QuotaBook book(cluster);
  EXPECT_TRUE(book.admits("default", gpus(1), 3));
  EXPECT_FALSE(book.admits("default", gpus(1), 4)) << "three pods";
  Resources thirsty = gpus(1);
  thirsty.cpu_milli = 4001;
  EXPECT_FALSE(book.admits("default", thirsty, 1));
  Resources fat = gpus(1);
  fat.memory_bytes = 5 * kGiB;
  EXPECT_FALSE(book.admits("default", fat, 1));
}

TEST(Quotas, OnlyWhatAPodAsksForIsLookedAt) {
  const auto cluster = a_cluster().with(a_quota("q").limit("nvidia.com/mig-1g.5gb", 0, 2)).build();
  EXPECT_TRUE(QuotaBook(cluster).admits("default", gpus(4), 9));
}

TEST(Quotas, PodsThatTheQuotaHasNotCountedYetCount) {
  const auto cluster = a_cluster()
                           .with(a_node("n1"))
                           .with(a_quota("q").limit(kGpu, 4, 1))
                           .with(a_pod("a").gpus(1).on("n1"))
                           .with(a_pod("b").gpus(2).gated())
                           .with(a_pod("other/c").gpus(4).on("n1"))
                           .build();
  EXPECT_TRUE(QuotaBook(cluster).admits("default", gpus(1), 1));
  EXPECT_FALSE(QuotaBook(cluster).admits("default", gpus(2), 1));
}

TEST(Quotas, ReleasedJobsHaveSpokenForThePodsThatAreStillToCome) {
  const auto cluster = a_cluster()
                           .with(a_quota("q").limit(kGpu, 8))
                           .with(a_job("gang").of(3).gang().gpus(2).managed().planned({"n1"}))
                           .with(a_pod("gang-0").of_job("gang").gpus(2).gated())
                           .with(a_job("waits").gpus(4).waiting())
                           .with(a_job("ended").gpus(4).planned({"n1"}).finished())
                           .build();
  QuotaBook book(cluster);
  EXPECT_TRUE(book.admits("default", gpus(6), 1));
  book.charge_released(cluster);
  EXPECT_TRUE(book.admits("default", gpus(2), 1));
  EXPECT_FALSE(book.admits("default", gpus(3), 1));
}

TEST(Quotas, ScopesThatMayNotMatchAreNotPlannedAgainst) {
  const auto scoped = a_cluster().with(a_quota("q").limit(kGpu, 0).scoped()).build();
  EXPECT_TRUE(QuotaBook(scoped).empty());
  const auto burstable = a_cluster().with(a_quota("q").limit(kGpu, 0).not_best_effort()).build();
  EXPECT_FALSE(QuotaBook(burstable).admits("default", gpus(1), 1));
  Resources bare = gpus(1);
  bare.cpu_milli = bare.memory_bytes = 0;
  EXPECT_TRUE(QuotaBook(burstable).admits("default", bare, 1));
}

TEST(Quotas, HugeAmountsDoNotWrapAround) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  const auto cluster = a_cluster().with(a_quota("q").limit("memory", kHuge)).build();
  QuotaBook book(cluster);
  Resources pod = gpus(1);
  pod.memory_bytes = kHuge;
  EXPECT_TRUE(book.admits("default", pod, 1));
  EXPECT_FALSE(book.admits("default", pod, 4));
  book.charge("default", pod, 4);
  book.charge("default", pod, 4);
  EXPECT_FALSE(book.admits("default", gpus(1), 1));
}

}  // namespace
}  // namespace slackline::core
