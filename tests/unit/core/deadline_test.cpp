// The promise of a class: by the slowest type, as well as anything is known of it.
#include "slackline/core/planning/deadline.h"

#include <gtest/gtest.h>

#include "support/profiles.h"

namespace slackline::core {
namespace {

TaskIntent trains(const std::string& model) {
  TaskIntent intent;
  intent.model = model;
  intent.batch_size = 64;
  intent.iterations = 1000;
  return intent;
}

// 100 samples/s on one GPU of the K80, 400 of the V100.
Predictor predictor(std::vector<ThroughputSample> samples = {}) {
  return Predictor(
      WorkloadProfiles{{test::a_profile("resnet50", GpuType("K80"), {"S", {100, 0, 0, 0, 1}}),
                        test::a_profile("resnet50", GpuType("V100"), {"S", {400, 0, 0, 0, 1}})}},
      samples);
}

std::optional<ReferenceRun> reference_run(const TaskIntent& intent, const Predictor& predictor,
                                          const std::vector<GpuType>& types,
                                          std::string_view resource = "nvidia.com/gpu") {
  static const GpuCatalog kCatalog = default_gpu_catalog();
  return core::reference_run({intent, resource, kCatalog}, predictor, types);
}

TEST(DeadlineTest, PartsOfGpusHaveNone) {
  EXPECT_FALSE(
      reference_run(trains("resnet50"), predictor(), {GpuType("K80")}, "nvidia.com/mig-1g.5gb"));
}

TEST(DeadlineTest, TheSlowestListedTypeIsTheReference) {
  const auto run =
      reference_run(trains("resnet50"), predictor(), {GpuType("V100"), GpuType("K80")});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->gpu_type, GpuType("K80"));
  EXPECT_NEAR(run->lat_s, 640, 1);
  EXPECT_NEAR(reference_run(trains("resnet50"), predictor(), {GpuType("V100")})->lat_s, 160, 1);
}

TEST(DeadlineTest, AModelWithoutAProfileIsPromisedByItsFamily) {
  const auto run = reference_run(trains("resnet101"), predictor(), {GpuType("K80")});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->source, PredictionSource::kFamily);
  EXPECT_FALSE(reference_run(trains("bert"), predictor(), {GpuType("K80")}));
}

TEST(DeadlineTest, AMeasurementWinsOverTheProfile) {
  ThroughputSample sample;
  sample.model = "resnet50";
  sample.gpu_type = GpuType("K80");
  sample.batch = 64;
  sample.throughput_samples_per_s = 50;
  const auto run = reference_run(trains("resnet50"), predictor({sample}), {GpuType("K80")});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->source, PredictionSource::kMeasured);
  EXPECT_NEAR(run->lat_s, 1280, 1);
}

TEST(DeadlineTest, WithoutBatchOrIterationsThereIsNone) {
  TaskIntent intent = trains("resnet50");
  intent.iterations.reset();
  EXPECT_FALSE(reference_run(intent, predictor(), {GpuType("K80")}));
}

}  // namespace
}  // namespace slackline::core
