#include "wire/kueue/kueue_decode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"

namespace slackline::wire {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kFlavors = R"(
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec:
  nodeLabels: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
)";

Result<KueueSetup> decoded_kueue(const std::string& text) {
  return decode_kueue(text, default_gpu_catalog());
}

std::string queue_with(const std::string& version, const std::string& cohort,
                       const std::string& resources, const std::string& flavor = "a100") {
  return format(R"({}apiVersion: kueue.x-k8s.io/{}
kind: ClusterQueue
metadata: {{name: ml}}
spec:
  namespaceSelector: {{}}
  {}
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors:
    - name: {}
      resources: [{}]
)",
                kFlavors, version, cohort, flavor, resources);
}

std::string kueue_refusal(const std::string& text) {
  const auto setup = decoded_kueue(text);
  return setup ? "it was read" : setup.error().message;
}

TEST(KueueDecode, BothVersionsOfTheApiSayTheSame) {
  const std::string quota =
      "{name: cpu, nominalQuota: 9500m}, "
      "{name: nvidia.com/gpu, nominalQuota: 8, borrowingLimit: \"4\", lendingLimit: 2}";
  for (const auto& text : {queue_with("v1beta1", "cohort: all", quota),
                           queue_with("v1beta2", "cohortName: all", quota)}) {
    const auto setup = decoded_kueue(text);
    ASSERT_TRUE(setup) << setup.error().message;
    ASSERT_THAT(setup->cluster_queues, SizeIs(1));
    const KueueQueue& queue = setup->cluster_queues[0];
    EXPECT_EQ(queue.name, "ml");
    EXPECT_EQ(queue.cohort, "all");
    ASSERT_THAT(queue.quotas, SizeIs(1)) << "of GPUs only";
    EXPECT_EQ(queue.quotas[0].flavor, "a100");
    EXPECT_EQ(queue.quotas[0].gpu_type, GpuType("A100"));
    EXPECT_EQ(queue.quotas[0].nominal, 8);
    EXPECT_EQ(queue.quotas[0].borrowing_limit, 4);
    EXPECT_EQ(queue.quotas[0].lending_limit, 2);
    EXPECT_FALSE(setup->gpus) << "no nodes are in the file";
  }
}

TEST(KueueDecode, AQuantityIsANumberOrAText) {
  for (const char* amount : {"8", "\"8\"", "8.0", "\"8000m\""}) {
    const auto setup = decoded_kueue(
        queue_with("v1beta2", "", format("{{name: nvidia.com/gpu, nominalQuota: {}}}", amount)));
    ASSERT_TRUE(setup) << amount << ": " << setup.error().message;
    EXPECT_EQ(setup->cluster_queues[0].quotas[0].nominal, 8) << amount;
    EXPECT_EQ(setup->cluster_queues[0].quotas[0].borrowing_limit, KueueQuota::kNoLimit);
    EXPECT_EQ(setup->cluster_queues[0].quotas[0].lending_limit, KueueQuota::kNoLimit);
  }
}

TEST(KueueDecode, AFlavorWithoutLabelsIsOfNoType) {
  const auto setup = decoded_kueue(
      queue_with("v1beta2", "", "{name: nvidia.com/gpu, nominalQuota: 8}", "default"));
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_TRUE(setup->cluster_queues[0].quotas[0].gpu_type.empty());
}

TEST(KueueDecode, PartsOfGpusAreLeftOut) {
  const auto setup =
      decoded_kueue(queue_with("v1beta2", "", "{name: nvidia.com/mig-1g.5gb, nominalQuota: 8}"));
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_THAT(setup->cluster_queues[0].quotas, IsEmpty());
}

