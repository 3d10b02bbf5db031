// The Job of a calibration run, made from another Job.
#include "wire/kube/calibration_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/model/pod.h"
#include "wire/kube/kube_decode.h"

namespace slackline::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTemplate = R"({"metadata":{"name":"train","namespace":"ml","uid":"u1",
  "labels":{"team":"x","slackline.dev/calibration":"allowed"},
  "annotations":{"slackline.dev/model":"net","slackline.dev/batch-size":"64","note":"mine",
    "slackline.dev/original":"{\"affinity\":[]}","slackline.dev/plan":"{}"}},
 "spec":{"suspend":false,"parallelism":4,"completions":4,"completionMode":"Indexed",
  "selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"u1"}},"podFailurePolicy":{"rules":[]},
  "template":{"metadata":{"labels":{"app":"t","job-name":"train","batch.kubernetes.io/job-name":"train",
     "controller-uid":"u1","slackline.dev/managed":"true"},
    "annotations":{"sidecar":"yes","slackline.dev/nodes":"4"}},
   "spec":{"serviceAccountName":"trainer","priorityClassName":"high","priority":1000,
    "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
      {"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]}]}}},
    "containers":[{"name":"side","image":"s"},{"name":"main","image":"t","command":["run"],
      "env":[{"name":"A","value":"1"},{"name":"SLACKLINE_ITERATIONS","value":"7"}],
      "resources":{"requests":{"cpu":"1","nvidia.com/gpu":"8"},"limits":{"nvidia.com/gpu":"8"}}}]}}}})";

CalibrationOrder order() {
  const auto job =
      std::get<Job>(*KubeDecoder(default_gpu_catalog()).object(KubeKind::kJob, kTemplate));
  return {.from = std::make_shared<const Job>(job),
          .name = "train-cal-1",
          .gpu_type = GpuType("A100"),
          .gpu_resource = "nvidia.com/gpu",
          .shape = {2, 4},
          .iterations = 100,
          .deadline_s = 300,
          .priority_class = "low"};
}

TEST(CalibrationCodec, TheRunIsReadAsWhatWasOrdered) {
  const auto text = encode_calibration_job(kTemplate, order());
  ASSERT_TRUE(text) << text.error().message;
  const auto run = std::get<Job>(*KubeDecoder(default_gpu_catalog()).object(KubeKind::kJob, *text));
  EXPECT_EQ(run.key.str(), "ml/train-cal-1");
  EXPECT_TRUE(run.is_calibration());
  EXPECT_TRUE(run.waits_with_us());
  EXPECT_TRUE(run.managed);
  EXPECT_TRUE(run.indexed);
  EXPECT_EQ(run.parallelism, 2);
  EXPECT_EQ(run.completions, 2);
  EXPECT_EQ(run.pod_requests.gpu_count("nvidia.com/gpu"), 4);
  EXPECT_EQ(run.gpu_container, "main");
  EXPECT_EQ(run.active_deadline_s, 300);
  EXPECT_EQ(run.priority_class, "low");
  EXPECT_EQ(run.plan, nullptr);
  EXPECT_EQ(run.original, nullptr);
  EXPECT_EQ(run.constraints, nullptr) << "the affinity as it was written: none";
  ASSERT_NE(run.intent, nullptr);
  EXPECT_EQ(run.intent->problems, std::vector<std::string>());
  EXPECT_EQ(run.intent->workload(), "net");
  EXPECT_EQ(run.intent->batch_size, 64);
  EXPECT_EQ(run.intent->iterations, 100);
  EXPECT_EQ(run.intent->placements, std::vector<Placement>({{2, 4}}));
  EXPECT_EQ(run.intent->gpu_types, std::vector<GpuType>({GpuType("A100")}));
}

TEST(CalibrationCodec, TheRunHasTheReplicasOfTheJob) {
  CalibrationOrder of_replicas = order();
  const auto parallel = [&] {
    const std::string text = *encode_calibration_job(kTemplate, of_replicas);
    const auto object = KubeDecoder(default_gpu_catalog()).object(KubeKind::kJob, text);
    return std::get<Job>(*object).intent->model_parallel;
  };
  EXPECT_EQ(parallel(), std::nullopt);
  auto job = std::make_shared<Job>(*of_replicas.from);
  auto intent = std::make_shared<TaskIntent>(*job->intent);
  intent->model_parallel = 4;
  job->intent = intent;
  of_replicas.from = job;
  EXPECT_EQ(parallel(), 4);
}

TEST(CalibrationCodec, TheTemplateIsKeptAndWhatOthersAddedIsNot) {
  const std::string run = *encode_calibration_job(kTemplate, order());
  for (const char* kept : {R"("serviceAccountName":"trainer")", R"("command":["run"])",
                           R"("app":"t")", R"("sidecar":"yes")", R"({"name":"A","value":"1"})",
                           R"({"name":"SLACKLINE_CALIBRATION","value":"true"})",
                           R"({"name":"SLACKLINE_ITERATIONS","value":"100"})"})
    EXPECT_THAT(run, HasSubstr(kept));
  for (const char* gone : {"job-name", "controller-uid", "selector", "podFailurePolicy\"",
                           "\"team\"", "\"note\"", R"("priority":)", R"("value":"7")"})
    EXPECT_THAT(run, Not(HasSubstr(gone)));
}

TEST(CalibrationCodec, AnotherJobOfThatNameIsNotCopied) {
  CalibrationOrder other = order();
  auto job = std::make_shared<Job>(*other.from);
  job->uid = Uid("u2");
  other.from = job;
  EXPECT_EQ(encode_calibration_job(kTemplate, other).error().code, ErrorCode::kConflict);
  EXPECT_FALSE(encode_calibration_job("[]", order()));
  EXPECT_FALSE(encode_calibration_job("{", order()));
  EXPECT_FALSE(
      encode_calibration_job(R"({"metadata":{"uid":"u1"},"spec":{"template":{}}})", order()));
}

}  // namespace
}  // namespace slackline::wire
