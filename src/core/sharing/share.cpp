#include "slackline/core/sharing/share.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace slackline::core {
namespace {

constexpr std::pair<SharingScore, std::string_view> kScores[] = {
    {SharingScore::kPairs, "pairs"},
    {SharingScore::kUtilisation, "utilisation"},
    {SharingScore::kCosine, "cosine"},
};

// Whether the task would still be in time at this speed.
bool in_time(const ShareTask& task, double speed) {
  return !task.left_s || !task.until_deadline_s || *task.left_s <= *task.until_deadline_s * speed;
}

ShareRefusal refuse(const ShareTask& task, const ShareTask& resident, const SharedGpu& gpu,
                    const std::optional<PairPrediction>& prediction, const SharingLimits& limits) {
  if (!prediction) return ShareRefusal::kInfeasible;
  if (!task.memory_bytes || !resident.memory_bytes) return ShareRefusal::kMemoryUnknown;
  if (*task.memory_bytes + *resident.memory_bytes > limits.most_memory * gpu.memory_bytes)
    return ShareRefusal::kMemory;
  const auto above = [](const std::optional<double>& now, const std::optional<double>& most) {
    return now && most && *now > *most;
  };
  if (above(gpu.gpu_util, limits.most_gpu_util) ||
      above(gpu.gpu_mem_util, limits.most_gpu_mem_util))
    return ShareRefusal::kBusyGpu;
  const PairSpeeds& speeds = prediction->speeds;
  if (speeds.sum() < limits.least_sum) return ShareRefusal::kLeastSum;
  if (speeds.first < task.least_speed.value_or(limits.least_speed) ||
      speeds.second < resident.least_speed.value_or(limits.least_speed))
    return ShareRefusal::kLeastSpeed;
  if (!in_time(task, speeds.first) || !in_time(resident, speeds.second))
    return ShareRefusal::kDeadline;
  return ShareRefusal::kNone;
}

double score_of(const ShareTask& task, const ShareTask& resident, const PairSpeeds& speeds,
                SharingScore score) {
  switch (score) {
    case SharingScore::kPairs:
      break;
    case SharingScore::kUtilisation:  // unknown counts as busy all the time
      return 2 - task.gpu_utilisation.value_or(1) - resident.gpu_utilisation.value_or(1);
    case SharingScore::kCosine:
      return 1 - clamped_cosine(task.gpu_metrics, resident.gpu_metrics);
  }
  return speeds.sum();
}

}  // namespace

std::string_view to_string(SharingScore score) {
  for (const auto& [value, name] : kScores)
    if (value == score) return name;
  return "pairs";
}

std::optional<SharingScore> parse_sharing_score(std::string_view text) {
  for (const auto& [value, name] : kScores)
    if (name == text) return value;
  return std::nullopt;
}

std::string_view to_string(ShareRefusal refusal) {
  switch (refusal) {
    case ShareRefusal::kNone:
      return "none";
    case ShareRefusal::kMemoryUnknown:
      return "memory is not known";
    case ShareRefusal::kMemory:
      return "memory is too small for both";
    case ShareRefusal::kInfeasible:
      return "did not run together";
    case ShareRefusal::kBusyGpu:
      return "the GPU is busy";
    case ShareRefusal::kLeastSum:
      return "together not faster than one after the other";
    case ShareRefusal::kLeastSpeed:
      return "one of them would be too slow";
    case ShareRefusal::kDeadline:
      return "a deadline would be missed";
  }
  return "none";
}

ShareVerdict judge_share(const ShareTask& task, const ShareTask& resident, const SharedGpu& gpu,
                         const PairModel& model, const SharingLimits& limits, SharingScore score) {
  ShareVerdict verdict;
  verdict.prediction = model.predict(task.task, resident.task);
  verdict.refusal = refuse(task, resident, gpu, verdict.prediction, limits);
  if (verdict.ok()) verdict.score = score_of(task, resident, verdict.prediction->speeds, score);
  return verdict;
}

double clamped_cosine(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return 0;
  double product = 0;
  double of_a = 0;
  double of_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += a[i] * b[i];
    of_a += a[i] * a[i];
    of_b += b[i] * b[i];
  }
  const double cosine = product / std::sqrt(of_a) / std::sqrt(of_b);
  return std::isfinite(cosine) ? std::clamp(cosine, 0.0, 1.0) : 0;
}

int share_points(bool empty_gpu, double sum, const SharingLimits& limits) {
  constexpr double kMost = 8;
  constexpr double kSpan = 0.9;
  if (empty_gpu) return 10;
  const double points = std::round(kMost * (sum - limits.least_sum) / kSpan);
  return static_cast<int>(std::clamp(points, 0.0, kMost));
}

std::optional<SharePick> pick_share(std::size_t waiting, const SharePlaces& places,
                                    const JudgeShare& judge) {
  if (waiting == 0) return std::nullopt;
  if (!places.empty.empty()) return SharePick{0, places.empty.front()};
  std::optional<SharePick> best;
  double best_score = 0;
  for (std::size_t task = 0; task < std::min(waiting, kShareWindow); ++task)
    for (const std::size_t gpu : places.one_task) {
      const ShareVerdict verdict = judge(task, gpu);
      if (!verdict.ok() || (best && verdict.score <= best_score)) continue;
      best = SharePick{task, gpu};
      best_score = verdict.score;
    }
  return best;
}

}  // namespace slackline::core
