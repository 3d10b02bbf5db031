#include "wire/admission/admission_codec.h"

#include <gmock/gmock.h>

#include "slackline/base/base64.h"
#include "slackline/model/contract.h"
#include "support/admission_bodies.h"
#include "wire/format/json_view.h"
#include "wire/kube/access_review_codec.h"

namespace slackline::wire {
namespace {

using test::job_review_text;
using test::pod_review_text;
using test::ReviewText;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

AdmissionReview decoded(const std::string& text) {
  auto review = decode_admission(text, default_gpu_catalog());
  EXPECT_TRUE(review) << (review ? "" : review.error().message);
  return review.value_or(AdmissionReview());
}

const ReviewedJob& job_of(const AdmissionReview& review) {
  return std::get<ReviewedJob>(review.object);
}

TEST(AdmissionCodecTest, AJobIsReadWithEverythingAChangeMustKnow) {
  ReviewText text;
  text.metadata =
      R"("annotations":{"slackline.dev/qos-class":"prior","team":"a","slackline.dev/plan":"x"})";
  text.container = R"(,"env":[{"name":"PET_NNODES","value":"1"}])";
  const AdmissionReview review = decoded(job_review_text(text));
  EXPECT_EQ(review.uid, "705ab4f5-6393-11e8-b7cc-42010a800002");
  EXPECT_EQ(review.operation, AdmissionOperation::kCreate);
  EXPECT_EQ(review.ns, "team-a");
  EXPECT_EQ(review.user.name, "jane");
  EXPECT_THAT(review.user.groups, ElementsAre("team-a", "system:authenticated"));
  EXPECT_THAT(review.user.extra, ElementsAre(Pair("scopes", ElementsAre("a", "b"))));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(review.old_object));
  const ReviewedJob& job = job_of(review);
  EXPECT_EQ(job.job.pod_requests.gpu_count("nvidia.com/gpu"), 2);
  EXPECT_EQ(job.job.intent->qos_class, QosClass::kPrior);
  EXPECT_THAT(job.keys.annotations, ElementsAre(Pair("slackline.dev/plan", "x"),
                                                Pair("slackline.dev/qos-class", "prior")));
  EXPECT_FALSE(job.pod.keys.has_annotations);
  EXPECT_EQ(job.pod.scheduler_name, "default-scheduler");
  ASSERT_EQ(job.pod.containers.size(), 1U);
  EXPECT_THAT(job.pod.containers[0].env, ElementsAre("PET_NNODES"));
  EXPECT_THAT(job.pod.containers[0].gpus, ElementsAre(ResourceAmount{"nvidia.com/gpu", 2}));
}

TEST(AdmissionCodecTest, WhatIsNotCreatedYetIsReviewedAsADryRunOfItsCreation) {
  const std::string job = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train",
      "annotations":{"slackline.dev/plan":"{}"}},"spec":{"template":{"spec":{"containers":[
      {"name":"main","resources":{"limits":{"nvidia.com/gpu":2}}}]}}}})";
  const auto review = review_of_creation(job, "team", default_gpu_catalog());
  ASSERT_TRUE(review);
  EXPECT_EQ(review->operation, AdmissionOperation::kCreate);
  EXPECT_EQ(review->ns, "team");
  EXPECT_TRUE(review->dry_run);
  const auto& read = std::get<ReviewedJob>(review->object);
  EXPECT_EQ(*read.keys.annotation("slackline.dev/plan"), "{}") << "the webhook refuses it";
  EXPECT_TRUE(read.job.pod_requests.wants_gpus());
  const auto pod = review_of_creation(R"({"kind":"Pod","metadata":{"name":"alone"}})", "team",
                                      default_gpu_catalog());
  EXPECT_TRUE(std::holds_alternative<ReviewedPod>(pod->object));
  EXPECT_FALSE(review_of_creation("{", "team", default_gpu_catalog()));
}

