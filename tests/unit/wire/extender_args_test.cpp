#include "wire/extender_args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/model/gpu_catalog.h"
#include "wire/extender_codec.h"

namespace slackline::wire {
namespace {

using ::testing::HasSubstr;

constexpr const char* kJob = R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: team
  annotations: {slackline.dev/model: resnet50, slackline.dev/batch-size: "64", other/key: x}
spec:
  template:
    metadata:
      annotations: {slackline.dev/batch-size: "128"}
    spec:
      containers:
        - resources: {limits: {nvidia.com/gpu: "2"}}
)";

TEST(ExtenderArgs, AJobsTemplateBecomesThePodAndInheritsOurAnnotations) {
  const auto args = encode_extender_args(kJob, {"gpu-1", "gpu-2"});
  ASSERT_TRUE(args) << args.error().message;
  ExtenderCodec codec(default_gpu_catalog());
  const auto decoded = codec.decode_nodes(*args);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->refusal, "");
  const Pod& pod = decoded->request.pod;
  EXPECT_EQ(pod.key.str(), "team/train-0");
  EXPECT_EQ(pod.requests.gpu_count("nvidia.com/gpu"), 2);
  EXPECT_EQ(pod.intent->model, "resnet50");
  EXPECT_EQ(pod.intent->batch_size, 128);  // the template's own wins
  EXPECT_EQ(decoded->request.node_names.size(), 2U);
}

TEST(ExtenderArgs, WhatIsNoPodIsRefusedByItsKind) {
  for (const char* manifest : {"kind: Service", "kind: [1, 2]", "[]", "kind: 3"}) {
    const auto args = encode_extender_args(manifest, {});
    ASSERT_FALSE(args) << manifest;
    EXPECT_THAT(args.error().message, HasSubstr("expected a Pod or a Job"));
  }
}

TEST(ExtenderArgs, AnswersAreReadAsKubeSchedulerReadsThem) {
  const auto answer = decode_filter_answer(
      R"({"NodeNames":["a"],"FailedNodes":{"b":"held"},"FailedAndUnresolvableNodes":{"c":"type"},"Error":""})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->passed, std::vector<std::string>{"a"});
  EXPECT_EQ(answer->failed.at("b"), "held");
  EXPECT_EQ(answer->unresolvable.at("c"), "type");
  const auto scores = decode_scores(R"([{"Host":"a","Score":8},{"Host":7}])");
  ASSERT_TRUE(scores);
  EXPECT_EQ(scores->at("a"), 8);
  EXPECT_FALSE(decode_scores("{}"));
}

}  // namespace
}  // namespace slackline::wire
