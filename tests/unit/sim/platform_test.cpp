#include "sim/platform.h"

#include <gtest/gtest.h>

#include "sim/comparison.h"
#include "sim/noise.h"
#include "sim/trace_csv.h"
#include "support/profiles.h"

namespace slackline::sim {
namespace {

TEST(Platform, IsReadFromText) {
  const auto pools = parse_platform("2x4:k80, 2x8:p100*3.2");
  ASSERT_TRUE(pools) << pools.error().message;
  ASSERT_EQ(pools->size(), 2U);
  EXPECT_EQ((*pools)[0], (core::Pool{GpuType("k80"), "", 2, 4, 1.0}));
  EXPECT_EQ((*pools)[1], (core::Pool{GpuType("p100"), "", 2, 8, 3.2}));
  EXPECT_TRUE(parse_platform("4x4"));
  for (const char* wrong :
       {"", "4", "4x", "0x4:a", "4x4:", "4x4:a*0", "4x4:a*x", "1x1:a,2x2:a", "1x1:a,2x2:A"})
    EXPECT_FALSE(parse_platform(wrong)) << wrong;
}

TEST(Platform, FindsItsTypesInTheProfileWhateverTheirCase) {
  auto pools = *parse_platform("4x4:k80");
  std::vector<ProfileEntry> entries(1);
  entries[0].model = "lstm";
  entries[0].gpu_type = GpuType("K80");
  ASSERT_TRUE(match_types(pools, entries));
  EXPECT_EQ(entries[0].gpu_type, GpuType("k80"));
  auto unnamed = *parse_platform("4x4");
  ASSERT_TRUE(match_types(unnamed, entries));
  EXPECT_EQ(unnamed[0].type, GpuType("k80"));
  auto other = *parse_platform("4x4:h100");
  EXPECT_NE(match_types(other, entries).error().message.find("there are: k80"), std::string::npos);
}

constexpr const char* kHeader = "id,submit,type,batch,iters,klass,deadline,req\r\n";

TEST(TraceCsv, ReadsBackWhatItWrites) {
  const std::string text = std::string(kHeader) +
                           "0,0.000000000,lstm,64,2000,Normal,6115.101422949,4\r\n"
                           "1,60.500000000,lstm,40,10.5,Prior,1872.531194296,2\r\n";
  const auto trace = parse_trace_csv(text);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->tasks[1].iterations, 10.5);
  EXPECT_EQ(trace->tasks[1].qos, QosClass::kPrior);
  EXPECT_EQ(format_trace_csv(*trace), text);
}

TEST(TraceCsv, CarriesAcceptedGpuTypes) {
  const std::string text =
      "id,submit,type,batch,iters,klass,deadline,req,gpu_types\r\n"
      "1,0.000000000,lstm,64,100,Normal,9.000000000,1,\"P100,K80\"\r\n"
      "2,1.000000000,lstm,64,100,Normal,9.000000000,1,\"\"\r\n";
  const auto trace = parse_trace_csv(text);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->tasks[0].gpu_types, (std::vector{GpuType("P100"), GpuType("K80")}));
  EXPECT_TRUE(trace->tasks[1].gpu_types.empty());
  EXPECT_EQ(format_trace_csv(*trace), text);
  EXPECT_FALSE(parse_gpu_types("K80,,P100"));
  EXPECT_FALSE(parse_gpu_types("K80, K80"));
}

