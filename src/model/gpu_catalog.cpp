#include "slackline/model/gpu_catalog.h"

#include <algorithm>
#include <iterator>

#include "slackline/base/text.h"
#include "slackline/model/contract.h"

namespace slackline {
namespace {

constexpr std::string_view kMigPart = "-MIG-";
constexpr std::string_view kSharedPart = "-SHARED";

// Where the profile of a virtual GPU begins, as NVIDIA names them: "-20C", "-8Q", "-1-5C" and
// "-1-5CME" of a MIG instance; npos: there is none. Its numbers, GB and slices, have at most three
// digits.
std::size_t find_vgpu_profile(std::string_view product) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::size_t kMostDigits = 3;
  std::string_view rest = product;
  if (rest.ends_with("ME")) rest.remove_suffix(2);
  if (rest.empty() || std::string_view("ABCQ").find(rest.back()) == std::string_view::npos)
    return std::string_view::npos;
  rest.remove_suffix(1);
  std::size_t at = std::string_view::npos;
  for (int numbers = 0; numbers < 2; ++numbers) {
    const std::size_t dash = rest.find_last_not_of(kDigits);
    if (dash == std::string_view::npos || rest[dash] != '-') break;
    const std::size_t digits = rest.size() - dash - 1;
    if (digits == 0 || digits > kMostDigits) break;
    at = dash;
    rest = rest.substr(0, dash);
  }
  return at;
}

// The suffix that NVIDIA's feature discovery appends to a product whose units are parts of a GPU:
// "-MIG-1g.5gb", "-SHARED", both. Empty: they are whole.
std::string_view part_of(std::string_view product) {
  return product.substr(
      std::min({product.find(kMigPart), product.find(kSharedPart), product.size()}));
}

// That, or the profile of a virtual GPU: it is all that its machine has, and so is no part, but not
// the type that the product names either.
std::string_view suffix_of(std::string_view product) {
  const std::string_view part = part_of(product);
  return part.empty() ? product.substr(std::min(find_vgpu_profile(product), product.size())) : part;
}

// By the type's name, or by a pattern of a rule that gives it another one.
template <class Find>
bool names_part(const GpuTypeRule* rule, const GpuType& alias, const Find& find) {
  if (!find(alias.str()).empty()) return true;
  return rule != nullptr && std::any_of(rule->label_values.begin(), rule->label_values.end(),
                                        [&](const auto& glob) { return !find(glob).empty(); });
}

// AKS labels all its nodes with GPUs `accelerator: nvidia`; others write that there is a GPU.
bool is_no_product(std::string_view value) {
  constexpr std::string_view kWords[] = {"nvidia", "amd", "intel", "habana", "true", "false",
                                         "yes",    "no",  "none",  "gpu",    "gpus"};
  return std::ranges::find(kWords, to_lower(value)) != std::end(kWords);
}

// GKE only names the product, and another label says how it is divided.
std::string gke_part(const Labels& labels) {
  std::string part;
  const auto given = [&](std::string_view key) {
    const std::string* value = find_label(labels, key);
    return value != nullptr && !value->empty() ? value : nullptr;
  };
  if (const std::string* size = given("cloud.google.com/gke-gpu-partition-size"))
    part += format("{}{}", kMigPart, *size);
  if (given("cloud.google.com/gke-gpu-sharing-strategy") != nullptr) part += kSharedPart;
  return part;
}

}  // namespace

const std::string* find_label(const Labels& labels, std::string_view key) {
  const auto at = std::lower_bound(
      labels.begin(), labels.end(), key,
      [](const auto& label, std::string_view wanted) { return label.first < wanted; });
  return at != labels.end() && at->first == key ? &at->second : nullptr;
}

const GpuResourceRule* GpuCatalog::resource(std::string_view name) const {
  for (const GpuResourceRule& rule : resources)
    if (glob_matches(rule.pattern, name)) return &rule;
  return nullptr;
}

const GpuTypeRule* GpuCatalog::type(const GpuType& alias) const {
  for (const GpuTypeRule& rule : types)
    if (rule.alias == alias) return &rule;
  return nullptr;
}

bool GpuCatalog::is_whole(std::string_view name) const {
  const GpuResourceRule* rule = resource(name);
  return rule == nullptr || rule->sharing == GpuSharing::kWhole;
}

