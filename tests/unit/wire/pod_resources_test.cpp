// The request of a pod, against figures worked out by hand from Kubernetes' rules.
#include <string>

#include <gtest/gtest.h>

#include "wire/kube/kube_decode.h"

namespace slackline::wire {
namespace {

Pod pod_with_spec(const std::string& spec) {
  KubeDecoder decoder(default_gpu_catalog());
  const auto object = decoder.object(
      KubeKind::kPod, R"({"metadata":{"name":"p","namespace":"n"},"spec":)" + spec + "}");
  EXPECT_TRUE(object) << object.error().message;
  return std::get<Pod>(*object);
}

TEST(PodResources, ContainersAreSummed) {
  const Pod pod = pod_with_spec(R"({"containers":[
      {"resources":{"requests":{"cpu":"500m","memory":"1Gi"}}},
      {"resources":{"requests":{"cpu":"1","memory":"512Mi","nvidia.com/gpu":"2"},
                    "limits":{"rdma/hca":"1","ephemeral-storage":"2Gi"}}}]})");
  EXPECT_EQ(pod.requests.others,
            (ResourceAmounts{{"ephemeral-storage", std::int64_t{2} << 30}, {"rdma/hca", 1}}));
  EXPECT_EQ(pod.requests.cpu_milli, 1500);
  EXPECT_EQ(pod.requests.memory_bytes, (std::int64_t{1} << 30) + (std::int64_t{512} << 20));
  EXPECT_EQ(pod.requests.gpu_count("nvidia.com/gpu"), 2);
  EXPECT_EQ(pod.requests.pods, 1);
}

TEST(PodResources, AnAbsentRequestIsItsLimit) {
  const Pod pod = pod_with_spec(R"({"containers":[{"resources":{
      "limits":{"cpu":"4","memory":"8Gi","nvidia.com/gpu":"4"},"requests":{"cpu":"2"}}}]})");
  EXPECT_EQ(pod.requests.cpu_milli, 2000);
  EXPECT_EQ(pod.requests.memory_bytes, std::int64_t{8} << 30);
  EXPECT_EQ(pod.requests.gpu_count("nvidia.com/gpu"), 4);
}

TEST(PodResources, TheLargestInitContainerCountsWhenItIsLargerThanTheSum) {
  const Pod pod = pod_with_spec(R"({
      "initContainers":[{"resources":{"requests":{"cpu":"3","memory":"1Gi"}}},
                        {"resources":{"requests":{"cpu":"1","memory":"6Gi"}}}],
      "containers":[{"resources":{"requests":{"cpu":"2","memory":"4Gi"}}}]})");
  EXPECT_EQ(pod.requests.cpu_milli, 3000);
  EXPECT_EQ(pod.requests.memory_bytes, std::int64_t{6} << 30);
}

TEST(PodResources, SidecarsRunBesideTheContainersAndBesideLaterInitContainers) {
  // Running: 2 + 1 + 1 = 4. Init: 2 alone, sidecar 1, then 3 next to the one sidecar before it = 4,
  // sidecars 1 + 1 = 2; then 4 next to two sidecars = 6.
  const Pod pod = pod_with_spec(R"({
      "initContainers":[{"resources":{"requests":{"cpu":"2"}}},
                        {"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
                        {"resources":{"requests":{"cpu":"3"}}},
                        {"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
                        {"resources":{"requests":{"cpu":"4"}}}],
      "containers":[{"resources":{"requests":{"cpu":"2"}}}]})");
  EXPECT_EQ(pod.requests.cpu_milli, 6000);
}

TEST(PodResources, ASidecarIsAddedToTheContainers) {
  const Pod pod = pod_with_spec(R"({
      "initContainers":[{"restartPolicy":"Always","resources":{"limits":{"nvidia.com/gpu":"1"}}}],
      "containers":[{"resources":{"limits":{"nvidia.com/gpu":"2"}}}]})");
  EXPECT_EQ(pod.requests.gpu_count("nvidia.com/gpu"), 3);
}

TEST(PodResources, PodLevelRequestsReplaceTheSumResourceByResource) {
  const Pod pod = pod_with_spec(R"({
      "resources":{"requests":{"cpu":"1"},"limits":{"memory":"9Gi"}},
      "containers":[{"resources":{"requests":{"cpu":"3"},"limits":{"nvidia.com/gpu":"1"}}}]})");
  EXPECT_EQ(pod.requests.cpu_milli, 1000);
  EXPECT_EQ(pod.requests.memory_bytes, std::int64_t{9} << 30)
      << "no container asks: the limit counts";
  EXPECT_EQ(pod.requests.gpu_count("nvidia.com/gpu"), 1);
}

