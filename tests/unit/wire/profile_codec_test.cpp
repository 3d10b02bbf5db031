#include "wire/samples/profile_codec.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "support/source_path.h"

namespace slackline::wire {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr const char* kProfile = R"(apiVersion: config.slackline.dev/v1alpha1
kind: WorkloadProfile
entries:
- model: resnet50
  gpuType: K80
  coefficients: {kind: S, params: [24.0, 0.42, -0.0021, 0.12, 1.4]}
  startup_s: 30
  points: 19
  held_out_mape: 13.9
  batch_range: [16, 128]
  source: "measured: by us"
- {model: bert, gpuType: A100, coefficients: {kind: S, params: [1]}, points: null, held_out_mape: null}
)";

TEST(ProfileCodec, ReadsEveryField) {
  const auto entries = read_profile(kProfile, "p.yaml");
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 2U);
  const ProfileEntry& first = (*entries)[0];
  EXPECT_EQ(first.model, "resnet50");
  EXPECT_EQ(first.gpu_type, GpuType("K80"));
  EXPECT_EQ(first.coefficients.kind, "S");
  EXPECT_THAT(first.coefficients.params, ElementsAre(24.0, 0.42, -0.0021, 0.12, 1.4));
  EXPECT_EQ(first.startup_s, 30);
  EXPECT_EQ(first.points, 19);
  EXPECT_EQ(first.held_out_mape, 13.9);
  EXPECT_EQ(first.batch_range, (BatchRange{16, 128}));
  EXPECT_EQ(first.source, "measured: by us");
  EXPECT_EQ((*entries)[1].points, 0) << "null = assumed";
  EXPECT_FALSE((*entries)[1].held_out_mape);
}

TEST(ProfileCodec, WhatIsWrittenReadsBackTheSame) {
  const auto entries = read_profile(kProfile, "p.yaml");
  ASSERT_TRUE(entries);
  const std::string written = write_profile(*entries);
  const auto again = read_profile(written, "p.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(write_profile(*again), written);
  EXPECT_EQ((*again)[0].coefficients, (*entries)[0].coefficients);
  EXPECT_EQ((*again)[0].batch_range, (*entries)[0].batch_range);
  EXPECT_EQ((*again)[0].source, (*entries)[0].source);
}

constexpr const char* kHonest = R"(apiVersion: config.slackline.dev/v1alpha1
kind: WorkloadProfile
entries:
- model: resnet50
  gpuType: T4
  coefficients: {kind: P2, params: [0.02, 0.001, 0, 0, 0.1, 0.01, 2, 0.03, 0.9]}
  points: 240
  held_out_mape: 5.5
  held_out_p90: 12.5
  batch_range: [20, 200]
  gpus_range: [1, 64]
  nodes_range: [1, 16]
  family: resnet
  corrections:
  - {nodes: 1, gpus: 4, ratio: 0.9, runs: 3}
  - {nodes: 2, gpus: 4, ratio: 1.1, runs: 1}
)";

TEST(ProfileCodec, CarriesWhatAnHonestPredictionNeeds) {
  const auto entries = read_profile(kHonest, "p.yaml");
  ASSERT_TRUE(entries) << entries.error().message;
  const auto again = read_profile(write_profile(*entries), "p.json");
  ASSERT_TRUE(again) << again.error().message;
  for (const ProfileEntry& entry : {entries->front(), again->front()}) {
    EXPECT_EQ(entry.held_out_p90, 12.5);
    EXPECT_EQ(entry.gpus_range, (CountRange{1, 64}));
    EXPECT_EQ(entry.nodes_range, (CountRange{1, 16}));
    EXPECT_EQ(entry.family, "resnet");
    EXPECT_THAT(entry.corrections, ElementsAre(Correction{1, 4, 0.9, 3}, Correction{2, 4, 1.1, 1}));
  }
}

