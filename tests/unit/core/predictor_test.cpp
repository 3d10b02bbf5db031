#include "slackline/core/throughput/predictor.h"

#include <cmath>

#include <gtest/gtest.h>

#include "slackline/core/throughput/correction.h"
#include "slackline/core/throughput/throughput.h"
#include "support/throughput_samples.h"

namespace slackline::core {
namespace {

using test::a_sample;

ProfileEntry an_entry(std::string model, std::string type, double speed) {
  ProfileEntry entry;
  entry.model = std::move(model);
  entry.gpu_type = GpuType(std::move(type));
  entry.coefficients = {"A", {0.02 / speed, 0.001 / speed, 0.01, 0, 0.05, 0}};
  entry.points = 40;
  entry.held_out_mape = 6;
  entry.held_out_p90 = 20;
  entry.batch_range = BatchRange{8, 128};
  entry.gpus_range = CountRange{1, 16};
  entry.nodes_range = CountRange{1, 4};
  return entry;
}

const GpuType kT4("T4");
const GpuType kA100("A100");

TEST(Prediction, OfAFitHasItsHeldOutErrorAsInterval) {
  const ProfileEntry entry = an_entry("resnet50", "T4", 1);
  const Prediction found = PreparedModel(entry, 64).predict(Placement{1, 2}).value();
  EXPECT_EQ(found.source, PredictionSource::kFitted);
  EXPECT_FALSE(found.extrapolated);
  EXPECT_EQ(found.throughput_samples_per_s,
            predict_throughput(entry.coefficients, 64, Placement{1, 2}));
  EXPECT_DOUBLE_EQ(found.high, found.throughput_samples_per_s * 1.2);
  EXPECT_DOUBLE_EQ(found.low, found.throughput_samples_per_s / 1.2);
}

TEST(Prediction, SaysWhenItExtrapolatesAndIsLessSure) {
  const ProfileEntry entry = an_entry("resnet50", "T4", 1);
  const auto at = [&](double batch, Placement shape) {
    return PreparedModel(entry, batch).predict(shape).value();
  };
  EXPECT_FALSE(at(8, {1, 1}).extrapolated);
  EXPECT_TRUE(at(7, {1, 1}).extrapolated) << "smaller batch";
  EXPECT_TRUE(at(1000, {1, 1}).extrapolated) << "larger batch";
  EXPECT_TRUE(at(320, {4, 8}).extrapolated) << "more GPUs";
  EXPECT_TRUE(at(320, {5, 2}).extrapolated) << "more nodes";
  const Prediction wide = at(320, {5, 2});
  EXPECT_DOUBLE_EQ(wide.high, wide.throughput_samples_per_s * 1.4);
}

TEST(Prediction, IsNoneWithoutProgress) {
  const ProfileEntry entry = an_entry("resnet50", "T4", 1);
  EXPECT_FALSE(PreparedModel(entry, 4).predict(Placement{2, 4})) << "more GPUs than samples";
  EXPECT_FALSE(PreparedModel(entry, std::nan("")).predict(Placement{1, 1}));
  ProfileEntry broken = entry;
  broken.coefficients.params[0] = std::nan("");
  EXPECT_FALSE(PreparedModel(broken, 64).predict(Placement{1, 1}));
}

TEST(Prediction, OfAssumedCoefficientsIsTheDefault) {
  ProfileEntry entry = an_entry("resnet50", "T4", 1);
  entry.points = 0;
  entry.held_out_mape = entry.held_out_p90 = std::nullopt;
  const Prediction found = PreparedModel(entry, 64).predict(Placement{1, 2}).value();
  EXPECT_EQ(found.source, PredictionSource::kDefault);
  EXPECT_DOUBLE_EQ(found.high, found.throughput_samples_per_s * 1.5);
}

TEST(Correction, IsShrunkByCountAndClamped) {
  std::vector<Correction> corrections;
  learn_correction(corrections, Placement{2, 4}, 0.8);
  learn_correction(corrections, Placement{1, 4}, 1.2);
  ASSERT_EQ(corrections.size(), 2U);
  EXPECT_EQ(corrections[0].gpus, 4) << "sorted by nodes, GPUs";
  EXPECT_DOUBLE_EQ(shrunk_ratio(corrections[1]), std::sqrt(0.8));
  for (int i = 0; i < 9; ++i)
    learn_correction(corrections, Placement{2, 4}, 0.8);
  EXPECT_EQ(corrections[1].runs, 10);
  EXPECT_NEAR(shrunk_ratio(corrections[1]), std::pow(0.8, 10.0 / 11), 1e-12);
  EXPECT_EQ(shrunk_ratio({1, 1, 100, 5}), 2);
  EXPECT_EQ(shrunk_ratio({1, 1, 0.001, 5}), 0.5);
  EXPECT_EQ(shrunk_ratio({1, 1, 3, 0}), 1) << "no runs";
  const auto before = corrections;
  for (const double bad : {0.0, -1.0, std::nan("")})
    learn_correction(corrections, Placement{2, 4}, bad);
  EXPECT_EQ(corrections, before);
}

// What counts at 2x4 of namespaces that learnt these ratios from that many runs.
double middle_of(const std::vector<std::pair<double, int>>& namespaces) {
  std::vector<std::vector<Correction>> learnt;
  for (const auto& [ratio, runs] : namespaces)
    learnt.push_back({{2, 8, ratio, runs}});
  const std::vector<Correction> middle = middle_corrections(learnt);
  EXPECT_EQ(middle.size(), 1U);
  return correction_for(middle, Placement{2, 4}).ratio;
}

TEST(Correction, OfManyNamespacesIsThatOfTheOneInTheMiddle) {
  const double slow = middle_of({{0.7, 20}});
  EXPECT_DOUBLE_EQ(slow, shrunk_ratio({2, 8, 0.7, 20})) << "alone, as if there were no namespaces";
  EXPECT_DOUBLE_EQ(middle_of({{0.6, 20}, {0.8, 20}, {0.7, 20}}), slow);
  for (const double absurd : {1e-12, 1e12}) {
    const double moved = middle_of({{0.6, 20}, {0.8, 20}, {absurd, 1000}, {0.7, 20}});
    EXPECT_GE(moved, shrunk_ratio({2, 8, 0.6, 20})) << absurd;
    EXPECT_LE(moved, shrunk_ratio({2, 8, 0.8, 20})) << absurd;
  }
}

TEST(Correction, OfTwoNamespacesIsTheSmallerOne) {
  const double slow = shrunk_ratio({2, 8, 0.7, 20});
  EXPECT_DOUBLE_EQ(middle_of({{0.7, 20}, {0.6, 20}}), slow);
  EXPECT_DOUBLE_EQ(middle_of({{0.7, 20}, {1e-12, 1000}}), slow);
  EXPECT_DOUBLE_EQ(middle_of({{0.7, 20}, {1e12, 1}}), 1) << "none, where they contradict";
  EXPECT_TRUE(correction_for(middle_corrections(std::vector<std::vector<Correction>>{
                                 {{2, 8, 0.7, 20}}, {{2, 8, 2, 1}}}),
                             Placement{2, 4})
                  .known);
}

TEST(Correction, OfNamespacesIsSortedByPlace) {
  const std::vector<std::vector<Correction>> learnt = {
      {{1, 1, 0.9, 3}, {2, 8, 0.7, 2}}, {}, {{1, 4, 0.8, 1}}};
  EXPECT_EQ(middle_corrections(learnt),
            (std::vector<Correction>{{1, 1, 0.9, 3}, {1, 4, 0.8, 1}, {2, 8, 0.7, 2}}));
}

TEST(Correction, AppliesToAsManyNodesAndGpus) {
  ProfileEntry entry = an_entry("resnet50", "T4", 1);
  learn_correction(entry.corrections, Placement{2, 4}, 0.64);
  const PreparedModel model(entry, 64);
  const Prediction corrected = model.predict(Placement{2, 4}).value();
  EXPECT_EQ(corrected.source, PredictionSource::kCorrected);
  EXPECT_NEAR(corrected.throughput_samples_per_s,
              0.8 * *predict_throughput(entry.coefficients, 64, Placement{2, 4}), 1e-9);
  EXPECT_EQ(model.predict(Placement{4, 2})->source, PredictionSource::kFitted);
}

TEST(Predictor, PrefersWhatWasMeasured) {
  const Predictor predictor(
      WorkloadProfiles({an_entry("resnet50", "T4", 1)}),
      std::vector{a_sample(64, "2+1", 400), a_sample(64, "1+2", 100), a_sample(64, "1x1", -5)});
  const Prediction found = predictor.predict("resnet50", 64, kT4, *parse_layout("2+1")).value();
  EXPECT_EQ(found.source, PredictionSource::kMeasured);
  EXPECT_DOUBLE_EQ(found.throughput_samples_per_s, 200);
  EXPECT_EQ(predictor.predict("resnet50", 63, kT4, *parse_layout("2+1"))->source,
            PredictionSource::kFitted);
  EXPECT_EQ(predictor.predict("resnet50", 64, kT4, Layout())->source, PredictionSource::kFitted);
}

TEST(Predictor, AnswersFromMeasurementsAlone) {
  const Predictor predictor({}, std::vector{a_sample(64, "1x2", 100)});
  EXPECT_EQ(predictor.predict("resnet50", 64, kT4, Layout(Placement{1, 2}))->source,
            PredictionSource::kMeasured);
  EXPECT_FALSE(predictor.predict("resnet50", 64, kT4, Layout()));
  EXPECT_FALSE(predictor.predict("bert", 64, kT4, Layout()));
}

TEST(Predictor, BorrowsTheShapeAndMeasuresTheSpeedOfAnotherType) {
  std::vector samples{a_sample(16, "1x1", 3 * 16 / 0.036), a_sample(64, "1x1", 5 * 64 / 0.084)};
  for (ThroughputSample& sample : samples)
    sample.gpu_type = kA100;
  const Predictor predictor(WorkloadProfiles({an_entry("resnet50", "T4", 1)}), samples);
  const auto ratio = [&](double batch, Placement shape) {
    const Prediction found = predictor.predict("resnet50", batch, kA100, Layout(shape)).value();
    EXPECT_EQ(found.source, PredictionSource::kSimilar);
    EXPECT_NEAR(found.high / found.throughput_samples_per_s, 1.4, 1e-9);
    return found.throughput_samples_per_s /
           *predict_throughput(an_entry("", "", 1).coefficients, batch, shape);
  };
  EXPECT_NEAR(ratio(20, {1, 2}), 3, 1e-9) << "of the nearest batch: the factor is not global";
  EXPECT_NEAR(ratio(60, {2, 2}), 5, 1e-9);
}

TEST(Predictor, ComparesTypesByTheModelsThatBothRan) {
  const WorkloadProfiles profiles({an_entry("resnet50", "T4", 1), an_entry("resnet18", "T4", 2),
                                   an_entry("resnet18", "A100", 8), an_entry("bert", "A100", 9)});
  const Predictor predictor(profiles);
  const Prediction found = predictor.predict("resnet50", 64, kA100, Layout()).value();
  EXPECT_EQ(found.source, PredictionSource::kSimilarType);
  EXPECT_NEAR(found.throughput_samples_per_s, 4 * 64 / 0.084, 1e-6);
  EXPECT_GT(found.high, 1.3 * found.throughput_samples_per_s);
  EXPECT_EQ(predictor.predict("bert", 64, kT4, Layout())->source, PredictionSource::kSimilarType);
  EXPECT_FALSE(predictor.predict("bert", 64, GpuType("K80"), Layout()))
      << "no model ran on both, and a data sheet says nothing about so different a GPU";
}

TEST(Predictor, ComparesTypesByTheirDataSheetsWhereNothingElseIsKnown) {
  const Predictor predictor(WorkloadProfiles({an_entry("bert", "H100", 1)}));
  const double here = *predict_throughput(an_entry("", "", 1).coefficients, 64, Placement{1, 1});
  const Prediction nvl = predictor.predict("bert", 64, GpuType("H100-NVL"), Layout()).value();
  EXPECT_EQ(nvl.source, PredictionSource::kSimilarType);
  EXPECT_LT(nvl.throughput_samples_per_s, here);
  EXPECT_GT(nvl.throughput_samples_per_s, 0.6 * here);
  const Prediction same = predictor.predict("bert", 64, GpuType("H100-SXM"), Layout()).value();
  EXPECT_EQ(same.source, PredictionSource::kFitted) << "another name of the same GPU";
  EXPECT_DOUBLE_EQ(same.throughput_samples_per_s, here);
  const Prediction far = predictor.predict("bert", 64, GpuType("MI300X"), Layout()).value();
  EXPECT_GT(far.high / far.throughput_samples_per_s, nvl.high / nvl.throughput_samples_per_s);
  EXPECT_FALSE(predictor.predict("bert", 64, GpuType("nobody's"), Layout()));
}

TEST(Predictor, CountsReplicasOfSeveralGpus) {
  ProfileEntry entry = an_entry("llama", "H100", 1);
  entry.model_parallel = 4;
  const Predictor predictor(WorkloadProfiles({entry}));
  const GpuType type("H100");
  EXPECT_TRUE(predictor.predict("llama", 8, type, Layout(Placement{4, 8})));
  EXPECT_FALSE(predictor.predict("llama", 8, type, Layout(Placement{8, 8}))) << "16 replicas";
  EXPECT_TRUE(predictor.predict("llama", 8, type, Layout(Placement{8, 8}), 8)->extrapolated);
  TaskIntent intent;
  intent.model = "llama";
  intent.batch_size = 8;
  intent.model_parallel = 8;
  EXPECT_EQ(predictor.prepare(intent, type)->model_parallel(), 8);
}

TEST(Predictor, TakesTheMedianOfTheFamilyForAModelNobodyKnows) {
  const WorkloadProfiles profiles({an_entry("resnet18", "T4", 4), an_entry("resnet50", "T4", 2),
                                   an_entry("resnet152", "T4", 1), an_entry("bert", "T4", 9)});
  const Prediction found = Predictor(profiles).predict("resnet101", 64, kT4, Layout()).value();
  EXPECT_EQ(found.source, PredictionSource::kFamily);
  EXPECT_NEAR(found.throughput_samples_per_s, 2 * 64 / 0.084, 1e-6);
  const WorkloadProfiles sizes({an_entry("mpt-125m", "T4", 100), an_entry("mpt-7b", "T4", 2)});
  EXPECT_FALSE(Predictor(sizes).predict("mpt-13b", 64, kT4, Layout())) << "far too different";
  EXPECT_EQ(family_of("gpt2-xl"), "gpt");
  EXPECT_EQ(family_of("7b"), "");
  EXPECT_FALSE(Predictor(profiles).predict("7b", 64, kT4, Layout()));
}

TEST(Predictor, WhatPeopleSayGoesBeforeAGuessByTheLettersOfTheName) {
  const WorkloadProfiles profiles({an_entry("gpt3-175b", "T4", 1)});
  TaskIntent intent;
  intent.model = "gpt2-medium";
  intent.batch_size = 64;
  EXPECT_TRUE(Predictor(profiles).prepare(intent, kT4)) << "nothing better is known";
  intent.expected_duration_s = 3600;
  EXPECT_FALSE(Predictor(profiles).prepare(intent, kT4));
  intent.family = "gpt";
  EXPECT_TRUE(Predictor(profiles).prepare(intent, kT4)) << "they say that it is like it";
  intent.family.reset();
  intent.model = "gpt3-175b";
  EXPECT_TRUE(Predictor(profiles).prepare(intent, kT4)) << "its own model";
}

// Speeds on a T4 at batch 64, in multiples of the slowest entry's; 0: nothing is known.
double speed(const Predictor& predictor, const char* model, const char* family = "") {
  const auto prepared = predictor.prepare(model, 64, kT4, family);
  const auto found = prepared ? prepared->predict(Placement{1, 1}) : std::nullopt;
  return found ? found->throughput_samples_per_s / (64 / 0.084) : 0;
}

TEST(Predictor, GoesByTheDeclaredFamilyAndNotByLetters) {
  const WorkloadProfiles profiles({an_entry("resnet18", "T4", 4), an_entry("bert", "T4", 9)});
  const std::vector<ModelDescriptor> described = {{"tinyvision", "resnet", {}, {}, ""},
                                                  {"resnet999", "zebra", {}, {}, ""}};
  const Predictor predictor(profiles, {}, described);
  EXPECT_NEAR(speed(predictor, "tinyvision"), 4, 1e-9);
  EXPECT_EQ(speed(predictor, "resnet999"), 0) << "declared a zebra, so no resnet";
  EXPECT_NEAR(speed(predictor, "resnet999", "bert"), 9, 1e-9) << "the task's own word wins";
  EXPECT_NEAR(speed(predictor, "anything", "resnet"), 4, 1e-9);
}

TEST(Predictor, TakesTheNearestDescriptionBeforeLetters) {
  const WorkloadProfiles profiles({an_entry("bert-base", "T4", 9), an_entry("bert-large", "T4", 3),
                                   an_entry("bert-huge", "T4", 1)});
  std::vector<ModelDescriptor> described = {{"bert-base", "", {}, 1e9, ""},
                                            {"bert-large", "", {}, 3e9, ""},
                                            {"bert-mine", "", {}, 1.5e9, ""}};
  EXPECT_NEAR(speed(Predictor(profiles, {}, described), "bert-mine"), 9 / 1.5, 1e-9);
  described.back().flops_per_sample = 1e12;
  EXPECT_NEAR(speed(Predictor(profiles, {}, described), "bert-mine"), 3, 1e-9)
      << "too far from both: the median of its letters";
  described = {{"bert-base", "", 110e6, {}, ""},
               {"bert-large", "", 340e6, {}, ""},
               {"bert-mine", "", 300e6, {}, ""}};
  EXPECT_NEAR(speed(Predictor(profiles, {}, described), "bert-mine"), 3, 1e-9);
}

TEST(Predictor, KnowsServingAsAnotherWorkloadThanTraining) {
  const WorkloadProfiles profiles({an_entry("resnet50", "T4", 4),
                                   an_entry("resnet18:inference", "T4", 40),
                                   an_entry("bert:inference", "T4", 7)});
  const Predictor predictor(profiles);
  TaskIntent serves;
  serves.model = "resnet50";
  serves.mode = WorkloadMode::kInference;
  serves.batch_size = 64;
  const auto predicted = predictor.prepare(serves, kT4);
  ASSERT_TRUE(predicted);
  EXPECT_NEAR(predicted->predict(Placement{1, 1})->throughput_samples_per_s, 40 * 64 / 0.084, 1e-6)
      << "of the family's that serve";
  serves.model = "bert";
  EXPECT_EQ(*serves.workload(), "bert:inference");
  EXPECT_TRUE(predictor.prepare(serves, kT4));
  serves.mode = WorkloadMode::kTraining;
  EXPECT_FALSE(predictor.prepare(serves, kT4)) << "only its serving is known";
  EXPECT_NEAR(speed(predictor, "resnet101"), 4, 1e-9) << "training borrows from training";
}

}  // namespace
}  // namespace slackline::core
