// How well throughput models predict large models on modern GPUs: public figures, read from
// $SLACKLINE_SHARED/data/modern (default ../shared/data). The bars are those of
// docs/study/modern.md.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "slackline/core/throughput/held_out.h"
#include "slackline/core/throughput/predictor.h"
#include "support/source_path.h"

namespace slackline::core {
namespace {

using Samples = std::vector<ThroughputSample>;
using Pairs = std::map<std::pair<std::string, GpuType>, Samples>;

std::filesystem::path modern_folder() {
  return test::shared_path("data/modern");
}

// Columns model, gpu_type, batch, placement, throughput_samples_per_s; no cell before has a comma.
Pairs read_pairs(const char* name) {
  std::ifstream file(modern_folder() / name);
  std::string line;
  std::getline(file, line);
  Pairs pairs;
  while (std::getline(file, line)) {
    const auto cells = split(line, ',');
    ThroughputSample sample;
    sample.model = cells.at(0);
    sample.gpu_type = GpuType(cells.at(1));
    sample.batch = parse_number(cells.at(2)).value();
    sample.layout = parse_layout(cells.at(3)).value();
    sample.throughput_samples_per_s = parse_number(cells.at(4)).value();
    pairs[{sample.model, sample.gpu_type}].push_back(std::move(sample));
  }
  return pairs;
}

double held_out_error(const Samples& samples) {
  const auto report = evaluate(samples, {}, HoldOut{});
  EXPECT_TRUE(report) << samples.front().model << ": " << report.error().message;
  return report ? report->error.mean : 100;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

ProfileEntry entry_of(const Samples& samples) {
  const auto report = evaluate(samples, {}, HoldOut{});
  const Fit fit = report ? report->fit : fit_throughput(samples).value();
  return to_profile_entry(fit, samples.front().model, samples.front().gpu_type, 0, "");
}

// Predictions of samples, and the share of them within the interval.
struct Tally {
  std::vector<double> errors;
  int held = 0;

  void add(const std::optional<Prediction>& found, double measured) {
    if (!found) return;
    errors.push_back(100 * std::abs(found->throughput_samples_per_s / measured - 1));
    held += found->low <= measured && measured <= found->high ? 1 : 0;
  }
  double share() const { return held / static_cast<double>(errors.size()); }
};

class ModernAccuracy : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(modern_folder() / "modern.csv"))
      GTEST_SKIP() << "SKIPPED: no figures in " << modern_folder() << "; set SLACKLINE_SHARED";
  }
};

TEST_F(ModernAccuracy, OfPlacementsLeftOut) {
  std::map<std::string, std::vector<double>> by_type;
  std::vector<double> all;
  for (const auto& [key, samples] : read_pairs("modern.csv")) {
    if (samples.size() < 4) continue;
    all.push_back(held_out_error(samples));
    by_type[key.second.str()].push_back(all.back());
  }
  ASSERT_GE(all.size(), 30U);
  EXPECT_LE(mean_of(by_type.at("H100-SXM")), 8);
  EXPECT_LE(mean_of(by_type.at("A100-SXM-80GB")), 11);
  EXPECT_LE(median_of(all), 10);
}

TEST_F(ModernAccuracy, OfOneBatchPerGpu) {
  const Pairs pairs = read_pairs("modern.csv");
  for (const auto& [model, type] :
       {std::pair("flux.1-256", "B200-SXM"), std::pair("mpt-7b-2048", "H100-SXM")})
    EXPECT_LE(held_out_error(pairs.at({model, GpuType(type)})), 10) << model;
}

TEST_F(ModernAccuracy, OfModelParallelRuns) {
  std::vector<double> errors;
  for (const auto& [key, samples] : read_pairs("model_parallel.csv"))
    if (samples.size() >= 3) errors.push_back(held_out_error(samples));
  ASSERT_GE(errors.size(), 8U);
  EXPECT_LE(mean_of(errors), 8);
}

TEST_F(ModernAccuracy, IntervalsHoldWhatWasLeftOut) {
  Tally tally;
  for (const auto& [key, samples] : read_pairs("modern.csv")) {
    std::map<Layout, Samples> layouts;
    for (const ThroughputSample& sample : samples)
      layouts[sample.layout].push_back(sample);
    if (samples.size() < 4 || layouts.size() < 2) continue;
    for (const auto& [layout, left_out] : layouts) {
      Samples known;
      for (const ThroughputSample& sample : samples)
        if (sample.layout != layout) known.push_back(sample);
      const ProfileEntry entry = entry_of(known);
      for (const ThroughputSample& sample : left_out)
        tally.add(PreparedModel(entry, sample.batch).predict(layout.spread()),
                  sample.throughput_samples_per_s);
    }
  }
  EXPECT_GE(tally.share(), 0.85);
  EXPECT_LE(tally.share(), 0.97);
}

TEST_F(ModernAccuracy, OfWholeTypesLeftOut) {
  const Pairs pairs = read_pairs("modern.csv");
  std::map<GpuType, std::vector<ProfileEntry>> entries;
  for (const auto& [key, samples] : pairs)
    entries[key.second].push_back(entry_of(samples));
  Tally tally;
  for (const auto& [type, own] : entries) {
    std::vector<ProfileEntry> others;
    for (const auto& [other, theirs] : entries)
      if (other != type) others.insert(others.end(), theirs.begin(), theirs.end());
    const Predictor predictor{WorkloadProfiles(std::move(others))};
    for (const auto& [key, samples] : pairs) {
      if (key.second != type || !predictor.profiles().knows_model(key.first)) continue;
      for (const ThroughputSample& sample : samples) {
        const auto found = predictor.predict(sample.model, sample.batch, type, sample.layout);
        if (found) {
          EXPECT_EQ(found->source, PredictionSource::kSimilarType) << type.str();
        }
        tally.add(found, sample.throughput_samples_per_s);
      }
    }
  }
  ASSERT_GT(tally.errors.size(), 200U);
  EXPECT_LE(median_of(tally.errors), 15);
  EXPECT_GE(tally.share(), 0.8);
}

}  // namespace
}  // namespace slackline::core
