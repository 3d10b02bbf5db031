#include "slackline/core/portrait/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace slackline::core {
namespace {

constexpr char kPackedVersion = 1;
constexpr std::size_t kPackedHead = 17;  // version, reference_s, the largest weight
constexpr double kPackedSteps = 10'000;
constexpr double kRounding = 1e-9;  // of the whole weight: sums in another order reach it too

std::uint16_t last_bucket(double first, double most) {
  return static_cast<std::uint16_t>(
      std::ceil(std::log(most * (kBucketGrowth - 1) / first + 1) / std::log(kBucketGrowth)));
}

// Weights at `reference_s`, which is a whole number of half-lives: moving it is a shift of the
// exponent, without rounding.
void move_reference(UsageHistogram& histogram, double reference_s) {
  if (histogram.buckets.empty() || reference_s == histogram.reference_s) {
    histogram.reference_s = reference_s;
    return;
  }
  const double factor = std::exp2((histogram.reference_s - reference_s) / kHalfLife_s);
  for (UsageHistogram::Bucket& bucket : histogram.buckets)
    bucket.weight *= factor;
  std::erase_if(histogram.buckets, [](const auto& bucket) { return !(bucket.weight > 0); });
  histogram.reference_s = reference_s;
}

void add_weight(UsageHistogram& histogram, std::uint16_t number, double weight) {
  if (!(weight > 0)) return;
  auto at = std::lower_bound(
      histogram.buckets.begin(), histogram.buckets.end(), number,
      [](const auto& bucket, std::uint16_t wanted) { return bucket.number < wanted; });
  if (at == histogram.buckets.end() || at->number != number)
    at = histogram.buckets.insert(at, {number, 0});
  at->weight += weight;
}

double largest_weight(const UsageHistogram& histogram) {
  double largest = 0;
  for (const UsageHistogram::Bucket& bucket : histogram.buckets)
    largest = std::max(largest, bucket.weight);
  return largest;
}

void put_double(std::string& bytes, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned shift = 0; shift < 64; shift += 8)
    bytes.push_back(static_cast<char>((bits >> shift) & 0xffU));
}

double double_at(std::string_view bytes, std::size_t at) {
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < 8; ++i)
    bits |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return std::bit_cast<double>(bits);
}

// Seven bits a byte, the lowest first; the top bit says that more follow.
void put_number(std::string& bytes, std::uint32_t value) {
  for (; value >= 0x80U; value >>= 7U)
    bytes.push_back(static_cast<char>(0x80U | (value & 0x7fU)));
  bytes.push_back(static_cast<char>(value));
}

