#include "slackline/core/verbs/victims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using namespace slackline::test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kNow_s = 100000;

PodBuilder urgent(std::int64_t gpus) {
  return a_pod("urgent").gpus(gpus).priority(10);
}

// A pod that has run for this many seconds.
PodBuilder running(const std::string& name, std::int64_t gpus, double for_s = 1000) {
  return a_pod(name).gpus(gpus).on("a").started(kNow_s - for_s);
}

PreemptReply reply(const ClusterSnapshot& cluster, const PodBuilder& preemptor,
                   std::vector<NodeVictims> candidates, bool trusted = true,
                   std::shared_ptr<const Predictor> predictor = nullptr) {
  const GpuCatalog catalog = default_gpu_catalog();
  return choose_victims(cluster, {preemptor.build(), std::move(candidates)},
                        {{.catalog = &catalog,
                          .predictor = std::move(predictor),
                          .now_wall_s = kNow_s,
                          .trusted = trusted}});
}

NodeVictims offer(const std::string& node, const std::vector<std::string>& pods,
                  std::int64_t pdb_violations = 0) {
  NodeVictims out{node, {}, pdb_violations};
  for (const std::string& pod : pods)
    out.victims.push_back(pod_uid(pod));
  return out;
}

std::vector<Uid> victims(const ClusterSnapshot& cluster, const PodBuilder& preemptor,
                         const NodeVictims& offered,
                         std::shared_ptr<const Predictor> predictor = nullptr) {
  const auto answer = reply(cluster, preemptor, {offered}, true, std::move(predictor));
  return answer.nodes.empty() ? std::vector<Uid>{} : answer.nodes[0].victims;
}

TEST(Victims, AreThoseWhoLoseTheLeastWork) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(running("old", 2, 90000))
                           .with(running("young", 2, 60))
                           .build();
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"old"})), ElementsAre(pod_uid("young")));
}

TEST(Victims, AreJudgedByTheirLastCheckpoint) {
  PodBuilder saved = running("saved", 2, 90000);
  saved.intent().last_checkpoint_s = kNow_s - 30;
  PodBuilder periodic = running("periodic", 2, 90000);
  periodic.intent().checkpoint_interval_s = 600;
  const auto without = a_cluster().with(a_node("a")).with(running("young", 2, 60));
  EXPECT_THAT(
      victims(ClusterBuilder(without).with(saved).build(), urgent(2), offer("a", {"young"})),
      ElementsAre(pod_uid("saved")));
  EXPECT_THAT(
      victims(ClusterBuilder(without).with(periodic).build(), urgent(2), offer("a", {"young"})),
      ElementsAre(pod_uid("periodic")))
      << "90000 s are 150 whole intervals";
}

TEST(Victims, AreJudgedByTheProgressTheirJobTold) {
  ClusterSnapshot cluster = a_cluster()
                                .with(a_node("a"))
                                .with(running("young", 2, 60))
                                .with(test::a_job("told").gpus(2).managed())
                                .with(running("told-0", 2, 90000).of_job("told"))
                                .build();
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"told-0"})), ElementsAre(pod_uid("young")));
  Job told = *cluster.jobs.front();
  told.progress = std::make_shared<const ProgressNote>(ProgressNote{9, 10, kNow_s - 30});
  cluster.jobs = {std::make_shared<const Job>(told)};
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"young"})), ElementsAre(pod_uid("told-0")));
}

TEST(Victims, ACalibrationRunLosesNobodysWork) {
  Job run = test::a_job("run").gpus(2).managed().build();
  run.calibration = CalibrationMark::kRun;
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(running("young", 2, 60))
                           .add(run)
                           .with(running("run-0", 2, 90000).of_job("run"))
                           .build();
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"young"})), ElementsAre(pod_uid("run-0")));
}

TEST(Victims, CostTheRestartThatWasMeasuredToo) {
  const auto predictor = std::make_shared<const Predictor>(WorkloadProfiles(
      {{"slow-to-start", GpuType("K80"), {"S", {1, 1, 0, 0, 1}}, 600, 1, {}, "measured"}}));
  PodBuilder slow = running("slow", 2, 60);
  slow.intent().model = "slow-to-start";
  const auto cluster =
      a_cluster().with(a_node("a").of("K80", 4)).with(slow).with(running("old", 2, 300)).build();
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"slow"})), ElementsAre(pod_uid("slow")));
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"slow"}), predictor),
              ElementsAre(pod_uid("old")))
      << "660 seconds against 300";
}

TEST(Victims, OfAGangJobCostThatJobWhateverItsLabel) {
  const auto member = [](const char* name, const char* job, const char* node) {
    return running(name, 2, 100).of_job(job).in_gang("same", 2).on(node);
  };
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(a_node("b"))
                           .with(a_job("one").of(2).gang().gpus(2))
                           .with(a_job("two").of(2).gang().gpus(2))
                           .with(member("one-0", "one", "a"))
                           .with(member("one-1", "one", "b"))
                           .with(member("two-0", "two", "b"))
                           .with(running("alone", 2, 250))
                           .build();
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"one-0"})), ElementsAre(pod_uid("one-0")))
      << "400 GPU-seconds of its own Job against 500";
}

