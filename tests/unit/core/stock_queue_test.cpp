// The tasks that would wait for Slackline in a cluster where nobody holds tasks back.
#include "slackline/core/shadow/stock_queue.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "slackline/core/cluster/not_in_queue.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/model/reason.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using test::a_quota;
using test::kGpu;

// "kind name pods" of what waits, in the order of the queue.
std::vector<std::string> waiting(const ClusterSnapshot& snapshot) {
  const GpuCatalog catalog = default_gpu_catalog();
  QueueOptions options;
  options.catalog = &catalog;
  options.predictor = std::make_shared<const Predictor>(WorkloadProfiles{});
  TaskMenus menus;
  const Queue queue = make_queue(snapshot, options, menus);
  std::vector<std::string> names;
  for (TaskIndex task = 0; task < queue.size(); ++task)
    if (!queue.task(task).plan)
      names.push_back(std::string(to_string(queue.task(task).kind)) + " " +
                      queue.task(task).key.name + " " +
                      std::to_string(queue.task(task).request.pods));
  return names;
}

// Who waits because of a quota.
std::vector<std::string> kept_by_quotas(const ClusterSnapshot& snapshot) {
  const GpuCatalog catalog = default_gpu_catalog();
  QueueOptions options;
  options.catalog = &catalog;
  options.predictor = std::make_shared<const Predictor>(WorkloadProfiles{});
  TaskMenus menus;
  const Queue queue = make_queue(snapshot, options, menus);
  std::vector<std::string> names;
  for (TaskIndex task = 0; task < queue.size(); ++task)
    if (const auto& hindrance = queue.task(task).hindrance;
        hindrance && hindrance->reason == reason::kQuotaExceeded)
      names.push_back(queue.task(task).key.name);
  std::sort(names.begin(), names.end());
  return names;
}

test::PodBuilder pod_of(const std::string& job, int number) {
  return a_pod(job + "-" + std::to_string(number)).of_job(job).gpus(2);
}

TEST(StockQueueTest, WhatOnlyDevicesCouldServeDoesNotWaitForSlackline) {
  ClusterSnapshot stock = a_cluster()
                              .with(a_node("n1"))
                              .with(a_job("train").gpus(2))
                              .with(a_job("chips").gpus(2, "amd.com/gpu"))
                              .with(a_pod("chip").gpus(1, "amd.com/gpu"))
                              .build();
  const auto all = waiting(with_stock_queue(stock, StockScope::kAll));
  EXPECT_EQ(all.size(), 3u);
  stock.served_by_devices = {{"amd.com/gpu", "chips"}};
  EXPECT_EQ(waiting(with_stock_queue(stock, StockScope::kAll)),
            (std::vector<std::string>{"Job train 1"}));
  EXPECT_NE(why_not_in_queue(stock, {"default", "chips"})
                .value()
                .find("devices of the DeviceClass chips"),
            std::string::npos);
  EXPECT_NE(
      why_not_in_queue(stock, {"default", "chip"}).value().find("it is left to kube-scheduler"),
      std::string::npos);
}

TEST(StockQueueTest, WhatNamesASchedulerThatAsksNobodyHereIsLeftToIt) {
  Job kai = a_job("kai").gpus(2).build();
  kai.scheduler_name = "kai-scheduler";
  Pod one = a_pod("one").gpus(1).build();
  one.scheduler_name = "kai-scheduler";
  Pod ours = a_pod("ours").gpus(1).build();
  ours.scheduler_name = "gpu-scheduler";
  Pod stocks = a_pod("stocks").gpus(1).build();
  stocks.scheduler_name = "default-scheduler";
  ClusterSnapshot stock =
      a_cluster().with(a_node("n1")).add(kai).add(one).add(ours).add(stocks).build();
  EXPECT_EQ(waiting(with_stock_queue(stock, StockScope::kAll)).size(), 4u) << "any may ask";
  stock.schedulers = {"gpu-scheduler"};
  EXPECT_EQ(waiting(with_stock_queue(stock, StockScope::kAll)),
            (std::vector<std::string>{"Pod ours 1", "Pod stocks 1"}));
  for (const char* name : {"kai", "one"})
    EXPECT_NE(why_not_in_queue(stock, {"default", name})
                  .value()
                  .find("asks for the scheduler kai-scheduler, which does not ask Slackline"),
              std::string::npos)
        << name;
}

TEST(StockQueueTest, AJobThatStartsAsAWholeWaitsAsOneTaskAndItsPodsAreNotThere) {
  const ClusterSnapshot stock = a_cluster()
                                    .with(a_node("n1"))
                                    .with(a_job("gang").of(2).gang().gpus(2))
                                    .with(pod_of("gang", 0))
                                    .with(pod_of("gang", 1))
                                    .with(a_job("alone").gpus(2))
                                    .with(pod_of("alone", 0))
                                    .build();
  EXPECT_TRUE(waiting(stock).empty()) << "nobody holds them back";
  const ClusterSnapshot queued = with_stock_queue(stock, StockScope::kManaged);
  EXPECT_EQ(waiting(queued), (std::vector<std::string>{"Job alone 1", "Job gang 2"}));
  EXPECT_TRUE(queued.unbound.empty());
  EXPECT_EQ(stock.unbound.size(), 3U) << "the cluster itself is as it was";
}