TEST(AdmissionCodecTest, AnUpdateBringsTheOldObject) {
  ReviewText text;
  text.operation = "UPDATE";
  text.old_object = test::job_text({});
  const AdmissionReview review = decoded(job_review_text(text));
  EXPECT_EQ(review.operation, AdmissionOperation::kUpdate);
  EXPECT_EQ(std::get<ReviewedJob>(review.old_object).job.key.name, "train");
}

TEST(AdmissionCodecTest, WhatIsNotOursIsNoError) {
  const std::string config_map = test::review_text({}, "", "ConfigMap", R"({"data":{}})");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(decoded(config_map).object));
  ReviewText deletion;
  deletion.operation = "DELETE";
  EXPECT_EQ(decoded(job_review_text(deletion)).operation, AdmissionOperation::kOther);
}

TEST(AdmissionCodecTest, WithoutARequestThereIsNothingToAnswer) {
  for (const std::string text :
       {"", "{", R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"})",
        R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})"})
    EXPECT_FALSE(decode_admission(text, default_gpu_catalog())) << text;
}

TEST(AdmissionCodecTest, ARefusalNamesTheReason) {
  AdmissionDecision decision;
  decision.refusal = Refusal{"QueueFull", "queue a: full"};
  const std::string answer = encode_admission(decoded(job_review_text()), decision);
  JsonDocument document;
  const auto root = document.parse(answer);
  ASSERT_TRUE(root);
  const JsonView response = (*root)["response"];
  EXPECT_EQ(response["uid"].text(), "705ab4f5-6393-11e8-b7cc-42010a800002");
  EXPECT_FALSE(response["allowed"].is_true());
  EXPECT_EQ(response["status"]["code"].integer(), 403);
  EXPECT_EQ(response["status"]["message"].text(), "queue a: full (QueueFull)");
  EXPECT_FALSE(response["patch"].present());
}

TEST(AdmissionCodecTest, WithoutChangesThereIsNoPatch) {
  AdmissionDecision decision;
  decision.warnings = {"look\nout"};
  const std::string answer = encode_admission(decoded(job_review_text()), decision);
  EXPECT_THAT(answer, HasSubstr(R"("allowed":true,"warnings":["look\\x0aout"])"));
}

TEST(AdmissionCodecTest, AnnotationsThatGoAreRemoved) {
  AdmissionChanges changes;
  changes.dropped = {"slackline.dev/deadline"};
  EXPECT_EQ(encode_json_patch(decoded(job_review_text()), changes),
            R"([{"op":"remove","path":"/metadata/annotations/slackline.dev~1deadline"}])");
}

TEST(AdmissionCodecTest, MapsThatAreMissingAreMadeFirst) {
  AdmissionChanges changes;
  changes.suspend = true;
  changes.annotations = {{"slackline.dev/deadline", "2027-01-15T08:00:00Z"}};
  changes.template_labels = {{"slackline.dev/managed", "true"}};
  changes.scheduler_name = "gpu-scheduler";
  changes.env = {{"SLACKLINE_NODES", "slackline.dev/nodes"}};
  EXPECT_EQ(
      encode_json_patch(decoded(job_review_text()), changes),
      R"([{"op":"add","path":"/spec/suspend","value":true},)"
      R"({"op":"add","path":"/metadata/annotations/slackline.dev~1deadline","value":"2027-01-15T08:00:00Z"},)"
      R"({"op":"add","path":"/spec/template/metadata/labels","value":{"slackline.dev/managed":"true"}},)"
      R"({"op":"add","path":"/spec/template/spec/schedulerName","value":"gpu-scheduler"},)"
      R"({"op":"add","path":"/spec/template/spec/containers/0/env","value":[{"name":"SLACKLINE_NODES",)"
      R"("valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.annotations['slackline.dev/nodes']"}}}]}])");
}

