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
  EXPECT_EQ(run->source, to_string(PredictionSource::kFamily));
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
  EXPECT_EQ(run->source, to_string(PredictionSource::kMeasured));
  EXPECT_NEAR(run->lat_s, 1280, 1);
}

TEST(DeadlineTest, WithoutBatchOrIterationsThereIsNone) {
  TaskIntent intent = trains("resnet50");
  intent.iterations.reset();
  EXPECT_FALSE(reference_run(intent, predictor(), {GpuType("K80")}));
}

TEST(DeadlineTest, AClassThatIsNamedIsPromisedByTheStatedDurationWhereNoModelSays) {
  TaskIntent intent;
  intent.expected_duration_s = 7200;
  EXPECT_FALSE(reference_run(intent, predictor(), {GpuType("K80")})) << "nobody asked for a class";
  intent.qos_class = QosClass::kPrior;
  const auto anywhere = reference_run(intent, predictor(), {GpuType("K80")});
  ASSERT_TRUE(anywhere);
  EXPECT_EQ(anywhere->lat_s, 7200);
  EXPECT_TRUE(anywhere->gpu_type.empty());
  EXPECT_EQ(anywhere->source, "expected-duration");
  EXPECT_TRUE(reference_run(intent, predictor(), {}, "nvidia.com/mig-1g.5gb"));
  intent.expected_duration_on = GpuType("a100");
  EXPECT_EQ(reference_run(intent, predictor(), {GpuType("K80")})->gpu_type, GpuType("A100"));

  TaskIntent modelled = trains("resnet50");
  modelled.expected_duration_s = 7200;
  modelled.qos_class = QosClass::kPrior;
  EXPECT_NEAR(reference_run(modelled, predictor(), {GpuType("K80")})->lat_s, 640, 1);
}

}  // namespace
}  // namespace slackline::core