// As `kubectl get nodes,clusterqueues,... -o json` prints them: quotas before their flavors.
TEST(KueueDecode, AListHasCohortsLocalQueuesAndNodesToo) {
  const auto setup = decoded_kueue(R"({"apiVersion":"v1","kind":"List","items":[
    {"apiVersion":"v1","kind":"Node",
     "metadata":{"name":"a","labels":{"nvidia.com/gpu.product":"NVIDIA-A100-SXM4-40GB"}},
     "status":{"allocatable":{"nvidia.com/gpu":"8","nvidia.com/mig-1g.5gb":"7"}}},
    {"apiVersion":"v1","kind":"Node",
     "metadata":{"name":"b","labels":{"nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB"}},
     "status":{"allocatable":{"nvidia.com/gpu":"4"}}},
    {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"ml"}},
    {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Cohort","metadata":{"name":"all"},
     "spec":{"parentName":"top","resourceGroups":[{"coveredResources":["nvidia.com/gpu"],"flavors":[
       {"name":"f","resources":[{"name":"nvidia.com/gpu","nominalQuota":"3"}]}]}]}},
    {"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Cohort","metadata":{"name":"old"},
     "spec":{"parent":"top"}},
    {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"f"},
     "spec":{"nodeLabels":{"nvidia.com/gpu.product":"Tesla-T4"}}},
    {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
     "metadata":{"name":"main","namespace":"vision"},"spec":{"clusterQueue":"ml"}},
    {"apiVersion":"v1","kind":"Service","metadata":{"name":"left-out"}}]})");
  ASSERT_TRUE(setup) << setup.error().message;
  ASSERT_THAT(setup->cohorts, SizeIs(2));
  EXPECT_EQ(setup->cohorts[0].cohort, "top");
  EXPECT_EQ(setup->cohorts[1].cohort, "top");
  ASSERT_THAT(setup->cohorts[0].quotas, SizeIs(1));
  EXPECT_EQ(setup->cohorts[0].quotas[0].gpu_type, GpuType("T4"));
  EXPECT_EQ(setup->cohorts[0].quotas[0].nominal, 3);
  ASSERT_THAT(setup->local_queues, SizeIs(1));
  EXPECT_EQ(setup->local_queues[0].key.str(), "vision/main");
  EXPECT_EQ(setup->local_queues[0].cluster_queue, "ml");
  ASSERT_TRUE(setup->gpus);
  EXPECT_THAT(*setup->gpus, ElementsAre(Pair(GpuType("A100"), 12))) << "whole GPUs only";
}

TEST(KueueDecode, WhatCannotBeReadIsNamedWithObjectFieldAndRemedy) {
  EXPECT_THAT(kueue_refusal(queue_with("v1beta2", "", "{name: nvidia.com/gpu, nominalQuota: -1}")),
              AllOf(StartsWith("ClusterQueue ml: spec.resourceGroups[0].flavors[0].resources[0]."
                               "nominalQuota: \"-1\" is not a quantity"),
                    EndsWith("; write how many GPUs, such as 8")));
  EXPECT_THAT(
      kueue_refusal(queue_with("v1beta2", "", "{name: nvidia.com/gpu, nominalQuota: many}")),
      HasSubstr("resources[0].nominalQuota: \"many\""));
  EXPECT_THAT(kueue_refusal(queue_with("v1beta2", "", "{name: nvidia.com/gpu}")),
              HasSubstr("resources[0].nominalQuota: is missing; write"));
  EXPECT_THAT(
      kueue_refusal(queue_with("v1beta2", "", "{name: nvidia.com/gpu, nominalQuota: 1}", "h")),
      HasSubstr("flavors[0].name: there is no ResourceFlavor \"h\" in the file; add"));
  EXPECT_THAT(
      kueue_refusal(std::string(kFlavors) +
                    "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: "
                    "ml}, spec: {resourceGroups: 8}}"),
      HasSubstr("ClusterQueue ml: spec.resourceGroups: is not a list; write"));
  const std::string twice = queue_with("v1beta2", "", "{name: nvidia.com/gpu, nominalQuota: 1}");
  EXPECT_THAT(kueue_refusal(twice + "---\n" + twice.substr(std::string_view(kFlavors).size())),
              HasSubstr("ClusterQueue ml: metadata.name: is in the file twice"));
  EXPECT_THAT(kueue_refusal(twice + R"(---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: vision}
)"),
              HasSubstr("LocalQueue vision/main: spec.clusterQueue: is missing; write"));
  EXPECT_THAT(kueue_refusal(kFlavors),
              HasSubstr("it has no ClusterQueue; write what `kubectl get"));
  EXPECT_THAT(kueue_refusal("{"), HasSubstr("line "));
}

}  // namespace
}  // namespace slackline::wire
