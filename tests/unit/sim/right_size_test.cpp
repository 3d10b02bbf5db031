// What the advice would do to a table of tasks.
#include "sim/right_size.h"

#include <gmock/gmock.h>

namespace slackline::sim {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHead = "task,gpus,cores,hours,gpu_use,gpu_memory,cores_used,cores_max\n";

std::vector<SizedTask> sized(const std::string& rows) {
  auto tasks = parse_sized_tasks(kHead + rows);
  EXPECT_TRUE(tasks) << tasks.error().message;
  right_size(*tasks);
  return *tasks;
}

TEST(RightSize, FollowsTheFormulasOfTheAdvice) {
  const auto tasks = sized("idle,8,64,2,0.2,0.3,8,10\nfull,4,16,2,0.9,0.5,12,15\n");
  EXPECT_EQ(tasks[0].advised_gpus, 3) << "8 x 0.3 / 0.9, rounded up";
  EXPECT_DOUBLE_EQ(tasks[0].advised_cores, 16) << "8 / 0.5";
  EXPECT_EQ(tasks[1].advised_gpus, 4);
  EXPECT_DOUBLE_EQ(tasks[1].advised_cores, 16) << "never more than asked for unless more is used";
}

TEST(RightSize, AGpuAloneAndAShortRunStayAsTheyAre) {
  const auto tasks = sized("one,1,8,2,0.1,0.1,8,8\nshort,8,8,0.5,0.1,0.1,8,8\n");
  EXPECT_EQ(tasks[0].advised_gpus, 1);
  EXPECT_EQ(tasks[1].advised_gpus, 8) << "half an hour is no evidence";
}

TEST(RightSize, NeverAdvisesMoreThanIsAskedFor) {
  for (int gpus = 1; gpus <= 40; ++gpus) {
    const auto tasks =
        sized(std::to_string(gpus) + "," + std::to_string(gpus) + ",64,2,0.85,0.85,8,10\n");
    EXPECT_LE(tasks[0].advised_gpus, gpus);
  }
  EXPECT_EQ(sized("nine,9,64,2,0.3,0.3,8,10\n")[0].advised_gpus, 3) << "9 x 0.3 / 0.9";
}

TEST(RightSize, UseIsOfHours) {
  const auto tasks = sized("idle,8,64,1,0.25,0.25,8,10\nfull,2,16,2,0.75,0.5,12,15\n");
  const std::string table = right_size_table(tasks).csv();
  EXPECT_THAT(table, HasSubstr("gpu,12.0,7.0,5.0,41.67,71.43"));
}

TEST(RightSize, RowsThatContradictEachOtherAreRefused) {
  const auto said = [](const std::string& rows) {
    const auto tasks = parse_sized_tasks(kHead + rows);
    return tasks ? std::string() : tasks.error().message;
  };
  EXPECT_EQ(said("a,1,8,1,0.5,0.5,9,10\n"), "") << "a pod may use more CPU than it asks for";
  EXPECT_THAT(said("a,1,8,1,0.5,0.5,4,2\n"),
              HasSubstr("line 2: cores_max \"2\": is less than cores_used, 4"));
  EXPECT_THAT(said("a,1,8,1,0.5,0.5,4,4\na,2,8,1,0.5,0.5,4,4\n"),
              HasSubstr("line 3: task \"a\": is given twice"));
}

TEST(RightSize, AMistakeNamesLineAndColumn) {
  for (const char* row : {"a,0,1,1,0,0,0,0\n", "a,1,1,1,1.5,0,0,0\n", "a,1,nan,1,0,0,0,0\n",
                          "a,99999999,1,1,0,0,0,0\n", "a,1,1,1e300,0,0,0,0\n"}) {
    const auto tasks = parse_sized_tasks(std::string(kHead) + row);
    ASSERT_FALSE(tasks) << row;
    EXPECT_THAT(tasks.error().message, HasSubstr("line 2"));
  }
}

}  // namespace
}  // namespace slackline::sim