// They have passed the quota.
TEST(StockQueueTest, WhatItsOwnPodsUseOfAQuotaKeepsNoJob) {
  const ClusterSnapshot stock = a_cluster()
                                    .with(a_node("n1").of("A100", 16))
                                    .with(a_quota("gpus").limit(kGpu, 8, 8).limit("pods", 2, 2))
                                    .with(a_quota("other/gpus").limit(kGpu, 8, 8))
                                    .with(a_pod("runs").gpus(4).on("n1"))
                                    .with(a_job("train").gpus(4))
                                    .with(a_pod("train-0").of_job("train").gpus(4))
                                    .with(a_job("more").gpus(8))
                                    .with(a_job("other/full").gpus(4))
                                    .build();
  const ClusterSnapshot queued = with_stock_queue(stock, StockScope::kManaged);
  EXPECT_EQ(kept_by_quotas(queued), (std::vector<std::string>{"full", "more"}));
  EXPECT_EQ(stock.quotas[0]->limits[0].used, 8) << "the cluster itself is as it was";
}

TEST(StockQueueTest, AQuotaThatDoesNotCountThePodsStaysAsUsedAsItIs) {
  Job bare = a_job("bare").gpus(4).build();
  bare.pod_requests.cpu_milli = bare.pod_requests.memory_bytes = 0;
  Pod pod = a_pod("bare-0").of_job("bare").gpus(4).build();
  pod.requests = bare.pod_requests;
  const ClusterSnapshot queued =
      with_stock_queue(a_cluster()
                           .with(a_node("n1").of("A100", 16))
                           .with(a_quota("burstable").limit(kGpu, 8, 8).not_best_effort())
                           .add(bare)
                           .add(pod)
                           .with(a_job("counted").gpus(4))
                           .build(),
                       StockScope::kManaged);
  EXPECT_EQ(kept_by_quotas(queued), (std::vector<std::string>{"counted"}));
}

TEST(StockQueueTest, OtherPodsWaitOneByOne) {
  const ClusterSnapshot queued = with_stock_queue(a_cluster()
                                                      .with(a_node("n1"))
                                                      .with(a_job("sweep").of(2).gpus(2))
                                                      .with(pod_of("sweep", 0))
                                                      .with(pod_of("sweep", 1))
                                                      .with(a_pod("bare").gpus(1))
                                                      .build(),
                                                  StockScope::kManaged);
  EXPECT_EQ(waiting(queued),
            (std::vector<std::string>{"Pod bare 1", "Pod sweep-0 1", "Pod sweep-1 1"}));
}

TEST(StockQueueTest, WhatRunsOrSomebodyElseHoldsOrNamesNoKeyOfOursIsLeftAlone) {
  Job foreign = a_job("foreign").gpus(2).build();
  foreign.intent = nullptr;
  Job kueue = a_job("kueue").gpus(2).suspended().build();
  kueue.kueue = true;
  Pod gated = a_pod("elsewhere").gpus(1).build();
  gated.gated = gated.foreign_gate = true;
  Pod plain = pod_of("foreign", 0).build();
  plain.intent = nullptr;
  const ClusterSnapshot queued =
      with_stock_queue(a_cluster()
                           .with(a_node("n1"))
                           .with(a_job("begun").of(2).gang().gpus(2))
                           .with(pod_of("begun", 0).on("n1"))
                           .with(pod_of("begun", 1))
                           .add(kueue)
                           .with(a_job("child").gpus(2).owned_by("JobSet", "set"))
                           .with(pod_of("child", 0))
                           .with(a_job("over").gpus(2).finished())
                           .add(foreign)
                           .add(plain)
                           .add(gated)
                           .build(),
                       StockScope::kManaged);
  EXPECT_TRUE(waiting(queued).empty());
}

TEST(StockQueueTest, WhatWaitsWithUsAlreadyWaitsOn) {
  const ClusterSnapshot queued =
      with_stock_queue(a_cluster().with(a_node("n1")).with(a_job("ours").gpus(2).waiting()).build(),
                       StockScope::kManaged);
  EXPECT_EQ(waiting(queued), (std::vector<std::string>{"Job ours 1"}));
}

// A stranger's dump has no key of Slackline.
TEST(StockQueueTest, ByAllEveryGpuTaskThatWaitsIsThere) {
  const auto plain = [](auto object) {
    object.intent = nullptr;
    return object;
  };
  const ClusterSnapshot stock =
      a_cluster()
          .with(a_node("n1"))
          .add(plain(a_job("alone").gpus(2).build()))
          .add(plain(pod_of("alone", 0).build()))
          .add(plain(a_job("gang").of(2).gang().gpus(2).build()))
          .add(plain(a_job("paused").gpus(2).suspended().build()))
          .add(plain(a_pod("bare").gpus(1).build()))
          .add(plain(a_pod("worker-0").owned_by("PyTorchJob", "llama").gpus(1).build()))
          .add(plain(a_pod("serves").gpus(1).on("n1").build()))
          .build();
  EXPECT_EQ(waiting(with_stock_queue(stock, StockScope::kAll)),
            (std::vector<std::string>{"Job alone 1", "Pod bare 1", "Job gang 2", "Job paused 1",
                                      "Pod worker-0 1"}));
  EXPECT_TRUE(waiting(with_stock_queue(stock, StockScope::kManaged)).empty());
}

TEST(StockQueueTest, InAManagedNamespaceAKeyIsNotNeeded) {
  Job job = a_job("alone").gpus(2).build();
  job.intent = nullptr;
  ClusterSnapshot stock = a_cluster().with(a_node("n1")).add(job).build();
  const auto ns = std::make_shared<const Namespace>(
      Namespace{.uid = {}, .key = {"", "default"}, .managed = true});
  stock.namespaces = std::make_shared<const NamespaceList::element_type>(1, ns);
  EXPECT_EQ(waiting(with_stock_queue(stock, StockScope::kManaged)),
            (std::vector<std::string>{"Job alone 1"}));
}

}  // namespace
}  // namespace slackline::core
