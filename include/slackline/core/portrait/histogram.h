// Decaying histograms of usage, after the recommender of Kubernetes' Vertical Pod Autoscaler.
//
// Bucket 0 holds values below `first`; bucket n begins at first (r^n - 1) / (r - 1), r = 1.05, so
// that a bucket is 5 % wider than the one before. The last bucket has no end. A sample of weight w
// at time t counts 2^((t - now) / half-life) w.
//
// Deterministic; samples in another order differ in the rounding of sums alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/portrait.h"

namespace slackline::core {

inline constexpr double kBucketGrowth = 1.05;
// A family that runs every night keeps about ten runs in sight.
inline constexpr double kHalfLife_s = 7 * 24 * 3600.0;

struct HistogramScale {
  double first = 0;        // width of bucket 0
  std::uint16_t last = 0;  // number of the last bucket
};

// CPU 0.001 .. 1000 cores, memory 10 MB .. 1 TB, shares 0.01 .. 1.
HistogramScale scale_of(UsageKind kind);

// Errors of predicted run times, as |ln(observed / predicted)|: 0.01 .. 15.
HistogramScale scale_of_errors();

std::uint16_t bucket_of(const HistogramScale& scale, double value);
double begin_of(const HistogramScale& scale, std::uint16_t bucket);

// Ignored unless value >= 0, weight > 0 and all are finite.
void add_sample(UsageHistogram& histogram, const HistogramScale& scale, double value, double weight,
                double at_s);

UsageHistogram merged(const UsageHistogram& a, const UsageHistogram& b);

// All of its weight as it counts at that time.
double weight_at(const UsageHistogram& histogram, double at_s);

// Where the bucket ends in which the share p (0..1] of the weight is reached, of the last bucket
// where it begins; nullopt of an empty one. Never less than the exact percentile unless that is
// beyond the scale, and at most a bucket more.
std::optional<double> percentile(const UsageHistogram& histogram, const HistogramScale& scale,
                                 double p);

// The bytes to store: 17 and at most 5 per bucket. Weights are rounded to 1 / 10,000 of the
// largest; what rounds to nothing is left out.
std::string packed(const UsageHistogram& histogram);
// kDataLoss: the bytes are of another version, cut off, out of order, or beyond the scale.
Result<UsageHistogram> unpacked(std::string_view bytes, const HistogramScale& scale);

}  // namespace slackline::core
