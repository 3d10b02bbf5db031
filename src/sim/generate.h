// The paper's load (000 section 5): Poisson arrivals of tasks with random type, size and class. The
// types are the paper's six networks, as far as there are ranges for them; if there are none for
// any of them, all ranges are used.
//
// Per task, in this order, one draw each: the gap to the task before it (exponential), type, batch,
// iterations (whole number), class, GPUs asked for. The first task whose arrival is not before the
// end is not part of the trace. The same options, ranges and profiles give the same bytes on every
// platform. Times are whole nanoseconds, as trace files state them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/draw_ranges.h"
#include "sim/trace.h"
#include "slackline/base/random.h"
#include "slackline/base/result.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/model/workload.h"

namespace slackline::sim {

// Weights of the classes: 5:35:60.
struct ClassMix {
  double urgent = 5;
  double prior = 35;
  double normal = 60;
};

// "5:35:60"; not negative, not all 0.
Result<ClassMix> parse_class_mix(std::string_view text);

QosClass draw_class(Random& random, const ClassMix& mix);

// kappa of 000 eq 9.
double kappa_of(QosClass qos, const core::DeadlineFactors& kappa);

struct GenerateOptions {
  double rate_per_h = 10;
  double hours = 24;
  std::uint64_t seed = 0;
  ClassMix mix;
  std::vector<int> requests = {1, 2, 4, 8};
  core::DeadlineFactors kappa;
  std::vector<GpuType> gpu_types{};  // that every task accepts (TraceTask)
  GpuType gpu_type;                  // of the first pool: deadlines are kappa x Lat<1,1> on it
};

inline constexpr double kMaxGenerated = 1e6;  // expected tasks

// kInvalidArgument: a rate or duration that is not positive, more than kMaxGenerated tasks, no
// ranges, or a type that the profiles cannot predict on one GPU of the first pool.
Result<Trace> generate_paper000(const GenerateOptions& options,
                                const std::vector<DrawRange>& ranges,
                                const WorkloadProfiles& profiles);

}  // namespace slackline::sim
