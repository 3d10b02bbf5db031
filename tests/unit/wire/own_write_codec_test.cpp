// The bodies of Slackline's writes; what it writes it reads back.
#include "wire/kube/own_write_codec.h"

#include <gtest/gtest.h>

#include "support/fake_mac.h"
#include "wire/format/json_view.h"
#include "wire/kube/annotations.h"
#include "wire/kube/kube_decode.h"
#include "wire/kube/sealed_text.h"

namespace slackline::wire {
namespace {

OwnWrite on_job(JobChange change) {
  Job job;
  job.key = {"ml", "train"};
  job.uid = Uid("u1");
  job.resource_version = "42";
  return job_write(job, std::move(change));
}

OwnWrite on_pod(PodChange change) {
  Pod pod;
  pod.key = {"ml", "train-0"};
  pod.uid = Uid("u2");
  return pod_write(pod, std::move(change));
}

std::shared_ptr<const PlanNote> a_plan() {
  PlanNote plan;
  plan.id = "p7-3";
  plan.epoch = 7;
  plan.shape = {1, 4};
  plan.gpu_type = GpuType("K80");
  plan.nodes = {NodeName("n1"), NodeName("n1")};
  plan.promoted = true;
  return std::make_shared<const PlanNote>(plan);
}

TEST(OwnWriteCodec, APlanIsReadAsItWasWritten) {
  const auto read = read_plan(encode_plan(*a_plan()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->id, "p7-3");
  EXPECT_EQ(read->epoch, 7);
  EXPECT_EQ(read->shape, (Placement{1, 4}));
  EXPECT_EQ(read->nodes.size(), 2U);
  EXPECT_TRUE(read->promoted);
  EXPECT_FALSE(read->checkpoint_interval_s);
  EXPECT_FALSE(read->work_s);
  EXPECT_TRUE(read->asked.empty());
}

TEST(OwnWriteCodec, APlanKeepsWhatWasAskedFor) {
  PlanNote plan = *a_plan();
  plan.checkpoint_interval_s = 600;
  plan.work_s = 7200.5;
  plan.asked = "00ff";
  const auto read = read_plan(encode_plan(plan));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->checkpoint_interval_s, 600);
  EXPECT_EQ(read->work_s, 7200.5);
  EXPECT_EQ(read->asked, "00ff");
}

TEST(OwnWriteCodec, ACalibrationRunIsEndedByItsLimitOrDeleted) {
  const PatchBody end = encode_own_write(on_job(EndCalibration{}));
  EXPECT_EQ(end.method, "PATCH");
  EXPECT_EQ(
      end.body,
      R"({"metadata":{"uid":"u1","resourceVersion":"42"},"spec":{"activeDeadlineSeconds":1}})");
  const PatchBody removal = encode_own_write(on_job(RemoveCalibration{}));
  EXPECT_EQ(removal.method, "DELETE");
  EXPECT_EQ(removal.body,
            R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background",)"
            R"("preconditions":{"uid":"u1","resourceVersion":"42"}})");
}

TEST(OwnWriteCodec, AReleaseIsOnePatchWithItsPreconditions) {
  const OwnWrite write = on_job(ReleaseJob{.plan = a_plan()});
  const PatchBody patch = encode_own_write(write);
  EXPECT_EQ(patch.content_type, "application/merge-patch+json");
  EXPECT_TRUE(patch.subresource.empty());
  EXPECT_EQ(
      patch.body,
      R"({"metadata":{"uid":"u1","resourceVersion":"42","annotations":{"slackline.dev/plan":)"
      R"("{\"id\":\"p7-3\",\"epoch\":7,\"shape\":\"1x4\",\"type\":\"K80\",\"nodes\":[\"n1\",\"n1\"],\"promoted\":true}",)"
      R"("slackline.dev/suspended-by":null,"slackline.dev/forecast":null}},"spec":{"suspend":false}})");
}

TEST(OwnWriteCodec, AChosenShapeAndTypeAreInTheSamePatch) {
  ShapeChange shape;
  shape.reshape = Reshape{2, 4, "nvidia.com/gpu", "train"};
  shape.affinity_terms = {
      {{"gpu", MatchOperator::kIn, {"K80"}}, {"metadata.name", MatchOperator::kNotIn, {"n9"}}}};
  const OwnWrite write = on_job(ReleaseJob{.plan = a_plan(), .shape = shape});
  EXPECT_EQ(encode_own_write(write).content_type, "application/strategic-merge-patch+json");
  const std::string body = encode_own_write(write).body;
  for (
      const char* part :
      {R"("parallelism":2,"completions":2)",
       R"("containers":[{"name":"train","resources":{"requests":{"nvidia.com/gpu":"4"},"limits":{"nvidia.com/gpu":"4"}}}])",
       R"("matchExpressions":[{"key":"gpu","operator":"In","values":["K80"]}])",
       R"("matchFields":[{"key":"metadata.name","operator":"NotIn","values":["n9"]}])"})
    EXPECT_NE(body.find(part), std::string::npos) << part << "\n" << body;
}

TEST(OwnWriteCodec, ABandIsInThePlanAndInTheTemplate) {
  PlanNote plan = *a_plan();
  EXPECT_EQ(read_plan(encode_plan(plan))->band, "");
  plan.band = "private-7";
  EXPECT_EQ(read_plan(encode_plan(plan))->band, "private-7");
  const PatchBody patch = encode_own_write(on_job(
      ReleaseJob{.plan = std::make_shared<const PlanNote>(plan), .shape = {.band = plan.band}}));
  EXPECT_EQ(patch.content_type, "application/merge-patch+json");
  EXPECT_NE(patch.body.find(
                R"("suspend":false,"template":{"metadata":{"annotations":{"slackline.dev/band":)"
                R"("private-7"}},"spec":{}})"),
            std::string::npos)
      << patch.body;
}

TEST(OwnWriteCodec, CpuAndMemoryAreInTheSamePatchAndNothingIsAdded) {
  ShapeChange shape;
  shape.amounts = AmountsChange{"train", {"2", "", "5Gi", "6Gi"}};
  const auto alone = encode_own_write(on_job(ReleaseJob{.plan = a_plan(), .shape = shape}));
  EXPECT_EQ(alone.content_type, "application/strategic-merge-patch+json");
  EXPECT_NE(alone.body.find(R"("containers":[{"name":"train","resources":{"requests":{"cpu":"2",)"
                            R"("memory":"5Gi"},"limits":{"memory":"6Gi"}}}])"),
            std::string::npos)
      << alone.body;
  shape.reshape = Reshape{1, 2, "nvidia.com/gpu", "train"};
  const auto both = encode_own_write(on_job(ReleaseJob{.plan = a_plan(), .shape = shape})).body;
  EXPECT_NE(both.find(R"("requests":{"nvidia.com/gpu":"2","cpu":"2","memory":"5Gi"})"),
            std::string::npos)
      << both;
}

TEST(OwnWriteCodec, WhatWasWrittenAndWhatWasGivenAreReadAgain) {
  OriginalShape original;
  original.gpus = 4;
  original.amounts = ContainerAmounts{"500m", "", "64Gi", "64Gi"};
  original.given = {2, ContainerAmounts{"250m", "", "5Gi", "5Gi"}};
  const auto read = read_original(encode_original(original));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->gpus, 4);
  EXPECT_EQ(read->amounts, original.amounts);
  EXPECT_EQ(read->given.gpus, 2);
  EXPECT_EQ(read->given.amounts, original.given.amounts);
  EXPECT_FALSE(read_original("{}")->changed());
}

TEST(OwnWriteCodec, APlanTellsHowItWasResized) {
  PlanNote plan = *a_plan();
  plan.resize = ResizeNote{.asked = {1, 4}, .shape = Placement{1, 2}};
  plan.resize->amounts = ContainerAmounts{"2", "4", "5Gi", ""};
  plan.resize->expected_s = 3600;
  plan.resize->trial = true;
  const auto read = read_plan(encode_plan(plan));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(read->resize);
  EXPECT_EQ(read->resize->asked, plan.resize->asked);
  EXPECT_EQ(read->resize->shape, plan.resize->shape);
  EXPECT_EQ(read->resize->amounts, plan.resize->amounts);
  EXPECT_EQ(read->resize->expected_s, 3600);
  EXPECT_TRUE(read->resize->trial);
  EXPECT_FALSE(read_plan(encode_plan(*a_plan()))->resize);
}

TEST(OwnWriteCodec, ASuspendMarksTheJobAndVoidsThePlan) {
  EXPECT_EQ(encode_own_write(on_job(SuspendJob{})).body,
            R"({"metadata":{"uid":"u1","resourceVersion":"42","annotations":{"slackline.dev/plan":)"
            R"(null,"slackline.dev/suspended-by":"slackline"}},"spec":{"suspend":true}})");
}

TEST(OwnWriteCodec, AStopNotesWhatIsKeptAndProvesIt) {
  const test::FakeMac mac;
  PreemptionNote note{2, 0.25, 1234.5, 1700000000, {NodeName("n1"), NodeName("n2")}};
  note.disruptions = 1;
  note.by = "NodeGone";
  note.too_small = ResizeFailure::kGpuOutOfMemory;
  note.slow = PreemptionNote::SlowRun{{NodeName("n2")}, 1699980000};
  note.charges = {{"research", 1699990000, 1000}, {"ml", 1700000000, 234.5}};
  const OwnWrite stop =
      on_job(StopJob{.preemptions = std::make_shared<const PreemptionNote>(note)});
  const std::string body = encode_own_write(stop, &mac).body;
  for (const char* part :
       {R"("suspend":true)", R"("slackline.dev/plan":null)",
        R"("slackline.dev/suspended-by":"slackline")", R"("resourceVersion":"42")"})
    EXPECT_NE(body.find(part), std::string::npos) << part << "\n" << body;
  JsonDocument document;
  const auto root = document.parse(body);
  ASSERT_TRUE(root) << body;
  const auto read =
      read_preemptions((*root)["metadata"]["annotations"][contract::kPreemptions].text());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->count, note.count);
  EXPECT_EQ(read->left, note.left);
  EXPECT_EQ(read->lost_gpu_s, note.lost_gpu_s);
  EXPECT_EQ(read->at_s, note.at_s);
  EXPECT_EQ(read->nodes, note.nodes);
  ASSERT_EQ(read->charges.size(), 2U);
  EXPECT_EQ(read->charges[1].queue, "ml");
  EXPECT_EQ(read->charges[1].at_s, 1700000000);
  EXPECT_EQ(read->charges[1].gpu_s, 234.5);
  EXPECT_EQ(read->disruptions, note.disruptions);
  EXPECT_EQ(read->by, note.by);
  EXPECT_EQ(read->too_small, note.too_small);
  ASSERT_TRUE(read->slow);
  EXPECT_EQ(read->slow->nodes, note.slow->nodes);
  EXPECT_EQ(read->slow->at_s, note.slow->at_s);
  EXPECT_TRUE(is_ours(mac, {stop.target.key, stop.target.uid}, *read));
  const Uid other("u2");
  EXPECT_FALSE(is_ours(mac, {stop.target.key, other}, *read));
}

