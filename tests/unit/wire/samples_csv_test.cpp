#include "wire/samples/samples_csv.h"

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

std::string sample_error_of(std::string_view text) {
  const auto samples = read_samples_csv(text, "s.csv");
  return samples ? "" : samples.error().message;
}

TEST(SamplesCsv, ReadsColumnsInAnyOrder) {
  const auto samples = read_samples_csv(
      "placement,throughput_samples_per_s,batch,gpu_type,model,host\r\n"
      "2x4,5120.5,256,A100,resnet50,a\r\n"
      "1+2+4, 610 ,64,T4,\"bert, large\",b\r\n",
      "s.csv");
  ASSERT_TRUE(samples) << samples.error().message;
  ASSERT_EQ(samples->size(), 2U);
  EXPECT_EQ((*samples)[0],
            (ThroughputSample{"resnet50", GpuType("A100"), 256, Layout(Placement{2, 4}), 5120.5, "",
                              SampleOrigin::kImport}));
  EXPECT_EQ((*samples)[1].model, "bert, large");
  EXPECT_EQ((*samples)[1].layout.str(), "4+2+1");
  EXPECT_EQ((*samples)[1].throughput_samples_per_s, 610);
}

TEST(SamplesCsv, TellsEveryWrongValueByFileLineAndField) {
  const std::string message = sample_error_of(
      "model,gpu_type,batch,placement,throughput_samples_per_s\n"
      "m,A100,64,2x4,100\n"
      ",A100,-3,2x,0\n"
      "m,,4,2x4,inf\n"
      "m,A100,8,1x1,7,8\n");
  EXPECT_TRUE(message.starts_with("s.csv: 7 values are wrong, so nothing was read:")) << message;
  for (const char* part :
       {"line 3: model: is missing", "line 3: batch: \"-3\" must be a number from 1 to 1e+09",
        "line 3: placement: ", "line 3: throughput_samples_per_s: \"0\" must be",
        "line 4: gpu_type: is missing", "line 4: throughput_samples_per_s: \"inf\"",
        "line 5: row: has 6 cells"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
}

TEST(SamplesCsv, ReadsModelParallelAndTokens) {
  const auto samples = read_samples_csv(
      "model,gpu_type,batch,placement,throughput_tokens_per_s,tokens_per_sample,model_parallel\n"
      "m,H100,8,8x8,81920,8192,8\n"
      "m,H100,8,1x8,16384,8192,\n",
      "s.csv");
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ((*samples)[0].throughput_samples_per_s, 10);
  EXPECT_EQ((*samples)[0].model_parallel, 8);
  EXPECT_EQ((*samples)[1].model_parallel, 0) << "not stated";
  EXPECT_NE(sample_error_of("model,gpu_type,batch,placement,throughput_tokens_per_s\n"
                            "m,H100,8,8x8,81920\n")
                .find("tokens_per_sample"),
            std::string::npos);
  EXPECT_NE(sample_error_of("model,gpu_type,batch,placement,throughput_samples_per_s,"
                            "model_parallel\nm,H100,8,8x8,10,99999\n")
                .find("line 2: model_parallel: is more than 65536"),
            std::string::npos);
}

TEST(SamplesCsv, NamesAMissingColumnAndAnEmptyFile) {
  EXPECT_EQ(sample_error_of("model,gpu,batch,placement,throughput_samples_per_s\n"),
            "s.csv: the header has no column \"gpu_type\"; it names model, gpu, batch, placement, "
            "throughput_samples_per_s");
  EXPECT_EQ(sample_error_of("model,gpu_type,batch,placement,throughput_samples_per_s\n"),
            "s.csv: has no rows after the header, so no samples");
  EXPECT_NE(sample_error_of("").find("s.csv: is empty"), std::string::npos);
}

TEST(SamplesCsv, QuestionsNeedNoThroughput) {
  const auto table = read_csv("model,gpu_type,batch,placement\nm,A100,64,2x4\n");
  ASSERT_TRUE(table);
  const auto questions = read_samples(*table, SampleRows::kQuestions);
  ASSERT_TRUE(questions) << questions.error().message;
  EXPECT_EQ((*questions)[0].throughput_samples_per_s, 0);
  EXPECT_FALSE(read_samples(*table, SampleRows::kMeasured));
}

TEST(SamplesCsv, ReadsWhatItWrites) {
  const std::vector<ThroughputSample> samples = {
      {"a,b", GpuType("A100"), 64, Layout(Placement{2, 4}), 0.1 + 0.2, "run \"7\"",
       SampleOrigin::kImport, 8},
      {"c", GpuType("T4"), 1e6, Layout(), 1e-3, "", SampleOrigin::kImport}};
  const auto read = read_samples_csv(write_samples_csv(samples), "s.csv");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, samples);
}

}  // namespace
}  // namespace slackline::wire
