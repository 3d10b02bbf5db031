#include "slackline/model/resources.h"

#include <algorithm>

#include "slackline/base/saturating.h"
#include "slackline/base/words.h"

namespace slackline {
namespace {

// Applies `combine(mine, theirs)` to every resource of either side; both are sorted, so one merge.
template <class Combine>
ResourceAmounts merge(const ResourceAmounts& a, const ResourceAmounts& b, Combine combine) {
  ResourceAmounts out;
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

// In place: most of what is added up names the same resources.
void combine_into(ResourceAmounts& amounts, const ResourceAmounts& other,
                  std::int64_t (*combine)(std::int64_t, std::int64_t)) {
  for (const ResourceAmount& amount : other)
    set_count(amounts, amount.resource, combine(count_of(amounts, amount.resource), amount.count));
}

bool covers(const ResourceAmounts& there, const ResourceAmounts& asked) {
  return std::all_of(asked.begin(), asked.end(), [&](const ResourceAmount& amount) {
    return amount.count <= 0 || amount.count <= count_of(there, amount.resource);
  });
}

}  // namespace

std::int64_t count_of(const ResourceAmounts& amounts, std::string_view resource) {
  for (const ResourceAmount& amount : amounts)
    if (same_name(amount.resource, resource)) return amount.count;
  return 0;
}

void set_count(ResourceAmounts& amounts, std::string_view resource, std::int64_t count) {
  const auto at = std::lower_bound(
      amounts.begin(), amounts.end(), resource,
      [](const ResourceAmount& amount, std::string_view name) { return amount.resource < name; });
  if (at != amounts.end() && at->resource == resource)
    at->count = count;
  else
    amounts.insert(at, ResourceAmount{std::string(resource), count});
}

std::int64_t Resources::gpu_total() const {
  std::int64_t total = 0;
  for (const ResourceAmount& amount : gpus)
    total = saturating_add(total, amount.count);
  return total;
}

Resources& Resources::operator+=(const Resources& other) {
  cpu_milli = saturating_add(cpu_milli, other.cpu_milli);
  memory_bytes = saturating_add(memory_bytes, other.memory_bytes);
  pods = saturating_add(pods, other.pods);
  combine_into(gpus, other.gpus, saturating_add);
  combine_into(others, other.others, saturating_add);
  return *this;
}

Resources& Resources::operator-=(const Resources& other) {
  cpu_milli = saturating_sub(cpu_milli, other.cpu_milli);
  memory_bytes = saturating_sub(memory_bytes, other.memory_bytes);
  pods = saturating_sub(pods, other.pods);
  combine_into(gpus, other.gpus, saturating_sub);
  combine_into(others, other.others, saturating_sub);
  return *this;
}

Resources max_of(const Resources& a, const Resources& b) {
  Resources out;
  out.cpu_milli = std::max(a.cpu_milli, b.cpu_milli);
  out.memory_bytes = std::max(a.memory_bytes, b.memory_bytes);
  out.pods = std::max(a.pods, b.pods);
  const auto larger = [](auto x, auto y) { return std::max(x, y); };
  out.gpus = merge(a.gpus, b.gpus, larger);
  out.others = merge(a.others, b.others, larger);
  return out;
}

bool fits(const Resources& request, const Resources& available) {
  if (request.cpu_milli > 0 && request.cpu_milli > available.cpu_milli) return false;
  if (request.memory_bytes > 0 && request.memory_bytes > available.memory_bytes) return false;
  if (request.pods > 0 && request.pods > available.pods) return false;
  return covers(available.gpus, request.gpus) && covers(available.others, request.others);
}

}  // namespace slackline
