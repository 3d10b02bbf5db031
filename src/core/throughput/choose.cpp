#include "choose.h"

#include <algorithm>
#include <set>

#include "errors.h"
#include "slackline/base/text.h"

namespace slackline::core {
namespace {

bool one_gpu_only(std::span<const Observation> observations) {
  return std::all_of(observations.begin(), observations.end(),
                     [](const Observation& seen) { return seen.spread.gpus == 1; });
}

// The fold of each observation; `observations` are sorted by spread.
std::vector<std::size_t> folds_of(std::span<const Observation> observations) {
  std::vector<std::size_t> folds;
  std::size_t spread = 0;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    if (i > 0 && observations[i].spread != observations[i - 1].spread) ++spread;
    folds.push_back(spread % kMostFolds);
  }
  return folds;
}

// nullopt where a fold cannot be fitted.
std::optional<HeldOutError> held_out_error(const ThroughputKind& kind,
                                           std::span<const Observation> observations) {
  const std::vector<std::size_t> folds = folds_of(observations);
  std::vector<double> errors;
  for (const std::size_t fold : std::set<std::size_t>(folds.begin(), folds.end())) {
    std::vector<Observation> kept;
    for (std::size_t i = 0; i < folds.size(); ++i)
      if (folds[i] != fold) kept.push_back(observations[i]);
    if (!fittable(kind, kept)) return std::nullopt;
    const std::vector<double> params = kind.fit(kept);
    for (std::size_t i = 0; i < folds.size(); ++i) {
      if (folds[i] != fold) continue;
      const Observation& seen = observations[i];
      const double predicted = kind.predict(params, seen.batch, seen.spread);
      errors.insert(errors.end(), static_cast<std::size_t>(seen.weight),
                    absolute_percentage_error(predicted, seen.throughput_samples_per_s));
    }
  }
  return summary_of(std::move(errors));
}

Result<Choice> simplest(std::span<const Observation> observations) {
  for (const ThroughputKind* kind : kinds())
    if (fittable(*kind, observations)) return Choice{kind, std::nullopt};
  return fail(fittable(kAdditive, observations).error());
}

}  // namespace

Status fittable(const ThroughputKind& kind, std::span<const Observation> observations) {
  const auto refuse = [&](std::string reason) {
    return fail(ErrorCode::kInvalidArgument, format("kind {}: {}", kind.name, reason));
  };
  if (&kind == &kInterpolation && !one_gpu_only(observations))
    return refuse("knows one GPU only; leave out the larger layouts, or fit another kind");
  if (kind.fit == nullptr) return refuse("it is measured, not fitted; choose another kind");
  if (observations.size() < kind.least_points)
    return refuse(
        format("{} different measurements are too few, it takes {}: measure more batches "
               "and layouts",
               observations.size(), kind.least_points));
  if (local_batches_of(observations).size() < 2)
    return refuse("every sample has the same batch per GPU: measure a second batch");
  const Spread& first = observations.front().spread;
  if (first.gpus > 1 && first == observations.back().spread)
    return refuse(
        "every sample has the same layout of several GPUs, which leaves open what of its "
        "time is communication: measure a single GPU too");
  return {};
}

Result<Choice> choose_kind(std::span<const Observation> observations) {
  if (one_gpu_only(observations)) {
    const std::size_t batches = local_batches_of(observations).size();
    const ThroughputKind& kind = batches >= kLeastBatchesToInterpolate ? kInterpolation : kAdditive;
    SLACKLINE_TRY(fittable(kind, observations));
    return Choice{&kind, std::nullopt};
  }
  std::set<Spread> spreads;
  for (const Observation& seen : observations)
    spreads.insert(seen.spread);
  if (observations.size() < kLeastPointsToChoose || spreads.size() < 3)
    return simplest(observations);
  Choice best;
  for (const ThroughputKind* kind : kinds()) {
    const auto error = held_out_error(*kind, observations);
    if (error && (!best.held_out || error->mean < best.held_out->mean)) best = {kind, error};
  }
  return best.kind == nullptr ? simplest(observations) : best;
}

}  // namespace slackline::core
