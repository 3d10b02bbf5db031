#include "slackline/core/throughput/fit.h"

#include <algorithm>

#include "choose.h"
#include "errors.h"
#include "kinds.h"
#include "slackline/base/text.h"
#include "slackline/core/throughput/model_parallel.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::core {
namespace {

Result<KindChoice> kind_for(std::span<const Observation> observations, const std::string& wanted) {
  if (wanted == kAutoKind) return choose_kind(observations);
  const ThroughputKind* kind = find_kind(wanted);
  if (kind == nullptr)
    return fail(ErrorCode::kInvalidArgument,
                format("unknown kind of throughput model \"{}\"; there are {} and {}",
                       printable(wanted, 64), fmt::join(fittable_kinds(), ", "), kAutoKind));
  SLACKLINE_TRY(fittable(*kind, observations));
  return KindChoice{kind, std::nullopt};
}

template <class Range, class Number>
void widen(Range& range, Number value, bool first) {
  range.least = first ? value : std::min(range.least, value);
  range.most = first ? value : std::max(range.most, value);
}

void set_ranges(std::span<const Observation> observations, int model_parallel, Fit& fit) {
  bool first = true;
  for (const Observation& seen : observations) {
    widen(fit.batch_range, seen.local_batch() * model_parallel, first);
    widen(fit.gpus_range, seen.spread.gpus, first);
    widen(fit.nodes_range, seen.spread.nodes, first);
    first = false;
  }
}

}  // namespace

Result<Fit> fit_throughput(std::span<const ThroughputSample> samples, const FitOptions& options) {
  const ModelParallel parallel = model_parallel_of(samples);
  SLACKLINE_ASSIGN(const std::vector<Observation> observations,
                   observations_of(samples, parallel.gpus));
  SLACKLINE_ASSIGN(const KindChoice choice, kind_for(observations, options.kind));
  Fit fit;
  fit.coefficients = {std::string(choice.kind->name),
                      choice.kind->fit(observations, Effort::kFull)};
  fit.points = static_cast<int>(samples.size());
  fit.held_out = choice.held_out;
  std::vector<double> errors;
  for (const ThroughputSample& sample : samples)
    errors.push_back(absolute_percentage_error(
        choice.kind->predict(fit.coefficients.params, sample.batch, sample.layout.spread()),
        sample.throughput_samples_per_s));
  fit.in_sample_mape = summary_of(std::move(errors)).mean;
  set_ranges(observations, parallel.gpus, fit);
  fit.model_parallel = parallel.gpus;
  fit.model_parallel_derived = parallel.derived;
  return fit;
}

ProfileEntry to_profile_entry(const Fit& fit, std::string model, GpuType gpu_type, double startup_s,
                              std::string source) {
  ProfileEntry entry;
  entry.model = std::move(model);
  entry.gpu_type = std::move(gpu_type);
  entry.coefficients = fit.coefficients;
  entry.startup_s = startup_s;
  entry.points = fit.points;
  entry.source = std::move(source);
  entry.batch_range = fit.batch_range;
  entry.gpus_range = fit.gpus_range;
  entry.nodes_range = fit.nodes_range;
  entry.model_parallel = fit.model_parallel;
  entry.model_parallel_derived = fit.model_parallel_derived;
  if (fit.held_out) {
    entry.held_out_mape = fit.held_out->mean;
    entry.held_out_p90 = fit.held_out->p90;
  }
  return entry;
}

}  // namespace slackline::core
