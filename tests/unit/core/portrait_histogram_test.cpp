// Decaying histograms: percentiles, fading, merging, and the bytes that are stored.
#include <limits>

#include <gtest/gtest.h>

#include "slackline/core/portrait/histogram.h"

namespace slackline::core {
namespace {

constexpr double kOneDay_s = 86400;
const HistogramScale kMemoryScale = scale_of(UsageKind::kMemory);
const HistogramScale kCpuScale = scale_of(UsageKind::kCpu);

TEST(PortraitHistogram, BucketsAreThoseOfTheVerticalPodAutoscaler) {
  EXPECT_EQ(kMemoryScale.last, 175);  // 176 buckets, of which the last has no end
  EXPECT_DOUBLE_EQ(begin_of(kMemoryScale, 1), 1e7);
  EXPECT_DOUBLE_EQ(begin_of(kMemoryScale, 2), 1e7 * 2.05);
  for (std::uint16_t bucket = 0; bucket <= kMemoryScale.last; ++bucket) {
    const double inside = begin_of(kMemoryScale, bucket) + kMemoryScale.first / 2;
    EXPECT_EQ(bucket_of(kMemoryScale, inside), bucket);
  }
  EXPECT_EQ(bucket_of(kMemoryScale, 1e300), kMemoryScale.last);
}

TEST(PortraitHistogram, APercentileIsAtMostABucketAboveTheExactOne) {
  UsageHistogram histogram;
  for (int i = 1; i <= 100; ++i)
    add_sample(histogram, kCpuScale, i / 10.0, 60, 0);
  for (const double p : {0.01, 0.5, 0.9, 1.0}) {
    const double exact = p * 10;
    const auto found = percentile(histogram, kCpuScale, p);
    ASSERT_TRUE(found);
    EXPECT_GE(*found, exact);
    EXPECT_LE(*found, exact * kBucketGrowth + kCpuScale.first * 2);
  }
}

TEST(PortraitHistogram, AnEmptyOneHasNoPercentile) {
  UsageHistogram histogram;
  add_sample(histogram, kCpuScale, -1, 60, 0);
  add_sample(histogram, kCpuScale, 1, 0, 0);
  add_sample(histogram, kCpuScale, std::numeric_limits<double>::quiet_NaN(), 60, 0);
  EXPECT_EQ(percentile(histogram, kCpuScale, 0.5), std::nullopt);
}

TEST(PortraitHistogram, OldSamplesFade) {
  UsageHistogram histogram;
  add_sample(histogram, kCpuScale, 8, 100, 0);
  add_sample(histogram, kCpuScale, 1, 60, kHalfLife_s);  // the older one counts 50 by now
  EXPECT_LT(*percentile(histogram, kCpuScale, 0.5), 2);
  EXPECT_GT(*percentile(histogram, kCpuScale, 0.6), 7);
  // A late sample of long ago counts as little as if it had come in time.
  UsageHistogram late;
  add_sample(late, kCpuScale, 1, 60, kHalfLife_s);
  add_sample(late, kCpuScale, 8, 100, 0);
  EXPECT_EQ(late, histogram);
}

TEST(PortraitHistogram, MergingIsAsIfOneHadSeenAll) {
  UsageHistogram one;
  UsageHistogram other;
  UsageHistogram all;
  for (int i = 0; i < 40; ++i) {
    UsageHistogram& half = i % 3 == 0 ? one : other;
    add_sample(half, kCpuScale, 0.1 * i, 60, i * kOneDay_s);
    add_sample(all, kCpuScale, 0.1 * i, 60, i * kOneDay_s);
  }
  const UsageHistogram sum = merged(one, other);
  EXPECT_EQ(sum.reference_s, all.reference_s);
  ASSERT_EQ(sum.buckets.size(), all.buckets.size());
  for (std::size_t i = 0; i < sum.buckets.size(); ++i)
    EXPECT_NEAR(sum.buckets[i].weight / all.buckets[i].weight, 1, 1e-12);
  EXPECT_EQ(merged(one, {}), one);
  EXPECT_EQ(merged({}, one), one);
}

TEST(PortraitHistogram, StoredBytesAreFewAndKeepThePercentiles) {
  UsageHistogram histogram;
  for (int i = 0; i < 1000; ++i)
    add_sample(histogram, kCpuScale, 0.5 + (i * 37 % 100) * 0.1, 60, i * 3600.0);
  const std::string bytes = packed(histogram);
  EXPECT_LT(bytes.size(), 400U);
  const auto back = unpacked(bytes, kCpuScale);
  ASSERT_TRUE(back) << back.error().message;
  for (const double p : {0.1, 0.5, 0.9, 0.99})
    EXPECT_EQ(percentile(*back, kCpuScale, p), percentile(histogram, kCpuScale, p));
  EXPECT_EQ(packed(*back), bytes);
  EXPECT_EQ(*unpacked(packed({}), kCpuScale), UsageHistogram{});
}

TEST(PortraitHistogram, DamagedBytesAreRefused) {
  UsageHistogram histogram;
  add_sample(histogram, kCpuScale, 100, 60, 0);
  add_sample(histogram, kCpuScale, 900, 30, 0);
  const std::string bytes = packed(histogram);
  for (std::size_t length = 0; length < 17; ++length)
    EXPECT_FALSE(unpacked(bytes.substr(0, length), kCpuScale));
  EXPECT_FALSE(unpacked(bytes.substr(0, bytes.size() - 1), kCpuScale));
  EXPECT_FALSE(unpacked("\x02" + bytes.substr(1), kCpuScale));
  EXPECT_FALSE(unpacked(bytes, scale_of(UsageKind::kGpu)));  // beyond that scale
  EXPECT_FALSE(unpacked(bytes + std::string("\0\x01", 2), kCpuScale));
  EXPECT_FALSE(unpacked(bytes + std::string("\x01\0", 2), kCpuScale));
}

}  // namespace
}  // namespace slackline::core