bool GpuCatalog::is_shared(std::string_view name) const {
  const GpuResourceRule* rule = resource(name);
  return rule != nullptr && rule->sharing != GpuSharing::kWhole &&
         rule->sharing != GpuSharing::kMig;
}

bool GpuCatalog::is_part(const GpuType& alias) const {
  return names_part(type(alias), alias, [](std::string_view name) { return part_of(name); });
}

bool GpuCatalog::is_share(const GpuType& alias) const {
  return names_part(type(alias), alias, [](std::string_view name) {
    return name.substr(std::min(name.find(kSharedPart), name.size()));
  });
}

bool GpuCatalog::names_type(std::string_view key, std::string_view value) const {
  if (value.empty()) return false;
  if (key == contract::kGpuType || !is_no_product(value)) return true;
  return std::ranges::any_of(types, [&](const GpuTypeRule& rule) {
    return value == rule.alias.str() ||
           std::ranges::any_of(rule.label_values,
                               [&](const auto& glob) { return glob_matches(glob, value); });
  });
}

GpuType GpuCatalog::classify(const Labels& labels) const {
  for (const std::string& key : type_labels) {
    const std::string* value = find_label(labels, key);
    if (value == nullptr || !names_type(key, *value)) continue;
    const bool says_it_all = key == contract::kGpuType || !suffix_of(*value).empty();
    return type_of_product(says_it_all ? *value : *value + gke_part(labels));
  }
  return GpuType{};
}

GpuType GpuCatalog::type_of_product(std::string_view product) const {
  const std::string_view suffix = suffix_of(product);
  const std::string_view whole = product.substr(0, product.size() - suffix.size());
  const auto names = [](const GpuTypeRule& rule, std::string_view value, bool has_suffix) {
    return value == rule.alias.str() ||
           std::any_of(rule.label_values.begin(), rule.label_values.end(), [&](const auto& glob) {
             return (!has_suffix || !suffix_of(glob).empty()) && glob_matches(glob, value);
           });
  };
  for (const GpuTypeRule& rule : types)
    if (names(rule, product, !suffix.empty())) return rule.alias;
  if (!suffix.empty())
    for (const GpuTypeRule& rule : types)
      if (names(rule, whole, false)) return GpuType(format("{}{}", rule.alias.str(), suffix));
  return GpuType(product);
}

std::vector<std::uint64_t> GpuCatalog::blocks_of(const Labels& labels) const {
  std::vector<std::uint64_t> blocks;
  std::string path;
  for (std::size_t level = 0; level < topology_labels.size(); ++level) {
    const std::string* value = find_label(labels, topology_labels[level]);
    if (value == nullptr || value->empty()) continue;
    path += format("/{}={}", level, *value);
    blocks.resize(level);
    blocks.push_back(fingerprint(path));
  }
  return blocks;
}

std::string GpuCatalog::block_name(const Labels& labels) const {
  std::string name;
  for (const std::string& key : topology_labels)
    if (const std::string* value = find_label(labels, key); value != nullptr && !value->empty())
      name += (name.empty() ? "" : "/") + *value;
  return name;
}

double GpuCatalog::cost(const GpuType& alias) const {
  const GpuTypeRule* rule = type(alias);
  return rule == nullptr ? 1.0 : rule->cost;
}

