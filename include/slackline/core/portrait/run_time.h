// How long a run will take, by what the family's own runs took (source "history").
//
// Only runs that succeeded, on the same GPU type. With three runs or more on as many GPUs, these
// alone; else those on other numbers of GPUs too, scaled to the number asked for: by the throughput
// model where the caller has one, else by how run times fell with GPUs in the family's own past.
//
// The interval is earned. A portrait keeps how far off its predictions were, each made from the
// runs that had ended when the run began (add_run); the interval is as wide as the error that 19 of
// 20 of them stay below, so that nine of ten next runs do although families change. Families that
// run less than 19 times in two weeks are judged by the runs that are still remembered, each
// predicted by the median of those before it. Nobody knows that error of fewer than 19 predictions:
// until then the interval reaches at least from a fifth to five times the median.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "slackline/model/portrait.h"

namespace slackline::core {

struct RunTimeFromHistory {
  double median_s = 0;
  double low_s = 0;  // 9 of 10 runs end between the two
  double high_s = 0;
  int runs = 0;
  bool scaled = false;  // with runs on other numbers of GPUs
  bool earned = false;  // the interval is measured, not assumed
};

// How many times as long a run takes on the GPUs asked for as on `gpus`; nullopt: the model does
// not say.
using RunTimeRatio = std::function<std::optional<double>(int gpus)>;

// `past` by the ends of runs, as Portrait::past. nullopt: no run says anything.
std::optional<RunTimeFromHistory> run_time_from(std::span<const PastRun> past,
                                                const GpuType& gpu_type, int gpus,
                                                const RunTimeRatio& by_model = {});

// The same with what the portrait knows of its errors.
std::optional<RunTimeFromHistory> run_time_of(const Portrait& portrait, const GpuType& gpu_type,
                                              int gpus, const RunTimeRatio& by_model = {});

// What another family took, as a guess at this one: the interval reaches at least from a fifth to
// five times the median, and is not earned.
RunTimeFromHistory borrowed(RunTimeFromHistory time);

// |ln(observed / predicted)| of a run that is over, by what was known when it began; where none of
// the runs that are still remembered had ended then, by all of them. nullopt: none says anything.
std::optional<double> error_of_past(std::span<const PastRun> past, const PastRun& run);

}  // namespace slackline::core