TEST(TraceCsv, SaysWhatIsWrongAndWhere) {
  const auto error_of = [](const std::string& rows) {
    const auto trace = parse_trace_csv(kHeader + rows);
    return trace ? "" : trace.error().message;
  };
  EXPECT_NE(error_of("0,0,lstm,64,1,Normal,9,1\n0,1,lstm,64,1,Normal,9,1\n").find("line 3: id"),
            std::string::npos);
  EXPECT_NE(error_of("0,5,lstm,64,1,Normal,9,1\n1,1,lstm,64,1,Normal,9,1\n").find("earlier"),
            std::string::npos);
  EXPECT_NE(error_of("0,0,lstm,64,1,Rush,9,1\n").find("klass \"Rush\""), std::string::npos);
  EXPECT_NE(error_of("0,0,lstm,64,0,Normal,9,1\n").find("iters"), std::string::npos);
  EXPECT_NE(error_of("0,0,lstm,64,-5,Normal,9,1\n").find("line 2: iters \"-5\": must be above 0"),
            std::string::npos);
  for (const char* row : {"0,0,lstm,1e300,1,Normal,9,1\n", "0,0,lstm,64,1e300,Normal,9,1\n",
                          "0,1e300,lstm,64,1,Normal,9,1\n", "0,0,lstm,64,1,Normal,1e300,1\n"})
    EXPECT_NE(error_of(row).find("must be at most"), std::string::npos) << row;
  EXPECT_NE(error_of("0,0,lstm,64,1,Normal,9\n").find("7 cells"), std::string::npos);
  EXPECT_FALSE(parse_trace_csv("id,submit\n"));
}

TEST(TraceCsv, TimesThatCanHardlyBeMeantAreTold) {
  const auto late = parse_trace_csv(std::string(kHeader) +
                                    "0,1760000000,lstm,64,1,Normal,1760000060,1\n"
                                    "1,1760000001,lstm,64,1,Normal,-5,1\n");
  ASSERT_TRUE(late) << late.error().message;
  ASSERT_EQ(late->assumptions.size(), 2U);
  EXPECT_NE(late->assumptions[0].find("488889 hours after time 0"), std::string::npos);
  EXPECT_NE(late->assumptions[1].find("1 tasks are due before they are submitted"),
            std::string::npos);
  EXPECT_NE(late->assumptions[1].find("line 3, task 1"), std::string::npos);
  EXPECT_TRUE(
      parse_trace_csv(std::string(kHeader) + "0,5,lstm,64,1,Normal,9,1\n")->assumptions.empty());
}

class Prepared : public testing::Test {
 protected:
  Prepared() { platform_.pools = *parse_platform("2x4:k80"); }
  static Trace trace(const std::string& rows) { return *parse_trace_csv(kHeader + rows); }

  WorkloadProfiles profiles_{
      {test::a_profile("bert", GpuType("k80"), {"table", {64, 1, 100, 64, 2, 150, 64, 4, 200}})}};
  Platform platform_;
};

TEST_F(Prepared, WhereCountsAreBindingATaskWithoutAPlacementOfItsCountIsTold) {
  platform_.fixed = true;
  const auto tasks =
      prepare(trace("0,0,bert,64,100,Normal,3600,9\n1,0,bert,64,100,Normal,3600,2\n"), profiles_,
              platform_);
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_EQ(on_one_gpu(*tasks).find("1 of 2 tasks ask"), 0U);
  EXPECT_NE(on_one_gpu(*tasks).find("task 0 for 9), and run on one"), std::string::npos);
  EXPECT_EQ(on_one_gpu(*prepare(trace("1,0,bert,64,100,Normal,3600,2\n"), profiles_, platform_)),
            "");
}

TEST_F(Prepared, WhatSaysNothingOfItsLengthRunsLongerOnFewerGpus) {
  Trace silent = trace("0,0,bert,64,100,Normal,3600,8\n");
  silent.tasks[0].expected = ExpectedRun{1000, 0.5, 2000};
  const auto choices = [&] {
    const auto tasks = prepare(silent, profiles_, platform_);
    EXPECT_TRUE(tasks) << tasks.error().message;
    return tasks ? (*tasks)[0].menu->all : std::vector<core::Choice>();
  };
  ASSERT_EQ(choices().size(), 1U);
  EXPECT_EQ(choices()[0].shape, (Placement{2, 4}));
  EXPECT_EQ(choices()[0].work_s, 1000);
  platform_.max_gpus = 7;
  ASSERT_EQ(choices().size(), 1U);
  EXPECT_EQ(choices()[0].shape, (Placement{1, 4}));
  EXPECT_EQ(choices()[0].work_s, 2000);
  platform_.pools = *parse_platform("2x6:k80");
  platform_.max_gpus = 16;
  ASSERT_EQ(choices().size(), 1U);
  EXPECT_EQ(choices()[0].shape, (Placement{2, 4})) << "not all twelve";
}