TEST(OwnWriteCodec, WhereAStoppedJobGoesOnIsReadAgain) {
  PreemptionNote note{.count = 1, .left = 0.5};
  note.goes_on = PreemptionNote::GoesOn{
      .shape = {1, 2}, .gpu_type = GpuType("K80"), .nodes = {NodeName("n1")}, .from = {1, 4}};
  const auto read = read_preemptions(encode_preemptions(note));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_TRUE(read->goes_on);
  EXPECT_EQ(read->goes_on->shape, note.goes_on->shape);
  EXPECT_EQ(read->goes_on->from, note.goes_on->from);
  EXPECT_EQ(read->goes_on->gpu_type, GpuType("K80"));
  EXPECT_EQ(read->goes_on->nodes, note.goes_on->nodes);
  note.goes_on.reset();
  EXPECT_FALSE(read_preemptions(encode_preemptions(note))->goes_on);
}

TEST(OwnWriteCodec, WhatAStoppedRunHeldIsReadAgain) {
  PreemptionNote note{.count = 1, .left = 0.5};
  EXPECT_EQ(read_preemptions(encode_preemptions(note))->first_start_s, 0) << "an earlier version";
  note.first_start_s = 1700000000;
  note.held_s = 900;
  note.held_gpu_s = 7200.5;
  const auto read = read_preemptions(encode_preemptions(note));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->first_start_s, 1700000000);
  EXPECT_EQ(read->held_s, 900);
  EXPECT_EQ(read->held_gpu_s, 7200.5);
  EXPECT_EQ(read_preemptions(R"({"count":1,"left":1,"heldGpuSeconds":-1})")->held_gpu_s, 0);
}

