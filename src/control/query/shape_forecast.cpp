#include "control/query/shape_forecast.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "slackline/base/text.h"
#include "slackline/core/planning/shapes.h"

namespace slackline::control {
namespace {

int replica_of(const core::Predictor& predictor, const WorkloadQuestion& question) {
  if (question.model_parallel > 0) return question.model_parallel;
  const auto prepared = predictor.prepare(question.model, question.batch, question.gpu_type);
  return prepared ? prepared->model_parallel() : 1;
}

}  // namespace

std::optional<LayoutForecast> forecast_layout(const core::Predictor& predictor,
                                              const WorkloadQuestion& question,
                                              const Layout& layout) {
  const auto speed = predictor.predict(question.model, question.batch, question.gpu_type, layout,
                                       question.model_parallel);
  if (!speed) return std::nullopt;
  LayoutForecast forecast{layout, *speed, std::nullopt};
  if (question.iterations) {
    const ProfileEntry* entry =
        core::entry_of(predictor.profiles(), question.model, question.gpu_type);
    const double startup_s = entry != nullptr ? entry->startup_s : 0;
    forecast.lat_s =
        question.batch * *question.iterations / speed->throughput_samples_per_s + startup_s;
  }
  return forecast;
}

Error why_no_forecast(const core::Predictor& predictor, const WorkloadQuestion& question,
                      const Layout& layout) {
  const int gpus = layout.spread().gpus;
  if (question.batch * replica_of(predictor, question) < gpus)
    return {ErrorCode::kInvalidArgument,
            format("a batch of {} is less than the {} GPUs of {}; give the global batch, of all "
                   "GPUs together, and where several GPUs share one copy of the model, how many: "
                   "--model-parallel",
                   question.batch, gpus, layout.str())};
  std::set<std::string> models;
  std::set<std::string> types;
  for (const ProfileEntry& entry : predictor.profiles().entries()) {
    models.insert(entry.model);
    if (entry.model == question.model) types.insert(entry.gpu_type.str());
  }
  if (types.empty())
    return {ErrorCode::kNotFound, format("the profile has no model {}; it has {}", question.model,
                                         join({models.begin(), models.end()}, ", "))};
  if (!types.contains(question.gpu_type.str()))
    return {
        ErrorCode::kNotFound,
        format("the profile has {} on {}, and nothing from which to predict it on {}",
               question.model, join({types.begin(), types.end()}, ", "), question.gpu_type.str())};
  return {ErrorCode::kNotFound,
          format("the model of {} on {} predicts no progress at batch {} on {}", question.model,
                 question.gpu_type.str(), question.batch, layout.str())};
}

std::vector<ShapeForecast> forecast_shapes(const core::Predictor& predictor,
                                           const WorkloadQuestion& question,
                                           const core::Pool& platform, double theta) {
  core::ShapeOptions options;
  options.batch = static_cast<std::int64_t>(std::min(question.batch, 1e9));
  options.divisible = static_cast<double>(options.batch) == question.batch;
  options.model_parallel = replica_of(predictor, question);
  std::vector<ShapeForecast> rows;
  for (const Placement shape : core::enumerate_placements(platform, options)) {
    auto forecast = forecast_layout(predictor, question, Layout(shape));
    if (!forecast) continue;
    const double cost = core::placement_cost(platform, shape, theta);
    const double speed = forecast->speed.throughput_samples_per_s;
    rows.push_back({*std::move(forecast), cost, core::cer(speed, cost)});
  }
  std::sort(rows.begin(), rows.end(), [](const ShapeForecast& a, const ShapeForecast& b) {
    const auto key = [](const ShapeForecast& row) {
      const Spread spread = row.forecast.layout.spread();
      return std::tuple(-row.cer, spread.gpus, spread.nodes);
    };
    return key(a) < key(b);
  });
  return rows;
}

}  // namespace slackline::control
