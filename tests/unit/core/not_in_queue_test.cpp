// What somebody is told who asks for a task that is not in the queue.
#include "slackline/core/cluster/not_in_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using test::ClusterBuilder;
using ::testing::HasSubstr;

std::string why(const ClusterSnapshot& snapshot, const std::string& name) {
  return why_not_in_queue(snapshot, {"default", name}).value_or("there is none");
}

TEST(NotInQueue, EachCaseNamesWhatIsTheMatter) {
  Job kueue = a_job("kueue").gpus(1).build();
  kueue.kueue = true;
  Job gated = a_job("gated").gpus(1).build();
  gated.holds_pods = true;
  Job pinned = a_job("pinned").gpus(1).build();
  pinned.holds_pods = pinned.names_node = true;
  Pod foreign = a_pod("foreign").gpus(1).build();
  foreign.gated = foreign.foreign_gate = true;
  Pod waits = a_pod("each-b").of_job("each").gpus(1).build();
  waits.gated = waits.our_gate = true;
  ClusterSnapshot cluster = a_cluster()
                                .with(a_node("n1"))
                                .with(a_job("over").gpus(1).finished())
                                .with(a_job("cpu"))
                                .with(a_job("child").gpus(1).owned_by("JobSet", "set"))
                                .with(a_job("runs").gpus(1))
                                .with(a_pod("runs-0").of_job("runs").gpus(1).on("n1"))
                                .with(a_job("each").gpus(1))
                                .with(a_pod("each-a").of_job("each").gpus(1).on("n1"))
                                .add(waits)
                                .with(a_pod("serves").gpus(1).owned_by("ReplicaSet", "web"))
                                .add(kueue)
                                .add(gated)
                                .add(pinned)
                                .add(foreign)
                                .build();
  EXPECT_THAT(why(cluster, "over"), HasSubstr("the Job has ended: see slackline history"));
  EXPECT_THAT(why(cluster, "cpu"), HasSubstr("asks for no GPU of the resources in managedResources "
                                             "(devices by resourceClaims are left to"));
  EXPECT_THAT(why(cluster, "child"), HasSubstr("belongs to JobSet set"));
  EXPECT_THAT(why(cluster, "kueue"), HasSubstr("queued by Kueue"));
  EXPECT_THAT(why(cluster, "gated"), HasSubstr("scheduling gates"));
  EXPECT_THAT(why(cluster, "pinned"), HasSubstr("the Job names its node itself (spec.nodeName)"));
  EXPECT_THAT(why_left_to_others(a_pod("pinned-0").gpus(1).on("n1").build()),
              HasSubstr("names its node itself"));
  EXPECT_THAT(why(cluster, "runs"), HasSubstr("runs on n1, without a plan"));
  EXPECT_THAT(why(cluster, "each"),
              HasSubstr("pod by pod (waiting: 1): ask for each, as for each-b"));
  EXPECT_THAT(why(cluster, "runs-0"), HasSubstr("the pod runs on n1"));
  EXPECT_THAT(why(cluster, "serves"), HasSubstr("belongs to ReplicaSet web"));
  EXPECT_THAT(why(cluster, "web"),
              HasSubstr("the pod serves of the ReplicaSet belongs to ReplicaSet web"))
      << "as `tasks` names it";
  EXPECT_THAT(why(cluster, "foreign"), HasSubstr("gate that is not Slackline's"));
  EXPECT_THAT(why(cluster, "nobody"), "there is none");
}

TEST(NotInQueue, PodsOfAnotherControllerThatWaitTheirTurnAreAskedForEach) {
  Pod waits = a_pod("step-7").gpus(1).owned_by("Workflow", "nightly").build();
  waits.gated = waits.our_gate = true;
  const ClusterSnapshot cluster = a_cluster().with(a_node("n1")).add(waits).build();
  EXPECT_THAT(why(cluster, "nightly"),
              HasSubstr("the pods of the Workflow start one by one: ask for each, as for step-7"));
}