TEST(OwnWriteCodec, ImpossiblePreemptionsAreRefused) {
  for (const char* text :
       {"", "7", "{}", R"({"count":0,"left":0.5})", R"({"count":1,"left":0})",
        R"({"count":1,"left":1.5})", R"({"count":1,"left":1,"lostGpuSeconds":-1})",
        R"({"count":1,"left":1,"goesOn":{"shape":"1by2","from":"1x4"}})"})
    EXPECT_FALSE(read_preemptions(text)) << text;
}

TEST(OwnWriteCodec, WhatAPodIsToldOfItsStopIsReadAgain) {
  const test::FakeMac mac;
  const OwnWrite tell = on_pod(TellOfStop{
      std::make_shared<const StopNotice>(StopNotice{{"ml", "urgent"}, Uid("u9"), 1700000000})});
  const std::string body = encode_own_write(tell, &mac).body;
  JsonDocument document;
  const auto root = document.parse(body);
  ASSERT_TRUE(root) << body;
  EXPECT_EQ((*root)["metadata"]["uid"].text(), tell.target.uid.str());
  const auto annotations = (*root)["metadata"]["annotations"];
  EXPECT_EQ(annotations[contract::kPreemptAt].text(), "2023-11-14T22:13:20Z");
  const auto read = read_notice(annotations[contract::kPreemptFor].text());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->asker.str(), "ml/urgent");
  EXPECT_EQ(read->asker_uid, Uid("u9"));
  EXPECT_EQ(read->at_s, 1700000000);
  EXPECT_TRUE(is_ours(mac, {tell.target.key, tell.target.uid}, *read));
  const Uid other("another");
  EXPECT_FALSE(is_ours(mac, {tell.target.key, other}, *read));
  EXPECT_NE(encode_own_write(on_pod(TakeBackStop{}))
                .body.find(R"("slackline.dev/preempt-at":null,"slackline.dev/preempt-for":null)"),
            std::string::npos);
  for (const char* text : {"", "7", "{}", R"({"at":"soon","name":"x"})", R"({"name":"x"})"})
    EXPECT_FALSE(read_notice(text)) << text;
}