TEST(AdmissionCodecTest, APodGetsItsGateAndItsGpus) {
  AdmissionChanges changes;
  changes.gate = true;
  changes.gpus = GpuCountChange{0, "nvidia.com/gpu", 4};
  EXPECT_EQ(
      encode_json_patch(decoded(pod_review_text()), changes),
      R"([{"op":"add","path":"/spec/schedulingGates","value":[{"name":"slackline.dev/queue"}]},)"
      R"({"op":"add","path":"/spec/containers/0/resources/limits/nvidia.com~1gpu","value":"4"},)"
      R"({"op":"add","path":"/spec/containers/0/resources/requests/nvidia.com~1gpu","value":"4"}])");
}

TEST(AdmissionCodecTest, ABarePodGetsItsLabel) {
  AdmissionChanges changes;
  changes.labels = {{"slackline.dev/managed", "true"}};
  EXPECT_EQ(encode_json_patch(decoded(pod_review_text()), changes),
            R"([{"op":"add","path":"/metadata/labels","value":{"slackline.dev/managed":"true"}}])");
  ReviewText text;
  text.metadata = R"("labels":{"app":"x"})";
  EXPECT_EQ(encode_json_patch(decoded(pod_review_text(text)), changes),
            R"([{"op":"add","path":"/metadata/labels/slackline.dev~1managed","value":"true"}])");
}

TEST(AdmissionCodecTest, VariablesThatAreThereStay) {
  ReviewText text;
  text.container = R"(,"env":[{"name":"PET_NNODES","value":"1"}])";
  AdmissionChanges changes;
  changes.env = {{"PET_NNODES", "slackline.dev/nodes"}, {"SLACKLINE_NODES", "slackline.dev/nodes"}};
  const std::string patch = encode_json_patch(decoded(job_review_text(text)), changes);
  EXPECT_THAT(patch, HasSubstr("/spec/template/spec/containers/0/env/-"));
  EXPECT_THAT(patch, ::testing::Not(HasSubstr("PET_NNODES")));
}

TEST(AccessReviewCodecTest, TheQuestionRepeatsTheWholeUser) {
  Requester user{"jane", "u-1", {"team-a"}, {{"scopes", {"a"}}}};
  EXPECT_EQ(encode_access_review(user, {"use", "qosclasses", "team-a", "urgent"}),
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{)"
            R"("resourceAttributes":{"namespace":"team-a","verb":"use","group":"slackline.dev",)"
            R"("resource":"qosclasses","name":"urgent"},"user":"jane","uid":"u-1",)"
            R"("groups":["team-a"],"extra":{"scopes":["a"]}}})");
}

TEST(AccessReviewCodecTest, OfOneselfTheQuestionNamesNoUser) {
  EXPECT_EQ(
      encode_own_access_review({.verb = "patch", .resource = "pods", .subresource = "status"}),
      R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview","spec":{)"
      R"("resourceAttributes":{"namespace":"","verb":"patch","group":"","resource":"pods",)"
      R"("subresource":"status","name":""}}})");
  EXPECT_EQ(decode_self_subject_review(R"({"status":{"userInfo":{"username":"jane"}}})"), "jane");
  EXPECT_FALSE(decode_self_subject_review(R"({"status":{"userInfo":{}}})"));
  EXPECT_FALSE(decode_self_subject_review(R"({"kind":"Status"})"));
}

TEST(AccessReviewCodecTest, OnlyAClearAnswerCounts) {
  EXPECT_EQ(decode_access_review(R"({"status":{"allowed":true}})"), true);
  EXPECT_EQ(decode_access_review(R"({"status":{"allowed":false,"reason":"no"}})"), false);
  EXPECT_FALSE(decode_access_review(R"({"status":{"allowed":false,"evaluationError":"x"}})"));
  EXPECT_FALSE(decode_access_review(R"({"kind":"Status"})"));
}

}  // namespace
}  // namespace slackline::wire