TEST(NotInQueue, ANamespaceWithoutTheLabelIsNamedWithTheRemedy) {
  ClusterSnapshot cluster = a_cluster().with(a_node("n1")).with(a_job("plain").gpus(1)).build();
  cluster.taken_on_trust = false;
  EXPECT_THAT(why(cluster, "plain"),
              HasSubstr("kubectl label namespace default slackline.dev/managed=true"));
  const auto ns = std::make_shared<const Namespace>(
      Namespace{.uid = {}, .key = {"", "default"}, .managed = true});
  cluster.namespaces = std::make_shared<const NamespaceList::element_type>(1, ns);
  EXPECT_THAT(why(cluster, "plain"), HasSubstr("was not seen by Slackline's webhook"));
}

TEST(NotInQueue, WhatWasReleasedForAnAutoscalerSaysSo) {
  ClusterSnapshot cluster = a_cluster()
                                .with(a_node("n1"))
                                .with(a_job("grows").gpus(1))
                                .with(a_pod("grows-0").of_job("grows").gpus(1).managed())
                                .with(a_pod("alone").gpus(1).managed())
                                .build();
  cluster.taken_on_trust = true;
  for (const char* name : {"grows", "alone"})
    EXPECT_THAT(why(cluster, name), HasSubstr("scaleUp did, for a cluster autoscaler")) << name;
}

// kube-scheduler has bound one of its pods.
TEST(NotInQueue, AGangThatHasBegunDoesNotStartPodByPod) {
  const ClusterSnapshot cluster = a_cluster()
                                      .with(a_node("n1"))
                                      .with(a_job("gang").gpus(1).of(2).gang())
                                      .with(a_pod("gang-0").of_job("gang").gpus(1).on("n1"))
                                      .with(a_pod("gang-1").of_job("gang").gpus(1).gated())
                                      .build();
  EXPECT_THAT(why(cluster, "gang"), HasSubstr("runs on n1, without a plan of Slackline"));
}

TEST(NotInQueue, AJobThatMakesItsPodsOneByOneOrNoneSaysSo) {
  Job paused = a_job("paused").gpus(1).build();
  paused.parallelism = 0;
  Job ends = a_job("ends").gpus(1).of(2).build();
  ends.completions = ends.succeeded = 6;
  Job next = ends;
  next.key.name = "next";
  next.uid = test::job_uid("next");
  next.succeeded = 5;
  Job all_run = next;
  all_run.key.name = "all-run";
  all_run.uid = test::job_uid("all-run");
  Pod planned = a_pod("all-run-x").of_job("all-run").gpus(1).on("n1").build();
  planned.plan = std::make_shared<const PlanNote>();
  ClusterSnapshot cluster = a_cluster()
                                .with(a_node("n1"))
                                .add(paused)
                                .add(ends)
                                .add(next)
                                .add(all_run)
                                .add(planned)
                                .build();
  cluster.taken_on_trust = true;
  EXPECT_THAT(why(cluster, "all-run"),
              HasSubstr("pod by pod, and none of them waits: ask for each, "
                        "as for all-run-x"));
  EXPECT_THAT(why(cluster, "paused"), HasSubstr("asks for no pod (parallelism 0)"));
  EXPECT_THAT(why(cluster, "ends"), HasSubstr("it has 6 of 6 completions"));
  EXPECT_THAT(why(cluster, "next"), HasSubstr("starts pod by pod, and has no pod that waits"));
}

TEST(NotInQueue, AJobThatIsAboutToBeOpenedIsNotSaidToBeUnnoted) {
  ClusterSnapshot cluster = a_cluster()
                                .with(a_node("n1"))
                                .with(a_job("opens").gpus(1).of(2).waiting())
                                .with(a_job("unnoted").gpus(1).of(2).waiting().not_halted())
                                .build();
  cluster.taken_on_trust = true;
  EXPECT_THAT(why(cluster, "opens"), HasSubstr("starts pod by pod: Slackline opens it at once"));
  EXPECT_THAT(why(cluster, "unnoted"), HasSubstr("its controller has not noted that yet"));
}

}  // namespace
}  // namespace slackline::core
