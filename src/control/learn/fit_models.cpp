#include "control/learn/fit_models.h"

#include <map>
#include <set>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::control {
namespace {

constexpr std::size_t kNamedSources = 3;

void fit_one(FittedModel& model, const FitModelsOptions& options) {
  if (options.hold_out) {
    auto report = core::evaluate(model.samples, options.fit, *options.hold_out);
    if (report) {
      model.fit = report->fit;
      model.held_out = *std::move(report);
      return;
    }
    model.problem = report.error().message;
  }
  // Too little to hold anything out may still be enough to fit.
  auto fit = core::fit_throughput(model.samples, options.fit);
  if (fit)
    model.fit = *std::move(fit);
  else
    model.problem = fit.error().message;
}

// "Pollux ..., nightly, weekly and 4 more"
std::string sources_of(const std::vector<ThroughputSample>& samples) {
  std::set<std::string> all;
  for (const ThroughputSample& sample : samples)
    if (!sample.source.empty()) all.insert(sample.source);
  std::vector<std::string> named;
  for (const std::string& source : all)
    if (named.size() < kNamedSources) named.push_back(source);
  const std::string more = all.size() > kNamedSources
                               ? slackline::format(" and {} more", all.size() - kNamedSources)
                               : "";
  return join(named, "; ") + more;
}

}  // namespace

std::vector<FittedModel> fit_models(const std::vector<ThroughputSample>& samples,
                                    const FitModelsOptions& options, const FitProgress& progress) {
  std::map<std::pair<std::string, GpuType>, std::vector<ThroughputSample>> groups;
  for (const ThroughputSample& sample : samples)
    groups[{sample.model, sample.gpu_type}].push_back(sample);
  std::vector<FittedModel> models;
  for (auto& [key, group] : groups) {
    FittedModel model{key.first, key.second, std::move(group), std::nullopt, std::nullopt, {}};
    if (progress) progress(model, models.size(), groups.size());
    fit_one(model, options);
    models.push_back(std::move(model));
  }
  return models;
}

ProfileEntry profile_entry_of(const FittedModel& model, double startup_s) {
  core::Fit fit = *model.fit;
  if (model.held_out) fit.held_out = model.held_out->error;
  return core::to_profile_entry(fit, model.model, model.gpu_type, startup_s,
                                sources_of(model.samples));
}

std::vector<MeasuredAndPredicted> compare(const FittedModel& model) {
  std::vector<MeasuredAndPredicted> points;
  if (model.held_out) {
    for (const core::HeldOutPrediction& prediction : model.held_out->predictions)
      points.push_back({model.samples[prediction.sample].throughput_samples_per_s,
                        prediction.throughput_samples_per_s});
  } else if (model.fit) {
    for (const ThroughputSample& sample : model.samples)
      if (const auto predicted = core::predict_throughput(
              model.fit->coefficients, sample.batch, sample.layout.spread(), kMostModelParallel))
        points.push_back({sample.throughput_samples_per_s, *predicted});
  }
  return points;
}

}  // namespace slackline::control
