#include "slackline/model/resources.h"

#include <algorithm>

#include "slackline/base/saturating.h"
#include "slackline/base/words.h"

namespace slackline {
namespace {

// Applies `combine(mine, theirs)` to every GPU resource of either side; both are sorted, so one
// merge.
template <class Combine>
std::vector<GpuAmount> merge_gpus(const std::vector<GpuAmount>& a, const std::vector<GpuAmount>& b,
                                  Combine combine) {
  std::vector<GpuAmount> out;
  out.reserve(std::max(a.size(), b.size()));
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() || right != b.end()) {
    if (right == b.end() || (left != a.end() && left->resource < right->resource)) {
      out.push_back({left->resource, combine(left->count, std::int64_t{0})});
      ++left;
    } else if (left == a.end() || right->resource < left->resource) {
      out.push_back({right->resource, combine(std::int64_t{0}, right->count)});
      ++right;
    } else {
      out.push_back({left->resource, combine(left->count, right->count)});
      ++left;
      ++right;
    }
  }
  return out;
}

}  // namespace

std::int64_t Resources::gpu_count(std::string_view resource) const {
  for (const GpuAmount& amount : gpus)
    if (same_name(amount.resource, resource)) return amount.count;
  return 0;
}

std::int64_t Resources::gpu_total() const {
  std::int64_t total = 0;
  for (const GpuAmount& amount : gpus)
    total = saturating_add(total, amount.count);
  return total;
}

void Resources::set_gpus(std::string_view resource, std::int64_t count) {
  const auto at = std::lower_bound(
      gpus.begin(), gpus.end(), resource,
      [](const GpuAmount& amount, std::string_view name) { return amount.resource < name; });
  if (at != gpus.end() && at->resource == resource)
    at->count = count;
  else
    gpus.insert(at, GpuAmount{std::string(resource), count});
}

Resources& Resources::operator+=(const Resources& other) {
  cpu_milli = saturating_add(cpu_milli, other.cpu_milli);
  memory_bytes = saturating_add(memory_bytes, other.memory_bytes);
  pods = saturating_add(pods, other.pods);
  for (const GpuAmount& amount : other.gpus)
    set_gpus(amount.resource, saturating_add(gpu_count(amount.resource), amount.count));
  return *this;
}

Resources& Resources::operator-=(const Resources& other) {
  cpu_milli = saturating_sub(cpu_milli, other.cpu_milli);
  memory_bytes = saturating_sub(memory_bytes, other.memory_bytes);
  pods = saturating_sub(pods, other.pods);
  for (const GpuAmount& amount : other.gpus)
    set_gpus(amount.resource, saturating_sub(gpu_count(amount.resource), amount.count));
  return *this;
}

Resources max_of(const Resources& a, const Resources& b) {
  Resources out;
  out.cpu_milli = std::max(a.cpu_milli, b.cpu_milli);
  out.memory_bytes = std::max(a.memory_bytes, b.memory_bytes);
  out.pods = std::max(a.pods, b.pods);
  out.gpus = merge_gpus(a.gpus, b.gpus, [](auto x, auto y) { return std::max(x, y); });
  return out;
}

bool fits(const Resources& request, const Resources& available) {
  if (request.cpu_milli > 0 && request.cpu_milli > available.cpu_milli) return false;
  if (request.memory_bytes > 0 && request.memory_bytes > available.memory_bytes) return false;
  if (request.pods > 0 && request.pods > available.pods) return false;
  return std::all_of(request.gpus.begin(), request.gpus.end(), [&](const GpuAmount& amount) {
    return amount.count <= 0 || amount.count <= available.gpu_count(amount.resource);
  });
}

}  // namespace slackline
