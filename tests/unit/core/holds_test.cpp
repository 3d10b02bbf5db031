#include "slackline/core/cluster/holds.h"

#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using namespace slackline::test;

// GPUs on the node that are held against a stranger of this priority.
std::int64_t held(const ClusterSnapshot& cluster, const std::string& node,
                  std::int32_t priority = 0, double now_s = 0) {
  const Pod stranger = a_pod("strangers/pod").gpus(1).priority(priority).build();
  return held_against(cluster, *cluster.find_node(node), stranger, now_s).gpu_count(kGpu);
}

ClusterBuilder four_nodes() {
  return a_cluster()
      .with(a_node("a").of("A100", 4))
      .with(a_node("b").of("A100", 4))
      .with(a_node("c").of("A100", 4))
      .with(a_node("d").of("A100", 4));
}

TEST(Holds, ANominatedPodHoldsItsRequestGatedOrNot) {
  const auto cluster = four_nodes()
                           .with(a_pod("x").gpus(3).nominated("a").gated())
                           .with(a_pod("y").gpus(2).nominated("b"))
                           .build();
  EXPECT_EQ(held(cluster, "a"), 3);
  EXPECT_EQ(held(cluster, "b"), 2);
  EXPECT_EQ(held(cluster, "c"), 0);
  EXPECT_EQ(held(cluster, "a", 0, 1e9), 3) << "a nomination does not expire";
}

TEST(Holds, CountForEqualAndLowerRanksOnly) {
  const auto cluster = four_nodes().with(a_pod("x").gpus(3).priority(5).nominated("a")).build();
  EXPECT_EQ(held(cluster, "a", 4), 3);
  EXPECT_EQ(held(cluster, "a", 5), 3);
  EXPECT_EQ(held(cluster, "a", 6), 0);
}

TEST(Holds, NeverStandAgainstThePodItselfItsTaskOrItsGang) {
  const auto cluster =
      four_nodes()
          .with(a_pod("alone").gpus(1).nominated("a"))
          .with(a_pod("set-0").owned_by("ReplicaSet", "set").gpus(1).nominated("b"))
          .with(a_pod("g-0").in_gang("g", 2).gpus(1).nominated("c"))
          .build();
  const auto against = [&](const char* node, const Pod& pod) {
    return held_against(cluster, *cluster.find_node(node), pod, 0).gpu_count(kGpu);
  };
  EXPECT_EQ(against("a", a_pod("alone").build()), 0);
  EXPECT_EQ(against("a", a_pod("other").build()), 1);
  EXPECT_EQ(against("b", a_pod("set-1").owned_by("ReplicaSet", "set").build()), 0);
  EXPECT_EQ(against("b", a_pod("set-1").owned_by("ReplicaSet", "other").build()), 1);
  EXPECT_EQ(against("c", a_pod("g-1").in_gang("g", 2).build()), 0);
  EXPECT_EQ(against("c", a_pod("elsewhere/g-1").in_gang("g", 2).build()), 1)
      << "a gang lives in one namespace";
}

TEST(Holds, APlanHoldsForPodsThatDoNotExistYet) {
  const auto cluster =
      four_nodes()
          .with(a_job("train").of(2).gang().gpus(4).priority(7).planned({"a", "b"}))
          .build();
  EXPECT_EQ(held(cluster, "a", 7), 4);
  EXPECT_EQ(held(cluster, "b", 7), 4);
  EXPECT_EQ(held(cluster, "a", 8), 0) << "the template's rank";
}

TEST(Holds, APlanHoldsItsNodesMinusWhatIsBound) {
  const auto cluster = four_nodes()
                           .with(a_job("train").of(2).gang().gpus(4).planned({"a", "b"}))
                           .with(a_pod("train-0").of_job("train").gpus(4).on("a"))
                           .with(a_pod("train-1").of_job("train").gpus(4).gated())
                           .build();
  EXPECT_EQ(held(cluster, "a"), 0);
  EXPECT_EQ(held(cluster, "b"), 4);
}

