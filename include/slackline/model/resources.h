// Resources: what a pod requests, a node allocates, a hold takes. Integers, so "fits exactly" is
// exact.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slackline {

struct ResourceAmount {
  std::string resource;
  std::int64_t count = 0;
  friend bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

// Sorted by resource name, each name at most once.
using ResourceAmounts = std::vector<ResourceAmount>;

std::int64_t count_of(const ResourceAmounts& amounts, std::string_view resource);
void set_count(ResourceAmounts& amounts, std::string_view resource, std::int64_t count);

// Sums saturate (F44).
struct Resources {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t pods = 0;
  // Of GPU resource names ("nvidia.com/gpu"): GPUs, MIG slices or shared slots, by configuration
  // (gpu_catalog.h).
  ResourceAmounts gpus{};
  // What else a device plugin or the kubelet counts: "rdma/hca", "hugepages-2Mi" and
  // "ephemeral-storage" (bytes). Not every node lists them (ClusterSnapshot::fits).
  ResourceAmounts others{};

  std::int64_t gpu_count(std::string_view resource) const { return count_of(gpus, resource); }
  std::int64_t gpu_total() const;
  bool wants_gpus() const { return gpu_total() > 0; }
  void set_gpus(std::string_view resource, std::int64_t count) { set_count(gpus, resource, count); }

  Resources& operator+=(const Resources& other);
  Resources& operator-=(const Resources& other);  // may go negative: over-commitment is visible
  friend Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend Resources operator-(Resources a, const Resources& b) { return a -= b; }
  friend bool operator==(const Resources&, const Resources&) = default;
};

// The larger of each resource: an init container's request against the sum of the others.
Resources max_of(const Resources& a, const Resources& b);

// True if every resource that `request` asks for is there. Those that it does not ask for are
// ignored, so a GPU pod may land on a node that is over-committed in one of them.
bool fits(const Resources& request, const Resources& available);

}  // namespace slackline