GpuCatalog default_gpu_catalog() {
  GpuCatalog catalog;
  catalog.resources = {{"nvidia.com/gpu", GpuSharing::kWhole, false},
                       {"amd.com/gpu", GpuSharing::kWhole, false},
                       {"gpu.intel.com/i915", GpuSharing::kWhole, false},
                       {"gpu.intel.com/xe", GpuSharing::kWhole, false},
                       {"habana.ai/gaudi", GpuSharing::kWhole, false},
                       {"nvidia.com/mig-*", GpuSharing::kMig, false},
                       {"nvidia.com/gpu.shared", GpuSharing::kTimeslice, false}};
  catalog.type_labels = {std::string(contract::kGpuType),
                         "nvidia.com/gpu.product",
                         "cloud.google.com/gke-accelerator",
                         "k8s.amazonaws.com/accelerator",
                         "accelerator",
                         "amd.com/gpu.product-name",
                         "beta.amd.com/gpu.product-name"};
  catalog.topology_labels = {
      "topology.kubernetes.io/zone",           "topology.k8s.aws/network-node-layer-1",
      "topology.k8s.aws/network-node-layer-2", "topology.k8s.aws/network-node-layer-3",
      "cloud.google.com/gce-topology-block",   "cloud.google.com/gce-topology-subblock",
      "network.topology.nvidia.com/core",      "network.topology.nvidia.com/spine",
      "network.topology.nvidia.com/leaf",      "network.topology.nvidia.com/accelerator",
      "fabric.topograph.run/tier-2",           "fabric.topograph.run/tier-1",
      "fabric.topograph.run/tier-0",           "accelerator.topograph.run/domain",
      "accelerator.topograph.run/sub-domain",  "nvidia.com/gpu.clique"};
  // Globs over the values of NVIDIA's feature discovery and of the clouds; longer names first. None
  // goes on where a number does: an RTX A1000 is no A100, and a Quadro P4000 no P40.
  catalog.types = {
      {GpuType("K40"), {"*-K40", "*-K40?", "*-k40", "*-k40?"}, 1.0},
      {GpuType("K80"), {"*-K80*", "*-k80*"}, 1.0},
      {GpuType("P100"), {"*-P100", "*-P100-*", "*-P100L", "*-P100X", "*-p100", "*-p100-*"}, 1.0},
      {GpuType("P40"), {"*-P40", "*-p40"}, 1.0},
      {GpuType("P4"), {"*-P4", "*-p4"}, 1.0},
      {GpuType("V100"), {"*-V100*", "*-v100*"}, 1.0},
      {GpuType("T4"), {"*-T4", "*-T4G", "*-t4"}, 1.0},
      {GpuType("A100-PCIe-80GB"), {"*-A100-80GB-PCI*", "*-A100-PCI*-80GB*"}, 1.0},
      {GpuType("A100-PCIe-40GB"), {"*-A100-PCI*"}, 1.0},
      {GpuType("A100"), {"*-A100", "*-A100-*", "*-A100D", "*-A100X", "*-a100", "*-a100-*"}, 1.0},
      {GpuType("A10"), {"*-A10", "*-A10G", "*-a10", "*-a10g"}, 1.0},
      {GpuType("A30"), {"*-A30", "*-A30X", "*-a30"}, 1.0},
      {GpuType("A40"), {"*-A40", "*-a40"}, 1.0},
      {GpuType("L4"), {"*-L4", "*-l4"}, 1.0},
      {GpuType("L40S"), {"*-L40S*", "*-l40s*"}, 1.0},
      {GpuType("L40"), {"*-L40*", "*-l40*"}, 1.0},
      {GpuType("H100-PCIe"), {"*-H100-PCI*"}, 1.0},
      {GpuType("H100-NVL"), {"*-H100-NVL*"}, 1.0},
      {GpuType("H100"), {"*-H100*", "*-h100*"}, 1.0},
      {GpuType("H200-NVL"), {"*-H200-NVL*"}, 1.0},
      {GpuType("H200"), {"*-H200*", "*-h200*"}, 1.0},
      {GpuType("GH200"), {"*-GH200*"}, 1.0},
      {GpuType("GB300"), {"*-GB300*", "*-gb300*"}, 1.0},
      {GpuType("GB200"), {"*-GB200*", "*-gb200*"}, 1.0},
      {GpuType("B300"), {"*-B300*", "*-b300*"}, 1.0},
      {GpuType("B200"), {"*-B200*", "*-b200*"}, 1.0},
      {GpuType("RTX6000Ada"), {"*-RTX-6000-Ada*"}, 1.0},
      {GpuType("RTXPRO6000"), {"*-RTX-PRO-6000*", "*-rtx-pro-6000*"}, 1.0},
      {GpuType("RTXA6000"), {"*-RTX-A6000*"}, 1.0},
      {GpuType("RTXA5000"), {"*-RTX-A5000*"}, 1.0},
      {GpuType("RTX3090"), {"*-RTX-3090*", "*-rtx-3090*"}, 1.0},
      {GpuType("MI300X"), {"*MI300X*"}, 1.0},
      {GpuType("MI325X"), {"*MI325X*"}, 1.0},
      {GpuType("MI350X"), {"*MI350X*"}, 1.0},
      {GpuType("MI355X"), {"*MI355X*"}, 1.0},
      {GpuType("Gaudi2"), {"*Gaudi2*", "*gaudi2*", "*HL-225*"}, 1.0},
      {GpuType("Gaudi3"), {"*Gaudi3*", "*gaudi3*", "*HL-325*"}, 1.0}};
  return catalog;
}

}  // namespace slackline
