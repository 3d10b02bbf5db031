#include "slackline/model/gpu_catalog.h"

#include <gtest/gtest.h>

#include "slackline/model/workload.h"

namespace slackline {
namespace {

GpuType type_of(const char* key, const char* value) {
  return default_gpu_catalog().classify({{key, value}});
}

TEST(GpuCatalog, ReadsTheVocabulariesOfNvidiaAndTheClouds) {
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB").str(), "A100");
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "NVIDIA-A10").str(), "A10");
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "NVIDIA-GeForce-RTX-3090").str(), "RTX3090");
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "Tesla-V100-SXM2-16GB").str(), "V100");
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "Tesla-P40").str(), "P40");
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "Tesla-P4").str(), "P4");
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "NVIDIA-L4").str(), "L4");
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "NVIDIA-H200").str(), "H200");
  EXPECT_EQ(type_of("cloud.google.com/gke-accelerator", "nvidia-tesla-t4").str(), "T4");
  EXPECT_EQ(type_of("cloud.google.com/gke-accelerator", "nvidia-l4").str(), "L4");
  EXPECT_EQ(type_of("k8s.amazonaws.com/accelerator", "nvidia-tesla-k80").str(), "K80");
  EXPECT_EQ(type_of("slackline.dev/gpu-type", "K40").str(), "K40");
}

TEST(GpuCatalog, GivesAnUnconfiguredGpuItsOwnName) {
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "Quantum-9000").str(), "Quantum-9000");
  EXPECT_TRUE(default_gpu_catalog().classify({{"kubernetes.io/os", "linux"}}).empty());
  EXPECT_TRUE(type_of("nvidia.com/gpu.product", "").empty());
}

TEST(GpuCatalog, TellsPartsOfGpusFromWholeOnes) {
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb").str(),
            "A100-MIG-1g.5gb");
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "Tesla-T4-SHARED").str(), "T4-SHARED");
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "NVIDIA-L4-SHARED").str(), "L4-SHARED");
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3-MIG-3g.40gb-SHARED").str(),
            "H100-MIG-3g.40gb-SHARED");
  EXPECT_EQ(type_of("nvidia.com/gpu.product", "Quantum-9000-SHARED").str(), "Quantum-9000-SHARED");
  const auto on_gke = [](const char* key, const char* value) {
    return default_gpu_catalog()
        .classify({{"cloud.google.com/gke-accelerator", "nvidia-tesla-a100"}, {key, value}})
        .str();
  };
  EXPECT_EQ(on_gke("cloud.google.com/gke-gpu-partition-size", "1g.5gb"), "A100-MIG-1g.5gb");
  EXPECT_EQ(on_gke("cloud.google.com/gke-gpu-sharing-strategy", "time-sharing"), "A100-SHARED");
  EXPECT_EQ(on_gke("cloud.google.com/gke-nodepool", "pool-1"), "A100");
}

TEST(GpuCatalog, APatternMayNameParts) {
  GpuCatalog catalog = default_gpu_catalog();
  catalog.types.insert(catalog.types.begin(), {GpuType("slice"), {"*-MIG-1g.5gb"}, 0.2});
  EXPECT_EQ(
      catalog.classify({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}}).str(),
      "slice");
}

TEST(GpuCatalog, LetsOurOwnLabelWin) {
  const Labels labels = {{"nvidia.com/gpu.product", "Tesla-T4"},
                         {"slackline.dev/gpu-type", "A100"}};
  EXPECT_EQ(default_gpu_catalog().classify(labels).str(), "A100");
}

TEST(GpuCatalog, KnowsHowAResourceIsShared) {
  const GpuCatalog catalog = default_gpu_catalog();
  ASSERT_NE(catalog.resource("nvidia.com/mig-3g.20gb"), nullptr);
  EXPECT_EQ(catalog.resource("nvidia.com/mig-3g.20gb")->sharing, GpuSharing::kMig);
  EXPECT_EQ(catalog.resource("nvidia.com/gpu")->sharing, GpuSharing::kWhole);
  EXPECT_EQ(catalog.resource("cpu"), nullptr);
  EXPECT_DOUBLE_EQ(catalog.cost(GpuType("nobody's")), 1.0);
}

TEST(GpuCatalog, FindsLabelsByKey) {
  const Labels labels = {{"a", "1"}, {"c", "3"}};
  ASSERT_NE(find_label(labels, "c"), nullptr);
  EXPECT_EQ(*find_label(labels, "c"), "3");
  EXPECT_EQ(find_label(labels, "b"), nullptr);
}

TEST(WorkloadProfiles, KeepTheLastEntryOfAPair) {
  const WorkloadProfiles profiles({{"bert", GpuType("T4"), {"S", {1}}, 0, 1, std::nullopt, "old"},
                                   {"alexnet", GpuType("T4"), {"S", {2}}, 0, 1, std::nullopt, ""},
                                   {"bert", GpuType("T4"), {"S", {3}}, 0, 1, std::nullopt, "new"}});
  ASSERT_EQ(profiles.entries().size(), 2U);
  EXPECT_EQ(profiles.entries()[0].model, "alexnet");
  ASSERT_NE(profiles.find("bert", GpuType("T4")), nullptr);
  EXPECT_EQ(profiles.find("bert", GpuType("T4"))->source, "new");
  EXPECT_EQ(profiles.find("bert", GpuType("A100")), nullptr);
  EXPECT_TRUE(profiles.knows_model("bert"));
  EXPECT_FALSE(profiles.knows_model("gpt"));
}

}  // namespace
}  // namespace slackline
