// Whose keys count: the part of an object that reaches a snapshot, and the fate of the rest.
#include "cluster/watch/belief.h"

#include <gtest/gtest.h>

#include "cluster/watch/cache.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_mac.h"
#include "support/sealed_plan.h"
#include "wire/kube/own_write_codec.h"
#include "wire/kube/sealed_text.h"

namespace slackline::cluster {
namespace {

using test::a_job;
using test::a_node;
using test::a_pod;
using test::job_uid;
using test::JobBuilder;
using test::PodBuilder;
using test::sealed;
using wire::KubeKind;

Namespace a_namespace(const std::string& name, bool managed = true) {
  return {Uid("ns:" + name), {"", name}, managed};
}

struct Heard final : ClusterObserver {
  void on_pod_bound(const Pod&, double) override {}
  void on_plan_doubted(const std::string& kind, const ObjectKey& carrier,
                       PlanDoubt doubt) override {
    doubts.push_back(kind + " " + carrier.name + " " + std::string(to_string(doubt)));
  }
  std::vector<std::string> doubts;
};

// As on an API server: the namespace "default" is managed, "playground" is not.
class BeliefTest : public testing::Test {
 protected:
  void SetUp() override {
    cache_.upsert(a_namespace("default"));
    cache_.upsert(a_namespace("playground", false));
    for (const ResourceSpec& resource : kResources)
      if (resource.kind != KubeKind::kNamespace) cache_.begin_relist(resource.kind);
    for (const ResourceSpec& resource : kResources)
      cache_.finish_relist(resource.kind);
    cache_.upsert(a_node("gpu-1").of("A100", 4).build());
    cache_.upsert(a_node("gpu-2").of("A100", 4).build());
  }

  // Released by Slackline: it runs, at the generation that was signed.
  Job released(const std::string& name, const std::string& plan = "plan-1") {
    Job job = a_job(name).of(2).gang().gpus(4).managed().planned({"gpu-1", "gpu-2"}, plan).build();
    job.generation = 2;
    return sealed(mac_, job);
  }
  std::size_t holds() { return cache_.publish()->holds.all().size(); }
  const Job& job(std::size_t at = 0) { return *cache_.publish()->jobs.at(at); }

