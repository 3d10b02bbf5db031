#include "slackline/core/held_out.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "slackline/base/text.h"
#include "slackline/core/throughput.h"

namespace slackline::core {
namespace {

// The layouts of each fold, all of whose samples are predicted from the rest.
std::vector<std::set<Layout>> folds_of(std::span<const ThroughputSample> samples,
                                       const HoldOut& hold_out) {
  std::set<Layout> layouts;
  for (const ThroughputSample& sample : samples)
    layouts.insert(sample.layout);
  const std::size_t count = hold_out.kind == HoldOut::Kind::kKFold
                                ? std::min(static_cast<std::size_t>(hold_out.folds), layouts.size())
                                : layouts.size();
  std::vector<std::set<Layout>> folds(count);
  std::size_t next = 0;
  for (const Layout& layout : layouts)
    folds[next++ % count].insert(layout);
  return folds;
}

double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace

Result<HoldOut> parse_hold_out(std::string_view text) {
  if (text == "loo") return HoldOut{HoldOut::Kind::kLeaveOneOut, 0};
  if (text == "few") return HoldOut{HoldOut::Kind::kFew, 0};
  constexpr std::string_view kPrefix = "kfold:";
  if (text.starts_with(kPrefix)) {
    const auto folds = parse_int(text.substr(kPrefix.size()));
    if (folds && *folds >= 2 && *folds <= 1000)
      return HoldOut{HoldOut::Kind::kKFold, static_cast<int>(*folds)};
  }
  return fail(ErrorCode::kInvalidArgument,
              format("\"{}\" is no way to hold out: write loo, kfold:N (2 to 1000) or few",
                     printable(text, 64)));
}

std::string to_string(const HoldOut& hold_out) {
  switch (hold_out.kind) {
    case HoldOut::Kind::kLeaveOneOut:
      return "loo";
    case HoldOut::Kind::kFew:
      return "few";
    case HoldOut::Kind::kKFold:
      break;
  }
  return format("kfold:{}", hold_out.folds);
}

Result<HoldOutReport> evaluate(std::span<const ThroughputSample> samples, const FitOptions& options,
                               const HoldOut& hold_out) {
  HoldOutReport report;
  SLACKLINE_ASSIGN(report.fit, fit_throughput(samples, options));
  for (const std::set<Layout>& fold : folds_of(samples, hold_out)) {
    std::vector<ThroughputSample> kept;
    for (const ThroughputSample& sample : samples)
      if (!fold.contains(sample.layout)) kept.push_back(sample);
    SLACKLINE_ASSIGN(const Fit fit, fit_throughput(kept, options));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const ThroughputSample& sample = samples[i];
      if (!fold.contains(sample.layout)) continue;
      const double predicted =
          predict_throughput(fit.coefficients, sample.batch, sample.layout.spread()).value_or(0);
      report.predictions.push_back(
          {i, predicted, 100 * std::abs(predicted / sample.throughput_samples_per_s - 1)});
    }
  }
  std::sort(
      report.predictions.begin(), report.predictions.end(),
      [](const HeldOutPrediction& a, const HeldOutPrediction& b) { return a.sample < b.sample; });
  std::vector<double> errors;
  for (const HeldOutPrediction& prediction : report.predictions) {
    errors.push_back(prediction.ape);
    report.error.mean += prediction.ape / static_cast<double>(report.predictions.size());
  }
  report.error.median = percentile(errors, 0.5);
  report.error.p90 = percentile(errors, 0.9);
  report.error.samples = static_cast<int>(errors.size());
  return report;
}

}  // namespace slackline::core
