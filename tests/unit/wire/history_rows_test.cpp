// What a person and a program read of the history.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/format/csv.h"
#include "wire/rest/history_codec.h"
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
       {R"("namespace":"team","name":"train","kind":"Job","uid":"u-1")", R"("outcome":"succeeded")",
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
  FinishedTask cut = a_task();
  cut.succeeded = false;
  cut.deleted = true;
  JsonWriter of_cut;
  encode(of_cut, cut);
  EXPECT_THAT(of_cut.take(), HasSubstr(R"("outcome":"deleted","deadline":)"));
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

// One replica reads what the other answers.
TEST(HistoryRows, JsonIsReadBackWhole) {
  FinishedTask task = a_task();
  task.kind = "PyTorchJob";
  task.model = "resnet50";
  task.resized_from = "1x16";
  task.family = "team/family=nightly";
  task.asked_gpus = 16;
  task.pods = 2;
  task.cpu_milli = 4000;
  task.use = MeasuredUse{0.5, 0.75, 3000, 2.5, 3100};
  task.held_s = 3000;
  task.stops = 2;
  task.gang = "u-7/worker";
  FinishedTask unseen = a_task();
  unseen.started_s = unseen.deadline_s = unseen.predicted_s = std::nullopt;
  JsonWriter out;
  out.begin_object().key("items").begin_array();
  encode(out, task);
  encode(out, unseen);
  out.end_array().end_object();
  const auto read = read_finished_tasks(out.take());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  JsonWriter again;
  encode(again, read->front());
  JsonWriter before;
  encode(before, task);
  EXPECT_EQ(again.take(), before.take());
  EXPECT_EQ(read->front().use, task.use);
  EXPECT_EQ(read->front().held_s, 3000);
  EXPECT_EQ(read->front().stops, 2);
  EXPECT_EQ(read->front().gang, "u-7/worker");
  EXPECT_EQ(read->back().stops, 0);
  EXPECT_EQ(read->back().gang, "");
  EXPECT_EQ(read->back().started_s, std::nullopt);
  EXPECT_EQ(read->back().use, std::nullopt);
}

TEST(HistoryRows, WhatIsNoHistoryIsRefused) {
  const auto why = [](std::string_view json) {
    const auto read = read_finished_tasks(json);
    return read ? "" : read.error().message;
  };
  EXPECT_THAT(why("{}"), HasSubstr("items: is missing"));
  EXPECT_THAT(why(R"({"items":[{"uid":"u","name":"n","created":"2027-01-15T08:00:00Z"}]})"),
              HasSubstr("items[0].finished"));
}

}  // namespace
}  // namespace slackline::wire
