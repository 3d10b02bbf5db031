// Reports: sums over finished tasks, by hand.
#include "control/query/report_maker.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "control/query/reports.h"
#include "slackline/base/text.h"
#include "slackline/core/portrait/book.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/learn.h"
#include "support/portrait_runs.h"

namespace slackline::control {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kDay_s = 86400;
constexpr double kReportEnd_s = 1000 * kDay_s;

// Four GPUs for two hours, one pod that asks for 8 cores, ended `days_ago`.
FinishedTask a_task(const std::string& ns, double days_ago) {
  static int number = 0;
  FinishedTask task;
  task.key = {ns, format("train-{}", ++number)};
  task.uid = Uid(format("uid-{}", number));
  task.family = ns + "/owner=train,image=net:v1,model=";
  task.gpu_type = GpuType("A100");
  task.gpus = 4;
  task.asked_gpus = 4;
  task.finished_s = kReportEnd_s - days_ago * kDay_s;
  task.started_s = task.finished_s - 2 * 3600;
  task.created_s = *task.started_s - 60;
  task.succeeded = true;
  task.gpu_hours = 8;
  task.pods = 1;
  task.cpu_milli = 8000;
  return task;
}

MeasuredUse used(double gpu_share, double measured_s) {
  MeasuredUse use;
  use.gpu_share = gpu_share;
  use.gpu_s = measured_s;
  use.cpu_cores = 2;
  use.cpu_s = measured_s;
  return use;
}

ReportView report(const std::vector<FinishedTask>& tasks, const ReportQuestion& question,
                  const GpusNeeded& needed = {}) {
  ReportMaker maker(question, needed);
  for (const FinishedTask& task : tasks)
    maker.add(task);
  return maker.make();
}

ReportQuestion last_week(ReportBy by = ReportBy::kNamespace) {
  return {by, "", kReportEnd_s - 7 * kDay_s, kReportEnd_s, {}};
}

TEST(ReportMaker, OnlyWhatWasMeasuredCountsAsUsed) {
  FinishedTask half = a_task("lab", 1);
  half.use = used(0.5, 3600);  // one hour of its two
  const ReportView view = report({half, a_task("lab", 2)}, last_week());
  ASSERT_EQ(view.rows.size(), 1U);
  const ReportRow& row = view.rows[0];
  EXPECT_EQ(row.runs, 2);
  EXPECT_DOUBLE_EQ(row.gpu_hours, 16);
  EXPECT_DOUBLE_EQ(row.measured_gpu_hours, 4);
  EXPECT_DOUBLE_EQ(row.used_gpu_hours, 2);
  EXPECT_DOUBLE_EQ(*row.gpu_use(), 0.5);
  EXPECT_DOUBLE_EQ(row.asked_core_hours, 32);
  EXPECT_DOUBLE_EQ(row.measured_core_hours, 8);
  EXPECT_DOUBLE_EQ(*row.cpu_use(), 0.25);
}

TEST(ReportMaker, NothingIsSaidOfWhatNobodyMeasured) {
  const ReportView view = report({a_task("lab", 1)}, last_week());
  EXPECT_FALSE(view.rows[0].gpu_use());
  EXPECT_FALSE(view.rows[0].cpu_use());
  EXPECT_FALSE(view.rows[0].in_time());
  EXPECT_THAT(view.wasters, IsEmpty());
}

TEST(ReportMaker, ReturnedIsAskedForAndNotHeldAndReturnableIsWhatAdviceSays) {
  FinishedTask shrunk = a_task("lab", 1);
  shrunk.asked_gpus = 6;
  const ReportView view = report(
      {shrunk}, last_week(), [](const FinishedTask&) { return std::optional<std::int64_t>(1); });
  EXPECT_DOUBLE_EQ(view.rows[0].asked_gpu_hours, 12);
  EXPECT_DOUBLE_EQ(view.rows[0].returned_gpu_hours, 4);
  EXPECT_DOUBLE_EQ(view.rows[0].advised_gpu_hours, 8);
  EXPECT_DOUBLE_EQ(view.rows[0].returnable_gpu_hours, 6);
}

// Eight GPUs for an hour, and four for two, in either order; it waited for five hours in between.
FinishedTask a_stopped_task(std::int64_t gpus_at_the_end) {
  FinishedTask task = a_task("lab", 1);
  task.asked_gpus = 8;
  task.gpus = gpus_at_the_end;
  task.gpu_hours = 16;
  task.held_s = 3 * 3600;
  task.started_s = task.finished_s - 8 * 3600;
  task.stops = 1;
  return task;
}

TEST(ReportMaker, TheShapeAtTheEndOfARunSaysNothingOfItsWholeTime) {
  for (const std::int64_t at_the_end : {4, 8}) {
    FinishedTask task = a_stopped_task(at_the_end);
    task.use = used(0.5, 3 * 3600);
    const ReportView view = report(
        {task}, last_week(), [](const FinishedTask&) { return std::optional<std::int64_t>(2); });
    EXPECT_DOUBLE_EQ(view.rows[0].gpu_hours, 16);
    EXPECT_DOUBLE_EQ(view.rows[0].asked_gpu_hours, 24) << at_the_end;
    EXPECT_DOUBLE_EQ(view.rows[0].returned_gpu_hours, 8) << at_the_end;
    EXPECT_DOUBLE_EQ(view.rows[0].returnable_gpu_hours, 10) << at_the_end;
    EXPECT_DOUBLE_EQ(view.rows[0].measured_gpu_hours, 16) << at_the_end;
  }
}

TEST(ReportMaker, ARunThatWasStoppedAndKeptItsShapeReturnedNothing) {
  FinishedTask task = a_stopped_task(8);
  task.gpu_hours = 24;
  EXPECT_DOUBLE_EQ(report({task}, last_week()).rows[0].asked_gpu_hours, 24);
  EXPECT_DOUBLE_EQ(report({task}, last_week()).rows[0].returned_gpu_hours, 0);
}

// Its pods run as they get room: the last of them alone.
TEST(ReportMaker, AJobThatNeverStoppedAskedForWhatItHad) {
  FinishedTask task = a_stopped_task(8);
  task.stops = 0;
  task.started_s = task.finished_s - task.held_s - 600;  // its pods waited their turn
  EXPECT_DOUBLE_EQ(report({task}, last_week()).rows[0].asked_gpu_hours, 16);
  EXPECT_DOUBLE_EQ(report({task}, last_week()).rows[0].returned_gpu_hours, 0);
}

TEST(ReportMaker, ARowOfAnEarlierVersionAskedForWhatItHad) {
  FinishedTask old = a_task("lab", 1);
  old.asked_gpus = 0;
  old.family.clear();
  const ReportView view = report({old}, last_week(ReportBy::kFamily));
  EXPECT_DOUBLE_EQ(view.rows[0].asked_gpu_hours, 8);
  EXPECT_EQ(view.rows[0].title, "unknown");
}

TEST(ReportMaker, DeadlinesAndWaitsAreOfTheRunsThatHadThem) {
  std::vector<FinishedTask> tasks;
  for (int i = 1; i <= 20; ++i) {
    tasks.push_back(a_task("lab", 1));
    tasks.back().created_s = *tasks.back().started_s - 60.0 * i;
    if (i <= 4) tasks.back().deadline_s = tasks.back().finished_s + (i == 1 ? -1 : 1);
  }
  tasks[1].succeeded = false;
  tasks.push_back(a_task("lab", 1));
  tasks.back().started_s.reset();  // never
  const ReportRow row = report(tasks, last_week()).rows.at(0);
  EXPECT_EQ(row.deadlines, 4);
  EXPECT_EQ(row.deadlines_met, 2) << "one was late, one failed";
  EXPECT_DOUBLE_EQ(*row.wait_median_s, 600);
  EXPECT_DOUBLE_EQ(*row.wait_p95_s, 1140);
  EXPECT_DOUBLE_EQ(*row.wait_max_s, 1200);
}

TEST(ReportMaker, OnlyTheWindowAndTheNamespaceCount) {
  const std::vector<FinishedTask> tasks = {a_task("lab", 1), a_task("lab", 8), a_task("ops", 2)};
  const ReportView all = report(tasks, last_week());
  EXPECT_EQ(all.totals.at(0).runs, 2);
  EXPECT_EQ(all.rows.size(), 2U);
  ReportQuestion question = last_week();
  question.ns = "ops";
  const ReportView one = report(tasks, question);
  EXPECT_EQ(one.totals.at(0).runs, 1);
  ASSERT_EQ(one.rows.size(), 1U);
  EXPECT_EQ(one.rows[0].group, "ops");
}

TEST(ReportMaker, AComparisonHasEveryGroupBeforeAndAfter) {
  FinishedTask before = a_task("lab", 5);
  before.use = used(0.25, 7200);
  FinishedTask after = a_task("lab", 1);
  after.use = used(0.75, 7200);
  ReportQuestion question = last_week();
  question.compare_s = kReportEnd_s - 3 * kDay_s;
  const ReportView view = report({after, before, a_task("new", 1)}, question);
  std::vector<std::string> rows;
  for (const ReportRow& row : view.rows)
    rows.push_back(row.group + " " + row.period);
  EXPECT_THAT(rows, ElementsAre("lab before", "lab after", "new after"));
  EXPECT_DOUBLE_EQ(*view.rows[0].gpu_use(), 0.25);
  EXPECT_DOUBLE_EQ(*view.rows[1].gpu_use(), 0.75);
  ASSERT_EQ(view.totals.size(), 2U);
  EXPECT_EQ(view.totals[0].period, "before");
}

TEST(ReportMaker, WastersAreFamiliesWithMeasuredIdleHours) {
  FinishedTask idle = a_task("lab", 1);
  idle.use = used(0.125, 7200);
  FinishedTask busy = a_task("ops", 1);
  busy.use = used(0.875, 7200);
  const ReportView view = report({busy, idle, a_task("new", 1)}, last_week(ReportBy::kGpuType));
  ASSERT_EQ(view.rows.size(), 1U);
  EXPECT_EQ(view.rows[0].group, "A100");
  ASSERT_EQ(view.wasters.size(), 2U);
  EXPECT_EQ(view.wasters[0].title, "lab/train (net:v1)");
  EXPECT_DOUBLE_EQ(view.wasters[0].idle_gpu_hours(), 7);
}

TEST(ReportMaker, TheOrderOfTasksChangesNothing) {
  std::vector<FinishedTask> tasks;
  for (int i = 0; i < 40; ++i) {
    tasks.push_back(a_task(i % 3 == 0 ? "lab" : "ops", i % 9));
    if (i % 2 == 0) tasks.back().use = used(i / 64.0, 3600);
  }
  const ReportView first = report(tasks, last_week());
  std::mt19937 random(7);
  std::shuffle(tasks.begin(), tasks.end(), random);
  const ReportView second = report(tasks, last_week());
  ASSERT_EQ(first.rows.size(), second.rows.size());
  for (std::size_t i = 0; i < first.rows.size(); ++i) {
    EXPECT_EQ(first.rows[i].group, second.rows[i].group);
    EXPECT_DOUBLE_EQ(first.rows[i].used_gpu_hours, second.rows[i].used_gpu_hours);
    EXPECT_EQ(first.rows[i].wait_p95_s, second.rows[i].wait_p95_s);
  }
  EXPECT_EQ(first.days.size(), second.days.size());
}

TEST(GpusNeeded, IsWhatTheAdviceForTheFamilySays) {
  Portrait portrait;
  portrait.identity.department = "lab";
  portrait.identity.owner = "train";
  portrait.identity.image = "net:v1";
  for (int night = 1; night <= 3; ++night)
    core::add_run(portrait, test::a_run(night, {.gpu = 0.4, .gpu_memory = 0.2}));
  auto book = std::make_shared<core::PortraitBook>();
  book->portraits[core::portrait_key(portrait.identity)] =
      std::make_shared<const Portrait>(portrait);
  const GpusNeeded needed = gpus_needed_by(book, kReportEnd_s);
  FinishedTask task = a_task("lab", 1);
  EXPECT_EQ(needed(task), 2) << "0.4 x 4 / 0.9, rounded up";
  task.gpu_type = GpuType("H100");
  EXPECT_EQ(needed(task), std::nullopt) << "never measured there";
  EXPECT_EQ(needed(a_task("ops", 1)), std::nullopt);
}

}  // namespace
}  // namespace slackline::control
