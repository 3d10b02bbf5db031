// A task that may run in several variants, such as batch sizes: which one starts. Alone on a GPU it
// is the fastest. Beside a resident it is the one with the greatest progress,
//   x(j,v|b) / x(j,fastest) + x(b|j,v) / x(b,fastest),
// in which a slow variant gains nothing by being light. (The paper's least overhead,
// 2 - r(j|b) - r(b|j), compares a variant with itself, and so picks slow ones.)
#pragma once

#include <cstddef>
#include <span>

#include "slackline/core/sharing/share.h"

namespace slackline::core {

struct TaskVariant {
  ShareTask as;
  double speed = 0;  // work/s alone, > 0, in one unit for all variants of the task
};

// How variants are compared with each other.
enum class VariantScore { kProgress, kLeastOverhead };

struct VariantLimits {
  double least_speed = 0.8;  // alone, of the fastest variant's
  // A prediction is off, and the best of many predictions is the luckiest: what was not measured
  // counts as slower by this share where a bound is to be kept or a slower variant to be chosen.
  double margin = 0.1;
  VariantScore score = VariantScore::kProgress;
};

// The first of the fastest; there is one variant at least.
std::size_t fastest_variant(std::span<const TaskVariant> variants);

struct VariantVerdict {
  ShareVerdict share;       // of the chosen variant; of the fastest one if all are refused
  std::size_t variant = 0;  // of those given
};

// Of the variants that may join the resident the one with the best score, the fastest and then the
// first of equals. The resident runs alone at `resident_speed` of its fastest variant's speed; its
// bound is its least_speed.
VariantVerdict judge_variants(std::span<const TaskVariant> variants, const ShareTask& resident,
                              double resident_speed, const SharedGpu& gpu, const PairModel& model,
                              const SharingLimits& limits, const VariantLimits& variant_limits);

}  // namespace slackline::core
