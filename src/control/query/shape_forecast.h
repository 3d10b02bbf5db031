// What each shape of a platform would give a workload: speed with its interval, time, cost and CER
// (000 eq 4, 10, 11). Without a cluster and a task, as `slackline predict` asks. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/core/planning/cost.h"
#include "slackline/core/throughput/predictor.h"
#include "slackline/model/placement.h"

namespace slackline::control {

struct WorkloadQuestion {
  std::string model;
  double batch = 0;  // global
  GpuType gpu_type;
  std::optional<double> iterations;
  int model_parallel = 0;  // GPUs of a replica; 0: as the model has it
};

struct LayoutForecast {
  Layout layout;
  core::Prediction speed;
  std::optional<double> lat_s;  // with iterations: start to finish
};

// nullopt: the model cannot be predicted there (core::Predictor::predict).
std::optional<LayoutForecast> forecast_layout(const core::Predictor& predictor,
                                              const WorkloadQuestion& question,
                                              const Layout& layout);

// Why there is no forecast, and what there could be one for. kNotFound.
Error why_no_forecast(const core::Predictor& predictor, const WorkloadQuestion& question,
                      const Layout& layout);

struct ShapeForecast {
  LayoutForecast forecast;
  double cost = 0;
  double cer = 0;
};

// All shapes of `platform` that can be predicted, by CER descending, then GPUs, then nodes.
std::vector<ShapeForecast> forecast_shapes(const core::Predictor& predictor,
                                           const WorkloadQuestion& question,
                                           const core::Pool& platform, double theta);

}  // namespace slackline::control
