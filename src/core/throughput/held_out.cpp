#include "slackline/core/throughput/held_out.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "errors.h"
#include "held_out_split.h"
#include "slackline/core/throughput/model_parallel.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::core {
namespace {

constexpr double kNearBest = 0.95;

using Samples = std::span<const ThroughputSample>;

std::optional<double> noise_floor(Samples samples) {
  std::map<std::tuple<double, Layout>, std::vector<double>> repeated;
  for (const ThroughputSample& sample : samples)
    repeated[{sample.batch, sample.layout}].push_back(sample.throughput_samples_per_s);
  std::vector<double> errors;
  for (const auto& [key, speeds] : repeated)
    for (std::size_t i = 0; i < speeds.size(); ++i)
      for (std::size_t j = 0; j < speeds.size(); ++j)
        if (i != j) errors.push_back(absolute_percentage_error(speeds[i], speeds[j]));
  if (errors.empty()) return std::nullopt;
  return summary_of(std::move(errors)).mean;
}

// One shape as it was measured and predicted for one batch.
struct SamplesOfLayout {
  double predicted = 0;
  double measured = 0;  // summed, then the mean
  int times = 0;
};

void count_choices(Samples samples, HoldOutReport& report) {
  std::map<double, std::map<Layout, SamplesOfLayout>> batches;
  for (const HeldOutPrediction& prediction : report.predictions) {
    const ThroughputSample& sample = samples[prediction.sample];
    if (!sample.layout.symmetric()) continue;
    SamplesOfLayout& candidate = batches[sample.batch][sample.layout];
    candidate.predicted = prediction.throughput_samples_per_s;
    candidate.measured += sample.throughput_samples_per_s;
    ++candidate.times;
  }
  for (auto& [batch, shapes] : batches) {
    if (shapes.size() < 2) continue;
    const SamplesOfLayout* chosen = nullptr;
    double best = 0;
    for (auto& [layout, candidate] : shapes) {
      candidate.measured /= candidate.times;
      best = std::max(best, candidate.measured);
      if (chosen == nullptr || candidate.predicted > chosen->predicted) chosen = &candidate;
    }
    ++report.choices;
    if (chosen->measured >= kNearBest * best) ++report.choices_within_5_percent;
  }
}

Status predict_fold(Samples samples, const FitOptions& options, const HoldOutFold& fold,
                    HoldOutReport& report) {
  std::vector<ThroughputSample> kept;
  for (const std::size_t index : fold.fitted)
    kept.push_back(samples[index]);
  auto fit = fit_throughput(kept, options);
  if (!fit) return fail(fit.error().with_context("predicting what is held out"));
  for (const std::size_t index : fold.predicted) {
    const ThroughputSample& sample = samples[index];
    const double predicted = predict_throughput(fit->coefficients, sample.batch,
                                                sample.layout.spread(), kMostModelParallel)
                                 .value_or(0);
    report.predictions.push_back(
        {index, predicted, absolute_percentage_error(predicted, sample.throughput_samples_per_s)});
  }
  return {};
}

Status predict_folds(Samples samples, const FitOptions& options,
                     const std::vector<HoldOutFold>& folds, HoldOutReport& report) {
  for (const HoldOutFold& fold : folds)
    SLACKLINE_TRY(predict_fold(samples, options, fold, report));
  return {};
}

}  // namespace

Result<HoldOutReport> evaluate(Samples samples, const FitOptions& options,
                               const HoldOut& hold_out) {
  HoldOutReport report;
  SLACKLINE_ASSIGN(report.fit, fit_throughput(samples, options));
  SLACKLINE_ASSIGN(const std::vector<HoldOutFold> folds, hold_out_folds(samples, hold_out));
  if (Status done = predict_folds(samples, options, folds, report); !done) {
    if (hold_out.kind != HoldOut::Kind::kLeaveOneOut) return fail(done.error());
    report.predictions.clear();
    SLACKLINE_ASSIGN(const std::vector<HoldOutFold> finer, measurement_folds(samples));
    SLACKLINE_TRY(predict_folds(samples, options, finer, report));
    report.by_measurement = true;
  }
  std::sort(
      report.predictions.begin(), report.predictions.end(),
      [](const HeldOutPrediction& a, const HeldOutPrediction& b) { return a.sample < b.sample; });
  std::vector<double> errors;
  for (const HeldOutPrediction& prediction : report.predictions)
    errors.push_back(prediction.ape);
  report.error = summary_of(std::move(errors));
  report.fit.held_out = report.error;
  report.noise_floor = noise_floor(samples);
  count_choices(samples, report);
  return report;
}

}  // namespace slackline::core
