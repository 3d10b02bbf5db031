#include "slackline/model/workload.h"

#include <algorithm>
#include <tuple>

namespace slackline {
namespace {

auto order(const ProfileEntry& entry) {
  return std::tuple<std::string_view, std::string_view>(entry.model, entry.gpu_type.str());
}

}  // namespace

WorkloadProfiles::WorkloadProfiles(std::vector<ProfileEntry> entries)
    : entries_(std::move(entries)) {
  std::stable_sort(
      entries_.begin(), entries_.end(),
      [](const ProfileEntry& a, const ProfileEntry& b) { return order(a) < order(b); });
  std::vector<ProfileEntry> kept;
  for (ProfileEntry& entry : entries_) {
    if (!kept.empty() && order(kept.back()) == order(entry))
      kept.back() = std::move(entry);
    else
      kept.push_back(std::move(entry));
  }
  entries_ = std::move(kept);
}

const ProfileEntry* WorkloadProfiles::find(std::string_view model, const GpuType& gpu_type) const {
  const std::tuple<std::string_view, std::string_view> wanted(model, gpu_type.str());
  const auto at =
      std::lower_bound(entries_.begin(), entries_.end(), wanted,
                       [](const ProfileEntry& e, const auto& key) { return order(e) < key; });
  return at != entries_.end() && order(*at) == wanted ? &*at : nullptr;
}

bool WorkloadProfiles::knows_model(std::string_view model) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const ProfileEntry& entry) { return entry.model == model; });
}

}  // namespace slackline