TEST(Victims, OfAGangCostTheWholeGang) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(a_node("b"))
                           .with(running("g-0", 2, 100).in_gang("g", 2))
                           .with(running("g-1", 4, 100).in_gang("g", 2).on("b"))
                           .with(running("alone", 2, 250))
                           .build();
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"g-0"})), ElementsAre(pod_uid("alone")))
      << "500 GPU-seconds against 600";
}

TEST(Victims, AreOfTheLowestPriorityBeforeAnythingElse) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(running("low", 2, 90000).priority(1))
                           .with(running("high", 2, 1).priority(2))
                           .build();
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"high"})), ElementsAre(pod_uid("low")));
}

TEST(Victims, LeaveOutNodesThatLoseMore) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(a_node("b"))
                           .with(a_node("c"))
                           .with(running("late", 4, 90000).on("a"))
                           .with(running("first", 2, 30).on("b"))
                           .with(running("second", 2, 30).on("b"))
                           .with(running("other", 4, 60).on("c"))
                           .build();
  const PreemptReply answer =
      reply(cluster, urgent(4),
            {offer("a", {"late"}), offer("b", {"first", "second"}), offer("c", {"other"})});
  ASSERT_EQ(answer.nodes.size(), 1U) << "kube-scheduler would take one victim before two";
  EXPECT_EQ(answer.nodes[0].node, "b");
}

TEST(Victims, OfNodesThatLoseAlikeAreLeftToKubeScheduler) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(a_node("b"))
                           .with(running("one", 4).on("a"))
                           .with(running("two", 4).on("b"))
                           .build();
  const auto answer = reply(cluster, urgent(4), {offer("a", {"one"}), offer("b", {"two"})});
  EXPECT_EQ(answer.nodes.size(), 2U);
}

TEST(Victims, AreNeverMoreThanNeeded) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(running("one", 1))
                           .with(running("two", 1))
                           .with(running("three", 2))
                           .build();
  EXPECT_EQ(victims(cluster, urgent(1), offer("a", {"one", "two", "three"})).size(), 1U);
  EXPECT_EQ(victims(cluster, urgent(4), offer("a", {"one", "two", "three"})).size(), 3U);
}

TEST(Victims, AreAddedWhereAHoldNeedsTheRoomToo) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(running("one", 2))
                           .with(running("two", 2))
                           .with(a_pod("next").gpus(2).priority(10).nominated("a"))
                           .build();
  EXPECT_EQ(victims(cluster, urgent(2), offer("a", {"one"})).size(), 2U);
  EXPECT_EQ(victims(cluster, urgent(2).priority(11), offer("a", {"one"})).size(), 1U);
}

TEST(Victims, AreSortedByPriorityThenStartThenUid) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(running("young", 1, 10).priority(1))
                           .with(running("old", 1, 1000).priority(1))
                           .with(running("high", 1).priority(5))
                           .with(running("twin", 1, 10).priority(1))
                           .build();
  EXPECT_THAT(victims(cluster, urgent(4), offer("a", {"young", "old", "high", "twin"})),
              ElementsAre(pod_uid("high"), pod_uid("old"), pod_uid("twin"), pod_uid("young")));
}

TEST(Victims, AreNeverOfEqualPriorityTerminatingOrElsewhere) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(a_node("b"))
                           .with(running("peer", 2).priority(10))
                           .with(running("low", 2))
                           .with(running("far", 4).on("b"))
                           .build();
  EXPECT_THAT(victims(cluster, urgent(4), offer("a", {"peer", "low"})), IsEmpty());
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"far"})), ElementsAre(pod_uid("low")))
      << "a foreign uid is ignored where something sensible remains";
  EXPECT_THAT(reply(cluster, urgent(2), {offer("unknown", {"low"})}).nodes, IsEmpty());
}

TEST(Victims, AreNotTakenWhereRoomIsComingAnyway) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(running("leaving", 2).deleting())
                           .with(running("staying", 2))
                           .build();
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"staying"})), IsEmpty());
  EXPECT_THAT(victims(cluster, urgent(4), offer("a", {"leaving", "staying"})),
              ElementsAre(pod_uid("staying")));
}

TEST(Victims, StayAsOfferedWhereGpusAreNotTheWholeStory) {
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(running("old", 2, 90000))
                           .with(running("young", 2, 60))
                           .with(a_pod("web").on("a"))
                           .build();
  SchedulingConstraints ports;
  ports.has_host_ports = true;
  EXPECT_THAT(victims(cluster, urgent(2).constrained(ports), offer("a", {"old"})),
              ElementsAre(pod_uid("old")));
  EXPECT_EQ(victims(cluster, urgent(2), offer("a", {"old", "web"})).size(), 2U);
  EXPECT_THAT(victims(cluster, urgent(2).constrained(ports), offer("a", {"old", "gone"})),
              IsEmpty())
      << "an unknown pod cannot be kept";
  const auto roomy = a_cluster().with(a_node("a")).with(running("x", 1)).build();
  EXPECT_THAT(victims(roomy, urgent(1), offer("a", {"x"})), ElementsAre(pod_uid("x")))
      << "the scheduler knows of something that we do not";
  EXPECT_THAT(victims(roomy, urgent(1), offer("a", {})), IsEmpty()) << "never without a victim";
}

