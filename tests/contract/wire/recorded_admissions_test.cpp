// AdmissionReviews that a real kube-apiserver sent (scripts/record-admissions) are understood:
// golden files come with the repository, so a missing one is a failure, not a skip.
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "slackline/base/base64.h"
#include "support/source_path.h"
#include "wire/admission/admission_codec.h"

namespace slackline::wire {
namespace {

using ::testing::Contains;
using ::testing::Pair;

AdmissionReview recorded(const std::string& name) {
  const auto path = test::source_path("tests/contract/golden/kube-apiserver-1.36.3") / name;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  auto review = decode_admission(text.str(), default_gpu_catalog());
  EXPECT_TRUE(review) << (review ? "" : review.error().message);
  return review.value_or(AdmissionReview());
}

TEST(RecordedAdmissionsTest, TheCreationOfAJob) {
  const AdmissionReview review = recorded("mutate-job-create.json");
  EXPECT_EQ(review.operation, AdmissionOperation::kCreate);
  EXPECT_EQ(review.ns, "team-a");
  EXPECT_EQ(review.user.name, "admin");
  EXPECT_THAT(review.user.groups, Contains("system:masters"));
  EXPECT_FALSE(review.dry_run);
  const auto* job = std::get_if<ReviewedJob>(&review.object);
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->job.key.name, "lstm-gang");
  EXPECT_TRUE(job->job.is_gang());
  EXPECT_EQ(job->job.pod_requests.gpu_count("nvidia.com/gpu"), 2);
  EXPECT_THAT(job->keys.annotations, Contains(Pair("slackline.dev/model", "lstm")));
  EXPECT_FALSE(job->job.started_s);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(review.old_object));
}

TEST(RecordedAdmissionsTest, TheCreationOfAPodByTheJobController) {
  const AdmissionReview review = recorded("mutate-pod-create.json");
  EXPECT_EQ(review.user.name, "system:serviceaccount:kube-system:job-controller");
  const auto* pod = std::get_if<ReviewedPod>(&review.object);
  ASSERT_NE(pod, nullptr);
  EXPECT_TRUE(pod->pod.managed);
  ASSERT_TRUE(pod->pod.owner);
  EXPECT_EQ(pod->pod.owner->kind, "Job");
  EXPECT_TRUE(pod->facts.gates.empty());
  ASSERT_EQ(pod->facts.containers.size(), 1U);
  EXPECT_EQ(pod->facts.containers[0].gpus.size(), 1U);
}

TEST(RecordedAdmissionsTest, TheUpdateOfAJobBringsBothOfThem) {
  const AdmissionReview review = recorded("validate-job-update.json");
  EXPECT_EQ(review.operation, AdmissionOperation::kUpdate);
  const auto* job = std::get_if<ReviewedJob>(&review.object);
  const auto* old = std::get_if<ReviewedJob>(&review.old_object);
  ASSERT_NE(job, nullptr);
  ASSERT_NE(old, nullptr);
  EXPECT_EQ(job->job.intent->qos_class, QosClass::kPrior);
  EXPECT_EQ(old->job.intent->qos_class, QosClass::kNormal);
  EXPECT_GT(job->job.created_s, 0);
}

// The API server reads the answer: a patch that an RFC 6902 implementation applies.
TEST(RecordedAdmissionsTest, OurPatchApplies) {
  const auto path =
      test::source_path("tests/contract/golden/kube-apiserver-1.36.3/mutate-job-create.json");
  std::ifstream file(path, std::ios::binary);
  const nlohmann::json body = nlohmann::json::parse(file);
  AdmissionDecision decision;
  decision.changes.suspend = true;
  decision.changes.ignore_disruptions = true;
  decision.changes.annotations = {{"slackline.dev/deadline", "2027-01-15T08:00:00Z"}};
  decision.changes.template_labels = {{"slackline.dev/managed", "true"}};
  decision.changes.template_annotations = {{"slackline.dev/nodes", "2"}};
  decision.changes.scheduler_name = "another";
  decision.changes.env = {{"SLACKLINE_NODES", "slackline.dev/nodes"}};
  const auto answer =
      nlohmann::json::parse(encode_admission(recorded("mutate-job-create.json"), decision));
  const nlohmann::json& response = answer["response"];
  EXPECT_EQ(response["uid"], body["request"]["uid"]);
  EXPECT_EQ(response["patchType"], "JSONPatch");
  const auto patch =
      nlohmann::json::parse(decode_base64(response["patch"].get<std::string>()).value());
  const nlohmann::json job = body["request"]["object"].patch(patch);
  EXPECT_EQ(job["spec"]["suspend"], true);
  EXPECT_EQ(job["spec"]["podReplacementPolicy"], "Failed");
  const nlohmann::json& rule = job["spec"]["podFailurePolicy"]["rules"][0];
  EXPECT_EQ(rule["action"], "Ignore");
  EXPECT_EQ(rule["onPodConditions"][0]["type"], "DisruptionTarget");
  EXPECT_EQ(job["metadata"]["annotations"]["slackline.dev/model"], "lstm");
  EXPECT_EQ(job["metadata"]["annotations"]["slackline.dev/deadline"], "2027-01-15T08:00:00Z");
  const nlohmann::json& pod = job["spec"]["template"];
  EXPECT_EQ(pod["metadata"]["labels"]["slackline.dev/managed"], "true");
  EXPECT_EQ(pod["metadata"]["annotations"]["slackline.dev/nodes"], "2");
  EXPECT_EQ(pod["spec"]["schedulerName"], "another");
  EXPECT_EQ(pod["spec"]["containers"][0]["env"][0]["name"], "SLACKLINE_NODES");
}

}  // namespace
}  // namespace slackline::wire
