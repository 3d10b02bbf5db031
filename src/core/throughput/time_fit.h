// The common part of the kinds that model the time of an iteration: their fit in units of the data.
//
// Residuals are log(predicted / measured), robust beyond 10 % or what the kind says. The optimiser
// works on times in units of the median iteration and batches in units of the largest one, so
// bounds, starts and priors are plain numbers that hold for every model and GPU.
#pragma once

#include <span>
#include <vector>

#include "observations.h"

namespace slackline::core {

enum class Dimension { kTime, kLogTime, kTimePerSample, kRatio, kLogBatch };

// A coefficient in units of the data. `prior_spread` 0: no prior; else a weak pull towards `prior`,
// as strong as one sample off by TimeModel::outlier for each spread away.
struct TimeCoefficient {
  Dimension dimension = Dimension::kRatio;
  double low = 0;
  double high = 0;
  double start = 0;
  double prior = 0;
  double prior_spread = 0;
};

// A value that one more start of the optimiser has instead.
struct OtherStart {
  std::size_t coefficient = 0;
  double value = 0;
};

struct TimeModel {
  std::vector<TimeCoefficient> coefficients;
  std::vector<std::vector<OtherStart>> other_starts;
  // Seconds of one iteration, > 0; homogeneous in the dimensions of its coefficients.
  double (*iteration_s)(std::span<const double> params, double local_batch,
                        Spread spread) = nullptr;
  double outlier = 0.1;  // log residuals beyond it count linearly
};

// The params in seconds and samples.
std::vector<double> fit_time(const TimeModel& model, std::span<const Observation> observations,
                             Effort effort);

// A coefficient that the observations do not determine is fixed at `value`.
void fix(TimeCoefficient& coefficient, double value);

// The largest batch of one GPU: the unit of batches.
double batch_unit(std::span<const Observation> observations);

// Whether any observation has several GPUs on one node; has several nodes.
bool seen_in_node(std::span<const Observation> observations);
bool seen_across_nodes(std::span<const Observation> observations);

// Computation and communication that overlap in part (Pollux, OSDI'21): (x^p + y^p)^(1/p), the sum
// for p = 1, towards the larger one for a large p. x, y >= 0.
double overlapped(double x, double y, double p);

}  // namespace slackline::core
