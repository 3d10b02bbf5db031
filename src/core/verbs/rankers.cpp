// The rankers by name; ranker.h says what each does.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include "slackline/core/verbs/ranker.h"

namespace slackline::core {
namespace {

// The key: slow 1 bit | type rank 8 bits | no profiler 1 bit | free GPUs 12 | stranded GPUs 12.
constexpr std::int64_t kMaxTypeRank = 0xff;
constexpr std::int64_t kMaxGpus = 0xfff;
constexpr int kSlowBit = 33;
constexpr int kTypeBit = 25;
constexpr int kNoProfilerBit = 24;
constexpr int kFreeBit = 12;

std::int64_t clamp_gpus(std::int64_t count) {
  // Negative: the cache says the node is full. It goes last, not first.
  return count < 0 ? kMaxGpus : std::min(count, kMaxGpus);
}

using TypeKey = std::tuple<int, int, double>;  // lateness, preference, negated CER

TypeKey type_key(const TypeEstimate& type) {
  // What nobody knows of a part of a GPU is that it is slower than a whole one.
  const bool unknown_part = type.part && !type.prediction;
  const int lateness = unknown_part ? 3 : !type.feasible ? 1 : *type.feasible ? 0 : 2;
  return {lateness, type.preference.value_or(std::numeric_limits<int>::max()),
          type.cer ? -*type.cer : std::numeric_limits<double>::infinity()};
}

// Types without a CER last; equal ones share a rank.
std::vector<std::int64_t> rank_types(const std::vector<TypeEstimate>& types) {
  std::vector<TypeKey> keys;
  for (const TypeEstimate& type : types)
    keys.push_back(type_key(type));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<std::int64_t> ranks;
  for (const TypeEstimate& type : types) {
    const auto at = std::lower_bound(keys.begin(), keys.end(), type_key(type));
    ranks.push_back(std::min(std::int64_t{at - keys.begin()}, kMaxTypeRank));
  }
  return ranks;
}

class CerRanker final : public Ranker {
 public:
  std::string_view name() const override { return "cer"; }
  void rank(const Measurement& measured, std::span<std::int64_t> keys) const override;
};

void CerRanker::rank(const Measurement& measured, std::span<std::int64_t> keys) const {
  const std::vector<std::int64_t> type_ranks = rank_types(measured.types);
  for (std::size_t i = 0; i < measured.nodes.size(); ++i) {
    const MeasuredNode& node = measured.nodes[i];
    if (!node.known()) continue;
    keys[i] = std::int64_t{node.slow} << kSlowBit | type_ranks[node.type] << kTypeBit |
              std::int64_t{!node.profiler} << kNoProfilerBit |
              clamp_gpus(node.free_gpus_after) << kFreeBit | clamp_gpus(node.stranded_gpus);
  }
}

constexpr CerRanker kCer;
constexpr const Ranker* kRankers[] = {&kCer};

}  // namespace

std::span<const Ranker* const> rankers() {
  return kRankers;
}

}  // namespace slackline::core
