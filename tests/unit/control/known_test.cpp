// What a local fit, a shipped profile and finished runs make together.
#include "control/learn/known.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/throughput/correction.h"
#include "slackline/core/throughput/predictor.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::control {
namespace {

const GpuType kT4("T4");
const Coefficients kShipped{"S", {24, 0.42, -0.0021, 0.12, 1.4}};
const Coefficients kLocal{"S", {48, 0.84, -0.0042, 0.12, 1.4}};

WorkloadProfiles shipped() {
  ProfileEntry entry;
  entry.model = "resnet50";
  entry.gpu_type = kT4;
  entry.coefficients = kShipped;
  entry.startup_s = 30;
  entry.points = 12;
  return WorkloadProfiles({entry});
}

FitRecord local_fit(std::optional<double> error) {
  FitRecord fit;
  fit.entry = shipped().entries().front();
  fit.entry.coefficients = kLocal;
  fit.entry.held_out_mape = error;
  fit.version = 3;
  return fit;
}

// A run that was `ratio` times as fast as the shipped profile says.
ThroughputSample run(double batch, const char* layout, double ratio) {
  const Layout at = *parse_layout(layout);
  return {"resnet50",
          kT4,
          batch,
          at,
          ratio * *core::predict_throughput(kShipped, batch, at.spread()),
          "Job a/b",
          SampleOrigin::kRun};
}

TEST(Known, AFitWithAKnownErrorReplacesTheShippedEntry) {
  Learnt learnt;
  learnt.pairs[{"resnet50", kT4}].fit = local_fit(4.0);
  const Known known = make_known(shipped(), learnt, 1);
  EXPECT_EQ(known.profiles().find("resnet50", kT4)->coefficients, kLocal);
  EXPECT_TRUE(known.find("resnet50")->types.front().fitted_here);
}

TEST(Known, AFitWithoutAnErrorDoesNotAndRunsCorrectTheShippedEntry) {
  Learnt learnt;
  LearntPair& pair = learnt.pairs[{"resnet50", kT4}];
  pair.fit = local_fit(std::nullopt);
  pair.samples = {run(64, "1x2", 0.5), run(64, "1x2", 0.5), run(64, "1x2", 0.5)};
  const Known known = make_known(shipped(), learnt, 1);
  const ProfileEntry* entry = known.profiles().find("resnet50", kT4);
  EXPECT_EQ(entry->coefficients, kShipped);
  ASSERT_EQ(entry->corrections.size(), 1U);
  EXPECT_NEAR(entry->corrections.front().ratio, 0.5, 1e-9);
  EXPECT_EQ(entry->corrections.front().runs, 3);
  EXPECT_FALSE(known.find("resnet50")->types.front().fitted_here);

  const auto before =
      core::Predictor(shipped()).predict("resnet50", 128, kT4, *parse_layout("1x2"));
  const auto now = known.predictor->predict("resnet50", 128, kT4, *parse_layout("1x2"));
  EXPECT_EQ(now->source, core::PredictionSource::kCorrected);
  // Shrunk towards 1: three runs move it most of the way, not all of it.
  EXPECT_LT(now->throughput_samples_per_s, 0.65 * before->throughput_samples_per_s);
  EXPECT_GT(now->throughput_samples_per_s, 0.5 * before->throughput_samples_per_s);
}

TEST(Known, RunsCorrectAFitThatReplacedTheShippedEntry) {
  Learnt learnt;
  LearntPair& pair = learnt.pairs[{"resnet50", kT4}];
  pair.fit = local_fit(4.0);
  pair.samples = {run(64, "1x2", 1.0), run(64, "1x2", 1.0), run(64, "1x2", 1.0)};
  const auto known = [&](const WorkloadProfiles& base) { return make_known(base, learnt, 1); };
  const Known with_profile = known(shipped());
  const ProfileEntry* entry = with_profile.profiles().find("resnet50", kT4);
  EXPECT_EQ(entry->coefficients, kLocal);
  ASSERT_EQ(entry->corrections.size(), 1U);
  EXPECT_EQ(entry->corrections.front().runs, 3);
  const double fitted = *core::predict_throughput(kLocal, 64, parse_layout("1x2")->spread());
  EXPECT_NEAR(entry->corrections.front().ratio,
              run(64, "1x2", 1.0).throughput_samples_per_s / fitted, 1e-9);
  const Known without = known(WorkloadProfiles{});
  EXPECT_TRUE(without.profiles().find("resnet50", kT4)->corrections.empty())
      << "it was fitted to the runs themselves";
}

// Nodes say A100, the profile says A100-SXM-80GB.
TEST(Known, RunsCorrectAProfileOfTheGpuUnderAnotherName) {
  ProfileEntry entry = shipped().entries().front();
  entry.gpu_type = GpuType("A100-SXM-80GB");
  const GpuType node_type("A100");
  Learnt learnt;
  LearntPair& pair = learnt.pairs[{"resnet50", node_type}];
  ThroughputSample seen = run(64, "1x2", 0.5);
  seen.gpu_type = node_type;
  pair.samples.assign(3, seen);
  pair.fit = local_fit(std::nullopt);
  pair.fit->entry.gpu_type = node_type;
  const Known known = make_known(WorkloadProfiles({entry}), learnt, 1);
  const ProfileEntry* used = known.profiles().find("resnet50", node_type);
  ASSERT_NE(used, nullptr);
  EXPECT_EQ(used->coefficients, kShipped);
  ASSERT_EQ(used->corrections.size(), 1U);
  EXPECT_NEAR(used->corrections.front().ratio, 0.5, 1e-9);
  EXPECT_EQ(known.predictor->predict("resnet50", 128, node_type, *parse_layout("1x2"))->source,
            core::PredictionSource::kCorrected);
  EXPECT_TRUE(known.profiles().find("resnet50", entry.gpu_type)->corrections.empty());
}

TEST(Known, AFitOfAModelThatWasNotShippedIsUsedWhateverItsError) {
  Learnt learnt;
  learnt.pairs[{"resnet50", kT4}].fit = local_fit(std::nullopt);
  const Known known = make_known(WorkloadProfiles{}, learnt, 1);
  EXPECT_EQ(known.profiles().find("resnet50", kT4)->coefficients, kLocal);
}

TEST(Known, ARunCountsAsMeasuredOnlyWhereNothingElseIsKnown) {
  Learnt learnt;
  learnt.pairs[{"resnet50", kT4}].samples = {run(64, "1x2", 0.5)};
  const auto predicted = [&](const WorkloadProfiles& base) {
    const Known known = make_known(base, learnt, 1);
    return known.predictor->predict("resnet50", 64, kT4, *parse_layout("1x2"));
  };
  EXPECT_EQ(predicted(shipped())->source, core::PredictionSource::kCorrected);
  learnt.pairs[{"resnet50", kT4}].samples.front().origin = SampleOrigin::kImport;
  EXPECT_EQ(predicted(shipped())->source, core::PredictionSource::kMeasured);
}

ThroughputSample of(const char* ns, ThroughputSample sample) {
  sample.ns = ns;
  return sample;
}

TEST(Known, RunsOfOneNamespaceDoNotMoveWhatOthersLearnt) {
  Learnt learnt;
  std::vector<ThroughputSample>& samples = learnt.pairs[{"resnet50", kT4}].samples;
  const auto predicted = [&] {
    const Known known = make_known(shipped(), learnt, 1);
    return known.predictor->predict("resnet50", 64, kT4, *parse_layout("1x2"))
        ->throughput_samples_per_s;
  };
  for (const char* ns : {"vision", "speech", "text"})
    samples.insert(samples.end(), 4, of(ns, run(64, "1x2", 0.8)));
  const double honest = predicted();
  for (int i = 0; i < 100; ++i)
    samples.push_back(of("mallory", run(64, "1x2", i % 2 == 0 ? 1e9 : 1e9 + i)));
  EXPECT_DOUBLE_EQ(predicted(), honest);
  for (ThroughputSample& sample : samples)
    sample.ns = "all";
  EXPECT_GT(predicted(), honest * 2) << "as one namespace they would";
}

TEST(Known, OneRunOfAnotherNamespaceTakesACorrectionBackAtMost) {
  Learnt learnt;
  std::vector<ThroughputSample>& samples = learnt.pairs[{"resnet50", kT4}].samples;
  const auto ratio = [&] {
    const Known known = make_known(shipped(), learnt, 1);
    return core::correction_for(known.profiles().find("resnet50", kT4)->corrections,
                                parse_layout("1x2")->spread())
        .ratio;
  };
  samples.assign(4, of("vision", run(64, "1x2", 0.8)));
  const double honest = ratio();
  samples.push_back(of("mallory", run(64, "1x2", 1e-9)));
  EXPECT_DOUBLE_EQ(ratio(), honest);
  samples.back() = of("mallory", run(64, "1x2", 1e9));
  EXPECT_DOUBLE_EQ(ratio(), 1) << "what the profile says";
}

TEST(Known, WhatAProfileWasCorrectedByCountsAsRunsOfNoNamespace) {
  ProfileEntry entry = shipped().entries().front();
  entry.corrections = {{1, 2, 0.8, 30}};
  Learnt learnt;
  learnt.pairs[{"resnet50", kT4}].samples.assign(50, of("mallory", run(64, "1x2", 1e-9)));
  const Known known = make_known(WorkloadProfiles({entry}), learnt, 1);
  EXPECT_EQ(known.profiles().find("resnet50", kT4)->corrections, entry.corrections);
}

// Of a model that nobody measured.
TEST(Known, AtOneShapeTheRunsOfTheNamespaceInTheMiddleCount) {
  Learnt learnt;
  std::vector<ThroughputSample>& samples = learnt.pairs[{"resnet50", kT4}].samples;
  for (const auto& [ns, ratio] :
       std::vector<std::pair<const char*, double>>{{"a", 1}, {"b", 1.1}, {"mallory", 1e6}})
    samples.insert(samples.end(), 3, of(ns, run(64, "1x2", ratio)));
  const Known known = make_known(WorkloadProfiles{}, learnt, 1);
  const auto found = known.predictor->predict("resnet50", 64, kT4, *parse_layout("1x2"));
  EXPECT_EQ(found->source, core::PredictionSource::kMeasured);
  EXPECT_NEAR(found->throughput_samples_per_s, run(64, "1x2", 1.1).throughput_samples_per_s, 1e-6);
}

TEST(Known, ADescribedFamilyReachesTheEntries) {
  Learnt learnt;
  learnt.descriptors["resnet50"] = {"resnet50", "convnets", {}, {}, ""};
  const Known known = make_known(shipped(), learnt, 1);
  EXPECT_EQ(known.profiles().find("resnet50", kT4)->family, "convnets");
}

TEST(Known, ItsFingerprintNamesEverythingThatChangesAPrediction) {
  const std::string before = make_known(shipped(), {}, 1).fingerprint;
  EXPECT_EQ(make_known(shipped(), {}, 2).fingerprint, before);
  Learnt learnt;
  learnt.pairs[{"resnet50", kT4}].samples = {run(64, "1x2", 0.5)};
  EXPECT_NE(make_known(shipped(), learnt, 1).fingerprint, before);
}

}  // namespace
}  // namespace slackline::control