TEST(Holds, ANominatedPodThatItsPlanCountsIsNotCountedTwice) {
  const auto cluster = four_nodes()
                           .with(a_job("train").of(2).gang().gpus(2).planned({"a", "a"}))
                           .with(a_pod("train-0").of_job("train").gpus(2).gated().nominated("a"))
                           .with(a_pod("train-1").of_job("train").gpus(2).gated())
                           .build();
  EXPECT_EQ(held(cluster, "a"), 4);
  const auto spread = four_nodes()
                          .with(a_job("train").of(2).gang().gpus(2).planned({"a", "b"}))
                          .with(a_pod("train-0").of_job("train").gpus(2).gated().nominated("a"))
                          .with(a_pod("train-1").of_job("train").gpus(2).gated())
                          .build();
  EXPECT_EQ(held(spread, "a"), 2);
  EXPECT_EQ(held(spread, "b"), 2) << "the rest of the plan is what nobody is nominated to";
}

TEST(Holds, MoveWithAMemberThatIsNominatedOrBoundElsewhere) {
  const auto renominated = four_nodes()
                               .with(a_job("train").of(2).gang().gpus(4).planned({"a", "b"}))
                               .with(a_pod("train-0").of_job("train").gpus(4).nominated("c"))
                               .with(a_pod("train-1").of_job("train").gpus(4))
                               .build();
  EXPECT_EQ(held(renominated, "a") + held(renominated, "b") + held(renominated, "c"), 8)
      << "never more than the task's own unbound request";
  EXPECT_EQ(held(renominated, "c"), 4);
  const auto deviated = four_nodes()
                            .with(a_job("train").of(2).gang().gpus(4).planned({"a", "b"}))
                            .with(a_pod("train-0").of_job("train").gpus(4).on("d"))
                            .with(a_pod("train-1").of_job("train").gpus(4))
                            .build();
  EXPECT_EQ(held(deviated, "a") + held(deviated, "b"), 4);
}

// Its nomination follows; until then nobody else may be planned there.
TEST(Holds, OfAPlanThatWasMovedStandOnItsNewNode) {
  for (const char* old_place : {"c", "gone"}) {
    const auto moved =
        four_nodes()
            .with(a_job("train").of(1).gpus(4).planned({"a"}))
            .with(a_pod("train-0").of_job("train").gpus(4).gated().nominated(old_place))
            .build();
    EXPECT_EQ(held(moved, "a"), 4) << old_place;
  }
}

// They end on a node that was away when the Job was released again.
TEST(Holds, OfAPlanAreNotThoseOfAnEarlierRunsPods) {
  auto pod = a_pod("train-0").of_job("train").gpus(4).on("d");
  const auto job = a_job("train").of(1).gpus(4).planned({"a"});
  EXPECT_EQ(held(four_nodes().with(job).with(pod).build(), "a"), 0);
  EXPECT_EQ(held(four_nodes().with(job).with(pod.deleting()).build(), "a"), 4);
}

TEST(Holds, OfAPlanNeverExceedWhatTheJobStillWants) {
  const auto cluster =
      four_nodes()
          .with(a_job("train").of(4).succeeded(3).gpus(2).planned({"a", "b", "c", "d"}))
          .build();
  EXPECT_EQ(held(cluster, "a") + held(cluster, "b") + held(cluster, "c") + held(cluster, "d"), 2);
}

TEST(Holds, OfAPlanExpireAMinuteAfterItWasSeenOrLastProgressed) {
  const auto job = a_job("train").of(1).gpus(4).planned({"a"});
  const auto seen = four_nodes().with(job).sighted(job_uid("train"), 100).build();
  EXPECT_EQ(held(seen, "a", 0, 159), 4);
  EXPECT_EQ(held(seen, "a", 0, 160), 0);
  const auto progressing = four_nodes().with(job).sighted(job_uid("train"), 100, 150).build();
  EXPECT_EQ(held(progressing, "a", 0, 209), 4);
  EXPECT_EQ(held(progressing, "a", 0, 210), 0);
}