std::optional<std::uint32_t> take_number(std::string_view& bytes) {
  std::uint32_t value = 0;
  for (unsigned shift = 0; shift < 21 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= (byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

}  // namespace

HistogramScale scale_of(UsageKind kind) {
  constexpr double kLeastCores = 0.001;
  constexpr double kMostCores = 1000;
  constexpr double kLeastBytes = 1e7;
  constexpr double kMostBytes = 1e12;
  constexpr double kLeastShare = 0.01;
  if (kind == UsageKind::kCpu) return {kLeastCores, last_bucket(kLeastCores, kMostCores)};
  if (kind == UsageKind::kMemory) return {kLeastBytes, last_bucket(kLeastBytes, kMostBytes)};
  return {kLeastShare, last_bucket(kLeastShare, 1)};
}

HistogramScale scale_of_errors() {
  constexpr double kLeastError = 0.01;
  constexpr double kMostError = 15;
  return {kLeastError, last_bucket(kLeastError, kMostError)};
}

std::uint16_t bucket_of(const HistogramScale& scale, double value) {
  if (value < scale.first) return 0;
  const double number =
      std::floor(std::log(value * (kBucketGrowth - 1) / scale.first + 1) / std::log(kBucketGrowth));
  return static_cast<std::uint16_t>(std::min(number, static_cast<double>(scale.last)));
}

double begin_of(const HistogramScale& scale, std::uint16_t bucket) {
  return scale.first * (std::pow(kBucketGrowth, bucket) - 1) / (kBucketGrowth - 1);
}

void add_sample(UsageHistogram& histogram, const HistogramScale& scale, double value, double weight,
                double at_s) {
  if (!std::isfinite(value) || !std::isfinite(weight) || !std::isfinite(at_s)) return;
  if (value < 0 || weight <= 0) return;
  const double reference_s = std::floor(at_s / kHalfLife_s) * kHalfLife_s;
  if (histogram.buckets.empty() || reference_s > histogram.reference_s)
    move_reference(histogram, reference_s);
  add_weight(histogram, bucket_of(scale, value),
             weight * std::exp2((at_s - histogram.reference_s) / kHalfLife_s));
}

double weight_at(const UsageHistogram& histogram, double at_s) {
  double sum = 0;
  for (const UsageHistogram::Bucket& bucket : histogram.buckets)
    sum += bucket.weight;
  return sum * std::exp2((histogram.reference_s - at_s) / kHalfLife_s);
}

UsageHistogram merged(const UsageHistogram& a, const UsageHistogram& b) {
  if (a.buckets.empty()) return b;
  if (b.buckets.empty()) return a;
  UsageHistogram sum = a;
  UsageHistogram other = b;
  const double reference_s = std::max(a.reference_s, b.reference_s);
  move_reference(sum, reference_s);
  move_reference(other, reference_s);
  for (const UsageHistogram::Bucket& bucket : other.buckets)
    add_weight(sum, bucket.number, bucket.weight);
  return sum;
}

std::optional<double> percentile(const UsageHistogram& histogram, const HistogramScale& scale,
                                 double p) {
  if (histogram.buckets.empty()) return std::nullopt;
  double whole = 0;
  for (const UsageHistogram::Bucket& bucket : histogram.buckets)
    whole += bucket.weight;
  const double wanted = (p - kRounding) * whole;
  double below = 0;
  std::uint16_t reached = histogram.buckets.back().number;
  for (const UsageHistogram::Bucket& bucket : histogram.buckets) {
    below += bucket.weight;
    if (below < wanted) continue;
    reached = bucket.number;
    break;
  }
  const bool last = reached >= scale.last;
  return begin_of(scale, last ? scale.last : static_cast<std::uint16_t>(reached + 1));
}

std::string packed(const UsageHistogram& histogram) {
  std::string bytes(1, kPackedVersion);
  const double largest = largest_weight(histogram);
  put_double(bytes, histogram.reference_s);
  put_double(bytes, largest);
  std::uint32_t before = 0;
  for (const UsageHistogram::Bucket& bucket : histogram.buckets) {
    const auto steps =
        static_cast<std::uint32_t>(std::lround(bucket.weight / largest * kPackedSteps));
    if (steps == 0) continue;
    put_number(bytes, bucket.number - before);
    put_number(bytes, steps);
    before = bucket.number;
  }
  return bytes;
}

Result<UsageHistogram> unpacked(std::string_view bytes, const HistogramScale& scale) {
  const auto damaged = [](std::string_view what) {
    return slackline::fail(ErrorCode::kDataLoss, "histogram: " + std::string(what));
  };
  if (bytes.size() < kPackedHead) return damaged("shorter than its head");
  if (bytes.front() != kPackedVersion) return damaged("of another version");
  UsageHistogram histogram;
  histogram.reference_s = double_at(bytes, 1);
  const double largest = double_at(bytes, 9);
  if (!std::isfinite(histogram.reference_s) || !std::isfinite(largest) || largest < 0)
    return damaged("its head is no number");
  bytes.remove_prefix(kPackedHead);
  std::uint32_t number = 0;
  while (!bytes.empty()) {
    const auto step = take_number(bytes);
    const auto weight = take_number(bytes);
    if (!step || !weight) return damaged("cut off");
    number += *step;
    if (*weight == 0 || *weight > kPackedSteps || !(largest > 0))
      return damaged("a weight is wrong");
    if ((*step == 0 && !histogram.buckets.empty()) || number > scale.last)
      return damaged("a bucket is out of place");
    histogram.buckets.push_back(
        {static_cast<std::uint16_t>(number), *weight / kPackedSteps * largest});
  }
  return histogram;
}

}  // namespace slackline::core
