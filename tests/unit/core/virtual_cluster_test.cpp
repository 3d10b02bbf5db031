// Hand-made histories of a real cluster, and how it would have gone.
#include "slackline/core/shadow/virtual_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "support/cluster_builder.h"
#include "support/profiles.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Told = std::vector<std::string>;

class VirtualClusterTest : public testing::Test {
 protected:
  VirtualClusterTest() {
    options_.catalog = &catalog_;
    options_.predictor = std::make_shared<const Predictor>(WorkloadProfiles{});
  }

  // A Job of one pod, said to run for 900 s.
  static test::JobBuilder job(const std::string& name, double created_s, double deadline_s,
                              std::int64_t gpus = 4) {
    auto job = a_job(name).gpus(gpus).created(created_s);
    job.intent().expected_duration_s = 900;
    job.intent().deadline_s = deadline_s;
    return job;
  }

  static test::PodBuilder pod(const std::string& job, std::int64_t gpus = 4) {
    return a_pod(job + "-0").of_job(job).gpus(gpus);
  }

  static test::ClusterBuilder nodes(int count) {
    auto cluster = a_cluster();
    for (int i = 1; i <= count; ++i)
      cluster.with(a_node("n" + std::to_string(i)).of("K80", 4));
    return cluster;
  }

  // "start a on n1 at 100", "end a met/missed" (planned/real)
  Told look(const test::ClusterBuilder& real, double now_s) {
    cluster_.look(real.build(), now_s);
    return advance(now_s);
  }

  Told advance(double now_s) {
    constexpr std::array kVerdicts = {"met", "missed", "censored"};
    VirtualNews news = cluster_.advance(options_, policy_, now_s);
    Told told;
    for (const VirtualStart& start : news.starts)
      told.push_back(format("start {} on {} at {}", start.write.target.key.name,
                            start.write.plan()->nodes.front().str(), start.at_s));
    for (const VirtualEnd& end : news.ends) {
      if (end.run)
        runs_.push_back(format("{}-{} {}", end.run->started_s, end.run->finished_s, end.run->gpus));
      if (!end.had_deadline) continue;
      told.push_back(format("end {} {}/{}", end.job.str().substr(end.job.str().find('/') + 1),
                            kVerdicts.at(static_cast<std::size_t>(end.planned)),
                            kVerdicts.at(static_cast<std::size_t>(end.real))));
    }
    return told;
  }

  const GpuCatalog catalog_ = default_gpu_catalog();
  const Policy policy_ = *parse_policy("savable,headroom=0,calm=0");
  QueueOptions options_;
  VirtualCluster cluster_;
  Told runs_;  // "100-700 4": that ended, from when until when, on how many GPUs
};

// kube-scheduler takes b first, and a misses what it would have met.
TEST_F(VirtualClusterTest, TheOneWithLessSlackGoesFirstAndLengthsAreTheRealOnes) {
  EXPECT_THAT(look(nodes(1), 50), IsEmpty());
  const auto a = [] { return job("a", 100, 1200); };
  const auto b = [] { return job("b", 100, 9000); };
  EXPECT_THAT(look(nodes(1).with(b()).with(pod("b")).with(a()).with(pod("a")), 100),
              ElementsAre("start a on n1 at 100"));
  const auto b_runs = [&] {
    return nodes(1).with(b()).with(pod("b").on("n1").started(110)).with(a()).with(pod("a"));
  };
  EXPECT_THAT(look(b_runs(), 111), IsEmpty());
  EXPECT_EQ(cluster_.time_s(), 100) << "how long a runs nobody knows yet";
  const auto b_over = [&] { return nodes(1).with(b().finished().completed(2110)); };
  EXPECT_THAT(look(b_over().with(a()).with(pod("a").on("n1").started(2120)), 2121), IsEmpty());
  EXPECT_THAT(look(b_over().with(a()).with(pod("a").on("n1").started(2120)), 2520), IsEmpty());
  EXPECT_EQ(cluster_.time_s(), 500) << "a has run for 400 s, and might have ended then";
  // a ran for 600 s: planned from 100 to 700; then b, whose 2000 s are known already.
  EXPECT_THAT(look(b_over().with(a().finished().completed(2720)), 2721),
              ElementsAre("start b on n1 at 700", "end a met/missed", "end b met/met"));
  EXPECT_THAT(runs_, ElementsAre("100-700 4", "700-2700 4"));
  EXPECT_EQ(cluster_.time_s(), 2721);
  EXPECT_THAT(advance(2722), IsEmpty());
}

