// Whether a task may share a GPU with its resident, how good that is, and which waiting task goes
// where. At most two tasks share a GPU.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "slackline/core/sharing/pair_table.h"

namespace slackline::core {

// How partners are ordered: by the sum of their predicted speeds, by the GPU utilisation that is
// left, or by how little alike their GPU metrics are (1 - cosine).
enum class SharingScore { kPairs, kUtilisation, kCosine };

std::string_view to_string(SharingScore score);
std::optional<SharingScore> parse_sharing_score(std::string_view text);

struct SharingLimits {
  double most_memory = 0.95;            // of the GPU's, both tasks together
  double least_sum = 1.1;               // of r(A|B) + r(B|A)
  double least_speed = 0.45;            // of either, where the task says nothing
  std::optional<double> most_gpu_util;  // 0..1 of the GPU before the task comes
  std::optional<double> most_gpu_mem_util;
};

struct ShareTask {
  PairTask task;
  std::optional<double> memory_bytes;     // its portrait
  std::optional<double> gpu_utilisation;  // 0..1 alone
  std::vector<double> gpu_metrics;        // for kCosine: the same ones in the same order for all
  std::optional<double> least_speed;      // it accepts
  // Alone it takes `left_s` more; it has `until_deadline_s`. Both or neither.
  std::optional<double> left_s;
  std::optional<double> until_deadline_s;
};

struct SharedGpu {
  double memory_bytes = 0;
  std::optional<double> gpu_util;  // 0..1 now; nullopt: no fresh sample, so the limit is off
  std::optional<double> gpu_mem_util;
};

enum class ShareRefusal {
  kNone,
  kMemoryUnknown,
  kMemory,
  kInfeasible,  // the pair was tried, and did not run
  kBusyGpu,
  kLeastSum,
  kLeastSpeed,
  kDeadline,
};

std::string_view to_string(ShareRefusal refusal);

struct ShareVerdict {
  ShareRefusal refusal = ShareRefusal::kNone;
  double score = 0;  // greater is better; not refused only
  std::optional<PairPrediction> prediction;

  bool ok() const { return refusal == ShareRefusal::kNone; }
};

ShareVerdict judge_share(const ShareTask& task, const ShareTask& resident, const SharedGpu& gpu,
                         const PairModel& model, const SharingLimits& limits,
                         SharingScore score = SharingScore::kPairs);

// Cosine of the angle between two lists of metrics, 0..1; 0 where one of them is all 0, they differ
// in length, or the result is negative or not finite.
double clamped_cosine(std::span<const double> a, std::span<const double> b);

// The score of a node for prioritize, 0..10: 10 with an empty GPU; else by the sum S of both
// speeds, round(8 (S - least_sum) / 0.9) within 0..8.
int share_points(bool empty_gpu, double sum, const SharingLimits& limits);

// What a scheduler with free places does next: the oldest waiting task onto the first empty GPU;
// without one, of the first `window` waiting tasks and all GPUs with one resident the two that
// `judge` gives the greatest score, the oldest task and then the first GPU of equals; else nothing.
struct SharePick {
  std::size_t waiting = 0;
  std::size_t gpu = 0;
};
inline constexpr std::size_t kShareWindow = 20;

struct SharePlaces {
  std::vector<std::size_t> empty;  // GPUs, in order of their names
  std::vector<std::size_t> one_task;
};
using JudgeShare = std::function<ShareVerdict(std::size_t waiting, std::size_t gpu)>;
std::optional<SharePick> pick_share(std::size_t waiting, const SharePlaces& places,
                                    const JudgeShare& judge);

}  // namespace slackline::core
