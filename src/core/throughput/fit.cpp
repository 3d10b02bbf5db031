#include "slackline/core/fit.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "kinds.h"
#include "slackline/base/text.h"
#include "slackline/core/throughput.h"

namespace slackline::core {
namespace {

Result<std::vector<Observation>> observations_of(std::span<const ThroughputSample> samples) {
  if (samples.empty()) return fail(ErrorCode::kInvalidArgument, "no samples to fit to");
  std::vector<Observation> out;
  for (const ThroughputSample& sample : samples) {
    const Spread spread = sample.layout.spread();
    const bool good = std::isfinite(sample.throughput_samples_per_s) &&
                      sample.throughput_samples_per_s > 0 && std::isfinite(sample.batch) &&
                      sample.batch >= spread.gpus;
    if (!good)
      return fail(ErrorCode::kInvalidArgument,
                  format("sample of batch {} on {}: {} samples/s: the throughput must be positive, "
                         "and the batch have a sample for each GPU; drop it or measure again",
                         sample.batch, sample.layout.str(), sample.throughput_samples_per_s));
    out.push_back({sample.batch, spread, sample.throughput_samples_per_s});
  }
  std::sort(out.begin(), out.end(), [](const Observation& a, const Observation& b) {
    return std::tuple(a.spread, a.batch, a.throughput_samples_per_s) <
           std::tuple(b.spread, b.batch, b.throughput_samples_per_s);
  });
  return out;
}

void set_ranges(std::span<const Observation> observations, Fit& fit) {
  const Observation& first = observations.front();
  fit.batch_range = {first.batch / first.spread.gpus, first.batch / first.spread.gpus};
  fit.gpus_range = {first.spread.gpus, first.spread.gpus};
  fit.nodes_range = {first.spread.nodes, first.spread.nodes};
  for (const Observation& seen : observations) {
    const double local_batch = seen.batch / seen.spread.gpus;
    fit.batch_range.least = std::min(fit.batch_range.least, local_batch);
    fit.batch_range.most = std::max(fit.batch_range.most, local_batch);
    fit.gpus_range.least = std::min(fit.gpus_range.least, seen.spread.gpus);
    fit.gpus_range.most = std::max(fit.gpus_range.most, seen.spread.gpus);
    fit.nodes_range.least = std::min(fit.nodes_range.least, seen.spread.nodes);
    fit.nodes_range.most = std::max(fit.nodes_range.most, seen.spread.nodes);
  }
}

}  // namespace

Result<Fit> fit_throughput(std::span<const ThroughputSample> samples, const FitOptions& options) {
  SLACKLINE_ASSIGN(const std::vector<Observation> observations, observations_of(samples));
  const ThroughputKind* kind = find_kind(options.kind == kAutoKind ? "S" : options.kind);
  if (kind == nullptr)
    return fail(
        ErrorCode::kInvalidArgument,
        format("unknown kind of throughput model \"{}\"; there are {} and {}",
               printable(options.kind, 64), fmt::join(throughput_kinds(), ", "), kAutoKind));
  Fit fit;
  fit.coefficients.kind = kind->name;
  SLACKLINE_ASSIGN(fit.coefficients.params, kind->fit(observations));
  fit.points = static_cast<int>(observations.size());
  for (const Observation& seen : observations)
    fit.in_sample_mape += 100 / static_cast<double>(observations.size()) *
                          std::abs(kind->predict(fit.coefficients.params, seen.batch, seen.spread) /
                                       seen.throughput_samples_per_s -
                                   1);
  set_ranges(observations, fit);
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
  if (fit.held_out) {
    entry.held_out_mape = fit.held_out->mean;
    entry.held_out_p90 = fit.held_out->p90;
  }
  return entry;
}

}  // namespace slackline::core