TEST(OwnWriteCodec, AnEvictionIsOfTheVeryPodOnly) {
  const OwnWrite evict = on_pod(EvictPod{});
  const PatchBody post = encode_own_write(evict);
  EXPECT_EQ(post.method, "POST");
  EXPECT_EQ(post.subresource, "eviction");
  JsonDocument document;
  const auto root = document.parse(post.body);
  ASSERT_TRUE(root) << post.body;
  EXPECT_EQ((*root)["apiVersion"].text(), "policy/v1");
  EXPECT_EQ((*root)["kind"].text(), "Eviction");
  EXPECT_EQ((*root)["metadata"]["name"].text(), evict.target.key.name);
  EXPECT_EQ((*root)["deleteOptions"]["preconditions"]["uid"].text(), evict.target.uid.str());
}

TEST(OwnWriteCodec, APlanThatIsTakenBackLeavesNoAnnotation) {
  const OwnWrite write = on_pod(UnplanPod{});
  EXPECT_NE(encode_own_write(write).body.find(R"("slackline.dev/plan":null)"), std::string::npos);
}

TEST(OwnWriteCodec, APlanProvesWhoseItIs) {
  const test::FakeMac mac;
  OwnWrite release = on_job(ReleaseJob{});
  release.change = JobChange{ReleaseJob{.plan = a_plan(), .generation = 5}};
  for (const OwnWrite& write : {release, on_pod(PlanPod{a_plan()})}) {
    const std::string body = encode_own_write(write, &mac).body;
    JsonDocument document;
    const auto root = document.parse(body);
    ASSERT_TRUE(root) << body;
    const auto read = read_plan((*root)["metadata"]["annotations"][contract::kPlan].text());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(is_ours(mac, {write.target.key, write.target.uid}, *read)) << body;
    EXPECT_EQ(read->generation.has_value(), write.of_job());
    EXPECT_EQ(read->generation.value_or(5), 5);
  }
}

TEST(OwnWriteCodec, APlanThatDoesNotCountIsTakenAwayAlone) {
  EXPECT_EQ(encode_own_write(on_job(ClearPlan{})).body,
            R"({"metadata":{"uid":"u1","resourceVersion":"42","annotations":{"slackline.dev/plan":)"
            R"(null}}})");
}

TEST(OwnWriteCodec, AJobInItsFirstShapeKeepsNoNoteOfIt) {
  const OwnWrite write = on_job(OpenJob{{.original = std::make_shared<const OriginalShape>()}});
  EXPECT_NE(encode_own_write(write).body.find(R"("slackline.dev/original":null)"),
            std::string::npos);
}