  test::FakeClock clock_;
  test::FakeMac mac_;
  Heard heard_;
  Cache cache_{clock_, &heard_, &mac_};
};

TEST_F(BeliefTest, APlanOfOursHolds) {
  cache_.upsert(released("train"));
  EXPECT_EQ(holds(), 2u);
  EXPECT_EQ(job().plan->id, "plan-1");
  EXPECT_TRUE(heard_.doubts.empty());
}

TEST_F(BeliefTest, APlanWithoutACodeHoldsNothingAndIsToldOnce) {
  for (int i = 0; i < 3; ++i)
    cache_.upsert(a_job("evil").of(2).gang().gpus(4).managed().planned({"gpu-1", "gpu-2"}).build());
  EXPECT_EQ(holds(), 0u);
  EXPECT_EQ(job().plan, nullptr);
  EXPECT_EQ(job().plan_doubt, PlanDoubt::kUnsigned);
  EXPECT_EQ(heard_.doubts, std::vector<std::string>{"Job evil unsigned"});
}

TEST_F(BeliefTest, APlanCopiedToAnotherObjectHoldsNothing) {
  const Job ours = released("train");
  Job copy = ours;
  copy.key.name = "copy";
  copy.uid = job_uid("copy");
  cache_.upsert(copy);
  Job again = ours;  // deleted and made again under its name
  again.uid = Uid("another");
  cache_.upsert(again);
  EXPECT_EQ(holds(), 0u);
  EXPECT_EQ(job(0).plan_doubt, PlanDoubt::kForged);
  EXPECT_EQ(job(1).plan_doubt, PlanDoubt::kForged);
}

TEST_F(BeliefTest, APodsOwnPlanIsJudgedToo) {
  const Pod ours = a_pod("alone").gpus(4).gated().managed().planned({"gpu-1"}).build();
  cache_.upsert(sealed(mac_, ours));
  EXPECT_EQ(holds(), 1u);
  cache_.upsert(ours);  // somebody wrote over it
  EXPECT_EQ(holds(), 0u);
  EXPECT_EQ(cache_.snapshot()->unbound[0]->plan_doubt, PlanDoubt::kUnsigned);
  EXPECT_TRUE(cache_.snapshot()->unbound[0]->our_gate);
}

// One PATCH a minute kept GPUs held forever.
TEST_F(BeliefTest, APlanThatWasWithdrawnNeverComesBack) {
  const Job first = released("train", "plan-1");
  const Job second = released("train", "plan-2");
  cache_.upsert(first);
  cache_.upsert(second);
  EXPECT_EQ(job().plan->id, "plan-2");
  cache_.upsert(first);
  EXPECT_EQ(holds(), 0u);
  EXPECT_EQ(job().plan_doubt, PlanDoubt::kEnded);
  cache_.upsert(second);
  EXPECT_EQ(holds(), 0u);
}

TEST_F(BeliefTest, ASuspendedJobsPlanIsOver) {
  const Job ours = released("train");
  cache_.upsert(ours);
  Job suspended = ours;
  suspended.suspended = true;
  suspended.generation = 3;
  cache_.upsert(suspended);
  EXPECT_EQ(job().plan_doubt, PlanDoubt::kPaused);
  cache_.upsert(suspended);  // a later change of it
  EXPECT_EQ(job().plan_doubt, PlanDoubt::kPaused);
  EXPECT_TRUE(heard_.doubts.empty()) << "whoever pauses a Job forges nothing";
  Job resumed = ours;
  resumed.generation = 4;
  cache_.upsert(resumed);
  EXPECT_EQ(holds(), 0u);
  EXPECT_EQ(job().plan_doubt, PlanDoubt::kEnded);
}

// Whoever starts now has seen no plan end: a Job that has been suspended since is known by that.
TEST_F(BeliefTest, AfterAFailoverAPlanCountsAtTheGenerationThatWasSigned) {
  Job old = released("train");
  old.generation = 4;
  cache_.upsert(old);
  EXPECT_EQ(holds(), 0u);
  EXPECT_EQ(job().plan_doubt, PlanDoubt::kOutdated);
}

TEST_F(BeliefTest, WhoSawThePlanFollowsTheJobWhenItIsChanged) {
  Job ours = released("train");
  cache_.upsert(ours);
  ours.generation = 3;  // its activeDeadlineSeconds, say
  cache_.upsert(ours);
  EXPECT_EQ(holds(), 2u);
}

// A share left that somebody wrote would buy a place in the queue, a count protection.
TEST_F(BeliefTest, PreemptionsCountWithACodeOverThisVeryJob) {
  PreemptionNote note{1, 0.5, 10, 1700000000};
  note.text = wire::encode_preemptions(note);
  Job job = a_job("train").gpus(4).waiting().build();
  const auto show = [&](const std::string& code) {
    note.code = code;
    job.preemptions = std::make_shared<const PreemptionNote>(note);
    cache_.upsert(Job(job));
    return cache_.publish()->jobs.at(0)->preemptions != nullptr;
  };
  const auto code_of = [&](const Uid& uid) {
    return wire::split_seal(wire::seal_preemptions(mac_, {job.key, uid}, note.text)).code;
  };
  EXPECT_FALSE(show(""));
  EXPECT_FALSE(show(code_of(job_uid("other"))));
  EXPECT_TRUE(show(code_of(job.uid)));
}

// A promise that somebody wrote would keep others from stopping the run.
TEST_F(BeliefTest, ANoticeCountsWithACodeOverThisVeryPod) {
  cache_.upsert(a_node("n1").of("", 8).build());
  Pod pod = a_pod("train-0").on("n1").gpus(4).build();
  StopNotice notice{{"default", "urgent"}, Uid("u9"), 1700000000};
  notice.text = wire::encode_notice(notice);
  const auto seal = [&](const Uid& uid) {
    return wire::split_seal(wire::seal_notice(mac_, {pod.key, uid}, notice.text)).code;
  };
  const auto show = [&](const std::string& code) {
    notice.code = code;
    pod.notice = std::make_shared<const StopNotice>(notice);
    cache_.upsert(Pod(pod));
    return cache_.publish()->find_pod(pod.key);
  };
  for (const std::string& code : {std::string(), seal(Uid("other"))}) {
    EXPECT_EQ(show(code)->notice, nullptr);
    EXPECT_TRUE(show(code)->notice_doubted) << "it is removed";
  }
  ASSERT_NE(show(seal(pod.uid))->notice, nullptr);
  EXPECT_FALSE(show(seal(pod.uid))->notice_doubted);
}

TEST_F(BeliefTest, MemoryGoesWithTheObject) {
  const Job ours = released("train");
  cache_.upsert(ours);
  cache_.remove(ours);
  cache_.upsert(ours);
  EXPECT_EQ(holds(), 2u);
}

TEST_F(BeliefTest, WithoutAKeyNothingIsBelievedAndNothingIsTakenAway) {
  const Job ours = released("train");
  const std::string key = "k";
  mac_.use("");
  cache_.upsert(ours);
  EXPECT_EQ(holds(), 0u);
  EXPECT_EQ(job().plan_doubt, PlanDoubt::kNone);
  mac_.use(key);
  cache_.judge_anew();
  EXPECT_EQ(holds(), 2u);
}

TEST_F(BeliefTest, InOtherNamespacesOurKeysAreNobodys) {
  Job sneak = a_job("playground/sneak").gpus(4).waiting().trains("resnet50", 64, 100).build();
  sneak.plan = released("train").plan;
  cache_.upsert(sneak);
  cache_.upsert(
      sealed(mac_, a_pod("playground/pod").gpus(4).gated().managed().planned({"gpu-1"}).build()));
  cache_.upsert(a_pod("playground/runs").gpus(1).on("gpu-2").build());
  EXPECT_EQ(holds(), 0u);
  EXPECT_FALSE(job().suspended_by_us);
  EXPECT_FALSE(job().managed);
  EXPECT_EQ(job().intent, nullptr);
  EXPECT_EQ(job().plan, nullptr);
  const Pod& pod = *cache_.snapshot()->unbound[0];
  EXPECT_FALSE(pod.our_gate);
  EXPECT_TRUE(pod.gated && pod.foreign_gate);
  EXPECT_EQ(cache_.snapshot()->nodes[1]->free().gpu_total(), 3);  // it takes what it takes
}

TEST_F(BeliefTest, ANominationStaysWhereverItIs) {
  cache_.upsert(a_pod("playground/nominated").gpus(4).nominated("gpu-1").build());
  EXPECT_EQ(holds(), 1u);  // kube-scheduler reserves for it too
}

TEST_F(BeliefTest, ANamespaceThatLosesItsLabelGivesItsTasksUpAtOnce) {
  cache_.upsert(a_job("waits").gpus(4).waiting().build());
  cache_.upsert(released("train"));
  cache_.upsert(a_pod("train-0").of_job("train").gpus(4).gated().managed().build());
  EXPECT_EQ(holds(), 2u);
  EXPECT_TRUE(cache_.snapshot()->given_up_jobs.empty());

  cache_.upsert(a_namespace("default", false));
  const SnapshotPtr snapshot = cache_.publish();
  EXPECT_EQ(snapshot->holds.all().size(), 0u);
  EXPECT_FALSE(snapshot->jobs[1]->suspended_by_us);
  ASSERT_EQ(snapshot->given_up_jobs.size(), 2u);
  EXPECT_TRUE(snapshot->given_up_jobs[0].object->plan);
  EXPECT_TRUE(snapshot->given_up_jobs[1].object->suspended_by_us);
  EXPECT_EQ(snapshot->given_up_jobs[0].due_s, clock_.steady_s());
  ASSERT_EQ(snapshot->given_up_pods.size(), 1u);
  EXPECT_TRUE(snapshot->given_up_pods[0].object->our_gate);

  cache_.upsert(a_namespace("default", true));
  EXPECT_TRUE(cache_.publish()->given_up_jobs.empty());
  EXPECT_TRUE(cache_.snapshot()->given_up_pods.empty());
  EXPECT_TRUE(cache_.snapshot()->jobs[1]->suspended_by_us);
  EXPECT_EQ(cache_.snapshot()->jobs[0]->plan_doubt, PlanDoubt::kEnded);
}

// The label and a Job that was made right after it come in any order.
TEST_F(BeliefTest, WhatAppearsInANamespaceWithoutTheLabelIsGivenUpALittleLater) {
  for (const char* name : {"playground/waits", "unheard-of/waits"})
    cache_.upsert(a_job(name).gpus(4).waiting().build());
  ASSERT_EQ(cache_.publish()->given_up_jobs.size(), 2u);
  const double due_s = clock_.steady_s() + kHeardWithin_s;
  EXPECT_EQ(cache_.snapshot()->given_up_jobs[0].due_s, due_s);
  clock_.advance(1);
  cache_.upsert(a_job("playground/waits").gpus(4).waiting().build());
  EXPECT_EQ(cache_.publish()->given_up_jobs[0].due_s, due_s);
  cache_.upsert(a_namespace("playground"));
  EXPECT_EQ(cache_.publish()->given_up_jobs.size(), 1u);
}

TEST_F(BeliefTest, WhatOnlyDevicesCouldServeIsGivenUpUntilANodeListsIt) {
  cache_.upsert(a_job("chips").gpus(1, "amd.com/gpu").waiting().build());
  cache_.upsert(a_job("train").gpus(1).waiting().build());
  EXPECT_TRUE(cache_.publish()->given_up_jobs.empty());

  const DeviceClass chips{Uid("dc"), {"", "chips"}, "amd.com/gpu"};
  cache_.upsert(DeviceClass{Uid("dc-2"), {"", "other"}, "nvidia.com/gpu"});
  cache_.upsert(chips);
  ASSERT_EQ(cache_.publish()->given_up_jobs.size(), 1u);
  EXPECT_EQ(cache_.snapshot()->given_up_jobs[0].object->key.name, "chips");
  EXPECT_EQ(cache_.snapshot()->given_up_jobs[0].due_s, clock_.steady_s() + kHeardWithin_s);
  EXPECT_FALSE(job().suspended_by_us);
  EXPECT_EQ(cache_.snapshot()->served_by_devices, (ServedByDevices{{"amd.com/gpu", "chips"}}));

  cache_.upsert(a_node("gpu-3").of("MI300X", 0).resource("amd.com/gpu", 8).build());
  EXPECT_TRUE(cache_.publish()->given_up_jobs.empty());
  EXPECT_TRUE(job().suspended_by_us);
  cache_.remove(a_node("gpu-3").build());
  EXPECT_EQ(cache_.publish()->given_up_jobs.size(), 1u);
  cache_.remove(chips);
  EXPECT_TRUE(cache_.publish()->given_up_jobs.empty());
}

TEST_F(BeliefTest, AJobInANamespaceThatIsBeingDeletedCountsAsDeletedItself) {
  cache_.upsert(a_job("waits").gpus(4).waiting().build());
  EXPECT_FALSE(job().deleting);
  Namespace ending = a_namespace("default");
  ending.deleting = true;
  cache_.upsert(ending);
  EXPECT_TRUE(job().deleting);
  EXPECT_TRUE(job().suspended_by_us) << "its keys count as before";
  cache_.upsert(a_job("late").gpus(4).waiting().build());
  EXPECT_TRUE(job(0).deleting);
  cache_.upsert(a_job("playground/waits").gpus(4).suspended().build());
  EXPECT_FALSE(job(2).deleting) << "another namespace";
  // Deleted and made anew while the watch was down.
  cache_.begin_relist(KubeKind::kNamespace);
  cache_.upsert(a_namespace("default"));
  cache_.finish_relist(KubeKind::kNamespace);
  EXPECT_FALSE(job(0).deleting);
}

TEST_F(BeliefTest, ANamespaceThatIsGoneCountsNoMore) {
  cache_.upsert(released("train"));
  cache_.remove(a_namespace("default"));
  EXPECT_EQ(holds(), 0u);
  cache_.begin_relist(KubeKind::kNamespace);
  cache_.upsert(a_namespace("default"));
  cache_.finish_relist(KubeKind::kNamespace);
  EXPECT_TRUE(cache_.publish()->given_up_jobs.empty());
}

TEST(Belief, NothingIsSyncedBeforeTheNamespacesAreThere) {
  test::FakeClock clock;
  test::FakeMac mac;
  Cache cache(clock, nullptr, &mac);
  cache.upsert(a_job("waits").gpus(4).waiting().build());
  for (const KubeKind kind : {KubeKind::kNode, KubeKind::kPod, KubeKind::kJob})
    cache.finish_relist(kind);
  EXPECT_FALSE(cache.publish()->synced);
  cache.upsert(a_namespace("default"));
  cache.finish_relist(KubeKind::kNamespace);
  EXPECT_TRUE(cache.publish()->synced);
  EXPECT_TRUE(cache.snapshot()->jobs[0]->suspended_by_us);
  EXPECT_FALSE(cache.snapshot()->taken_on_trust);
}

TEST(Belief, ADumpIsBelievedInNamespacesWithoutTheLabelToo) {
  test::FakeClock clock;
  Cache cache(clock, nullptr);
  cache.upsert(a_node("gpu-1").of("A100", 4).build());
  cache.upsert(a_job("playground/train").gpus(4).managed().planned({"gpu-1"}).build());
  for (const ResourceSpec& resource : kResources)
    cache.finish_relist(resource.kind);
  EXPECT_EQ(cache.publish()->holds.all().size(), 1u);
  EXPECT_TRUE(cache.snapshot()->taken_on_trust);
  cache.upsert(a_namespace("playground", false));
  EXPECT_EQ(cache.publish()->holds.all().size(), 1u);
}

TEST_F(BeliefTest, WhoOnlyLooksCountsKeysInEveryNamespaceButNoClassThatNobodyAdmitted) {
  Cache cache(clock_, nullptr, &mac_, true);
  JobBuilder builder = a_job("playground/train").gpus(4).waiting();
  builder.intent().model = "resnet50";
  builder.intent().qos_class = QosClass::kUrgent;
  cache.upsert(builder.build());
  cache.upsert(a_namespace("playground", false));
  for (const ResourceSpec& resource : kResources)
    cache.finish_relist(resource.kind);
  const SnapshotPtr seen = cache.publish();
  ASSERT_TRUE(seen->jobs[0]->intent);
  EXPECT_EQ(seen->jobs[0]->intent->model, "resnet50");
  EXPECT_FALSE(seen->jobs[0]->intent->qos_class);
  EXPECT_TRUE(seen->given_up_jobs.empty());
}

Job urgent_job(const std::string& name) {
  JobBuilder builder = a_job(name).gpus(4).waiting();
  builder.intent().qos_class = QosClass::kUrgent;
  builder.intent().queue = "vision";
  return builder.build();
}

std::shared_ptr<const AdmittedNote> admission(const MessageAuthenticator& mac,
                                              const std::string& nonce = "n1") {
  return std::make_shared<const AdmittedNote>(
      sign_admission(mac, "default", "alice", QosClass::kUrgent, "vision", nonce));
}

TEST_F(BeliefTest, ClassAndQueueCountAsTheyWereAdmitted) {
  Job job = urgent_job("train");
  job.admitted = admission(mac_);
  cache_.upsert(job);
  EXPECT_EQ(this->job().intent->qos_class, QosClass::kUrgent);
  EXPECT_EQ(this->job().intent->queue, "vision");
  EXPECT_FALSE(this->job().unproven);
}

TEST_F(BeliefTest, WhatNobodyAdmittedWaitsAsNormalInTheQueueOfItsNamespace) {
  Job forged = urgent_job("forged");
  forged.admitted = admission(test::FakeMac("another key"));
  cache_.upsert(forged);
  cache_.upsert(urgent_job("bare"));
  for (const JobPtr& job : cache_.publish()->jobs) {
    EXPECT_FALSE(job->intent->qos_class) << job->key.name;
    EXPECT_FALSE(job->intent->queue) << job->key.name;
    EXPECT_TRUE(job->unproven);
    EXPECT_TRUE(job->suspended_by_us);  // it is not lost
  }
}

TEST_F(BeliefTest, WhatWaitsWithoutAnAdmissionIsUnprovenThoughItClaimsNothing) {
  cache_.upsert(a_job("waiting").gpus(4).waiting().build());
  cache_.upsert(a_job("zz-running").gpus(4).build());
  EXPECT_TRUE(job(0).unproven);
  EXPECT_FALSE(job(1).unproven);
}

TEST_F(BeliefTest, AnAdmissionCountsForTheFirstWhoShowsIt) {
  Job first = urgent_job("first");
  first.admitted = admission(mac_);
  cache_.upsert(first);
  Job copy = urgent_job("copy");
  copy.admitted = first.admitted;
  cache_.upsert(copy);
  EXPECT_TRUE(job(0).unproven);
  EXPECT_FALSE(job(1).unproven);
  cache_.remove(first);
  cache_.upsert(copy);
  EXPECT_TRUE(job(0).unproven);
}

TEST_F(BeliefTest, PodsHaveTheRightsOfTheirJob) {
  PodBuilder builder = a_pod("train-0").of_job("train").gpus(4).gated().managed();
  builder.intent().qos_class = QosClass::kUrgent;
  cache_.upsert(builder.build());
  EXPECT_FALSE(cache_.publish()->unbound[0]->intent->qos_class);
  EXPECT_FALSE(cache_.snapshot()->unbound[0]->unproven);
}

// A live cluster has all that there are.
TEST_F(BeliefTest, PodsOfARuntimeClassThatDoesNotExistAreRefused) {
  SchedulingConstraints constraints;
  constraints.runtime_class = "sandbox";
  cache_.upsert(a_job("train").gpus(1).constrained(constraints).build());
  EXPECT_EQ(job().constraints->refused, "their RuntimeClass sandbox does not exist");
  cache_.upsert(RuntimeClass{Uid("r"), {"", "sandbox"}});
  EXPECT_EQ(job().constraints->refused, "");
}

TEST_F(BeliefTest, PodsOfAPriorityClassThatDoesNotExistAreRefused) {
  Job written = a_job("train").gpus(1).build();
  written.priority_class = "high";
  cache_.upsert(written);
  EXPECT_EQ(job().constraints->refused, "their PriorityClass high does not exist");
  cache_.upsert(PriorityClass{Uid("p"), {"", "high"}, 1000, false});
  EXPECT_TRUE(job().constraints == nullptr || job().constraints->refused.empty());
  cache_.remove(PriorityClass{Uid("p"), {"", "high"}, 1000, false});
  EXPECT_EQ(job().constraints->refused, "their PriorityClass high does not exist");
}

TEST_F(BeliefTest, AJobsRankIsThatOfItsPriorityClass) {
  Job job = a_job("train").gpus(4).build();
  job.priority_class = "high";
  cache_.upsert(job);
  cache_.upsert(a_job("plain").gpus(4).build());
  EXPECT_EQ(this->job(1).priority, 0);
  cache_.upsert(PriorityClass{Uid("p1"), {"", "high"}, 1000, false});
  cache_.upsert(PriorityClass{Uid("p2"), {"", "usual"}, 7, true});
  EXPECT_EQ(this->job(1).priority, 1000);
  EXPECT_EQ(this->job(0).priority, 7);
  cache_.remove(PriorityClass{Uid("p1"), {"", "high"}, 0, false});
  EXPECT_EQ(this->job(1).priority, 0);
}

TEST_F(BeliefTest, APlannedJobsRankIsThatOfItsBand) {
  Job planned = released("train");
  PlanNote plan = *planned.plan;
  plan.band = "private-5";
  planned.plan = std::make_shared<const PlanNote>(plan);
  cache_.upsert(sealed(mac_, planned));
  cache_.upsert(PriorityClass{Uid("p1"), {"", "private-5"}, 150, false, true});
  cache_.upsert(PriorityClass{Uid("p2"), {"", "public-5"}, 50, false, false});  // it preempts
  cache_.upsert(PriorityClass{Uid("p3"), {"", "batch"}, 10, false, true});
  const auto bands = [&] { return cache_.publish()->admission->bands; };
  EXPECT_EQ(bands(), (std::map<std::string, std::int32_t>{{"private-5", 150}}));
  EXPECT_EQ(job().priority, 150);
  cache_.remove(PriorityClass{Uid("p1"), {"", "private-5"}, 0, false, true});
  EXPECT_TRUE(bands().empty());
  EXPECT_EQ(job().priority, 0);
}

}  // namespace
}  // namespace slackline::cluster
