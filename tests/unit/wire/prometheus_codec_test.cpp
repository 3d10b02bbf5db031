// Answers of a Prometheus, as it writes them.
#include "wire/telemetry/prometheus_codec.h"

#include <gmock/gmock.h>

#include "wire/telemetry/usage_table.h"

namespace slackline::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string wrong(std::string_view body) {
  const auto answer = decode_query_answer(body);
  return answer ? "taken" : answer.error().message;
}

TEST(PrometheusCodecTest, AnInstantAnswerIsReadAndNaNMeasuresNothing) {
  const auto answer = decode_query_answer(
      R"({"status":"success","data":{"resultType":"vector","result":[)"
      R"({"metric":{"__name__":"up","instance":"127.0.0.1:1","pod":"a"},"value":[1795487965.462,"1"]},)"
      R"({"metric":{"pod":"b"},"value":[1795487965.462,"NaN"]},)"
      R"({"metric":{},"value":[1795487965,"+Inf"]}]}})");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->series.size(), 3u);
  EXPECT_EQ(answer->series[0].label("pod"), "a");
  EXPECT_EQ(answer->series[0].label("node"), "");
  ASSERT_EQ(answer->series[0].points.size(), 1u);
  EXPECT_EQ(answer->series[0].points[0].time_s, 1795487965.462);
  EXPECT_EQ(answer->series[0].points[0].value, 1);
  EXPECT_TRUE(answer->series[1].points.empty());
  EXPECT_TRUE(answer->series[2].points.empty());
}

TEST(PrometheusCodecTest, ARangeAnswerIsReadWithItsWarnings) {
  const auto answer = decode_query_answer(
      R"({"status":"success","warnings":["store 10.0.0.1 is away"],"data":{"resultType":"matrix",)"
      R"("result":[{"metric":{"pod":"a"},"values":[[1,"1e-05"],[2,"NaN"],[3,"-4"]]}]}})");
  ASSERT_TRUE(answer) << answer.error().message;
  ASSERT_EQ(answer->series.size(), 1u);
  ASSERT_EQ(answer->series[0].points.size(), 2u);
  EXPECT_EQ(answer->series[0].points[0].value, 1e-5);
  EXPECT_EQ(answer->series[0].points[1].time_s, 3);
  EXPECT_THAT(answer->warnings, ElementsAre("store 10.0.0.1 is away"));
}

TEST(PrometheusCodecTest, WhatIsNoAnswerIsSaid) {
  EXPECT_THAT(wrong("<html>"), HasSubstr("not an answer of a Prometheus"));
  EXPECT_THAT(wrong("{}"), HasSubstr("its status is not \"success\""));
  EXPECT_THAT(wrong(R"({"status":"success","data":{"resultType":"scalar","result":[1,"1"]}})"),
              HasSubstr("its resultType is \"scalar\""));
  const auto with = [](const std::string& result) {
    return wrong(R"({"status":"success","data":{"resultType":"matrix","result":[)" + result +
                 "]}}");
  };
  EXPECT_THAT(with(R"({"values":[]})"), HasSubstr("no labels"));
  EXPECT_THAT(with(R"({"metric":{"a":1},"values":[]})"), HasSubstr("a label is not a text"));
  EXPECT_THAT(with(R"({"metric":{}})"), HasSubstr("has no values"));
  EXPECT_THAT(with(R"({"metric":{},"values":[[1,2]]})"), HasSubstr("a value is not"));
  EXPECT_THAT(with(R"({"metric":{},"values":[[1,"x"]]})"), HasSubstr("a value is not"));
  EXPECT_THAT(with(R"({"metric":{},"values":[[2,"1"],[1,"1"]]})"), HasSubstr("order of time"));
}

TEST(PrometheusCodecTest, TooManyLabelsAreTooMany) {
  std::string labels;
  for (std::size_t i = 0; i <= kMostLabels; ++i)
    labels += (i == 0 ? "\"l" : ",\"l") + std::to_string(i) + "\":\"v\"";
  EXPECT_THAT(wrong(R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{)" +
                    labels + R"(},"value":[1,"1"]}]}})"),
              HasSubstr("more than 128 labels"));
}

TEST(PrometheusCodecTest, TooManySeriesAreRefusedBeforeTheyAreRead) {
  std::string body = R"({"status":"success","data":{"resultType":"vector","result":[)";
  for (std::size_t i = 0; i <= kMostSeries; ++i)
    body += R"({"metric":{"pod":"a"},"value":[1,"1"]},)";
  EXPECT_THAT(wrong(body), HasSubstr("more than 200000 series")) << "it need not even end well";
}

TEST(PrometheusCodecTest, AnErrorIsQuoted) {
  EXPECT_EQ(
      decode_query_error(
          R"({"status":"error","errorType":"bad_data","error":"invalid parameter \"query\""})"),
      "bad_data: invalid parameter \"query\"");
  EXPECT_EQ(decode_query_error("404 page not found"), "");
}

TEST(UsageTableTest, WhatWasNotMeasuredIsEmptyAndLeftOut) {
  UsageSample sample;
  sample.task = {"ml", "a"};
  sample.run = Uid("u");
  sample.from_s = 1'800'000'000;
  sample.to_s = sample.from_s + 60;
  sample.gpu_share = Usage{0.5, 0.75, 45};
  sample.gpus = UsageQuality::kMeasured;
  sample.gap_s = 15;
  EXPECT_EQ(usage_table({sample}).csv(),
            "task,gpu_%,gpu_max_%,gpu_mem_%,gpu_mem_max_%,cpu,cpu_max,memory_mib,memory_max_mib,"
            "gpus,window,gap\nml/a,50.0,75.0,,,,,,,measured,1m00s,15s\n");
  EXPECT_EQ(usage_json({sample}, {"r"}),
            R"({"items":[{"task":"ml/a","run":"u","from":"2027-01-15T08:00:00Z",)"
            R"("to":"2027-01-15T08:01:00Z","gapSeconds":15,"gpus":"measured",)"
            R"("gpuShare":{"mean":0.5,"max":0.75,"seconds":45}}],"remarks":["r"]})");
}

}  // namespace
}  // namespace slackline::wire