TEST(OwnWriteCodec, AGatedPodIsNarrowedByItsAffinityAlone) {
  const OwnWrite write = on_pod(NarrowPod{{{{"gpu", MatchOperator::kIn, {"K80"}}}}});
  const PatchBody patch = encode_own_write(write);
  EXPECT_EQ(patch.subresource, "");
  EXPECT_EQ(
      patch.body,
      R"({"metadata":{"uid":"u2"},"spec":{"affinity":{"nodeAffinity":{)"
      R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)"
      R"({"matchExpressions":[{"key":"gpu","operator":"In","values":["K80"]}],"matchFields":[]}]}}}}})");
}

TEST(OwnWriteCodec, AShapeBesideTheTemplateLeavesTheTemplateAlone) {
  const OwnWrite write = on_job(ReleaseJob{
      .plan = a_plan(), .shape = {.reshape = Reshape{2, 4, "nvidia.com/gpu", "", false}}});
  const std::string body = encode_own_write(write).body;
  EXPECT_NE(body.find(R"("parallelism":2,"completions":2)"), std::string::npos) << body;
  EXPECT_EQ(body.find("template"), std::string::npos) << body;
}

TEST(OwnWriteCodec, ANominationGoesToTheStatusOfTheVeryPod) {
  const OwnWrite write = on_pod(Nominate{NodeName("n1")});
  const PatchBody patch = encode_own_write(write);
  EXPECT_EQ(patch.subresource, "status");
  EXPECT_EQ(patch.body, R"({"metadata":{"uid":"u2"},"status":{"nominatedNodeName":"n1"}})");
  EXPECT_EQ(encode_own_write(on_pod(ClearNomination{})).body,
            R"({"metadata":{"uid":"u2"},"status":{"nominatedNodeName":null}})");
}

TEST(OwnWriteCodec, AGateIsLiftedFromTheVeryPodOnly) {
  const PatchBody patch = encode_own_write(on_pod(LiftGate{}));
  EXPECT_EQ(patch.content_type, "application/json-patch+json");
  EXPECT_EQ(patch.body,
            R"([{"op":"test","path":"/metadata/uid","value":"u2"},)"
            R"({"op":"test","path":"/spec/schedulingGates/0/name","value":"slackline.dev/queue"},)"
            R"({"op":"remove","path":"/spec/schedulingGates/0"}])");
}

TEST(OwnWriteCodec, TheFirstShapeIsReadAsItWasWritten) {
  OriginalShape original;
  original.parallelism = 4;
  original.affinity_terms = {{{"gpu", MatchOperator::kExists, {}}}};
  const auto read = read_original(encode_original(original));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->parallelism, 4);
  EXPECT_FALSE(read->gpus);
  ASSERT_EQ(read->affinity_terms->size(), 1U);
  EXPECT_EQ(read->affinity_terms->front().front().op, MatchOperator::kExists);
  EXPECT_FALSE(read_original("[]"));
  EXPECT_FALSE(read_original(R"({"parallelism":-1})"));
  EXPECT_FALSE(read_original(R"({"parallelism":1099511627776})"));
  EXPECT_FALSE(read_original(R"({"gpus":9223372036854775807})"));
}

TEST(OwnWriteCodec, JobsAreReadWithAllThatAPlanNeeds) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto object = decoder.object(
      KubeKind::kJob,
      R"({"metadata":{"name":"j","namespace":"ml","uid":"u","resourceVersion":"9","annotations":{)"
      R"("slackline.dev/suspended-by":"slackline","slackline.dev/original":"{\"gpus\":2}"}},)"
      R"("spec":{"suspend":true,"template":{"metadata":{"labels":{"slackline.dev/managed":"true"}},)"
      R"("spec":{"nodeSelector":{"disk":"ssd"},"containers":[{"name":"side"},{"name":"train",)"
      R"("resources":{"limits":{"nvidia.com/gpu":"4"}}}]}}},)"
      R"("status":{"succeeded":1,"uncountedTerminatedPods":{"succeeded":["p2","p3"]},)"
      R"("conditions":[{"type":"Suspended","status":"True"}]}})");
  ASSERT_TRUE(object) << object.error().message;
  const Job& job = std::get<Job>(*object);
  EXPECT_EQ(job.resource_version, "9");
  EXPECT_TRUE(job.suspended_by_us && job.halted && job.managed);
  EXPECT_EQ(job.succeeded, 3);
  EXPECT_EQ(job.gpu_container, "train");
  EXPECT_EQ(job.original->gpus, 2);
  EXPECT_EQ(job.constraints->node_selector.front().second, "ssd");
}

}  // namespace
}  // namespace slackline::wire