TEST_F(VirtualClusterTest, ARunWithoutADeadlineIsToldToo) {
  static_cast<void>(look(nodes(1), 50));
  auto plain = a_job("plain").gpus(4).created(100);
  plain.intent().expected_duration_s = 900;
  static_cast<void>(look(nodes(1).with(plain).with(pod("plain").on("n1").started(120)), 130));
  EXPECT_THAT(look(nodes(1).with(plain.finished().completed(620)), 621), IsEmpty());
  static_cast<void>(advance(700));
  EXPECT_THAT(runs_, ElementsAre("130-630 4"));
}

// The first look of shadow mode: nobody has written a key yet.
TEST_F(VirtualClusterTest, WhoseJobHasNoKeyIsPlayedWhereAllGpuWorkIs) {
  Job plain = a_job("plain").gpus(4).created(100).build();
  plain.managed = false;
  plain.intent = nullptr;
  const auto real = nodes(1).add(plain).with(pod("plain"));
  static_cast<void>(look(nodes(1), 50));
  EXPECT_THAT(look(real, 110), IsEmpty());
  cluster_ = VirtualCluster(StockScope::kAll);
  static_cast<void>(look(nodes(1), 50));
  EXPECT_THAT(look(real, 110), ElementsAre("start plain on n1 at 110"));
}

TEST_F(VirtualClusterTest, WhatRunsAlreadyKeepsItsGpusAndIsCensored) {
  const auto old = [] { return job("old", 10, 5000); };
  const auto at_first = nodes(1).with(old()).with(pod("old").on("n1").started(20));
  EXPECT_THAT(look(at_first, 100), ElementsAre("end old censored/censored"));
  const auto with_new = [&](test::ClusterBuilder cluster) {
    return cluster.with(job("new", 200, 9000)).with(pod("new"));
  };
  EXPECT_THAT(look(with_new(at_first), 200), IsEmpty()) << "no GPU is free";
  EXPECT_EQ(cluster_.waiting(), 1U);
  EXPECT_THAT(look(with_new(nodes(1).with(old().finished().completed(1000))), 1001),
              ElementsAre("start new on n1 at 1001"));
}

TEST_F(VirtualClusterTest, AQuotaIsKept) {
  const auto real = [] {
    return nodes(2)
        .with(test::a_quota("q").limit(test::kGpu, 4, 4))
        .with(job("one", 100, 9000))
        .with(job("two", 101, 9000));
  };
  static_cast<void>(look(nodes(2), 50));
  EXPECT_THAT(look(real(), 110), ElementsAre("start one on n1 at 110"))
      << "what is used really is not used here";
}

TEST_F(VirtualClusterTest, WhoFailsOrIsDeletedFreesItsGpusAndIsCensored) {
  static_cast<void>(look(nodes(2), 50));
  const auto both = [] {
    return nodes(2)
        .with(job("fails", 100, 9000))
        .with(pod("fails").on("n1").started(100))
        .with(job("goes", 100, 9000))
        .with(pod("goes"));
  };
  EXPECT_THAT(look(both(), 100),
              ElementsAre("start fails on n1 at 100", "start goes on n2 at 100"));
  EXPECT_THAT(look(nodes(2).with(job("fails", 100, 9000).finished()), 400),
              ElementsAre("end fails censored/censored", "end goes censored/censored"));
  EXPECT_EQ(cluster_.running(), 0U);
  EXPECT_THAT(look(nodes(2).with(job("next", 500, 9000)).with(pod("next")), 500),
              ElementsAre("start next on n1 at 500"));
}

TEST_F(VirtualClusterTest, ARunOnANodeThatIsLostBeginsAnewElsewhere) {
  static_cast<void>(look(nodes(1), 50));
  const auto with_job = [](test::ClusterBuilder cluster) {
    return cluster.with(job("a", 100, 900));
  };
  const auto ran = [&](test::ClusterBuilder cluster) {
    return with_job(std::move(cluster)).with(pod("a").on("n1").started(100));
  };
  EXPECT_THAT(look(ran(nodes(1)), 100), ElementsAre("start a on n1 at 100"));
  auto other = a_cluster();
  other.with(a_node("n2").of("K80", 4)).with(job("a", 100, 900));
  EXPECT_THAT(look(other, 300), ElementsAre("start a on n2 at 300"));
  auto again = a_cluster();
  again.with(a_node("n2").of("K80", 4)).with(job("a", 100, 900));
  static_cast<void>(look(again.with(a_pod("a-1").of_job("a").gpus(4).on("n2").started(310)), 311));
  auto over = a_cluster();
  over.with(a_node("n2").of("K80", 4)).with(job("a", 100, 900).finished().completed(910));
  EXPECT_THAT(look(over, 911), ElementsAre("end a met/missed")) << "600 s from 300 on";
}

