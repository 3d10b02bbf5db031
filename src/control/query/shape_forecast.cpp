#include "control/query/shape_forecast.h"

#include <algorithm>
#include <tuple>

#include "slackline/core/shapes.h"

namespace slackline::control {

std::optional<LayoutForecast> forecast_layout(const core::Predictor& predictor,
                                              const WorkloadQuestion& question,
                                              const Layout& layout) {
  const auto speed = predictor.predict(question.model, question.batch, question.gpu_type, layout);
  if (!speed) return std::nullopt;
  LayoutForecast forecast{layout, *speed, std::nullopt};
  if (question.iterations) {
    const ProfileEntry* entry = predictor.profiles().find(question.model, question.gpu_type);
    const double startup_s = entry != nullptr ? entry->startup_s : 0;
    forecast.lat_s =
        question.batch * *question.iterations / speed->throughput_samples_per_s + startup_s;
  }
  return forecast;
}

std::vector<ShapeForecast> forecast_shapes(const core::Predictor& predictor,
                                           const WorkloadQuestion& question,
                                           const core::Pool& platform, double theta) {
  core::ShapeOptions options;
  options.batch = static_cast<std::int64_t>(std::min(question.batch, 1e9));
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
