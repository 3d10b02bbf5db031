#include "sim/trace_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/trace_csv.h"
#include "support/profiles.h"

namespace slackline::sim {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

const GpuType kTracedType("A100");

class TraceFormats : public ::testing::Test {
 protected:
  TraceFormats()
      : profiles_(
            {test::a_profile("bert", kTracedType, {"table", {64, 1, 100, 64, 2, 150, 64, 4, 200}}),
             test::a_profile("vgg16", kTracedType, {"table", {64, 1, 50, 64, 2, 90}})}) {
    options_.profiles = &profiles_;
    options_.gpu_type = kTracedType;
    options_.ranges = default_draw_ranges(profiles_, kTracedType);
  }

  Trace load(std::string_view text, std::string_view format = "auto") {
    auto trace = load_trace(text, "t.csv", format, options_);
    EXPECT_TRUE(trace) << trace.error().message;
    return trace ? *trace : Trace{};
  }
  std::string error_of(std::string_view text, std::string_view format = "auto") {
    const auto trace = load_trace(text, "t.csv", format, options_);
    return trace ? std::string("none") : trace.error().message;
  }

  WorkloadProfiles profiles_;
  RecordedOptions options_;
};

constexpr std::string_view kElasticFlow =
    "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
    "b,1200,1,bert,2000,64,4,640\n"
    "a,1000,1,vgg16,1500,64,3,100\n";

TEST_F(TraceFormats, ElasticFlowKeepsItsDeadlinesAndRecordedDurations) {
  const Trace trace = load(kElasticFlow);
  ASSERT_EQ(trace.tasks.size(), 2U);
  const TraceTask& first = trace.tasks[0];  // by submission, on a clock that begins there
  EXPECT_EQ(first.id, 0);
  EXPECT_EQ(first.submit_s, 0);
  EXPECT_EQ(first.type, "vgg16");
  EXPECT_EQ(first.deadline_s, 500);
  EXPECT_EQ(first.request_gpus, 2);  // 3, rounded down
  EXPECT_DOUBLE_EQ(first.iterations, 100 * 90.0 / 64);
  const TraceTask& second = trace.tasks[1];
  EXPECT_EQ(second.submit_s, 200);
  EXPECT_EQ(second.deadline_s, 1000);
  EXPECT_DOUBLE_EQ(second.iterations, 640 * 200.0 / 64);
  EXPECT_THAT(trace.assumptions, Contains(HasSubstr("1 of 2 jobs: the GPU count is rounded")));
}

TEST_F(TraceFormats, ElasticFlowsOtherSpellingIsRead) {
  const Trace trace = load(
      "num_gpu,ddl,submit_time,duration,model_name,batch_size,best_effort\r\n"
      "1,900,100,64,bert,64,0\r\n1,900,100,64,bert,64,1\r\n");
  ASSERT_EQ(trace.tasks.size(), 2U);
  EXPECT_EQ(trace.tasks[0].deadline_s, 800);
  EXPECT_EQ(trace.tasks[1].deadline_s, 128);  // best effort: kappa of Normal x duration
}

TEST_F(TraceFormats, PhillyDrawsWhatItDoesNotTell) {
  options_.least_duration_s = 300;
  options_.most_duration_s = 86400;
  options_.cluster = "6c71a0";
  const Trace trace = load(
      "jobid,timestamp,vc,num_gpus,duration\n"
      "a,2017-10-03 00:00:00,other,1,1000\n"
      "b,2017-10-03 00:00:10,6c71a0,1,299\n"
      "c,2017-10-03T00:01:00,6c71a0,2,600\n"
      "d,2017-10-04 00:01:00,6c71a0,1,90000\n"
      "e,2017-10-04 00:02:00,6c71a0,0,900\n");
  ASSERT_EQ(trace.tasks.size(), 2U);
  const TraceTask& c = trace.tasks[0];
  EXPECT_TRUE(c.type == "bert" || c.type == "vgg16");
  EXPECT_EQ(c.batch, 64);
  EXPECT_NEAR(c.deadline_s - c.submit_s, kappa_of(c.qos, {}) * 600, 1e-9);
  EXPECT_EQ(trace.tasks[1].submit_s, 86400);
  const TraceTask& d = trace.tasks[1];
  EXPECT_NEAR(d.deadline_s - d.submit_s, kappa_of(d.qos, {}) * 86400, 1e-9);
  EXPECT_THAT(trace.assumptions,
              AllOf(Contains(HasSubstr("the type is drawn")), Contains(HasSubstr("cut at 24 h")),
                    Contains(HasSubstr("1 jobs without a GPU"))));
}

TEST_F(TraceFormats, TheEndsThatAReplayWritesAreRead) {
  const auto recording = load_recording(
      "submit_time,num_gpus,duration,cluster,end_time\n10,1,600,ml,5000\n20,1,600,ml,\n", "auto");
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->jobs[0].end_s, 5000);
  EXPECT_EQ(recording->jobs[1].end_s, std::nullopt);
}

// The nodes of the recording have three GPUs: four are two on each of two.
TEST_F(TraceFormats, NoGpuIsLostWhereNodesDoNotDivideThem) {
  options_.gpus_per_node = 3;
  EXPECT_DOUBLE_EQ(load(kElasticFlow).tasks[1].iterations, 640 * 200.0 / 64);
}