// What it loses, and which budgets select it, is not known of a pod without GPUs.
TEST(Victims, AreNotSwappedForPodsWithoutGpus) {
  const auto cluster = a_cluster()
                           .with(a_node("a").cpus(16))
                           .with(running("train", 2).cpus(8))
                           .with(a_pod("web").cpus(8).on("a").started(kNow_s - 10))
                           .build();
  EXPECT_THAT(victims(cluster, urgent(1).cpus(8), offer("a", {"train"})),
              ElementsAre(pod_uid("train")));
}

TEST(Victims, OfAnEmptyOfferAreChosenByUs) {
  const auto cluster = a_cluster().with(a_node("a")).with(running("x", 4)).build();
  EXPECT_THAT(victims(cluster, urgent(1), offer("a", {})), ElementsAre(pod_uid("x")));
}

TEST(Victims, AvoidViolatingABudgetAndCountItAsGiven) {
  DisruptionBudget budget;
  budget.key = {"default", "guard"};
  budget.match_labels = {{"app", "guarded"}};
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(running("guarded", 2, 1).label("app", "guarded"))
                           .with(running("free", 2, 90000).priority(5))
                           .with(budget)
                           .build();
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"guarded"}, 1)),
              ElementsAre(pod_uid("free")));
  const auto both = reply(cluster, urgent(4), {offer("a", {"free", "guarded"}, 3)});
  ASSERT_EQ(both.nodes.size(), 1U);
  EXPECT_EQ(both.nodes[0].pdb_violations, 3) << "unchanged, so not fewer than counted";
  EXPECT_EQ(reply(cluster, urgent(4), {offer("a", {"free"})}).nodes[0].pdb_violations, 1);
}

TEST(Victims, OfABudgetWithRoomDoNotViolateIt) {
  DisruptionBudget budget;
  budget.key = {"default", "guard"};
  budget.match_expressions = {{"app", MatchOperator::kExists, {}}};
  budget.disruptions_allowed = 1;
  const auto cluster = a_cluster()
                           .with(a_node("a"))
                           .with(running("first", 2, 1000).label("app", "x"))
                           .with(running("second", 2, 500).label("app", "x"))
                           .with(budget)
                           .build();
  EXPECT_THAT(victims(cluster, urgent(2), offer("a", {"second"})), ElementsAre(pod_uid("first")))
      << "the more important pod uses up the allowed disruption";
  EXPECT_EQ(reply(cluster, urgent(4), {offer("a", {})}).nodes[0].pdb_violations, 1);
}

TEST(Victims, AreNobodyForAPodWithALivePlan) {
  const auto cluster = a_cluster().with(a_node("a")).with(running("x", 4)).build();
  EXPECT_THAT(reply(cluster, urgent(1).planned({"a"}), {offer("a", {"x"})}).nodes, IsEmpty());
}

TEST(Victims, AreEchoedWhileTheCacheIsNotTrusted) {
  const auto answer = reply(ClusterSnapshot{}, urgent(1),
                            {offer("a", {"who knows"}, 2), offer("b", {})}, /*trusted=*/false);
  ASSERT_EQ(answer.nodes.size(), 1U);
  EXPECT_THAT(answer.nodes[0].victims, ElementsAre(pod_uid("who knows")));
  EXPECT_EQ(answer.nodes[0].pdb_violations, 2);
}

TEST(Victims, BeyondTheExactSearchAreStillMinimal) {
  ClusterBuilder cluster = a_cluster().with(a_node("a").of("A100", 64));
  std::vector<std::string> names;
  for (int i = 0; i < 30; ++i) {
    names.push_back(format("p{:02}", i));
    cluster.with(running(names.back(), 1 + i % 3, 10.0 * i));
  }
  cluster.with(running("filler", 4).priority(10));
  const ClusterSnapshot snapshot = cluster.build();
  ASSERT_EQ(snapshot.nodes[0]->free().gpu_count(kGpu), 0);
  const auto chosen = victims(snapshot, urgent(7), offer("a", names));
  std::int64_t freed = 0;
  std::int64_t smallest = 64;
  for (const PodPtr& pod : snapshot.nodes[0]->pods) {
    if (std::find(chosen.begin(), chosen.end(), pod->uid) == chosen.end()) continue;
    freed += pod->requests.gpu_total();
    smallest = std::min(smallest, pod->requests.gpu_total());
  }
  EXPECT_GE(freed, 7);
  EXPECT_LT(freed - smallest, 7);
}

}  // namespace
}  // namespace slackline::core
