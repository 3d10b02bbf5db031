// Which kind of throughput model fits observations best: by leave-one-placement-out error.
#pragma once

#include <optional>
#include <span>

#include "kinds.h"
#include "slackline/base/result.h"
#include "slackline/core/throughput/fit.h"

namespace slackline::core {

// kInvalidArgument with the reason and the remedy where `kind` cannot be fitted.
Status fittable(const ThroughputKind& kind, std::span<const Observation> observations);

struct KindChoice {
  const ThroughputKind* kind = nullptr;
  std::optional<HeldOutError> held_out;  // absent where there was nothing to choose by
};

// One GPU only: interpolation from kLeastBatchesToInterpolate batches on. Fewer observations than
// kLeastPointsToChoose or fewer than three spreads: A where a single GPU tells computation from
// communication, else W. Otherwise by the error on left out spreads: the regularised hybrid, unless
// another kind is better by more than the standard error of the difference - with few spreads the
// least error alone is mostly luck. Without a single GPU and with mostly one batch of each layout:
// W, unless another one is better by two standard errors. Beyond kMostFolds spreads every
// kMostFolds-th one is left out together.
Result<KindChoice> choose_kind(std::span<const Observation> observations);

inline constexpr std::size_t kLeastBatchesToInterpolate = 4;
inline constexpr std::size_t kMostFolds = 8;

}  // namespace slackline::core
