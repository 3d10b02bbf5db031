#include "cluster/watch/cache.h"

#include <thread>

#include <gtest/gtest.h>

#include "cluster/watch/publisher.h"
#include "slackline/model/pod_ask.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"

namespace slackline::cluster {
namespace {

using test::a_job;
using test::a_node;
using test::a_pod;
using test::a_quota;
using wire::KubeKind;

struct BoundPods final : ClusterObserver {
  void on_pod_bound(const Pod& pod, double) override { keys.push_back(pod.key.str()); }
  void on_pod_running(const Pod& pod) override { running.push_back(pod.key.name); }
  void on_pod_ended(const Pod& pod) override { ended.push_back(pod.key.name); }
  void on_job(const Job& job) override { jobs.push_back(job.key.name); }
  void on_job_gone(const Uid& job) override { gone.push_back(job.str()); }
  std::vector<std::string> keys;
  std::vector<std::string> running;
  std::vector<std::string> ended;
  std::vector<std::string> jobs;
  std::vector<std::string> gone;
};

class CacheTest : public testing::Test {
 protected:
  void list_nothing(std::initializer_list<KubeKind> kinds) {
    for (const KubeKind kind : kinds) {
      cache_.begin_relist(kind);
      cache_.finish_relist(kind);
    }
  }
  void sync() { list_nothing({KubeKind::kNode, KubeKind::kPod, KubeKind::kJob}); }

