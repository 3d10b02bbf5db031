// The four verbs with bodies as kube-scheduler writes them: Go's field names, nulls for what is
// unset, and replies compared byte for byte. Bodies of a real kube-scheduler:
// recorded_bodies_test.cpp.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "contract/wire/bodies.h"
#include "wire/extender/extender_codec.h"

namespace slackline::wire {
namespace {

using testing::ElementsAre;

TEST(ExtenderBodies, FilterByNamesAnswersByteForByte) {
  ExtenderCodec codec(default_gpu_catalog());
  const auto decoded = codec.decode_nodes(names_body());
  ASSERT_TRUE(decoded);
  ASSERT_EQ(decoded->refusal, "");
  EXPECT_THAT(decoded->request.node_names, ElementsAre("a100-01", "a100-02", "v100-01", "v100-02"));
  FilterReply reply;
  reply.verdicts = {Verdict::kPass, Verdict::kPass, Verdict::kInsufficientGpus,
                    Verdict::kGpuTypeNotAccepted};
  EXPECT_EQ(codec.encode_filter(decoded->request, reply),
            R"({"Nodes":null,"NodeNames":["a100-01","a100-02"],)"
            R"("FailedNodes":{"v100-01":"insufficient free GPUs"},)"
            R"("FailedAndUnresolvableNodes":{"v100-02":"GPU type not among the task's gpu-types"},)"
            R"("Error":""})");
  PrioritizeReply scores;
  scores.scores = {{0, 10}, {1, 8}};
  EXPECT_EQ(codec.encode_prioritize(decoded->request, scores),
            R"([{"Host":"a100-01","Score":10},{"Host":"a100-02","Score":8}])");
}

TEST(ExtenderBodies, ThePodOfTheRequestIsReadWhole) {
  ExtenderCodec codec(default_gpu_catalog());
  const auto decoded = codec.decode_nodes(names_body());
  ASSERT_TRUE(decoded);
  const Pod& pod = decoded->request.pod;
  EXPECT_EQ(pod.key, (ObjectKey{"team-a", "bert-7-worker-0"}));
  EXPECT_EQ(pod.uid, Uid("6f1c9a52-0b6e-4a43-a1c5-7b5d6a3c2f11"));
  EXPECT_EQ(pod.requests.gpu_count("nvidia.com/gpu"), 4);
  EXPECT_EQ(pod.requests.cpu_milli, 8000);
  EXPECT_EQ(pod.priority, 7);
  ASSERT_NE(pod.intent, nullptr);
  EXPECT_EQ(pod.intent->model, "bert");
  EXPECT_THAT(pod.intent->gpu_types, ElementsAre(GpuType("A100"), GpuType("V100")));
  EXPECT_TRUE(pod.intent->deadline_s);
  EXPECT_TRUE(pod.intent->problems.empty());
}

TEST(ExtenderBodies, NamesAndFullObjectsGiveTheSameRequest) {
  ExtenderCodec by_names(default_gpu_catalog());
  ExtenderCodec by_objects(default_gpu_catalog());
  const auto names = by_names.decode_nodes(names_body());
  const auto objects = by_objects.decode_nodes(full_body());
  ASSERT_TRUE(names);
  ASSERT_TRUE(objects);
  EXPECT_EQ(names->request.node_names, objects->request.node_names);
  EXPECT_EQ(names->request.pod.uid, objects->request.pod.uid);
  EXPECT_EQ(names->request.pod.requests, objects->request.pod.requests);
  EXPECT_FALSE(names->request.full_objects);
  EXPECT_TRUE(objects->request.full_objects);
  PrioritizeReply scores;
  scores.scores = {{1, 4}};
  EXPECT_EQ(by_names.encode_prioritize(names->request, scores),
            by_objects.encode_prioritize(objects->request, scores));
}

TEST(ExtenderBodies, FilterByObjectsAnswersWithTheDocumentsThatCame) {
  ExtenderCodec codec(default_gpu_catalog());
  const auto decoded = codec.decode_nodes(full_body());
  ASSERT_TRUE(decoded);
  FilterReply reply;
  reply.verdicts = {Verdict::kNodeTooSmall, Verdict::kPass, Verdict::kHeldForOthers,
                    Verdict::kPass};
  EXPECT_EQ(
      codec.encode_filter(decoded->request, reply),
      R"({"Nodes":{"metadata":{"resourceVersion":""},"items":[)" + node_document("a100-02") + "," +
          node_document("v100-02") +
          R"(]},"NodeNames":null,)"
          R"("FailedNodes":{"v100-01":"free GPUs are held for tasks of equal or higher priority"},)"
          R"("FailedAndUnresolvableNodes":{"a100-01":"node has fewer GPUs in all than one pod requests"},)"
          R"("Error":""})");
}

TEST(ExtenderBodies, PreemptAnswersByteForByte) {
  ExtenderCodec codec(default_gpu_catalog());
  const auto decoded = codec.decode_preempt(preempt_body());
  ASSERT_TRUE(decoded);
  ASSERT_EQ(decoded->refusal, "");
  PreemptReply reply;
  reply.nodes = decoded->request.candidates;
  EXPECT_EQ(encode_preempt(reply),
            R"({"NodeNameToMetaVictims":{"a100-01":{"Pods":[{"UID":"u1"},{"UID":"u2"}],)"
            R"("NumPDBViolations":0},"a100-02":{"Pods":[{"UID":"u3"}],"NumPDBViolations":1}}})");
  EXPECT_EQ(encode_preempt({}), R"({"NodeNameToMetaVictims":{}})");
}

TEST(ExtenderBodies, BindAnswersByteForByte) {
  ExtenderCodec codec(default_gpu_catalog());
  const auto decoded = codec.decode_bind(bind_body());
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->request.pod, (ObjectKey{"team-a", "bert-7-worker-0"}));
  EXPECT_EQ(decoded->request.uid, Uid("6f1c"));
  EXPECT_EQ(decoded->request.node, NodeName("a100-01"));
  EXPECT_EQ(encode_bind({}), R"({"Error":""})");
  EXPECT_EQ(encode_bind({"node \"x\" is gone"}), R"({"Error":"node \"x\" is gone"})");
}

TEST(ExtenderBodies, AnErrorReplyCarriesNothingElse) {
  EXPECT_EQ(encode_filter_error("Pod is missing"),
            R"({"Nodes":null,"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},)"
            R"("Error":"Pod is missing"})");
}

}  // namespace
}  // namespace slackline::wire
