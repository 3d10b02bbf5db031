#include "slackline/core/cluster/slots.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/model/placement.h"

namespace slackline::core {
namespace {

constexpr std::string_view kGpuCountLabel = "nvidia.com/gpu.count";

std::int64_t whole_gpus(const Node& node, const GpuCatalog& catalog) {
  std::int64_t sum = 0;
  for (const ResourceAmount& amount : node.allocatable.gpus) {
    const GpuResourceRule* rule = catalog.resource(amount.resource);
    if (rule != nullptr && rule->sharing == GpuSharing::kWhole && !rule->self_accounted)
      sum = saturating_add(sum, amount.count);
  }
  return sum;
}

struct Gpu {
  std::vector<int> free;  // ascending
  bool in_use = false;
};

// Which slots are free, by slot; nullopt if one is named twice.
std::optional<std::vector<bool>> free_slots(const SlotLayout& layout, const SlotsInUse& in_use) {
  std::vector<int> named = in_use.named;
  std::sort(named.begin(), named.end());
  if (std::adjacent_find(named.begin(), named.end()) != named.end()) return std::nullopt;
  std::vector<bool> free(static_cast<std::size_t>(layout.slots), true);
  for (const int slot : named)
    if (slot < layout.slots) free[static_cast<std::size_t>(slot)] = false;
  std::int64_t unnamed = in_use.unnamed;
  for (std::size_t slot = 0; slot < free.size() && unnamed > 0; ++slot) {
    if (!free[slot]) continue;
    free[slot] = false;
    --unnamed;
  }
  return free;
}

std::vector<Gpu> lay_out(const SlotLayout& layout, const std::vector<bool>& free) {
  std::vector<Gpu> gpus(static_cast<std::size_t>(layout.gpus));
  for (int slot = 0; slot < layout.slots; ++slot) {
    Gpu& gpu = gpus[static_cast<std::size_t>(layout.gpu_of(slot))];
    if (free[static_cast<std::size_t>(slot)])
      gpu.free.push_back(slot);
    else
      gpu.in_use = true;
  }
  return gpus;
}

// The fullest GPU with room for `count`, else the one with the most room; an unused one only after
// those in use. Ties: the first.
Gpu& best_for(std::vector<Gpu>& gpus, std::size_t count) {
  const auto order = [count](const Gpu& gpu) {
    const std::size_t room = gpu.free.size();
    const bool enough = room >= count;
    return std::tuple(!enough, enough ? room : ~room, !gpu.in_use);
  };
  return *std::min_element(gpus.begin(), gpus.end(),
                           [&](const Gpu& a, const Gpu& b) { return order(a) < order(b); });
}

}  // namespace

SlotLayout slot_layout(const Node& node, std::string_view resource, const GpuCatalog& catalog) {
  std::int64_t gpus = 0;
  if (const std::string* label = find_label(node.labels, kGpuCountLabel))
    gpus = parse_int(*label).value_or(0);
  if (gpus <= 0) gpus = whole_gpus(node, catalog);
  return {countable_gpus(node.allocatable.gpu_count(resource)), std::max(1, countable_gpus(gpus))};
}

void SlotsInUse::add(std::string_view resource, std::int64_t count,
                     const std::vector<DeviceSlots>& of_pod) {
  for (const DeviceSlots& one : of_pod) {
    if (one.resource != resource || static_cast<std::int64_t>(one.slots.size()) != count) continue;
    named.insert(named.end(), one.slots.begin(), one.slots.end());
    return;
  }
  if (count > 0) unnamed = saturating_add(unnamed, count);
}

std::optional<std::vector<int>> choose_slots(const SlotLayout& layout, const SlotsInUse& in_use,
                                             std::int64_t count) {
  const auto free = free_slots(layout, in_use);
  if (!free || count > std::count(free->begin(), free->end(), true)) return std::nullopt;
  std::vector<Gpu> gpus = lay_out(layout, *free);
  std::vector<int> chosen;
  for (auto left = static_cast<std::size_t>(std::max<std::int64_t>(count, 0)); left > 0;) {
    Gpu& gpu = best_for(gpus, left);
    const auto taken = static_cast<std::ptrdiff_t>(std::min(left, gpu.free.size()));
    chosen.insert(chosen.end(), gpu.free.begin(), gpu.free.begin() + taken);
    gpu.free.erase(gpu.free.begin(), gpu.free.begin() + taken);
    left -= static_cast<std::size_t>(taken);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace slackline::core