  test::FakeClock clock_;
  BoundPods bound_;
  Cache cache_{clock_, &bound_};
};

// kube-apiserver's ExtendedResourceToleration, which EKS and AKS have on.
TEST_F(CacheTest, APodShowsThatAdmissionToleratesWhatItAsksFor) {
  sync();
  cache_.upsert(a_node("n1").of("A100", 8).taint("nvidia.com/gpu", "present").build());
  cache_.upsert(a_job("train").gpus(1).build());
  cache_.upsert(a_pod("train-0").of_job("train").gpus(1).on("n1").build());
  const auto tolerated = [&](NodeIndex node) {
    return cache_.publish()->node(node).node->tolerated_by_request;
  };
  EXPECT_FALSE(tolerated(0)) << "it has none";

  SchedulingConstraints shown;
  shown.tolerations.push_back({"nvidia.com/gpu", true, "", TaintEffect::kNoSchedule});
  const auto constraints = std::make_shared<const SchedulingConstraints>(shown);
  Job writes_it = a_job("own").gpus(1).build();
  writes_it.constraints = constraints;
  cache_.upsert(writes_it);
  Pod own = a_pod("own-0").of_job("own").gpus(1).on("n1").build();
  own.constraints = constraints;
  cache_.upsert(own);
  EXPECT_FALSE(tolerated(0)) << "its template has it";

  Pod added = a_pod("train-1").of_job("train").gpus(1).on("n1").build();
  added.constraints = constraints;
  cache_.upsert(added);
  EXPECT_TRUE(tolerated(0));
  cache_.upsert(a_node("n2").of("A100", 8).build());
  EXPECT_TRUE(tolerated(1)) << "nodes that come later, too";
}

// The first list has the pods before their Jobs.
TEST_F(CacheTest, TheFirstListShowsWhatAdmissionTolerates) {
  for (const KubeKind kind : {KubeKind::kNode, KubeKind::kPod, KubeKind::kJob})
    cache_.begin_relist(kind);
  cache_.upsert(a_node("n1").of("A100", 8).build());
  SchedulingConstraints shown;
  shown.tolerations.push_back({"nvidia.com/gpu", true, "", TaintEffect::kNoSchedule});
  Pod pod = a_pod("train-0").of_job("train").gpus(1).on("n1").build();
  pod.constraints = std::make_shared<const SchedulingConstraints>(shown);
  cache_.upsert(pod);
  cache_.upsert(a_job("train").gpus(1).build());
  for (const KubeKind kind : {KubeKind::kNode, KubeKind::kPod, KubeKind::kJob})
    cache_.finish_relist(kind);
  EXPECT_TRUE(cache_.publish()->node(0).node->tolerated_by_request);
}

RuntimeClass a_runtime(const std::string& name, const std::string& pool) {
  RuntimeClass runtime{Uid("runtime:" + name), {"", name}};
  runtime.node_selector = {{"pool", pool}};
  return runtime;
}

Namespace with_selector(const Labels& selector) {
  Namespace ns{Uid("ns:default"), {"", "default"}, true};
  ns.pods.node_selector = selector;
  return ns;
}

// Of the first Job.
Labels selector_in(const SnapshotPtr& snapshot) {
  const auto& constraints = snapshot->jobs.at(0)->constraints;
  return constraints ? constraints->node_selector : Labels();
}

// kube-apiserver's RuntimeClass.
TEST_F(CacheTest, AJobIsJudgedWithItsRuntimeClassAsItIsNow) {
  sync();
  SchedulingConstraints constraints;
  constraints.runtime_class = "sandbox";
  cache_.upsert(a_job("train").gpus(1).constrained(constraints).build());
  EXPECT_EQ(selector_in(cache_.publish()), Labels()) << "a dump may lack the class";
  cache_.upsert(a_runtime("sandbox", "a"));
  EXPECT_EQ(selector_in(cache_.publish()), (Labels{{"pool", "a"}}));
  EXPECT_EQ(cache_.snapshot()->admission->runtime_classes.size(), 1U);
  cache_.upsert(a_runtime("sandbox", "b"));
  EXPECT_EQ(selector_in(cache_.publish()), (Labels{{"pool", "b"}}));
  list_nothing({KubeKind::kRuntimeClass});
  EXPECT_EQ(selector_in(cache_.publish()), Labels());
  EXPECT_EQ(cache_.publish()->jobs.at(0)->constraints->refused, "");
}

TEST_F(CacheTest, WhatClaimsAVolumeKnowsTheNodesThatReachIt) {
  sync();
  SchedulingConstraints constraints;
  constraints.claims = {"work"};
  cache_.upsert(a_job("train").gpus(1).constrained(constraints).build());
  cache_.upsert(a_job("other").gpus(1).build());
  Pod pod = a_pod("member-0").gpus(1).build();
  pod.constraints = std::make_shared<const SchedulingConstraints>(constraints);
  cache_.upsert(pod);
  // By the Job, and by the pod; "": all nodes reach it.
  const auto zones = [&] {
    const SnapshotPtr snapshot = cache_.publish();
    const auto zone_of = [](const auto& of) {
      return of.volumes.empty() ? std::string() : of.volumes.at(0)->terms.at(0).at(0).values.at(0);
    };
    const Job* job = snapshot->find_job("default", "train");
    return std::pair(zone_of(*job->constraints), zone_of(*snapshot->unbound.at(0)->constraints));
  };
  const auto in_zone = [](const std::string& zone) {
    Volume volume{Uid("v"), {"", "disk"}, {"default", "work"}};
    volume.terms = {{{"zone", MatchOperator::kIn, {zone}}}};
    return volume;
  };
  using Zones = std::pair<std::string, std::string>;
  cache_.upsert(in_zone("b"));
  EXPECT_EQ(zones(), Zones("", "")) << "the claim is not known";
  cache_.upsert(VolumeClaim{Uid("c"), {"default", "work"}});
  EXPECT_EQ(zones(), Zones("", "")) << "it is not bound";
  cache_.upsert(VolumeClaim{Uid("c"), {"default", "work"}, "disk"});
  EXPECT_EQ(zones(), Zones("b", "b"));
  cache_.upsert(in_zone("c"));
  EXPECT_EQ(zones(), Zones("c", "c"));
  EXPECT_EQ(cache_.count(KubeKind::kVolume), 1U);
  EXPECT_EQ(cache_.fingerprints(KubeKind::kVolumeClaim).size(), 1U);
  list_nothing({KubeKind::kVolumeClaim});
  EXPECT_EQ(zones(), Zones("", ""));
  cache_.upsert(VolumeClaim{Uid("c2"), {"default", "work"}, "disk"});
  EXPECT_EQ(zones(), Zones("c", "c"));
  cache_.remove(in_zone("c"));
  EXPECT_EQ(zones(), Zones("", ""));
}

// kube-apiserver's LimitRanger.
TEST_F(CacheTest, AJobIsJudgedWithTheLimitRangesOfItsNamespace) {
  sync();
  PodAsk ask;
  ask.containers.emplace_back();
  ask.containers[0].limits.set_gpus("nvidia.com/gpu", 1);
  ask.containers[0].requests = ask.containers[0].limits;
  Job job = a_job("train").build();
  job.pod_requests = requests_of(ask);
  job.ask = std::make_shared<const PodAsk>(ask);
  cache_.upsert(job);
  const auto cpu_milli = [&] { return cache_.publish()->jobs.at(0)->pod_requests.cpu_milli; };
  EXPECT_EQ(cpu_milli(), 0);
  LimitRange range{Uid("l"), {"default", "small"}, {{}}};
  range.items[0].default_requests = {{"cpu", 500}};
  cache_.upsert(range);
  EXPECT_EQ(cpu_milli(), 500);
  range.items[0].default_requests = {{"cpu", 700}};
  cache_.upsert(range);
  EXPECT_EQ(cpu_milli(), 700);
  EXPECT_EQ(cache_.fingerprints(KubeKind::kLimitRange).size(), 1U);
  list_nothing({KubeKind::kLimitRange});
  EXPECT_EQ(cpu_milli(), 0);
}

// kube-apiserver's PodNodeSelector, which is not on everywhere.
TEST_F(CacheTest, TheNodeSelectorOfANamespaceCountsUntilAPodShowsThatItDoesNot) {
  const Labels selector{{"pool", "ml"}};
  sync();
  cache_.upsert(a_job("train").gpus(1).build());
  cache_.upsert(with_selector(selector));
  EXPECT_EQ(selector_in(cache_.publish()), selector);
  Pod pod = a_pod("train-0").of_job("train").gpus(1).build();
  pod.created_s = 100;
  cache_.upsert(pod);
  EXPECT_EQ(selector_in(cache_.publish()), Labels()) << "it was created without it";

  SchedulingConstraints added;
  added.node_selector = selector;
  Pod younger = a_pod("train-1").of_job("train").gpus(1).build();
  younger.created_s = 200;
  younger.constraints = std::make_shared<const SchedulingConstraints>(added);
  cache_.upsert(younger);
  EXPECT_EQ(selector_in(cache_.publish()), selector);

  cache_.upsert(with_selector({{"pool", "other"}}));
  EXPECT_EQ(selector_in(cache_.publish()), (Labels{{"pool", "other"}}))
      << "pods from before the change show nothing";
  cache_.upsert(with_selector({}));
  EXPECT_EQ(selector_in(cache_.publish()), Labels());
}

// kube-apiserver's PodTolerationRestriction, which is not on everywhere.
TEST_F(CacheTest, TheTolerationsOfANamespaceCountUntilAPodShowsThatTheyDoNot) {
  const Toleration pool{"pool", true, "", TaintEffect::kNoSchedule};
  Namespace ns = with_selector({});
  ns.pods.tolerations = {pool};
  ns.pods.pod_security = "baseline";
  const auto added = [&] {
    return cache_.publish()->admission->namespaces.at("default").tolerations;
  };
  sync();
  cache_.upsert(a_job("train").gpus(1).build());
  cache_.upsert(ns);
  EXPECT_EQ(added().size(), 1U);
  Pod pod = a_pod("train-0").of_job("train").gpus(1).build();
  pod.created_s = 100;
  cache_.upsert(pod);
  EXPECT_EQ(added().size(), 0U) << "it was created without them";

  SchedulingConstraints shown;
  shown.tolerations = {pool, {"node.kubernetes.io/not-ready", true, "", TaintEffect::kNoExecute}};
  Pod younger = a_pod("train-1").of_job("train").gpus(1).build();
  younger.created_s = 200;
  younger.constraints = std::make_shared<const SchedulingConstraints>(shown);
  cache_.upsert(younger);
  EXPECT_EQ(added().size(), 1U);

  ns.pods.allowed_tolerations = {pool};
  cache_.upsert(ns);
  const auto allowed = [&] {
    return cache_.publish()->admission->namespaces.at("default").allowed_tolerations.size();
  };
  EXPECT_EQ(allowed(), 1U) << "pods from before the change show nothing";
  Pod youngest = a_pod("train-2").of_job("train").gpus(1).build();
  youngest.created_s = 300;
  youngest.constraints = younger.constraints;
  cache_.upsert(youngest);
  EXPECT_EQ(allowed(), 0U) << "it tolerates what the list would not allow";
}

// Its replacement gets the place of a member that was lost; nobody comes for one that succeeded.
TEST_F(CacheTest, AMemberThatFailedOrWasDeletedIsALossAndOneThatSucceededIsNone) {
  sync();
  cache_.upsert(a_job("train").of(3).gang().gpus(1).managed().planned({"n1", "n1", "n1"}).build());
  const auto member = [](const char* name) {
    return a_pod(name).of_job("train").gpus(1).on("n1").build();
  };
  const auto lost_s = [&] { return cache_.publish()->sighting_of(test::job_uid("train"))->lost_s; };
  for (const char* name : {"train-0", "train-1", "train-2"})
    cache_.upsert(member(name));
  Pod done = member("train-0");
  done.phase = PodPhase::kSucceeded;
  cache_.upsert(done);
  EXPECT_FALSE(lost_s());
  clock_.advance(10);
  Pod failed = member("train-1");
  failed.phase = PodPhase::kFailed;
  cache_.upsert(failed);
  EXPECT_EQ(lost_s(), clock_.steady_s());
  clock_.advance(10);
  cache_.remove(member("train-2"));
  EXPECT_EQ(lost_s(), clock_.steady_s());
  clock_.advance(10);
  const Pod waits = a_pod("train-3").of_job("train").gpus(1).gated().build();
  cache_.upsert(waits);
  cache_.remove(waits);
  EXPECT_EQ(lost_s(), clock_.steady_s()) << "it had no node yet, and has a place";
}

TEST_F(CacheTest, PodsOfJobsThatSucceededAreRememberedForAMoment) {
  sync();
  cache_.upsert(a_job("folds").of(1, 10).gpus(1).managed().succeeded(3).build());
  Pod done = a_pod("folds-0").of_job("folds").gpus(1).managed().on("n1").build();
  cache_.upsert(done);
  done.phase = PodPhase::kSucceeded;
  cache_.upsert(done);
  const SnapshotPtr now = cache_.publish();
  ASSERT_EQ(now->succeeded.size(), 1U);
  EXPECT_EQ(now->succeeded[0].pod->node.str(), "n1");
  EXPECT_EQ(now->succeeded[0].at_s, clock_.steady_s());
  EXPECT_EQ(now->succeeded[0].counted, 3);
  clock_.advance(11);
  cache_.upsert(a_pod("other").build());
  EXPECT_TRUE(cache_.publish()->succeeded.empty());
}

// Its controller may replace it while the others, which carry the same plan, run.
TEST_F(CacheTest, ALostMemberOfAGangWithoutAJobIsALossForTheOthers) {
  sync();
  for (const char* node : {"n1", "n2"})
    cache_.upsert(a_node(node).of("A100", 4).build());
  const auto member = [](const char* name, const char* node) {
    return a_pod(name).in_gang("g", 2).gpus(4).managed().planned({"n1", "n2"}).on(node).build();
  };
  cache_.upsert(member("a", "n1"));
  cache_.upsert(member("b", "n2"));
  cache_.upsert(a_pod("c").gpus(1).managed().planned({"n1"}, "other").on("n1").build());
  const auto lost_s = [&](const char* pod) {
    return cache_.publish()->sighting_of(test::pod_uid(pod))->lost_s;
  };
  EXPECT_FALSE(lost_s("a"));
  clock_.advance(10);
  cache_.remove(member("b", "n2"));
  EXPECT_EQ(lost_s("a"), clock_.steady_s());
  EXPECT_FALSE(lost_s("c"));
}

// The back-off of its controller may be longer than a plan is held for.
TEST_F(CacheTest, WhoSeesARunThatHasLostAMemberForTheFirstTimeKeepsItsPlace) {
  const auto seen = [](std::int64_t failed, bool halted) {
    Job job = a_job("train").of(2).gang().gpus(1).managed().planned({"n1", "n1"}).build();
    job.started_s = 100;
    job.failed = failed;
    job.halted = halted;
    return job;
  };
  const auto lost_s = [&] { return cache_.publish()->sighting_of(test::job_uid("train"))->lost_s; };
  sync();
  cache_.upsert(seen(0, false));
  EXPECT_FALSE(lost_s());
  cache_.remove(seen(0, false));
  cache_.upsert(seen(1, false));
  EXPECT_EQ(lost_s(), clock_.steady_s());
  cache_.remove(seen(1, false));
  cache_.upsert(seen(1, true));
  cache_.upsert(seen(1, false));
  EXPECT_FALSE(lost_s()) << "it is released anew";
}

TEST_F(CacheTest, IsEmptyAndUnsyncedUntilNodesPodsAndJobsAreListed) {
  ASSERT_NE(cache_.snapshot(), nullptr);
  cache_.upsert(a_node("gpu-1").of("A100", 4).build());
  list_nothing({KubeKind::kPod, KubeKind::kJob});
  EXPECT_FALSE(cache_.publish()->synced);
  EXPECT_TRUE(cache_.publish()->nodes.empty());

  cache_.begin_relist(KubeKind::kNode);
  cache_.upsert(a_node("gpu-1").of("A100", 4).build());
  cache_.finish_relist(KubeKind::kNode);
  EXPECT_TRUE(cache_.publish()->synced);
  EXPECT_EQ(cache_.publish()->nodes.size(), 1u);
}

TEST_F(CacheTest, QuotasComeChangeAndGo) {
  sync();
  cache_.upsert(a_quota("team").limit("pods", 4, 1).build());
  cache_.upsert(a_quota("team").limit("pods", 4, 2).build());
  ASSERT_EQ(cache_.publish()->quotas.size(), 1u);
  EXPECT_EQ(cache_.snapshot()->quotas[0]->limits[0].used, 2);
  EXPECT_EQ(cache_.fingerprints(KubeKind::kResourceQuota).size(), 1u);
  list_nothing({KubeKind::kResourceQuota});
  EXPECT_TRUE(cache_.publish()->quotas.empty());
  cache_.upsert(a_quota("team").limit("pods", 4, 1).build());
  cache_.remove(a_quota("team").build());
  EXPECT_TRUE(cache_.publish()->quotas.empty());
}

TEST_F(CacheTest, DisruptionBudgetsAreNotNeededForSync) {
  sync();
  EXPECT_TRUE(cache_.publish()->synced);
}

TEST_F(CacheTest, VersionsGrowOnlyWhenSomethingChanged) {
  sync();
  const auto first = cache_.publish();
  EXPECT_EQ(cache_.publish(), first);
  cache_.upsert(a_node("gpu-1").of("A100", 4).build());
  EXPECT_EQ(cache_.publish()->version, first->version + 1);
}

TEST_F(CacheTest, APodOnAnUnknownNodeWaitsUntilTheNodeAppears) {
  sync();
  cache_.upsert(a_pod("early").gpus(3).on("gpu-1").build());
  EXPECT_TRUE(cache_.publish()->nodes.empty());
  EXPECT_TRUE(cache_.publish()->unbound.empty());

  cache_.upsert(a_node("gpu-1").of("A100", 4).build());
  const auto snapshot = cache_.publish();
  ASSERT_EQ(snapshot->nodes.size(), 1u);
  EXPECT_EQ(snapshot->nodes[0]->free().gpu_total(), 1);

  cache_.remove(a_node("gpu-1").build());
  EXPECT_TRUE(cache_.publish()->nodes.empty());
  cache_.upsert(a_node("gpu-1").of("A100", 4).build());
  EXPECT_EQ(cache_.publish()->nodes[0]->pods.size(), 1u);
}

TEST_F(CacheTest, TerminalPodsHoldNothing) {
  sync();
  cache_.upsert(a_node("gpu-1").of("A100", 4).build());
  cache_.upsert(a_pod("done").gpus(4).on("gpu-1").build());
  EXPECT_EQ(cache_.publish()->nodes[0]->free().gpu_total(), 0);
  cache_.upsert(a_pod("done").gpus(4).on("gpu-1").phase(PodPhase::kSucceeded).build());
  EXPECT_EQ(cache_.publish()->nodes[0]->free().gpu_total(), 4);
  EXPECT_EQ(cache_.count(KubeKind::kPod), 0u);
}

// Disruptions are read from them, however they went.
TEST_F(CacheTest, PodsThatOthersEndStayInAListForAWhile) {
  sync();
  cache_.upsert(a_node("gpu-1").of("A100", 4).build());
  const auto displaced = [&] {
    std::vector<std::string> names;
    for (const PodPtr& pod : cache_.publish()->displaced)
      names.push_back(pod->key.name);
    return names;
  };
  const auto ends = [&](const std::string& name, bool by_others) {
    Pod pod = a_pod(name).gpus(1).on("gpu-1").build();
    pod.managed = true;
    if (by_others) pod.disruption = PodDisruption{DisruptionKind::kEvictionByEvictionApi, 1000};
    return pod;
  };
  for (const auto& [name, by_others] : {std::pair("done", false), {"evicted", true}}) {
    cache_.upsert(ends(name, by_others));
    Pod ended = ends(name, by_others);
    ended.phase = PodPhase::kFailed;
    cache_.upsert(ended);
  }
  Pod succeeded = ends("succeeded", true);
  succeeded.phase = PodPhase::kSucceeded;
  cache_.upsert(succeeded);
  cache_.upsert(ends("deleted", true));
  EXPECT_EQ(displaced(), std::vector<std::string>{"evicted"}) << "the other has not ended yet";
  cache_.remove(ends("deleted", true));
  EXPECT_EQ(displaced(), (std::vector<std::string>{"deleted", "evicted"}));
  EXPECT_EQ(cache_.publish()->nodes[0]->free().gpu_total(), 4);
  clock_.advance(601);
  cache_.upsert(a_node("gpu-2").of("A100", 4).build());
  EXPECT_TRUE(displaced().empty());
}

TEST_F(CacheTest, PodsOfADeletedNodeAreDisplacedUntilItReturns) {
  sync();
  cache_.upsert(a_pod("early").gpus(1).on("gpu-2").build());
  cache_.upsert(a_node("gpu-1").of("A100", 4).build());
  cache_.upsert(a_pod("train").gpus(1).on("gpu-1").build());
  EXPECT_TRUE(cache_.publish()->displaced.empty()) << "the other node is not known yet, not gone";
  cache_.remove(a_node("gpu-1").build());
  ASSERT_EQ(cache_.publish()->displaced.size(), 1U);
  EXPECT_EQ(cache_.publish()->displaced.front()->key.name, "train");
  cache_.upsert(a_pod("train").gpus(1).on("gpu-1").priority(1).build());
  EXPECT_EQ(cache_.publish()->displaced.size(), 1U) << "it has changed";
  cache_.upsert(a_node("gpu-1").of("A100", 4).build());
  EXPECT_TRUE(cache_.publish()->displaced.empty());
  cache_.remove(a_node("gpu-1").build());
  cache_.remove(a_pod("train").gpus(1).on("gpu-1").build());
  EXPECT_TRUE(cache_.publish()->displaced.empty());
}

TEST_F(CacheTest, ADeletedPredecessorDoesNotTakeItsSuccessorWithIt) {
  sync();
  Pod successor = a_pod("train").gpus(1).build();
  successor.uid = Uid("second");
  cache_.upsert(successor);
  Pod predecessor = successor;
  predecessor.uid = Uid("first");
  cache_.remove(predecessor);
  ASSERT_EQ(cache_.publish()->unbound.size(), 1u);
  cache_.remove(successor);
  EXPECT_TRUE(cache_.publish()->unbound.empty());
}

TEST_F(CacheTest, ARelistForgetsWhatIsGoneAndAGivenUpRelistForgetsNothing) {
  sync();
  cache_.upsert(a_pod("kept").build());
  cache_.upsert(a_pod("gone").build());
  cache_.begin_relist(KubeKind::kPod);
  cache_.upsert(a_pod("kept").build());  // and then the connection breaks
  EXPECT_EQ(cache_.publish()->unbound.size(), 2u);

  cache_.begin_relist(KubeKind::kPod);
  cache_.upsert(a_pod("kept").build());
  cache_.finish_relist(KubeKind::kPod);
  ASSERT_EQ(cache_.publish()->unbound.size(), 1u);
  EXPECT_EQ(cache_.publish()->unbound[0]->key.name, "kept");
}

TEST_F(CacheTest, TheObserverHearsOfEachBindingOnce) {
  sync();
  cache_.upsert(a_pod("train").build());
  EXPECT_TRUE(bound_.keys.empty());
  cache_.upsert(a_pod("train").on("gpu-1").build());
  cache_.upsert(a_pod("train").on("gpu-1").phase(PodPhase::kRunning).build());
  cache_.upsert(a_pod("old").on("gpu-1").phase(PodPhase::kFailed).build());
  EXPECT_EQ(bound_.keys, std::vector<std::string>{"default/train"});
}

TEST_F(CacheTest, APodThatFinishedBeforeWeSawItBoundIsStillTold) {
  sync();
  cache_.upsert(a_pod("quick").build());
  cache_.upsert(a_pod("quick").on("gpu-1").phase(PodPhase::kSucceeded).build());
  EXPECT_EQ(bound_.keys, std::vector<std::string>{"default/quick"});
}

TEST_F(CacheTest, TheObserverHearsOfTheEndOfBoundPods) {
  sync();
  for (const char* name : {"done", "deleted", "swept"})
    cache_.upsert(a_pod(name).on("gpu-1").build());
  cache_.upsert(a_pod("unbound").build());
  cache_.upsert(a_pod("done").on("gpu-1").phase(PodPhase::kSucceeded).build());
  cache_.remove(a_pod("deleted").build());
  cache_.remove(a_pod("unbound").build());
  EXPECT_EQ(bound_.ended, (std::vector<std::string>{"done", "deleted"}));
  cache_.begin_relist(KubeKind::kPod);
  cache_.upsert(a_pod("done").on("gpu-1").phase(PodPhase::kSucceeded).build());
  cache_.finish_relist(KubeKind::kPod);
  EXPECT_EQ(bound_.ended, (std::vector<std::string>{"done", "deleted", "done", "swept"}))
      << "what has ended is told with every list";
}

TEST_F(CacheTest, APlanIsTimedFromItsFirstSightingAndByItsTasksProgress) {
  sync();
  cache_.upsert(a_job("train").of(2).gang().planned({"gpu-1", "gpu-2"}).build());
  const Uid job = test::job_uid("train");
  const double first_s = clock_.steady_s();
  clock_.advance(5);
  cache_.upsert(a_job("train").of(2).gang().planned({"gpu-1", "gpu-2"}).build());
  EXPECT_EQ(cache_.publish()->sighting_of(job)->first_seen_s, first_s);
  EXPECT_EQ(cache_.publish()->sighting_of(job)->last_progress_s, first_s);

  cache_.upsert(a_pod("train-0").of_job("train").on("gpu-1").build());
  EXPECT_EQ(cache_.publish()->sighting_of(job)->first_seen_s, first_s);
  EXPECT_EQ(cache_.publish()->sighting_of(job)->last_progress_s, first_s + 5);

  clock_.advance(5);
  cache_.upsert(a_job("train").of(2).gang().planned({"gpu-3", "gpu-4"}, "plan-2").build());
  EXPECT_EQ(cache_.publish()->sighting_of(job)->first_seen_s, first_s + 10);
  cache_.upsert(a_job("train").of(2).gang().build());
  EXPECT_EQ(cache_.publish()->sighting_of(job), nullptr);
}

TEST_F(CacheTest, UntouchedNodesAreSharedBetweenSnapshots) {
  sync();
  cache_.upsert(a_node("gpu-1").of("A100", 4).build());
  cache_.upsert(a_node("gpu-2").of("A100", 4).build());
  const auto before = cache_.publish();
  cache_.upsert(a_pod("train").gpus(1).on("gpu-2").build());
  const auto after = cache_.publish();
  EXPECT_EQ(before->nodes[0], after->nodes[0]);
  EXPECT_NE(before->nodes[1], after->nodes[1]);
  EXPECT_EQ(before->nodes[1]->pods.size(), 0u);
  EXPECT_EQ(before->node_names, after->node_names);
}

TEST(Publisher, PublishesWhileReadersReadAndWritersWrite) {
  Cache cache(system_clock(), nullptr);
  Publisher publisher(cache, [] {});
  publisher.start();
  for (const ResourceSpec& resource : kResources) {
    cache.begin_relist(resource.kind);
    cache.finish_relist(resource.kind);
  }
  constexpr int kPods = 300;
  std::thread nodes([&] {
    for (int i = 0; i < 20; ++i)
      cache.upsert(a_node("gpu-" + std::to_string(i)).of("A100", 4).build());
  });
  std::thread pods([&] {
    for (int i = 0; i < kPods; ++i)
      cache.upsert(a_pod("pod-" + std::to_string(i)).on("gpu-" + std::to_string(i % 20)).build());
  });
  const auto bound = [&] {
    std::size_t sum = 0;
    const SnapshotPtr snapshot = cache.snapshot();
    for (const NodeStatePtr& node : snapshot->nodes)
      sum += node->pods.size();
    return sum;
  };
  const double limit_s = system_clock().steady_s() + 20;
  while (bound() < kPods && system_clock().steady_s() < limit_s)
    std::this_thread::yield();
  nodes.join();
  pods.join();
  EXPECT_EQ(bound(), static_cast<std::size_t>(kPods));
  // 320 changes, but no more than one publication per 5 ms.
  EXPECT_LE(cache.snapshot()->version, 320u);
  publisher.stop();
  publisher.join();
}

TEST_F(CacheTest, TellsOfARunningPodOnceAndAgainWhenAContainerRestarted) {
  sync();
  cache_.upsert(a_pod("p").on("n").build());
  EXPECT_TRUE(bound_.running.empty()) << "it has no start time yet";
  cache_.upsert(a_pod("p").on("n").started(5).build());
  cache_.upsert(a_pod("p").on("n").started(5).label("a", "b").build());
  EXPECT_EQ(bound_.running, std::vector<std::string>{"p"});
  Pod again = a_pod("p").on("n").started(5).build();
  again.restarted = true;
  cache_.upsert(again);
  EXPECT_EQ(bound_.running.size(), 2U);
  cache_.upsert(a_pod("old").on("n").started(5).phase(PodPhase::kSucceeded).build());
  EXPECT_EQ(bound_.running.size(), 2U) << "what had ended before is old news";
}

TEST_F(CacheTest, TellsOfJobsAndOfTheirEndHoweverItIsSeen) {
  sync();
  cache_.upsert(a_job("deleted").build());
  cache_.upsert(a_job("swept").build());
  Job job = a_job("replaced").build();
  cache_.upsert(job);
  job.uid = Uid("another");
  cache_.upsert(job);
  cache_.remove(a_job("deleted").build());
  cache_.begin_relist(KubeKind::kJob);
  cache_.upsert(job);
  cache_.finish_relist(KubeKind::kJob);
  EXPECT_EQ(bound_.jobs,
            (std::vector<std::string>{"deleted", "swept", "replaced", "replaced", "replaced"}));
  EXPECT_EQ(bound_.gone, (std::vector<std::string>{"job:default/replaced", "job:default/deleted",
                                                   "job:default/swept"}));
}

}  // namespace
}  // namespace slackline::cluster