TEST(PodResources, OverheadIsAddedLast) {
  const Pod pod = pod_with_spec(R"({"overhead":{"cpu":"250m","memory":"120Mi"},
      "initContainers":[{"resources":{"requests":{"cpu":"3"}}}],
      "containers":[{"resources":{"requests":{"cpu":"1"}}}]})");
  EXPECT_EQ(pod.requests.cpu_milli, 3250);
  EXPECT_EQ(pod.requests.memory_bytes, std::int64_t{120} << 20);
}

TEST(PodResources, MigSlicesAreCountedUnderTheirOwnNames) {
  const Pod pod = pod_with_spec(R"({"containers":[
      {"resources":{"limits":{"nvidia.com/mig-1g.10gb":"2","nvidia.com/mig-3g.40gb":"1"}}}]})");
  EXPECT_EQ(pod.requests.gpu_count("nvidia.com/mig-1g.10gb"), 2);
  EXPECT_EQ(pod.requests.gpu_count("nvidia.com/mig-3g.40gb"), 1);
  EXPECT_EQ(pod.requests.gpu_total(), 3);
}

TEST(PodResources, ForeignResourcesAreNotCounted) {
  const Pod pod = pod_with_spec(R"({"containers":[{"resources":{"requests":{
      "ephemeral-storage":"1Gi","hugepages-2Mi":"4Mi","rdma/hca":"1"}}}]})");
  EXPECT_FALSE(pod.requests.wants_gpus());
  EXPECT_TRUE(pod.problems.empty());
}

// F44: every one of these marks its own pod, with the place, and breaks nothing.
class BadQuantity : public testing::TestWithParam<const char*> {};

TEST_P(BadQuantity, MarksThePodWithTheField) {
  const Pod pod = pod_with_spec(R"({"containers":[{},{"resources":{"limits":{"nvidia.com/gpu":")" +
                                std::string(GetParam()) + R"("}}}]})");
  ASSERT_EQ(pod.problems.size(), 1U);
  EXPECT_TRUE(pod.problems[0].starts_with("spec.containers[1].resources.limits[nvidia.com/gpu]"))
      << pod.problems[0];
  EXPECT_EQ(pod.requests.gpu_total(), 0);
}

INSTANTIATE_TEST_SUITE_P(F44, BadQuantity,
                         testing::Values("", "-1", "1e999", "9223372036854775808", "1Mi1", "0x10",
                                         "9E18Ki", "8Ei", " 1", "1 "));

TEST(PodResources, PartsOfADeviceAreRefusedAsTheApiServerDoes) {
  const auto pod = [](const std::string& limits) {
    return pod_with_spec(R"({"containers":[{"resources":{"limits":{)" + limits + "}}}]}");
  };
  for (const char* part : {R"("nvidia.com/gpu":0.5)", R"("nvidia.com/gpu":"1500m")",
                           R"("nvidia.com/gpu":1,"example.com/hca":"0.5")"}) {
    const Pod bad = pod(part);
    ASSERT_EQ(bad.problems.size(), 1U) << part;
    EXPECT_NE(bad.problems[0].find("\" must be an integer"), std::string::npos) << bad.problems[0];
  }
  EXPECT_EQ(
      pod(R"("nvidia.com/gpu":0.5)").problems[0],
      "spec.containers[0].resources.limits[nvidia.com/gpu]: \"0.5\" must be an integer; for a "
      "part of a GPU ask for a MIG slice, or name the type of a shared GPU");
  for (const char* whole : {R"("nvidia.com/gpu":"2000m")", R"("nvidia.com/gpu":2.0)"})
    EXPECT_EQ(pod(whole).requests.gpu_total(), 2) << whole;
  EXPECT_TRUE(pod(R"("ephemeral-storage":"0.5","cpu":0.5)").problems.empty());
}

TEST(PodResources, HugeAmountsAreCappedInsteadOfOverflowing) {
  std::string containers;
  for (int i = 0; i < 5000; ++i) {
    if (i > 0) containers += ',';
    containers += R"({"resources":{"requests":{"memory":"1Pi","cpu":"1125899906842"}}})";
  }
  const Pod pod = pod_with_spec(R"({"containers":[)" + containers + "]}");
  EXPECT_EQ(pod.requests.memory_bytes, std::int64_t{1} << 50);
}

TEST(PodResources, NumbersAreReadAsQuantitiesToo) {
  const Pod pod = pod_with_spec(
      R"({"containers":[{"resources":{"requests":{"cpu":1.5,"memory":1024,"nvidia.com/gpu":2}}}]})");
  EXPECT_EQ(pod.requests.cpu_milli, 1500);
  EXPECT_EQ(pod.requests.memory_bytes, 1024);
  EXPECT_EQ(pod.requests.gpu_total(), 2);
}

}  // namespace
}  // namespace slackline::wire