// Whether the Job still counts the pod as active, or its controller backs off.
TEST(Holds, OfALostMemberAreKeptForItsReplacementForTenMinutes) {
  Job gang = a_job("train").of(2).gang().gpus(4).planned({"a", "b"}).build();
  gang.active = 2;
  ClusterSnapshot cluster = four_nodes()
                                .add(gang)
                                .with(a_pod("train-0").of_job("train").gpus(4).on("a"))
                                .sighted(job_uid("train"), 100, 200)
                                .build();
  EXPECT_EQ(held(cluster, "b", 0, 1000), 0) << "it may have succeeded";
  Sightings sightings = *cluster.sightings;
  sightings.at(job_uid("train")).lost_s = 1000;
  cluster.sightings = std::make_shared<const Sightings>(std::move(sightings));
  cluster.holds = derive_holds(cluster);
  EXPECT_EQ(held(cluster, "a", 0, 1599), 0);
  EXPECT_EQ(held(cluster, "b", 0, 1599), 4);
  EXPECT_EQ(held(cluster, "b", 0, 1600), 0);
}

// Its controller counts it until it has seen that it is gone.
TEST(Holds, OfAMemberThatIsDeletedBehindItsGateAreKeptForItsReplacement) {
  Job gang = a_job("train").of(2).gang().gpus(4).planned({"a", "b"}).build();
  gang.active = 2;
  const auto cluster = four_nodes()
                           .add(gang)
                           .with(a_pod("train-0").of_job("train").gpus(4).nominated("a").deleting())
                           .with(a_pod("train-1").of_job("train").gpus(4).nominated("b"))
                           .sighted(job_uid("train"), 100, 110)
                           .build();
  EXPECT_EQ(held(cluster, "a", 0, 150), 4);
  EXPECT_EQ(held(cluster, "b", 0, 150), 4);
}

// One pod at a time. The Job's controller makes the next one a second after the end of the last.
TEST(Holds, OfAPodThatSucceededAreKeptForTheNextOneOfItsJob) {
  const auto after_one_pod = [](std::int64_t completions, std::int64_t counted) {
    return four_nodes()
        .with(a_job("folds").of(1, completions).gpus(4).managed().succeeded(counted))
        .with(a_pod("other").gpus(1).on("b"))
        .succeeded(a_pod("folds-0").of_job("folds").gpus(4).managed().on("a"), 100);
  };
  for (const std::int64_t counted : {0, 1}) {
    EXPECT_EQ(held(after_one_pod(10, counted).build(), "a", 0, 105), 4);
    EXPECT_EQ(held(after_one_pod(10, counted).build(), "a", 0, 110), 0) << "nobody made one";
    EXPECT_EQ(held(after_one_pod(1, counted).build(), "a", 0, 105), 0) << "it was the last";
  }
  auto made = after_one_pod(2, 1);  // seen before the one that the Job's status counts as active
  EXPECT_EQ(held(made.build(), "a", 0, 105), 4);
  made.with(a_pod("folds-1").of_job("folds").gpus(4).managed().gated());
  EXPECT_EQ(held(made.build(), "a", 0, 105), 0) << "it waits its turn";
}

TEST(Holds, OfSeveralPodsThatSucceededAreAsManyAsAreStillToCome) {
  for (const std::int64_t counted : {3, 4, 5}) {
    const auto cluster =
        four_nodes()
            .with(a_job("many").of(2, 6).gpus(2).managed().succeeded(counted))
            .succeeded(a_pod("many-3").of_job("many").gpus(2).managed().on("a"), 100, 3)
            .succeeded(a_pod("many-4").of_job("many").gpus(2).managed().on("b"), 101, 3)
            .build();
    EXPECT_EQ(held(cluster, "a", 0, 102) + held(cluster, "b", 0, 102), 2) << counted;
  }
}

// Before Kubernetes 1.36 the template of a suspended Job keeps the GPUs that people wrote.
TEST(Holds, OfAPlanAreOfAsManyGpusAsItPlans) {
  Job job = a_job("wide").gpus(1).managed().planned({"a"}).build();
  job.plan = a_plan("plan-1", {1, 4}, {"a"});
  EXPECT_EQ(held(four_nodes().add(job).build(), "a"), 4);
}

TEST(Holds, AreNotHeldByWhoWillNotRun) {
  const auto cluster = four_nodes()
                           .with(a_pod("deleted").gpus(4).nominated("a").deleting())
                           .with(a_job("back").of(1).gpus(4).suspended().planned({"b"}))
                           .with(a_job("done").of(1).gpus(4).finished().planned({"c"}))
                           .with(a_pod("gone").gpus(4).nominated("d").phase(PodPhase::kFailed))
                           .with(a_pod("lost").gpus(4).nominated("no such node"))
                           .build();
  EXPECT_TRUE(cluster.holds.empty());
}