// It is the batch of one GPU: 32 on 3 GPUs, and the fit writes what it saw.
TEST(ProfileCodec, ABatchRangeMayHaveFractions) {
  std::string text = kHonest;
  text.replace(text.find("[20, 200]"), 9, "[10.666666666666666, 200.5]");
  const auto entries = read_profile(text, "p.yaml");
  ASSERT_TRUE(entries) << entries.error().message;
  const auto again = read_profile(write_profile(*entries), "p.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->front().batch_range, (BatchRange{32.0 / 3, 200.5}));
}

TEST(ProfileCodec, CarriesTheGpusOfAReplica) {
  auto entries = read_profile(kProfile, "p.yaml");
  ASSERT_TRUE(entries);
  EXPECT_EQ(entries->front().model_parallel, 1);
  entries->front().model_parallel = 8;
  entries->front().model_parallel_derived = true;
  const auto again = read_profile(write_profile(*entries), "p.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->front().model_parallel, 8);
  EXPECT_TRUE(again->front().model_parallel_derived);
  EXPECT_FALSE(again->back().model_parallel_derived);
  for (const char* wrong : {"model_parallel: 0", "model_parallel: 100000", "model_parallel: 1.5",
                            "model_parallel_derived: maybe"})
    EXPECT_FALSE(read_profile(
        format("{}  {}\n",
               std::string_view(kProfile).substr(0, std::string_view(kProfile).find("- {")), wrong),
        "p.yaml"))
        << wrong;
}

TEST(ProfileCodec, AnOlderFileHasNoneOfThat) {
  const auto entries = read_profile(kProfile, "p.yaml");
  ASSERT_TRUE(entries) << entries.error().message;
  const ProfileEntry& entry = entries->front();
  EXPECT_FALSE(entry.held_out_p90 || entry.gpus_range || entry.nodes_range);
  EXPECT_TRUE(entry.family.empty());
  EXPECT_TRUE(entry.corrections.empty());
  EXPECT_THAT(write_profile(*entries), testing::Not(HasSubstr("corrections")));
}

TEST(ProfileCodec, WrongRangesAndCorrectionsAreNamed) {
  struct Wrong {
    std::string from, to, says;
  };
  for (const Wrong& wrong :
       {Wrong{"[1, 64]", "[64, 1]", "gpus_range"}, Wrong{"[1, 16]", "[1]", "nodes_range"},
        Wrong{"ratio: 0.9", "ratio: 0", "ratio"}, Wrong{"runs: 3", "runs: 2.5", "whole number"},
        Wrong{"gpus: 4, ratio: 1.1", "gpu: 4, ratio: 1.1", "unknown key"},
        Wrong{"[1, 64]", "[1, 6.5]", "gpus_range: must be a whole number"},
        Wrong{"nodes: 2", "nodes: 1", "ascending"}}) {
    std::string text = kHonest;
    text.replace(text.find(wrong.from), wrong.from.size(), wrong.to);
    const auto entries = read_profile(text, "p.yaml");
    ASSERT_FALSE(entries) << wrong.to;
    EXPECT_THAT(entries.error().message, HasSubstr(wrong.says));
  }
}

TEST(ProfileCodec, AFractionOfAPointAndJsonThatIsCutShortAreNamed) {
  const std::string whole = write_profile(*read_profile(kProfile, "p.yaml"));
  std::string half_a_point = whole;
  const std::size_t at = half_a_point.find("\"points\":");
  half_a_point.replace(at, half_a_point.find(',', at) - at, "\"points\":1.5");
  EXPECT_THAT(read_profile(half_a_point, "p.json").error().message,
              HasSubstr("points: must be a whole number"));
  EXPECT_THAT(read_profile(whole.substr(0, whole.size() / 2), "p.json").error().message,
              HasSubstr("not JSON"));
}

TEST(ProfileCodec, TheImportFormTakesItsTypeFromTheFileName) {
  const std::string text =
      R"({"kind":"seed","comm":"sum","types":{"lstm":{"k":[80,13.5,-0.107],"gamma":0.6,"lam":1.35,)"
      R"("batch":[20],"iters":[7000,75000]}}})";
  const auto entries = read_profile(text, "/data/profile_k80.json");
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ((*entries)[0].gpu_type, GpuType("K80"));
  EXPECT_EQ((*entries)[0].coefficients.kind, "S");
  EXPECT_THAT((*entries)[0].coefficients.params, ElementsAre(80, 13.5, -0.107, 0.6, 1.35));
  EXPECT_EQ((*read_profile(text, "x.json", GpuType("T4")))[0].gpu_type, GpuType("T4"));
  std::string mean = text;
  mean.replace(mean.find("sum"), 3, "mean");
  EXPECT_THAT(read_profile(mean, "x.json").error().message, HasSubstr("comm"));
}

struct ProfileMistake {
  const char* what;
  const char* by;
  const char* told;
};

class Mistakes : public testing::TestWithParam<ProfileMistake> {};

TEST_P(Mistakes, AreToldByFileLineAndPath) {
  std::string text = kProfile;
  const auto at = text.find(GetParam().what);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(GetParam().what).size(), GetParam().by);
  const auto entries = read_profile(text, "p.yaml");
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(entries.error().message,
              AllOf(HasSubstr("p.yaml"), HasSubstr("line "), HasSubstr(GetParam().told)));
}

INSTANTIATE_TEST_SUITE_P(
    EveryKind, Mistakes,
    testing::Values(
        ProfileMistake{"startup_s", "startup",
                       "entries[0].startup: unknown key; allowed: model, gpuType"},
        ProfileMistake{"params: [24.0", "parms: [24.0", "entries[0].coefficients.parms"},
        ProfileMistake{"points: 19", "points: many", "entries[0].points: must be a number"},
        ProfileMistake{"points: 19", "points: -1", "at least 0"},
        ProfileMistake{"0.42", "NaN", "entries[0].coefficients.params[1]"},
        ProfileMistake{"- model: resnet50\n  gpu", "- gpu", "model is missing"},
        ProfileMistake{"[16, 128]", "[128, 16]", "batch_range"},
        ProfileMistake{"v1alpha1", "v9", "apiVersion"},
        ProfileMistake{"WorkloadProfile", "Profile", "kind"},
        ProfileMistake{"points: 19", "startup_s: 3", "given twice"},
        ProfileMistake{"[16, 128]", "[16, 128", "line "}));

TEST(ProfileCodec, EveryShippedProfileIsRead) {
  std::size_t files = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(test::source_path("manifests/profiles"))) {
    if (file.path().extension() != ".json") continue;
    const auto entries = read_profile(read_file(file.path()), file.path().string());
    ASSERT_TRUE(entries) << entries.error().message;
    EXPECT_FALSE(entries->empty());
    ++files;
  }
  EXPECT_GE(files, 4U);
}

TEST(ProfileCodec, TheGoldenImportIsRead) {
  const auto path = test::source_path("tests/contract/golden/simulator/profile_k80.json");
  const auto entries = read_profile(read_file(path), path.string());
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(entries->size(), 6U);
  for (const ProfileEntry& entry : *entries)
    EXPECT_EQ(entry.gpu_type, GpuType("K80"));
}

}  // namespace
}  // namespace slackline::wire
