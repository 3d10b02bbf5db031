// Throughput samples for tests: single ones, and whole grids that a known model would measure.
#pragma once

#include <cmath>
#include <random>
#include <string_view>
#include <vector>

#include "slackline/core/throughput/throughput.h"
#include "slackline/model/sample.h"

namespace slackline::test {

inline ThroughputSample a_sample(double batch, std::string_view layout, double throughput) {
  ThroughputSample sample;
  sample.model = "resnet50";
  sample.gpu_type = GpuType("T4");
  sample.batch = batch;
  sample.layout = parse_layout(layout).value();
  sample.throughput_samples_per_s = throughput;
  return sample;
}

inline const std::vector<std::string_view> kLayouts{"1x1", "1x2", "1x4", "2x1", "2x2",   "2x4",
                                                    "4x1", "4x2", "4x4", "2+1", "4+3+1", "4+4+1"};

// Every layout with every batch of one GPU, as the coefficients predict it, off by about `noise`.
inline std::vector<ThroughputSample> measured_by(
    const Coefficients& truth, const std::vector<double>& local_batches, double noise = 0,
    const std::vector<std::string_view>& layouts = kLayouts) {
  std::mt19937 random(7);
  std::vector<ThroughputSample> samples;
  for (const std::string_view layout : layouts)
    for (const double local_batch : local_batches) {
      ThroughputSample sample = a_sample(1, layout, 1);
      const Spread spread = sample.layout.spread();
      sample.batch = local_batch * spread.gpus;
      const double off = std::uniform_real_distribution(-noise, noise)(random);
      sample.throughput_samples_per_s =
          core::predict_throughput(truth, sample.batch, spread).value() * std::exp(off);
      samples.push_back(sample);
    }
  return samples;
}

}  // namespace slackline::test