TEST_F(VirtualClusterTest, ARunThatWasTriedAgainEndsNoEarlierThanItReallyDid) {
  static_cast<void>(look(nodes(1), 50));
  const auto real = [] { return nodes(1).with(job("a", 100, 900)); };
  EXPECT_THAT(look(real().with(pod("a").on("n1").started(100)), 100),
              ElementsAre("start a on n1 at 100"));
  EXPECT_THAT(look(real(), 700), IsEmpty()) << "its pod has failed";
  EXPECT_THAT(look(real().with(a_pod("a-1").of_job("a").gpus(4).on("n1").started(710)), 711),
              IsEmpty());
  EXPECT_THAT(look(nodes(1).with(job("a", 100, 900).finished().completed(1000)), 1001),
              ElementsAre("end a missed/missed"));
  EXPECT_THAT(runs_, ElementsAre("100-1000 4"));
}

TEST_F(VirtualClusterTest, LengthsAreScaledByTheModelsRatioOfTypes) {
  options_.predictor = std::make_shared<const Predictor>(WorkloadProfiles(
      {test::a_profile("net", GpuType("K80"), {"table", {8, 1, 10}}),
       test::a_profile("net", GpuType("P100"), {"table", {8, 1, 40}})}));  // samples/s
  const auto typed = [] {
    auto job = a_job("a").gpus(1).created(100).trains("net", 8, 1000);
    job.intent().deadline_s = 100 + 450;
    job.intent().gpu_types = {GpuType("P100")};
    return job;
  };
  const auto world = [] {
    return a_cluster().with(a_node("k").of("K80", 1)).with(a_node("p").of("P100", 1));
  };
  static_cast<void>(look(world(), 50));
  // kube-scheduler knows nothing of types.
  EXPECT_THAT(look(world().with(typed()).with(pod("a", 1).on("k").started(100)), 101),
              ElementsAre("start a on p at 101"));
  EXPECT_THAT(look(world().with(typed()).with(pod("a", 1).on("k").started(100)), 501), IsEmpty());
  EXPECT_NEAR(cluster_.time_s(), 201, 1) << "400 s on a K80 are 100 s on a P100";
  EXPECT_THAT(look(world().with(typed().finished().completed(1300)), 1301),
              ElementsAre("end a met/missed"));
}

TEST_F(VirtualClusterTest, ALengthThatNobodyLearnsInADayIsPredictedAndCensored) {
  static_cast<void>(look(nodes(1), 50));
  const auto stuck = [] { return nodes(1).with(job("stuck", 100, 5000)).with(pod("stuck")); };
  EXPECT_THAT(look(stuck(), 100), ElementsAre("start stuck on n1 at 100"));
  const auto next = [&] { return stuck().with(job("next", 200, 9e5)).with(pod("next")); };
  EXPECT_THAT(look(next(), 200), IsEmpty()) << "when stuck ends is not known";
  EXPECT_THAT(advance(100 + kMostLag_s), IsEmpty());
  EXPECT_THAT(advance(101 + kMostLag_s),
              ElementsAre("start next on n1 at 1000", "end stuck censored/censored"));
}

TEST_F(VirtualClusterTest, PodsOfOthersTakeTheirRoomFirst) {
  static_cast<void>(look(nodes(1), 50));
  const auto notebook = [] {
    auto pod = a_pod("notebook").gpus(3).on("n1").started(60).build();
    pod.intent = nullptr;
    return pod;
  };
  EXPECT_THAT(look(nodes(1).add(notebook()).with(job("a", 100, 9000)).with(pod("a")), 100),
              IsEmpty());
  EXPECT_THAT(look(nodes(1).with(job("a", 100, 9000)).with(pod("a")), 300),
              ElementsAre("start a on n1 at 300"));
  // One that comes now takes what is not there any more; the run goes on.
  EXPECT_THAT(look(nodes(1).add(notebook()).with(job("a", 100, 9000)).with(pod("a")), 400),
              IsEmpty());
  EXPECT_EQ(cluster_.running(), 1U);
}

}  // namespace
}  // namespace slackline::core
