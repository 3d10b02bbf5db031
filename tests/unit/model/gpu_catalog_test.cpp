#include "slackline/model/gpu_catalog.h"

#include <gtest/gtest.h>

#include "slackline/model/gpu_spec.h"
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

TEST(GpuCatalog, KnowsWhatLabellersWriteOfModernGpus) {
  const std::pair<const char*, const char*> kProducts[] = {
      {"NVIDIA-A30", "A30"},
      {"NVIDIA-A40", "A40"},
      {"NVIDIA-A100-PCIE-40GB", "A100-PCIe-40GB"},
      {"NVIDIA-A100-80GB-PCIe", "A100-PCIe-80GB"},
      {"NVIDIA-A100-SXM4-80GB", "A100"},
      {"NVIDIA-L4", "L4"},
      {"NVIDIA-L40", "L40"},
      {"NVIDIA-L40S", "L40S"},
      {"NVIDIA-L40S-SHARED", "L40S-SHARED"},
      {"NVIDIA-RTX-6000-Ada-Generation", "RTX6000Ada"},
      {"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", "RTXPRO6000"},
      {"NVIDIA-H100-PCIe", "H100-PCIe"},
      {"NVIDIA-H100-80GB-HBM3", "H100"},
      {"NVIDIA-H100-NVL", "H100-NVL"},
      {"NVIDIA-H200", "H200"},
      {"NVIDIA-H200-NVL", "H200-NVL"},
      {"NVIDIA-GH200-480GB", "GH200"},
      {"NVIDIA-B200", "B200"},
      {"NVIDIA-B300-SXM6-AC", "B300"},
      {"NVIDIA-GB200", "GB200"},
      {"NVIDIA-GB300", "GB300"}};
  for (const auto& [product, type] : kProducts)
    EXPECT_EQ(type_of("nvidia.com/gpu.product", product).str(), type) << product;
  for (const char* key : {"amd.com/gpu.product-name", "beta.amd.com/gpu.product-name"}) {
    EXPECT_EQ(type_of(key, "AMD_Instinct_MI300X_OAM").str(), "MI300X");
    EXPECT_EQ(type_of(key, "AMD_Instinct_MI325X").str(), "MI325X");
    EXPECT_EQ(type_of(key, "AMD_Instinct_MI355X").str(), "MI355X");
  }
  EXPECT_EQ(type_of("cloud.google.com/gke-accelerator", "nvidia-h100-mega-80gb").str(), "H100");
  EXPECT_EQ(type_of("cloud.google.com/gke-accelerator", "nvidia-gb200").str(), "GB200");
  EXPECT_EQ(type_of("slackline.dev/gpu-type", "Gaudi3").str(), "Gaudi3");
  for (const char* resource :
       {"amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "habana.ai/gaudi"}) {
    ASSERT_NE(default_gpu_catalog().resource(resource), nullptr) << resource;
    EXPECT_TRUE(default_gpu_catalog().is_whole(resource)) << resource;
  }
}

TEST(GpuSpecs, AreThoseOfTheCataloguesTypes) {
  const GpuCatalog catalog = default_gpu_catalog();
  for (const char* type : {"A30",    "A40",       "A100",     "A100-PCIe-40GB", "A100-PCIe-80GB",
                           "L4",     "L40",       "L40S",     "RTX6000Ada",     "RTXPRO6000",
                           "H100",   "H100-PCIe", "H100-NVL", "H200",           "H200-NVL",
                           "B200",   "B300",      "GB200",    "GB300",          "MI300X",
                           "MI325X", "MI350X",    "MI355X",   "Gaudi2",         "Gaudi3"}) {
    EXPECT_NE(catalog.type(GpuType(type)), nullptr) << type;
    ASSERT_NE(find_gpu_spec(type), nullptr) << type;
    EXPECT_GT(find_gpu_spec(type)->dense_tflops, 0) << type;
  }
  EXPECT_EQ(find_gpu_spec("h100-sxm"), find_gpu_spec("H100"));
  EXPECT_EQ(find_gpu_spec("GB200")->link_gpus, 72);
  EXPECT_EQ(find_gpu_spec("H100-MIG-3g.40gb"), nullptr) << "a part has no data sheet";
  EXPECT_EQ(find_gpu_spec(""), nullptr);
}

TEST(GpuCatalog, TakesNoWorkstationGpuForOneOfADataCentre) {
  for (const char* product :
       {"NVIDIA-RTX-A1000", "NVIDIA-RTX-A1000-Laptop-GPU", "NVIDIA-RTX-A3000-12GB", "Quadro-P1000",
        "Quadro-P4000", "Quadro-P400", "Quadro-K4000", "NVIDIA-T400-4GB"})
    EXPECT_EQ(type_of("nvidia.com/gpu.product", product).str(), product);
  for (const auto& [product, type] : {std::pair("Tesla-K40m", "K40"),
                                      {"Tesla-P100-PCIE-16GB", "P100"},
                                      {"NVIDIA-A10G", "A10"},
                                      {"NVIDIA-A30-MIG-1g.6gb", "A30-MIG-1g.6gb"},
                                      {"Tesla-T4-SHARED", "T4-SHARED"}})
    EXPECT_EQ(type_of("nvidia.com/gpu.product", product).str(), type);
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
  EXPECT_EQ(on_gke("cloud.google.com/gke-gpu-partition-size", ""), "A100");
  EXPECT_EQ(on_gke("cloud.google.com/gke-gpu-sharing-strategy", "time-sharing"), "A100-SHARED");
  EXPECT_EQ(on_gke("cloud.google.com/gke-nodepool", "pool-1"), "A100");
}

TEST(GpuCatalog, VirtualGpusAreTypesOfTheirOwn) {
  const auto vgpu = [](const char* product) {
    return type_of("nvidia.com/gpu.product", product).str();
  };
  EXPECT_EQ(vgpu("GRID-A100D-20C"), "A100-20C");
  EXPECT_EQ(vgpu("GRID-T4-8Q"), "T4-8Q");
  EXPECT_EQ(vgpu("NVIDIA-A100-1-5CME"), "A100-1-5CME");
  EXPECT_EQ(vgpu("NVIDIA-A100-SXM4-40GB"), "A100");
  EXPECT_EQ(vgpu("Example-5000A"), "Example-5000A");
  const GpuCatalog catalog = default_gpu_catalog();
  EXPECT_FALSE(catalog.is_part(GpuType("A100-20C"))) << "all that its machine has";
  EXPECT_EQ(find_gpu_spec("A100-20C"), nullptr);
}

TEST(GpuCatalog, APatternMayNameParts) {
  GpuCatalog catalog = default_gpu_catalog();
  catalog.types.insert(catalog.types.begin(), {GpuType("slice"), {"*-MIG-1g.5gb"}, 0.2});
  EXPECT_EQ(
      catalog.classify({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"}}).str(),
      "slice");
}

TEST(GpuCatalog, TellsPartsFromWholeGpusAlsoUnderAnotherName) {
  GpuCatalog catalog = default_gpu_catalog();
  catalog.types.insert(catalog.types.begin(), {GpuType("slice"), {"*-MIG-1g.5gb"}, 0.2});
  catalog.types.insert(catalog.types.begin(), {GpuType("share"), {"*-SHARED"}, 0.2});
  for (const char* part : {"A100-MIG-1g.5gb", "T4-SHARED", "slice", "share"})
    EXPECT_TRUE(catalog.is_part(GpuType(part))) << part;
  for (const char* whole : {"A100", "H100-PCIe", "Quantum-9000", ""})
    EXPECT_FALSE(catalog.is_part(GpuType(whole))) << whole;
  EXPECT_TRUE(catalog.is_share(GpuType("T4-SHARED")) && catalog.is_share(GpuType("share")));
  EXPECT_FALSE(catalog.is_share(GpuType("A100-MIG-1g.5gb")) || catalog.is_share(GpuType("slice")));
}

TEST(GpuCatalog, LetsOurOwnLabelWin) {
  const Labels labels = {{"nvidia.com/gpu.product", "Tesla-T4"},
                         {"slackline.dev/gpu-type", "A100"}};
  EXPECT_EQ(default_gpu_catalog().classify(labels).str(), "A100");
}

TEST(GpuCatalog, AVendorsNameIsNoType) {
  for (const char* vendor : {"nvidia", "NVIDIA", "amd", "intel", "true", "gpu"})
    EXPECT_TRUE(type_of("accelerator", vendor).empty()) << vendor;
  EXPECT_EQ(type_of("accelerator", "nvidia-h100-80gb").str(), "H100");
  GpuCatalog catalog = default_gpu_catalog();
  const Labels labels = {{"accelerator", "amd"},
                         {"amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"}};
  EXPECT_EQ(catalog.classify(labels).str(), "MI300X") << "the next label is looked at";
  EXPECT_EQ(type_of("slackline.dev/gpu-type", "gpu").str(), "gpu") << "our own label says it";
  catalog.types.insert(catalog.types.begin(), {GpuType("H100"), {"nvidia"}, 1.0});
  EXPECT_EQ(catalog.classify({{"accelerator", "nvidia"}}).str(), "H100") << "it was configured";
  EXPECT_FALSE(catalog.names_type("accelerator", ""));
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
