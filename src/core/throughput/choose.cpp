#include "choose.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <set>

#include "errors.h"
#include "slackline/base/text.h"

namespace slackline::core {
namespace {

constexpr double kSurely = 1;         // standard errors
constexpr double kSurelyBeyondW = 2;  // where single measurements say little of kinds

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

// The errors of a kind on each left out spread.
using SpreadErrors = std::map<Spread, std::vector<double>>;

// Nothing where a fold cannot be fitted.
struct LeftOut {
  SpreadErrors of_means;  // of repeated measurements: what noise there is says nothing of kinds
  std::vector<double> of_samples;
};

LeftOut held_out_errors(const ThroughputKind& kind, std::span<const Observation> observations) {
  const std::vector<std::size_t> folds = folds_of(observations);
  LeftOut errors;
  for (const std::size_t fold : std::set<std::size_t>(folds.begin(), folds.end())) {
    std::vector<Observation> kept;
    for (std::size_t i = 0; i < folds.size(); ++i)
      if (folds[i] != fold) kept.push_back(observations[i]);
    if (!fittable(kind, kept)) return {};
    const std::vector<double> params = kind.fit(kept, Effort::kRough);
    for (std::size_t i = 0; i < folds.size(); ++i) {
      if (folds[i] != fold) continue;
      const Observation& seen = observations[i];
      const double predicted = kind.predict(params, seen.batch, seen.spread);
      std::vector<double>& of_spread = errors.of_means[seen.spread];
      of_spread.insert(of_spread.end(), static_cast<std::size_t>(seen.weight),
                       absolute_percentage_error(predicted, seen.throughput_samples_per_s));
      for (const double measured : seen.each)
        errors.of_samples.push_back(absolute_percentage_error(predicted, measured));
    }
  }
  return errors;
}

// Whether `challenger` is better by more than so many standard errors of the difference between
// spreads.
bool surely_better(const SpreadErrors& challenger, const SpreadErrors& incumbent,
                   double standard_errors) {
  std::vector<double> gains;
  double sum = 0;
  for (const auto& [spread, errors] : incumbent) {
    gains.push_back(summary_of(errors).mean - summary_of(challenger.at(spread)).mean);
    sum += gains.back();
  }
  const auto count = static_cast<double>(gains.size());
  double squares = 0;
  for (const double gain : gains)
    squares += (gain - sum / count) * (gain - sum / count);
  return sum / count > standard_errors * std::sqrt(squares / (count - 1) / count);
}

bool has_single_gpu(std::span<const Observation> observations) {
  return std::any_of(observations.begin(), observations.end(),
                     [](const Observation& seen) { return seen.spread.gpus == 1; });
}

KindChoice simplest(std::span<const Observation> observations) {
  const bool additive = has_single_gpu(observations) && fittable(kAdditive, observations);
  return {additive ? &kAdditive : &kScaling, std::nullopt};
}

std::set<Spread> spreads_of(std::span<const Observation> observations) {
  std::set<Spread> spreads;
  for (const Observation& seen : observations)
    spreads.insert(seen.spread);
  return spreads;
}

// No single GPU, and mostly one batch of each layout: neither tells computation from communication.
bool are_sparse(std::span<const Observation> observations) {
  return !has_single_gpu(observations) &&
         2 * observations.size() < 3 * spreads_of(observations).size();
}

// In the order in which they are tried: a later one has to be surely better.
std::vector<const ThroughputKind*> candidates(bool sparse) {
  std::vector<const ThroughputKind*> all;
  if (sparse) all.push_back(&kScaling);
  for (const ThroughputKind* kind : kinds() | std::views::reverse)
    if (kind != &kScaling && kind != &kLinear) all.push_back(kind);
  return all;
}

Result<KindChoice> best_kind(std::span<const Observation> observations) {
  const ThroughputKind* best = nullptr;
  LeftOut least;
  const bool sparse = are_sparse(observations);
  const double surely = sparse ? kSurelyBeyondW : kSurely;
  for (const ThroughputKind* kind : candidates(sparse)) {
    LeftOut errors = held_out_errors(*kind, observations);
    if (errors.of_means.empty() ||
        (best != nullptr && !surely_better(errors.of_means, least.of_means, surely)))
      continue;
    best = kind;
    least = std::move(errors);
  }
  if (best == nullptr) return simplest(observations);
  return KindChoice{best, summary_of(std::move(least.of_samples))};
}

}  // namespace

Status fittable(const ThroughputKind& kind, std::span<const Observation> observations) {
  const auto refuse = [&](std::string reason) {
    return fail(ErrorCode::kInvalidArgument, format("kind {}: {}", kind.name, reason));
  };
  if (&kind == &kInterpolation && !one_gpu_only(observations))
    return refuse("knows one GPU only; leave out the larger layouts, or fit another kind");
  if (kind.fit == nullptr) return refuse("it is measured, not fitted; choose another kind");
  if (&kind == &kScaling) {
    if (!one_gpu_only(observations)) return {};
    return refuse("knows several GPUs only; measure a larger layout, or fit another kind");
  }
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
        "every sample has the same layout of several GPUs, so the share of communication in its "
        "time is unknown: measure a single GPU too");
  return {};
}

Result<KindChoice> choose_kind(std::span<const Observation> observations) {
  if (one_gpu_only(observations)) {
    const std::size_t batches = local_batches_of(observations).size();
    const ThroughputKind& kind = batches >= kLeastBatchesToInterpolate ? kInterpolation : kAdditive;
    SLACKLINE_TRY(fittable(kind, observations));
    return KindChoice{&kind, std::nullopt};
  }
  if (observations.size() < kLeastPointsToChoose || spreads_of(observations).size() < 3)
    return simplest(observations);
  return best_kind(observations);
}

}  // namespace slackline::core
