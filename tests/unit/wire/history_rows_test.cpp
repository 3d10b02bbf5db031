// What a person and a program read of the history.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/format/csv.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

FinishedTask a_task() {
  FinishedTask task;
  task.key = {"team", "train"};
  task.uid = Uid("u-1");
  task.queue = "team, \"a\"";
  task.qos_class = "prior";
  task.gpu_type = GpuType("T4");
  task.gpus = 8;
  task.created_s = 1.8e9;
  task.started_s = 1.8e9 + 90;
  task.finished_s = 1.8e9 + 3690;
  task.succeeded = true;
  task.deadline_s = 1.8e9 + 3600;
  task.predicted_s = 3300;
  task.gpu_hours = 8;
  return task;
}

TEST(HistoryRows, JsonSaysWhatWasPromisedPredictedAndTrue) {
  JsonWriter out;
  encode(out, a_task());
  const std::string json = out.take();
  for (const char* part :
       {R"("namespace":"team","name":"train","uid":"u-1")", R"("outcome":"succeeded")",
        R"("result":"missed")", R"("waitSeconds":90)", R"("predictedSeconds":3300)",
        R"("durationSeconds":3600)", R"("gpuHours":8)", R"("finished":"2027-01-15T09:01:30Z")"})
    EXPECT_THAT(json, HasSubstr(part));
  FinishedTask unseen = a_task();
  unseen.started_s.reset();
  unseen.predicted_s.reset();
  unseen.deadline_s.reset();
  JsonWriter other;
  encode(other, unseen);
  const std::string less = other.take();
  for (const char* name :
       {"started", "waitSeconds", "predictedSeconds", "durationSeconds", "\"deadline\""})
    EXPECT_THAT(less, Not(HasSubstr(name)));
  EXPECT_THAT(less, HasSubstr(R"("result":"none")"));
}

TEST(HistoryRows, CsvReadsBackWhole) {
  const auto table = read_csv(table_of<FinishedTask>({a_task()}, Width::kWide).csv());
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->rows.size(), 1U);
  const auto cell = [&](std::string_view column) {
    return std::string(table->rows[0].cell(*table->column(column)));
  };
  EXPECT_EQ(cell("queue"), "team, \"a\"");
  EXPECT_EQ(cell("result"), "missed");
  EXPECT_EQ(cell("predicted"), "55m00s");
  EXPECT_EQ(cell("duration"), "1h00m");
  EXPECT_EQ(cell("gpu_hours"), "8.00");
  EXPECT_EQ(cell("uid"), "u-1");
}

TEST(HistoryRows, TheTableIsWhatAPersonLooksAt) {
  EXPECT_THAT(table_of<FinishedTask>({a_task()}).str(), HasSubstr("team/train"));
  EXPECT_THAT(table_of<FinishedTask>({a_task()}).str(), Not(HasSubstr("UID")));
}

}  // namespace
}  // namespace slackline::wire
