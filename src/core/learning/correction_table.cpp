#include "slackline/core/learning/correction_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace slackline::core {
namespace {

constexpr double kKept = 0.995;  // of an entry, by each task that is added
constexpr double kShrinkage = 5;
constexpr int kBands = 3;

}  // namespace

std::array<CorrectionTable::Key, 3> CorrectionTable::keys_of(const Circumstances& placed) {
  const int memory = placed.memory_short ? 1 : 0;
  const int busy = std::min(kBands, static_cast<int>(kBands * placed.busy_share));
  return {Key{placed.family, placed.node_type, kAny, kAny},
          Key{placed.family, placed.node_type, memory, kAny},
          Key{placed.family, placed.node_type, memory, busy}};
}

void CorrectionTable::observe(const Circumstances& placed, double observed, double predicted) {
  for (Key& key : keys_of(placed)) {
    Entry& entry = entries_[std::move(key)];
    entry.sum = kKept * entry.sum + std::log(observed / predicted);
    entry.count = kKept * entry.count + 1;
  }
}

double CorrectionTable::log_factor(const Circumstances& placed) const {
  double value = 0;
  for (const Key& key : keys_of(placed)) {
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) continue;
    value += (entry->second.sum - entry->second.count * value) / (entry->second.count + kShrinkage);
  }
  return std::clamp(value, std::log(kLeastFactor), std::log(kMostFactor));
}

}  // namespace slackline::core