TEST_F(TraceFormats, DrawsFollowTheSeed) {
  std::string text = "timestamp,num_gpus,duration\n";
  for (int i = 0; i < 50; ++i)
    text += std::to_string(i) + ",1,600\n";
  const std::string zero = format_trace_csv(load(text));
  EXPECT_EQ(format_trace_csv(load(text)), zero);
  options_.seed = 1;
  EXPECT_NE(format_trace_csv(load(text)), zero);
}

constexpr std::string_view kChronus =
    "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,"
    "expect_value_list,best_effort,job_type\n"
    "0,vc_a,1,10,5,vgg16,4,1,6,10,0,strict\n"
    "1,vc_a,1,11,5,vgg16,4,1,7-9,10,0,strict\n"
    "2,vc_a,1,12,5,resnet101,4,1,8,10,0,strict\n"
    "3,vc_a,1,90,5,vgg16,4,1,8,10,0,strict\n";

TEST_F(TraceFormats, ChronusCountsMinutesFromTheSubmission) {
  const Trace trace = load(kChronus);
  ASSERT_EQ(trace.tasks.size(), 4U);
  EXPECT_EQ(trace.tasks[0].deadline_s, 360);
  EXPECT_EQ(trace.tasks[1].submit_s, 60);
  EXPECT_EQ(trace.tasks[1].deadline_s, 60 + 420);  // the first of two
  EXPECT_DOUBLE_EQ(trace.tasks[0].iterations, 240 * 50.0 / 64);
  EXPECT_THAT(trace.assumptions, Contains(HasSubstr("resnet101 has no profile")));
}

TEST_F(TraceFormats, ASelectionTakesAWindowAndEveryNth) {
  options_.from_s = 60;
  options_.for_s = 3600;
  options_.every = 2;
  const Trace trace = load(kChronus);
  ASSERT_EQ(trace.tasks.size(), 1U);
  EXPECT_EQ(trace.tasks[0].submit_s, 0);
  EXPECT_EQ(trace.tasks[0].deadline_s, 420);
}

TEST_F(TraceFormats, PolluxDrawsDurations) {
  const Trace trace = load(
      "name,time,application,num_replicas,batch_size\nbert-0,10,bert,4,64\nncf-1,20,ncf,1,32768\n");
  ASSERT_EQ(trace.tasks.size(), 2U);
  EXPECT_EQ(trace.tasks[0].type, "bert");
  EXPECT_EQ(trace.tasks[0].request_gpus, 4);
  EXPECT_NE(trace.tasks[1].type, "ncf");
  EXPECT_EQ(trace.tasks[1].batch, 64);  // the recorded batch is of another type
  EXPECT_THAT(trace.assumptions, Contains(HasSubstr("no durations")));
}

TEST_F(TraceFormats, OurOwnFormatIsRecognised) {
  const std::string text = format_trace_csv(load(kElasticFlow));
  EXPECT_EQ(format_trace_csv(load(text)), text);
  EXPECT_EQ(format_trace_csv(load(text, "golden")), text);
}

TEST_F(TraceFormats, EveryWrongCellIsToldWithFileLineAndColumn) {
  const std::string error = error_of(
      "submit_time,model_name,num_gpu,duration\n1,bert,1,10\nsoon,bert,1,10\n2,bert,x,-1\n");
  EXPECT_THAT(error, HasSubstr("t.csv: 3 values are wrong"));
  EXPECT_THAT(error, HasSubstr("line 3: submit_time: \"soon\""));
  EXPECT_THAT(error, HasSubstr("line 4: num_gpu"));
  EXPECT_THAT(error, HasSubstr("line 4: duration"));
  EXPECT_THAT(error_of("timestamp,num_gpus,duration\n2017-13-01 00:00:00,1,9\n"),
              HasSubstr("line 2: timestamp"));
}

TEST_F(TraceFormats, WhatIsNoTraceIsRefusedWithTheRemedy) {
  EXPECT_THAT(error_of("a,b\n1,2\n"), HasSubstr("auto, golden, chronus, pollux, elasticflow"));
  EXPECT_THAT(error_of(kElasticFlow, "borg"), HasSubstr("there is no trace format borg"));
  EXPECT_THAT(error_of(kElasticFlow, "chronus"), HasSubstr("no column submit_time"));
  EXPECT_THAT(error_of("submit_time,model_name,num_gpu\n1,bert,1\n"), HasSubstr("duration"));
  EXPECT_THAT(error_of("submit_time,model_name,num_gpu,duration\n1,bert,0,10\n"),
              HasSubstr("none of the 1 jobs"));
  EXPECT_THAT(error_of("submit_time,model_name,num_gpu,duration,batch_size\n1,bert,1,10,7\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("bert with batch 7")));
  options_.mix = *parse_class_mix("0:0:1");
  EXPECT_THAT(error_of("submit_time,model_name,num_gpu,duration\n1,bert,1,9e9\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("deadline 18000000000 s")));
}

}  // namespace
}  // namespace slackline::sim
