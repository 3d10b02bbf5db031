#include "sim/presets/share_day.h"

#include <gtest/gtest.h>

namespace slackline::sim {
namespace {

// Two departments, and GPUs of one type.
core::Shares two_departments(std::int64_t gpus, std::int64_t own) {
  core::Shares shares;
  shares.types = {"K80"};
  shares.type_of_pool = {0};
  shares.gpus = {gpus};
  shares.owned = {2 * own};
  core::QueueShare share;
  share.of_types = {{own, 0}};
  shares.of_queue = {share, share};
  return shares;
}

ShareTask went(core::QueueNumber department, double submit_s, double deadline_s,
               const ShareTask::Run& run) {
  return {department, submit_s, deadline_s, run.until_s, {run}};
}

// Each owns 3 of 8 GPUs; two are the pool's.
TEST(ShareFigures, AreThoseOfADayCountedByHand) {
  const std::vector<ShareTask> tasks = {
      went(0, 0, 50, {0, 6, 0, 40}),      // in time; 3 beyond its own
      went(1, 10, 35, {0, 3, 40, 60}),    // late; has room from 10 s on
      went(1, 20, 120, {0, 2, 60, 120}),  // in time; has room at 20 s, none at 40 s, again at 60 s
      went(0, 50, 70, {0, 4, 50, 70}),    // in time; never within its own
      went(2, 0, 0, {0, 2, 0, 20}),       // two of the pool's GPUs are not there yet
  };
  const ShareFigures figures = share_figures(tasks, two_departments(8, 3), {100, 760});
  EXPECT_DOUBLE_EQ(figures.q, 75);
  EXPECT_DOUBLE_EQ(figures.jain, 0.9) << "of 100 and 50 %";
  EXPECT_DOUBLE_EQ(figures.gpu_use, 100 * (240 + 60 + 80 + 80) / 760.0)
      << "what runs after the day is not of it";
  EXPECT_DOUBLE_EQ(figures.borrowed_gpu_h, (3 * 20 + 1 * 20) / 3600.0)
      << "the pool has 0 GPUs for 20 s, then 2";
  EXPECT_DOUBLE_EQ(figures.give_back_p90_s, 30) << "of 0 and 30 s";
}

TEST(ShareFigures, GiveBackIsToldOfNineInTen) {
  std::vector<ShareTask> tasks;
  for (int i = 0; i < 10; ++i)
    tasks.push_back(went(0, 100 * i, 0, {0, 1, 101.0 * i, 101.0 * i + 1}));
  EXPECT_DOUBLE_EQ(share_figures(tasks, two_departments(4, 1), {1000, 4000}).give_back_p90_s, 8);
}

TEST(ShareFigures, AStoppedTaskIsWaitedForOnce) {
  ShareTask task = went(0, 0, 100, {0, 1, 5, 20});
  task.runs.push_back({0, 1, 60, 90});
  task.finish_s = 90;
  const ShareFigures figures = share_figures({task}, two_departments(4, 1), {100, 400});
  EXPECT_DOUBLE_EQ(figures.give_back_p90_s, 5);
  EXPECT_DOUBLE_EQ(figures.gpu_use, 100 * (15 + 30) / 400.0);
}

TEST(ShareFigures, NobodyIsTreatedUnequallyWhereNobodyIsServed) {
  ShareTask never{0, 0, 10};
  const ShareFigures figures = share_figures({never}, two_departments(4, 1), {100, 400});
  EXPECT_EQ(figures.q, 0);
  EXPECT_EQ(figures.jain, 1);
  EXPECT_EQ(figures.give_back_p90_s, 0);
}

// Tasks of one GPU and 80 s that are all there from the beginning.
ShareDay day_of(const std::vector<core::QueueNumber>& departments, int nodes) {
  ShareDay day;
  day.pools = {{GpuType("K80"), "", nodes, 1, 1}};
  day.departments = 2;
  const auto menu = std::make_shared<const core::PlacementMenu>(
      core::make_menu({{0, {1, 1}, 1, 80}}, day.pools, {}));
  for (const core::QueueNumber department : departments) {
    core::PlanTask task;
    task.id = static_cast<std::int64_t>(day.tasks.size());
    task.queue = department;
    task.menu = menu;
    day.tasks.push_back(std::move(task));
  }
  return day;
}

std::vector<double> starts(const ShareDay& day) {
  const std::vector<ShareTask> tasks = play_share_day(day, core::parse_policy("fifo").value());
  std::vector<double> begun_s;
  for (std::size_t task = 0; task < day.tasks.size(); ++task)
    begun_s.push_back(tasks[task].runs.front().from_s);
  return begun_s;
}

TEST(ShareDay, ExtraNodesComeAndTakeNoTaskOnceTheyGo) {
  ShareDay day = day_of({0, 0, 0, 0, 0, 0, 0}, 2);
  day.extra = {0, 1, 100, 200};
  EXPECT_EQ(starts(day), (std::vector<double>{0, 80, 100, 160, 180, 240, 320}))
      << "what began on it at 180 s goes on until 260 s, and nobody follows";
}

TEST(ShareDay, SharesKeepWhatOthersOwn) {
  ShareDay day = day_of({0, 0, 1}, 2);
  EXPECT_EQ(starts(day), (std::vector<double>{0, 0, 80}));
  day.shares = std::make_shared<const core::Shares>(two_departments(2, 1));
  EXPECT_EQ(starts(day), (std::vector<double>{0, 80, 0}));
}

}  // namespace
}  // namespace slackline::sim
