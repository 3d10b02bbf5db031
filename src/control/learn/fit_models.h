// Fitting a heap of samples: one throughput model per model and GPU type, each with the error it
// makes on samples it was not fitted to. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "slackline/core/throughput/fit.h"
#include "slackline/core/throughput/held_out.h"

namespace slackline::control {

struct FitModelsOptions {
  core::FitOptions fit;
  std::optional<core::HoldOut> hold_out = core::HoldOut{};  // absent: nothing is held out
};

// One model on one GPU type. `problem` says why there is no fit, or why there is one whose held-out
// error could not be measured.
struct FittedModel {
  std::string model;
  GpuType gpu_type;
  std::vector<ThroughputSample> samples;
  std::optional<core::Fit> fit;
  std::optional<core::HoldOutReport> held_out;  // its predictions index `samples`
  std::string problem;
};

// Called before each model: which one, its number from 0, how many there are.
using FitProgress =
    std::function<void(const FittedModel& model, std::size_t number, std::size_t count)>;

// By (model, GPU type); the samples of each keep their order.
std::vector<FittedModel> fit_models(const std::vector<ThroughputSample>& samples,
                                    const FitModelsOptions& options,
                                    const FitProgress& progress = {});

// The profile row of a fit. The sources of its samples become the row's; `startup_s` is v of 000 eq
// 4, which throughput cannot tell.
ProfileEntry profile_entry_of(const FittedModel& model, double startup_s);

// What the fit says about each of its samples where that was held out, else about all of them.
struct MeasuredAndPredicted {
  double measured = 0;  // samples per second
  double predicted = 0;
};
std::vector<MeasuredAndPredicted> compare(const FittedModel& model);

}  // namespace slackline::control