TEST(Holds, OfALabelledGangWithThePlanOnEveryPodAreCountedOnce) {
  const auto member = [](const char* name) {
    return a_pod(name).in_gang("g", 2).gpus(4).gated().planned({"a", "b"});
  };
  const auto cluster = four_nodes().with(member("g-0")).with(member("g-1")).build();
  EXPECT_EQ(held(cluster, "a"), 4);
  EXPECT_EQ(held(cluster, "b"), 4);
}

// The pods of a JobSet are of several Jobs, those of a group of a LeaderWorkerSet of two sets.
TEST(Holds, OfAGangThatAControllerMakesAreCountedOnceWhoeverOwnsItsPods) {
  const auto member = [](Pod pod, const OwnerGang& gang) {
    pod.owner_gang = std::make_shared<const OwnerGang>(gang);
    return pod;
  };
  const auto planned = [](const char* name) {
    return a_pod(name).gpus(4).gated().planned({"a", "b"});
  };
  const OwnerGang set{"JobSet", "llm", Uid("JobSet:default/llm"), "0"};
  const auto jobs = four_nodes()
                        .with(a_job("llm-a").of(1).gpus(4).owned_by("JobSet", "llm"))
                        .with(a_job("llm-b").of(1).gpus(4).owned_by("JobSet", "llm"))
                        .add(member(planned("llm-a-0").of_job("llm-a").build(), set))
                        .add(member(planned("llm-b-0").of_job("llm-b").build(), set))
                        .build();
  EXPECT_EQ(held(jobs, "a"), 4);
  EXPECT_EQ(held(jobs, "b"), 4);
  const OwnerGang group{"LeaderWorkerSet", "vllm-0", Uid(), ""};
  const auto sets =
      four_nodes()
          .add(member(planned("vllm-0").owned_by("StatefulSet", "vllm").build(), group))
          .add(member(planned("vllm-0-1").owned_by("StatefulSet", "vllm-0").build(), group))
          .build();
  EXPECT_EQ(held(sets, "a"), 4);
  EXPECT_EQ(held(sets, "b"), 4);
}

TEST(Holds, OfAPodWithTheSamePlanAsItsJobAreCountedOnce) {
  const auto cluster = four_nodes()
                           .with(a_job("train").of(1).gpus(4).planned({"a", "b"}))
                           .with(a_pod("train-0").of_job("train").gpus(4).planned({"a", "b"}))
                           .build();
  EXPECT_EQ(held(cluster, "a") + held(cluster, "b"), 4);
}

TEST(HoldIdentity, IsTheTopmostControllerButNotACronJob) {
  const auto cluster = a_cluster()
                           .with(a_job("set-a").owned_by("JobSet", "set"))
                           .with(a_job("nightly-1").owned_by("CronJob", "nightly"))
                           .build();
  const auto task = [&](const PodBuilder& pod) {
    return hold_identity(cluster, pod.build()).task.str();
  };
  EXPECT_EQ(task(a_pod("p").of_job("set-a")), "JobSet:default/set");
  EXPECT_EQ(task(a_pod("p").of_job("nightly-1")), job_uid("nightly-1").str());
  EXPECT_EQ(task(a_pod("p").of_job("unknown")), job_uid("unknown").str());
  EXPECT_EQ(task(a_pod("p")), pod_uid("p").str());
}

TEST(LivePlan, EndsWithItsHoldAndWithItsJob) {
  const auto cluster = four_nodes()
                           .with(a_job("train").of(1).gpus(4).planned({"a"}))
                           .sighted(job_uid("train"), 100)
                           .with(a_job("back").of(1).gpus(4).suspended().planned({"a"}))
                           .build();
  EXPECT_NE(live_plan(cluster, a_pod("train-0").of_job("train").build(), 120), nullptr);
  EXPECT_EQ(live_plan(cluster, a_pod("train-0").of_job("train").build(), 160), nullptr);
  EXPECT_EQ(live_plan(cluster, a_pod("back-0").of_job("back").build(), 0), nullptr);
  EXPECT_EQ(live_plan(cluster, a_pod("alone").build(), 0), nullptr);
}

}  // namespace
}  // namespace slackline::core
