#include "sim/generate.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/trace_csv.h"
#include "slackline/core/throughput/throughput.h"
#include "support/profiles.h"

namespace slackline::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const GpuType kDrawnType("K80");

WorkloadProfiles profiles() {
  return WorkloadProfiles(
      {test::a_profile("alexnet", kDrawnType, {"S", {180, 2, -0.00213, 0.18, 1.8}}, 30),
       test::a_profile("lstm", kDrawnType, {"S", {80, 13.5, -0.107, 0.6, 1.35}}, 30)});
}

std::vector<DrawRange> ranges() {
  return {{"alexnet", {64, 128}, 1600, 17600}, {"lstm", {20, 40, 80}, 7000, 75000}};
}

GenerateOptions options(std::uint64_t seed) {
  GenerateOptions options;
  options.seed = seed;
  options.gpu_type = kDrawnType;
  return options;
}

std::string first_lines(const std::string& text, int lines) {
  std::size_t end = 0;
  for (int i = 0; i < lines; ++i)
    end = text.find("\r\n", end) + 2;
  return text.substr(0, end);
}

// The bytes are a promise: a published figure names a seed.
TEST(Generate, TheSeedFixesEveryByte) {
  const auto trace = generate_paper000(options(7), ranges(), profiles());
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(first_lines(format_trace_csv(*trace), 4),
            "id,submit,type,batch,iters,klass,deadline,req\r\n"
            "0,177.846213513,alexnet,64,4248,Normal,2054.713827677,2\r\n"
            "1,405.014657534,alexnet,128,6332,Prior,2455.687300269,1\r\n"
            "2,1305.473622791,alexnet,64,7822,Normal,4710.939366197,8\r\n");
}

TEST(Generate, AWrittenTraceReadsBackTheSame) {
  const auto trace = generate_paper000(options(1), ranges(), profiles());
  ASSERT_TRUE(trace);
  const auto read = parse_trace_csv(format_trace_csv(*trace));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->tasks.size(), trace->tasks.size());
  for (std::size_t i = 0; i < read->tasks.size(); ++i) {
    EXPECT_EQ(read->tasks[i].submit_s, trace->tasks[i].submit_s);
    EXPECT_EQ(read->tasks[i].deadline_s, trace->tasks[i].deadline_s);
  }
}

TEST(Generate, TheLoadIsThePapers) {
  GenerateOptions much = options(3);
  much.rate_per_h = 500;
  const auto trace = generate_paper000(much, ranges(), profiles());
  ASSERT_TRUE(trace);
  const double n = static_cast<double>(trace->tasks.size());
  EXPECT_NEAR(n, 12000, 400);
  std::map<QosClass, double> classes;
  std::map<int, double> requests;
  std::map<std::string, double> types;
  for (const TraceTask& task : trace->tasks) {
    classes[task.qos] += 1 / n;
    requests[task.request_gpus] += 1 / n;
    types[task.type] += 1 / n;
    EXPECT_LT(task.submit_s, 86400);
  }
  EXPECT_NEAR(classes[QosClass::kUrgent], 0.05, 0.01);
  EXPECT_NEAR(classes[QosClass::kPrior], 0.35, 0.02);
  EXPECT_NEAR(classes[QosClass::kNormal], 0.60, 0.02);
  for (const int request : {1, 2, 4, 8})
    EXPECT_NEAR(requests[request], 0.25, 0.02);
  EXPECT_NEAR(types["lstm"], 0.5, 0.02);
}

std::vector<std::string> types_of(const Trace& trace) {
  std::set<std::string> types;
  for (const TraceTask& task : trace.tasks)
    types.insert(task.type);
  return {types.begin(), types.end()};
}

TEST(Generate, TheNetsAreThoseOfThePaperWhateverElseIsKnown) {
  const std::vector<std::string> nets = {"alexnet", "googlenet", "inception3",
                                         "lstm",    "resnet50",  "seq2seq"};
  std::vector<ProfileEntry> known;
  std::vector<DrawRange> ranges;
  for (const std::string& net : nets) {
    known.push_back(test::a_profile(net, kDrawnType, {"S", {180, 2, -0.00213, 0.18, 1.8}}, 30));
    ranges.push_back({net, {64}, 1000, 2000});
  }
  const auto as_published = generate_paper000(options(1), ranges, WorkloadProfiles(known));
  ASSERT_TRUE(as_published);
  EXPECT_EQ(types_of(*as_published), nets);
  EXPECT_THAT(as_published->assumptions, Not(Contains(HasSubstr("six networks"))));
  known.push_back(
      test::a_profile("resnet18", kDrawnType, {"S", {180, 2, -0.00213, 0.18, 1.8}}, 30));
  ranges.push_back({"resnet18", {64}, 1000, 2000});
  const auto with_one_more = generate_paper000(options(1), ranges, WorkloadProfiles(known));
  ASSERT_TRUE(with_one_more);
  EXPECT_EQ(format_trace_csv(*with_one_more), format_trace_csv(*as_published));
}

TEST(Generate, OtherNetsAreDrawnWhereThePapersAreUnknownAndThatIsSaid) {
  const WorkloadProfiles bert(
      {test::a_profile("bert", kDrawnType, {"S", {9, 2, 0, 0.18, 1.8}}, 30)});
  const auto trace = generate_paper000(options(1), {{"bert", {64}, 1000, 2000}}, bert);
  ASSERT_TRUE(trace);
  EXPECT_THAT(types_of(*trace), ElementsAre("bert"));
  EXPECT_THAT(trace->assumptions, Contains(HasSubstr("drawn instead: bert")));
  const auto some = generate_paper000(options(1), ranges(), profiles());
  ASSERT_TRUE(some);
  EXPECT_THAT(some->assumptions, Contains(HasSubstr("drawn instead: alexnet, lstm")));
}

TEST(Generate, DeadlinesAreKappaTimesLat11) {
  const auto trace = generate_paper000(options(4), ranges(), profiles());
  ASSERT_TRUE(trace);
  const WorkloadProfiles known = profiles();
  for (const TraceTask& task : trace->tasks) {
    const ProfileEntry& entry = *known.find(task.type, kDrawnType);
    const double lat11_s = *core::predict_lat_s(entry.coefficients, task.batch, task.iterations,
                                                Placement{1, 1}, entry.startup_s);
    EXPECT_NEAR(task.deadline_s - task.submit_s, kappa_of(task.qos, {}) * lat11_s, 1e-6);
  }
}

TEST(Generate, WhatCannotBeDrawnIsRefused) {
  GenerateOptions endless = options(0);
  endless.rate_per_h = 1e9;
  EXPECT_FALSE(generate_paper000(endless, ranges(), profiles()));
  EXPECT_FALSE(generate_paper000(options(0), {}, profiles()));
  const auto unknown = generate_paper000(options(0), {{"vgg", {8}, 1, 2}}, profiles());
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("vgg"));
}

TEST(ClassMix, WeightsAreReadOrRefused) {
  const auto mix = parse_class_mix("5:35:60");
  ASSERT_TRUE(mix);
  EXPECT_EQ(mix->prior, 35);
  for (const char* wrong : {"", "5:35", "0:0:0", "1:-1:2", "a:b:c", "1:2:3:4", "inf:1:1"})
    EXPECT_FALSE(parse_class_mix(wrong)) << wrong;
}

}  // namespace
}  // namespace slackline::sim
