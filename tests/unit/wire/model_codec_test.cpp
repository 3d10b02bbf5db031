// Bodies that teach models: taken whole or refused whole, every wrong field named.
#include "wire/rest/model_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string problems_of(const std::string& body) {
  const auto samples = read_posted_samples(body, "resnet50");
  EXPECT_FALSE(samples) << body;
  return samples ? "" : samples.error().message;
}

TEST(PostedSamples, AreReadWithTheirDefaults) {
  const auto samples = read_posted_samples(
      R"({"samples": [{"gpuType": "A100", "batch": 256, "placement": "2x4",
          "throughputSamplesPerS": 5120.5, "source": "run 17", "origin": "calibration", "namespace": "team"},
         {"gpuType": "T4", "batch": 64, "placement": "4+2+1", "throughputSamplesPerS": 610}]})",
      "resnet50");
  ASSERT_TRUE(samples) << samples.error().message;
  ASSERT_EQ(samples->size(), 2U);
  EXPECT_EQ(samples->front(),
            (ThroughputSample{"resnet50", GpuType("A100"), 256, *parse_layout("2x4"), 5120.5,
                              "run 17", SampleOrigin::kCalibration, 0, Uid(), "team"}));
  EXPECT_EQ(samples->back().origin, SampleOrigin::kImport);
}

TEST(PostedSamples, EveryWrongFieldIsNamedAtOnce) {
  EXPECT_THAT(
      problems_of(R"({"samples": [{"gpuType": 7, "batch": 0, "placement": "2y4",
                              "throughputSamplesPerS": "fast", "color": 1}, 9]})"),
      AllOf(HasSubstr("samples[0].gpuType: must be a string"),
            HasSubstr("samples[0].batch: must be a number from 1 to 1e+09"),
            HasSubstr("samples[0].placement"),
            HasSubstr("samples[0].throughputSamplesPerS: must be a number from 1e-06 to 1e+12"),
            HasSubstr("samples[0].color: unknown key; allowed: gpuType"),
            HasSubstr("samples[1]: must be a JSON object"), HasSubstr("nothing was stored")));
}

TEST(PostedSamples, AKeyGivenTwiceIsWrong) {
  EXPECT_THAT(problems_of(R"({"samples": [{"gpuType": "T4", "gpuType": "A100", "batch": 1,
                              "placement": "1x1", "throughputSamplesPerS": 1}]})"),
              HasSubstr("samples[0].gpuType: given twice"));
}

TEST(PostedSamples, TheListedProblemsAreBounded) {
  std::string body = R"({"samples": [1)";
  for (int i = 0; i < 500; ++i)
    body += ",1";
  const std::string problems = problems_of(body + "]}");
  EXPECT_THAT(problems, HasSubstr("... and 481 more"));
  EXPECT_LT(problems.size(), 2000U);
}

TEST(PostedSamples, MoreThanTheLimitIsRefused) {
  std::string body = R"({"samples": [1)";
  for (std::size_t i = 0; i < kMaxPostedSamples; ++i)
    body += ",1";
  EXPECT_THAT(problems_of(body + "]}"), HasSubstr("1 to 5000"));
}

TEST(PostedSamples, AModelThatCannotStandInAPathIsRefused) {
  for (const char* name : {"", "a/", "/a", "a//b", "a/../b", "a/samples", "a\\b", "a\nb"})
    EXPECT_FALSE(read_posted_samples(R"({"samples": []})", name)) << name;
}

// One replica reads what the other answers.
TEST(ListedModels, AreThoseToWhichAPathLeads) {
  const auto models = read_listed_models(
      R"({"items":[{"model":"a//b"},{"model":"meta-llama/Llama-3.1-8B","gpuTypes":[{"samples":3}]},)"
      R"({"model":".."},{"model":"net","family":"resnet"}]})");
  ASSERT_TRUE(models) << models.error().message;
  ASSERT_EQ(models->size(), 2U) << "the others are left out, and stop nothing";
  EXPECT_EQ(models->front().descriptor.model, "meta-llama/Llama-3.1-8B");
  EXPECT_TRUE(models->front().has_samples);
  EXPECT_EQ(models->back().descriptor.family, "resnet");
}

TEST(PostedCsv, RowsOfAnotherModelAreNamed) {
  const std::string header = "model,gpu_type,batch,placement,throughput_samples_per_s\n";
  EXPECT_TRUE(read_posted_csv(header + "resnet50,T4,64,2x4,100\n", "resnet50"));
  const auto wrong =
      read_posted_csv(header + "resnet50,T4,64,2x4,100\nbert,T4,64,2x4,100\n", "resnet50");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("line 3: model: \"bert\" is not resnet50"));
}

TEST(PostedDescriptor, UnknownKeysAreRefusedAndAbsentOnesAreEmpty) {
  const auto read =
      read_posted_descriptor(R"({"family": "resnet", "parameters": 2.5e7})", "resnet50");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, (ModelDescriptor{"resnet50", "resnet", 2.5e7, std::nullopt, ""}));
  const auto wrong = read_posted_descriptor(R"({"params": 1, "flopsPerSample": -1})", "resnet50");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message,
              AllOf(HasSubstr("params: unknown key"), HasSubstr("flopsPerSample: must be")));
}

TEST(ModelTables, SayWhatARefusedFitAndAnUnusedFitAre) {
  ModelView view;
  view.descriptor = {"resnet50", "resnet", 2.5e7, {}, "the usual"};
  ModelTypeView refused;
  refused.gpu_type = GpuType("T4");
  refused.samples = 2;
  refused.refusal = "one batch only";
  ModelTypeView unused;
  unused.gpu_type = GpuType("A100");
  unused.entry = ProfileEntry{};
  unused.version = 2;
  view.types = {unused, refused};
  const std::string text = text_of(view);
  EXPECT_THAT(text, AllOf(HasSubstr("model resnet50, family resnet"), HasSubstr("the usual"),
                          HasSubstr("fit not used"), HasSubstr("not fitted: one batch only")));
}

}  // namespace
}  // namespace slackline::wire