TEST_F(Prepared, ATypeWithoutAProfileIsToldWithItsLineAndThoseThatThereAre) {
  const auto tasks = prepare(trace("0,0,nosuch,64,100,Normal,3600,1\n"), profiles_, platform_);
  ASSERT_FALSE(tasks);
  EXPECT_EQ(tasks.error().message,
            "line 2: task 0: no profile for workload type nosuch; there are bert");
}

TEST_F(Prepared, NoiseThatCanMatchNothingIsRefused) {
  const auto tasks = prepare(trace("7,0,bert,64,100,Normal,3600,1\n"), profiles_, platform_);
  ASSERT_TRUE(tasks) << tasks.error().message;
  const auto said = [&](const std::string& row) {
    const auto noise = parse_noise_csv("task,type,pool,d_node,d_gn,factor\n" + row);
    if (!noise) return noise.error().message;
    const Status checked = noise->check(platform_.pools, *tasks, profiles_);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(said("7,,,,,2\n"), "");
  EXPECT_EQ(said(",bert,k80,1,2,2\n"), "");
  EXPECT_NE(said(",,K80,,,2\n").find("line 2: the noise is for pool \"K80\""), std::string::npos);
  EXPECT_NE(said("7,,K80,,,2\n").find("pool \"K80\""), std::string::npos);
  EXPECT_NE(said(",brt,,,,2\n").find("type \"brt\""), std::string::npos);
  EXPECT_NE(said("7,,,,,2\n99,,,,,2\n").find("line 3: the noise is for task 99"),
            std::string::npos);
  EXPECT_NE(said("7,,,,,0\n").find("must be above 0"), std::string::npos);
}

TEST(Noise, MultipliesTheRowsThatMatch) {
  const auto noise = parse_noise_csv(
      "task,type,pool,d_node,d_gn,factor\n,lstm,k80,1,2,1.5\n7,,,,,2\n,,k80,,,1.25\n");
  ASSERT_TRUE(noise) << noise.error().message;
  core::PlanTask task;
  task.id = 7;
  task.type = "lstm";
  EXPECT_EQ(noise->factor(task, "k80", {1, 2}), 1.5 * 1.25 * 2);
  EXPECT_EQ(noise->factor(task, "p100", {1, 2}), 2);
  task.id = 8;
  EXPECT_EQ(noise->factor(task, "k80", {1, 1}), 1.25);
  EXPECT_FALSE(parse_noise_csv("task,type,pool,d_node,d_gn,factor\n1,,,,,0\n"));
}

TEST(Comparison, MarksTheBestFigureOfAColumn) {
  Report good;
  good.q = 90;
  good.makespan_h = 30;
  Report bad;
  bad.q = 40;
  bad.makespan_h = 20;
  const std::string table = format_comparison({{"a", good}, {"b", bad}}, {});
  EXPECT_NE(table.find("*90.0"), std::string::npos);
  EXPECT_EQ(table.find("*40.0"), std::string::npos);
  EXPECT_NE(table.find("*20.00"), std::string::npos);
  EXPECT_EQ(format_comparison({{"a", good}}, {}).find('*'), std::string::npos);
}

TEST(Comparison, OptionsStayWithTheirPolicy) {
  EXPECT_EQ(split_policies("fifo,savable-p,margin=0.2,order=slack,qos"),
            (std::vector<std::string>{"fifo", "savable-p,margin=0.2,order=slack", "qos"}));
}

}  // namespace
}  // namespace slackline::sim
