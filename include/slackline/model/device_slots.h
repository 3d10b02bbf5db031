// DeviceSlots: which of a node's slots a pod has, of a resource that only Slackline counts
// (GpuResourceRule::self_accounted). A node with allocatable n of it has the slots 0 .. n - 1.
//
// As text, in the annotation `device-ids`: "example.com/share=0,1", several resources behind each
// other: "example.com/share=0,1;other.example/share=3".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"

namespace slackline {

// Invariant: at least one slot, ascending, each 0..kMaxGpusPerNode - 1.
struct DeviceSlots {
  std::string resource;
  std::vector<int> slots;
  friend bool operator==(const DeviceSlots&, const DeviceSlots&) = default;
};

std::string device_ids_text(const std::vector<DeviceSlots>& of_pod);
// Refused: a resource that comes twice, slots that break the invariant.
Result<std::vector<DeviceSlots>> parse_device_ids(std::string_view text);

}  // namespace slackline
