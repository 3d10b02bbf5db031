#include "observations.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "slackline/base/text.h"

namespace slackline::core {
namespace {

Status check(const ThroughputSample& sample, int model_parallel) {
  const int replica = sample.model_parallel > 0 ? sample.model_parallel : model_parallel;
  const int gpus = sample.layout.spread().gpus;
  const double throughput = sample.throughput_samples_per_s;
  std::string_view wrong;
  if (!std::isfinite(throughput) || throughput <= 0)
    wrong = "the throughput must be a positive number";
  else if (!std::isfinite(sample.batch) || !(sample.batch > 0) || sample.batch * replica < gpus)
    wrong = "the batch needs at least one sample for each replica of the model";
  if (wrong.empty()) return {};
  return fail(ErrorCode::kInvalidArgument,
              format("sample of batch {} on {} at {} samples/s: {}; drop it or measure again",
                     sample.batch, sample.layout.str(), throughput, wrong));
}

auto key(const Observation& seen) {
  return std::tie(seen.spread, seen.batch);
}

}  // namespace

Result<std::vector<Observation>> observations_of(std::span<const ThroughputSample> samples,
                                                 int model_parallel) {
  if (samples.empty())
    return fail(ErrorCode::kInvalidArgument, "no samples: measure some, or import a file of them");
  std::vector<Observation> sorted;
  for (const ThroughputSample& sample : samples) {
    SLACKLINE_TRY(check(sample, model_parallel));
    sorted.push_back({sample.batch, sample.layout.spread(), sample.throughput_samples_per_s});
  }
  std::sort(sorted.begin(), sorted.end(), [](const Observation& a, const Observation& b) {
    return std::tuple(key(a), a.throughput_samples_per_s) <
           std::tuple(key(b), b.throughput_samples_per_s);
  });
  std::vector<Observation> merged;
  for (auto first = sorted.begin(); first != sorted.end();) {
    double sum = 0;
    std::vector<double> each;
    auto last = first;
    for (; last != sorted.end() && key(*last) == key(*first); ++last) {
      each.push_back(last->throughput_samples_per_s);
      sum += std::log(each.back());
    }
    const auto count = static_cast<double>(each.size());
    merged.push_back({first->batch, first->spread, std::exp(sum / count), count, std::move(each)});
    first = last;
  }
  return merged;
}

std::vector<double> local_batches_of(std::span<const Observation> observations) {
  std::vector<double> batches;
  for (const Observation& seen : observations)
    batches.push_back(seen.local_batch());
  std::sort(batches.begin(), batches.end());
  const auto same = [](double a, double b) { return b <= a * kSameBatch; };
  batches.erase(std::unique(batches.begin(), batches.end(), same), batches.end());
  return batches;
}

}  // namespace slackline::core
