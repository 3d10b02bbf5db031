#include "slackline/core/sharing/task_variants.h"

#include <algorithm>

namespace slackline::core {

std::size_t fastest_variant(std::span<const TaskVariant> variants) {
  const auto fastest = std::max_element(
      variants.begin(), variants.end(),
      [](const TaskVariant& a, const TaskVariant& b) { return a.speed < b.speed; });
  return static_cast<std::size_t>(fastest - variants.begin());
}

VariantVerdict judge_variants(std::span<const TaskVariant> variants, const ShareTask& resident,
                              double resident_speed, const SharedGpu& gpu, const PairModel& model,
                              const SharingLimits& limits, const VariantLimits& variant_limits) {
  const std::size_t fastest = fastest_variant(variants);
  const double bound = resident.least_speed.value_or(limits.least_speed);
  const auto judge = [&](std::size_t i) {
    ShareVerdict verdict = judge_share(variants[i].as, resident, gpu, model, limits);
    if (!verdict.ok()) return verdict;
    const PairSpeeds& speeds = verdict.prediction->speeds;
    const double trust = verdict.prediction->measured ? 1 : 1 - variant_limits.margin;
    if (trust * speeds.second < bound) {
      verdict.refusal = ShareRefusal::kLeastSpeed;
    } else if (variant_limits.score == VariantScore::kProgress) {
      const double speed = variants[i].speed / variants[fastest].speed;
      const double progress = speed * speeds.first + resident_speed * speeds.second;
      verdict.score = i == fastest ? progress : trust * progress;
      if (verdict.score < limits.least_sum) verdict.refusal = ShareRefusal::kLeastSum;
    }
    return verdict;
  };
  VariantVerdict best{judge(fastest), fastest};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (i == fastest || variants[i].speed < variant_limits.least_speed * variants[fastest].speed)
      continue;
    const ShareVerdict verdict = judge(i);
    if (verdict.ok() && (!best.share.ok() || verdict.score > best.share.score)) best = {verdict, i};
  }
  return best;
}

}  // namespace slackline::core
