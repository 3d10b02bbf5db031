// Which of a node's slots of a resource a pod gets (model/device_slots.h): as few GPUs as possible,
// and of those that do, the fullest, so that whole GPUs stay free.
//
// Assumes that slot s of n lies on GPU floor(s * gpus / n), as a device plugin numbers them that
// splits every GPU alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "slackline/model/device_slots.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/node.h"

namespace slackline::core {

struct SlotLayout {
  int slots = 0;
  int gpus = 1;
  int gpu_of(int slot) const {
    return static_cast<int>(static_cast<std::int64_t>(slot) * gpus / slots);
  }
};

// The GPUs are those of the label nvidia.com/gpu.count, else the whole GPUs that are allocatable;
// without either, the slots lie on one.
SlotLayout slot_layout(const Node& node, std::string_view resource, const GpuCatalog& catalog);

// The slots of one resource that other pods have on a node.
struct SlotsInUse {
  std::vector<int> named;    // in any order; those beyond the node's last are of GPUs it has lost
  std::int64_t unnamed = 0;  // this many more, of pods that name none

  // A pod that asks for `count` and has `of_pod`; if their numbers differ, its slots count as
  // unnamed.
  void add(std::string_view resource, std::int64_t count, const std::vector<DeviceSlots>& of_pod);
};

// `count` slots, ascending. Unnamed ones are assumed to be the lowest that are free. nullopt: a
// slot is named twice, or fewer are free.
std::optional<std::vector<int>> choose_slots(const SlotLayout& layout, const SlotsInUse& in_use,
                                             std::int64_t count);

}  // namespace slackline::core
