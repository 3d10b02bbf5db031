// GpuCatalog: what the configuration says about GPUs: which resource names are GPUs and how they
// are shared, which node label values name which GPU type at what cost, and which labels say how
// near nodes are to each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/model/ids.h"

namespace slackline {

// Whether one unit of a resource is a whole GPU, or a share of one.
enum class GpuSharing { kWhole, kMig, kTimeslice, kMps, kVgpu };

std::string_view to_string(GpuSharing sharing);

// One configured resource name or glob ("nvidia.com/gpu", "nvidia.com/mig-*").
struct GpuResourceRule {
  std::string pattern;
  GpuSharing sharing = GpuSharing::kWhole;
  // True if kube-scheduler ignores the resource (ignoredByScheduler) and only Slackline counts it;
  // then an unsynced cache answers Error instead of passing everything.
  bool self_accounted = false;

  friend bool operator==(const GpuResourceRule&, const GpuResourceRule&) = default;
};

// One GPU type: the alias people write in gpu-types, the label values that mean it, and its cost.
struct GpuTypeRule {
  GpuType alias;
  std::vector<std::string> label_values;  // globs over any of the type labels' values
  double cost = 1.0;                      // weight in 000 eq 10; > 0

  friend bool operator==(const GpuTypeRule&, const GpuTypeRule&) = default;
};

using Labels = std::vector<std::pair<std::string, std::string>>;  // sorted by key

// The value of a label, or nullptr.
const std::string* find_label(const Labels& labels, std::string_view key);

struct GpuCatalog {
  std::vector<GpuResourceRule> resources;  // first match wins
  std::vector<std::string> type_labels;    // node label keys that may name the type, in order
  std::vector<GpuTypeRule> types;          // first match wins
  // Node label keys that name blocks of the network, from zones to NVLink domains: the widest
  // first.
  std::vector<std::string> topology_labels{};

  const GpuResourceRule* resource(std::string_view name) const;
  const GpuTypeRule* type(const GpuType& alias) const;

  // Whether a unit of the resource is a whole GPU; a resource without a rule is. Speeds are known
  // of whole GPUs only.
  bool is_whole(std::string_view resource) const;
  // Whether several pods are on one device with it: not so whole GPUs and MIG instances.
  bool is_shared(std::string_view resource) const;

  // Whether a unit on nodes of this type is a part of a GPU though its resource may be that of
  // whole ones ("A100-MIG-1g.5gb", "T4-SHARED", see classify()); and whether others share it.
  bool is_part(const GpuType& type) const;
  bool is_share(const GpuType& type) const;

  // The type of a node with these labels; a label value that no rule names is its own alias, so an
  // unconfigured GPU still has a name. Of labels that name no type the next one counts;
  // empty when none names one.
  //
  // A node that offers parts of its GPUs under the resource of whole ones (MIG strategy "single",
  // time-slicing, MPS) is a type of its own: "A100-MIG-1g.5gb", "T4-SHARED". A pattern names such
  // types only if it has "-MIG-" or "-SHARED" in it.
  GpuType classify(const Labels& labels) const;

  // Whether this value of a type label names a type: a vendor's name does only where a rule has it.
  bool names_type(std::string_view key, std::string_view value) const;

  // The blocks that a node with these labels is in, by topology_labels and no longer than needed;
  // 0: in none. Nodes in the same block are in the same wider ones.
  std::vector<std::uint64_t> blocks_of(const Labels& labels) const;
  // The nearest of them, for people: the values of its labels, "zone-a/rack-3".
  std::string block_name(const Labels& labels) const;

  double cost(const GpuType& alias) const;  // 1.0 for types without a rule

  friend bool operator==(const GpuCatalog&, const GpuCatalog&) = default;

 private:
  GpuType type_of_product(std::string_view product) const;
};

// NVIDIA, AMD and common cloud label vocabularies, whole GPUs and MIG.
GpuCatalog default_gpu_catalog();

}  // namespace slackline
