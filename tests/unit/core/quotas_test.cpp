// What ResourceQuotas leave, as the admission plug-in of the API server would see it.
#include "slackline/core/cluster/quotas.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "slackline/core/cluster/queue.h"
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
  book.charge_released(cluster, 0, 0);
  EXPECT_TRUE(book.admits("default", gpus(2), 1));
  EXPECT_FALSE(book.admits("default", gpus(3), 1));
}

// Its pods start one by one, and its controller makes the first a moment later.
TEST(Quotas, AJobThatWasJustOpenedHasSpokenForItsPods) {
  const auto cluster = a_cluster()
                           .with(a_quota("q").limit(kGpu, 4))
                           .with(a_job("folds").of(1, 5).gpus(4).managed().started(100))
                           .build();
  for (const double now_s : {105.0, 111.0}) {
    QuotaBook book(cluster);
    book.charge_released(cluster, 0, now_s);
    EXPECT_EQ(book.admits("default", gpus(4), 1), now_s > 110);
  }
}

TEST(Quotas, WhatComesAfterAPodThatSucceededHasSpokenForItsPart) {
  const auto cluster = a_cluster()
                           .with(a_node("n1"))
                           .with(a_quota("q").limit(kGpu, 4))
                           .with(a_job("folds").of(1, 3).gpus(4).managed().succeeded(1))
                           .succeeded(a_pod("folds-0").of_job("folds").gpus(4).on("n1"), 100)
                           .build();
  for (const double now_s : {101.0, 200.0}) {
    QuotaBook book(cluster);
    book.charge_released(cluster, now_s, 0);
    EXPECT_EQ(book.admits("default", gpus(1), 1), now_s > 110);
  }
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

// They go only as somebody deletes them.
TEST(Quotas, WhatCountsEndedPodsTooIsGivenBackByNoEnd) {
  const auto cluster = a_cluster().with(a_quota("q").limit("count/pods", 3, 1)).build();
  const QuotaBook book(cluster);
  EXPECT_TRUE(book.admits("default", gpus(1), 2));
  EXPECT_FALSE(book.admits("default", gpus(1), 3));
  const auto held = book.held("default", gpus(1), 2);
  ASSERT_EQ(held.size(), 1U);
  QuotaNeed need = held[0];
  need.held = false;  // a start's
  SharedUse run;
  run.quotas = {&need, 1};
  ShareUse use;
  use.keep_quotas(book.left());
  EXPECT_TRUE(use.admits(run));
  use.begin(run);
  use.end(run);
  EXPECT_FALSE(use.admits(run));
  run.anew = true;
  EXPECT_TRUE(use.admits(run)) << "what is started again is counted already";
  EXPECT_EQ(book.resource_of("default", need.limit), "count/pods");
}

// The planner may place it anew in another shape.
TEST(Quotas, ARunOfAFreeShapeTakesAgainWhatItsNextShapeAsksFor) {
  const GpuCatalog catalog = default_gpu_catalog();
  QueueOptions options;
  options.catalog = &catalog;
  options.predictor = std::make_shared<const Predictor>(
      WorkloadProfiles({{"bert", GpuType("K80"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""}}));
  options.now_wall_s = options.now_steady_s = 5000;
  auto train = a_job("train").gpus(2).managed().resumed().started(1000);
  train.trains("bert", 64, 100'000).planned({"n1"});
  train.intent().placements = {{1, 2}, {1, 4}};
  Job job = train.build();
  job.gpu_container = "train";
  job.active = 1;
  auto plan = std::make_shared<PlanNote>(*job.plan);
  plan->gpu_type = GpuType("K80");
  job.plan = std::move(plan);
  const auto cluster =
      a_cluster()
          .with(a_node("n1").of("K80", 4))
          .with(a_quota("q").limit(kGpu, 2, 2).limit("cpu", 1000, 1000).limit("pods", 1, 1))
          .add(job)
          .with(a_pod("train-0").of_job("train").gpus(2).on("n1").managed().started(1000))
          .build();
  TaskMenus menus;
  const Queue queue = make_queue(cluster, options, menus);
  PlanState state = queue.state();
  ASSERT_EQ(state.running().size(), 1U);
  const auto may_use = [&](const Placement& shape) {
    const auto& all = state.tasks()[0].menu->all;
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const Choice& choice) { return choice.shape == shape; });
    return at != all.end() && state.may_use(0, *at);
  };
  EXPECT_TRUE(may_use({1, 4})) << "such a shape is offered";
  static_cast<void>(state.stop(0, 5000));
  EXPECT_TRUE(may_use({1, 2}));
  EXPECT_FALSE(may_use({1, 4})) << "the quota allows two";
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
