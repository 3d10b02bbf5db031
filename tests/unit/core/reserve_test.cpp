// Reservations and backfill: the policies `reserve`, `easy` and `edf-easy`, one plan at a time and
// played with exact run times.
#include <cmath>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "slackline/base/random.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/play.h"
#include "slackline/core/planning/task_menu.h"

namespace slackline::core {
namespace {

constexpr double kHour = 3600;

const std::vector<Pool> kFourNodes = {{GpuType("H100"), "", 4, 8, 1.0}};

PlanTask a_task(std::int64_t id, Placement shape, double run_h, double deadline_h,
                double error = 0) {
  PlanTask task;
  task.id = id;
  task.deadline_s = deadline_h * kHour;
  task.request_gpus = shape.gpus();
  task.type = "w";
  task.menu = std::make_shared<const PlacementMenu>(
      make_menu({{0, shape, 1, run_h * kHour, 0, error}}, kFourNodes, {}));
  return task;
}

// The first `running` tasks run, on the nodes with their number; the others have arrived.
PlanState begun(const TaskTable& tasks, TaskIndex running) {
  PlanState state(tasks, FreeGpus(kFourNodes));
  for (TaskIndex task = 0; task < tasks.size(); ++task) {
    state.arrive(task);
    if (task < running) state.start(task, state.run_at(task, 0, 0, {task}));
  }
  return state;
}

// When each task starts, if all runs last as predicted and nobody else comes.
std::map<TaskIndex, double> starts_h(PlanState state, std::string_view policy) {
  std::map<TaskIndex, double> starts;
  PlayHooks hooks;
  hooks.work_s = [&](TaskIndex task, const Run& run) {
    return state.choice(task, run.choice).work_s;
  };
  hooks.on_event = [&](double now_s, RunEvent event, TaskIndex task, const Run&) {
    if (event == RunEvent::kStart) starts.try_emplace(task, now_s / kHour);
  };
  play(state, *parse_policy(policy), {}, hooks, {.plan_at_s = 0.0});
  return starts;
}

// Three of four nodes are taken for five hours; the gang needs all four. (users.md 1.2)
TaskTable a_gang_between_others() {
  return TaskTable({a_task(1, {1, 8}, 5, 100), a_task(2, {1, 8}, 5, 100), a_task(3, {1, 8}, 5, 100),
                    a_task(4, {4, 8}, 4, 12), a_task(5, {1, 8}, 1, 24), a_task(6, {1, 8}, 10, 30)});
}

TEST(Reserve, AGangKeepsItsPlaceAndWhoEndsBeforeItStartsBeside) {
  const TaskTable tasks = a_gang_between_others();
  const auto starts = starts_h(begun(tasks, 3), "reserve");
  EXPECT_DOUBLE_EQ(starts.at(3), 5) << "the gang, as soon as the three end";
  EXPECT_DOUBLE_EQ(starts.at(4), 0) << "the short one ends before";
  EXPECT_DOUBLE_EQ(starts.at(5), 9) << "the long one would not";
}

TEST(Reserve, EdfEasyAndEasyReserveForTheHeadAlone) {
  const TaskTable tasks = a_gang_between_others();
  EXPECT_DOUBLE_EQ(starts_h(begun(tasks, 3), "edf-easy").at(3), 5);
  EXPECT_DOUBLE_EQ(starts_h(begun(tasks, 3), "easy").at(3), 5);
  // By submit time the gang is not first: the long one is, and starts at once.
  std::vector<PlanTask> others = tasks.tasks();
  for (const TaskIndex later : {3U, 4U})
    others[later].submit_s = 1;
  const TaskTable long_first(std::move(others));
  EXPECT_DOUBLE_EQ(starts_h(begun(long_first, 3), "easy").at(5), 0);
  EXPECT_DOUBLE_EQ(starts_h(begun(long_first, 3), "easy").at(3), 10);
}

TEST(Reserve, WhoCanNoLongerMakeItComesLast) {
  const TaskTable tasks(
      {a_task(1, {4, 8}, 1, 100), a_task(2, {4, 8}, 4, 4.5), a_task(3, {4, 8}, 4, 6)});
  for (const std::string_view policy : {"reserve", "edf-easy"}) {
    const auto starts = starts_h(begun(tasks, 1), policy);
    EXPECT_DOUBLE_EQ(starts.at(2), 1) << policy;
    EXPECT_DOUBLE_EQ(starts.at(1), 5) << policy;
  }
}

TEST(Reserve, BehindARunOfUnknownLengthThereAreNodesAndNoTime) {
  const TaskTable tasks({a_task(1, {1, 8}, 1, 100, kUnknownError), a_task(2, {4, 8}, 4, 90),
                         a_task(3, {1, 8}, 50, 95), a_task(4, {1, 8}, 1, 96, kUnknownError)});
  PlanState state = begun(tasks, 1);
  const Plan planned = plan(state, 0, *parse_policy("reserve"));
  ASSERT_EQ(planned.effects.size(), 1U);
  EXPECT_EQ(planned.effects[0].task, 2U) << "a known end comes before an unknown one";
}

TEST(Reserve, BehindARunThatReportsItsEndThereIsATime) {
  const TaskTable tasks({a_task(1, {1, 8}, 1, 100, kUnknownError), a_task(2, {4, 8}, 4, 90),
                         a_task(3, {1, 8}, 50, 95), a_task(4, {1, 8}, 0.5, 96)});
  PlanState state(tasks, FreeGpus(kFourNodes));
  for (TaskIndex task = 0; task < tasks.size(); ++task)
    state.arrive(task);
  auto run = state.run_at(0, 0, 0, {0});
  run.reported = ReportedWork{.at_s = 0, .left = 1};  // of an hour
  state.start(0, std::move(run));
  const Plan planned = plan(state, 0, *parse_policy("reserve"));
  ASSERT_EQ(planned.effects.size(), 1U) << "the long one would move the gang";
  EXPECT_EQ(planned.effects[0].task, 3U);
}

const std::vector<Pool> kTwoTypes = {{GpuType("A100"), "", 1, 8, 1.0},
                                     {GpuType("H100"), "", 1, 8, 1.0}};

PlanTask on_types(std::int64_t id, double run_h, const std::map<PoolIndex, Placement>& shapes) {
  PlanTask task = a_task(id, {1, 8}, run_h, 100 * static_cast<double>(id));
  task.submit_s = static_cast<double>(id);
  std::vector<Estimate> estimates;
  for (const auto& [pool, shape] : shapes)
    estimates.push_back({pool, shape, 1, run_h * kHour, 0, 0});
  task.menu = std::make_shared<const PlacementMenu>(make_menu(estimates, kTwoTypes, {}));
  return task;
}

// The first runs, on the type that only it and the second may use now.
Plan plan_of_types(const TaskTable& tasks, std::string_view policy) {
  PlanState state(tasks, FreeGpus(kTwoTypes));
  for (TaskIndex task = 0; task < tasks.size(); ++task)
    state.arrive(task);
  state.start(0, state.run_at(0, 0, 0, {0}));
  return plan(state, 0, *parse_policy(policy));
}

TEST(Reserve, EasyReservesATypeThatOpensLaterFromThen) {
  PlanTask head = on_types(2, 4, {{0, {1, 8}}, {1, {1, 8}}});
  head.preference = {0, 1};
  head.fallback_after_s = 8 * kHour;
  const TaskTable tasks({on_types(1, 10, {{0, {1, 8}}}), head, on_types(3, 2, {{1, {1, 8}}})});
  for (const std::string_view policy : {"easy", "edf-easy"}) {
    const Plan planned = plan_of_types(tasks, policy);
    ASSERT_EQ(planned.reservations.size(), 1U) << policy;
    EXPECT_EQ(planned.reservations[0].pool, 1U) << policy;
    ASSERT_EQ(planned.effects.size(), 1U) << policy << ": it ends before";
    EXPECT_EQ(planned.effects[0].task, 2U) << policy;
  }
}

TEST(Reserve, WhoIsResizedOnOneTypeAsksForThatMuchThere) {
  const TaskTable written(
      {on_types(1, 10, {{0, {1, 8}}}), on_types(2, 4, {{0, {1, 8}}, {1, {1, 4}}})});
  std::vector<PlanTask> both = written.tasks();
  both[1].sized = {{1, 4}};
  const TaskTable resized(std::move(both));
  EXPECT_EQ(asked_gpus(resized[1], 0), 8);
  EXPECT_EQ(asked_gpus(resized[1], 1), 4);
  for (const std::string_view policy : {"fifo", "min-min", "weighted-fair", "capacity", "easy"}) {
    EXPECT_TRUE(plan_of_types(written, policy).effects.empty()) << policy;
    EXPECT_EQ(plan_of_types(resized, policy).effects.size(), 1U) << policy;
  }
}

TEST(Reserve, ATaskWithoutDeadlineIsReservedForOnceItHasWaited) {
  const auto gang_starts_h = [](double age_h) {
    std::vector<PlanTask> tasks{a_task(1, {1, 8}, 1, 100), a_task(2, {4, 8}, 1, kNoDeadline)};
    tasks[1].submit_s = -age_h * kHour;
    // One node or more is always taken by somebody with a deadline.
    for (std::int64_t id = 3; id < 40; ++id)
      tasks.push_back(a_task(id, {1, 8}, 1.5, 60 + static_cast<double>(id)));
    const TaskTable table(std::move(tasks));
    return starts_h(begun(table, 1), "reserve").at(1);
  };
  EXPECT_DOUBLE_EQ(gang_starts_h(4), 1) << "all nodes, once the first ends";
  EXPECT_GT(gang_starts_h(0), 4) << "those with a deadline come first";
  EXPECT_LT(gang_starts_h(0), 4 + 1.5 + 0.1) << "for four times its run, and one of theirs";
}

TEST(Reserve, NobodyStarves) {
  // Always somebody who can still make it waits for the one node that the hopeless one needs.
  std::vector<PlanTask> tasks{a_task(1, {4, 8}, 1, 100), a_task(2, {4, 8}, 1, 0.5)};
  for (std::int64_t id = 3; id < 30; ++id)
    tasks.push_back(a_task(id, {4, 8}, 1, 60 + static_cast<double>(id)));
  const TaskTable table(std::move(tasks));
  EXPECT_DOUBLE_EQ(starts_h(begun(table, 1), "reserve").at(1), 28) << "after all others";
  EXPECT_DOUBLE_EQ(starts_h(begun(table, 1), "reserve,hopeless=0").at(1), 4);
}

// One run of `run_h` hours on all nodes, half an hour old, due in `due_h`; a short gang is due in
// an hour and a half. Returns the effects of one plan.
std::vector<Effect> effects_h(double run_h, double due_h, std::string_view policy,
                              const std::function<void(PlanTask& victim)>& change = {},
                              const std::vector<PlanTask>& more = {}) {
  std::vector<PlanTask> tasks{a_task(1, {4, 8}, run_h, due_h), a_task(2, {4, 8}, 1, 1.5)};
  if (change) change(tasks[0]);
  tasks.insert(tasks.end(), more.begin(), more.end());
  const TaskTable table(std::move(tasks));
  PlanState state(table, FreeGpus(kFourNodes));
  state.arrive(0);
  state.start(0, state.run_at(0, 0, -0.5 * kHour, {}));
  for (TaskIndex task = 1; task < table.size(); ++task)
    state.arrive(task);
  return plan(state, 0, *parse_policy(policy)).effects;
}

TEST(ReserveStops, ARunWithSlackMakesRoomAndKeepsItsDeadline) {
  const auto effects = effects_h(10, 20, "reserve,preemption=on");
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_TRUE(effects[0].is_stop());
  EXPECT_EQ(effects[0].task, 0U);
  EXPECT_DOUBLE_EQ(effects[0].gain.earlier_s, 9.5 * kHour);
  EXPECT_TRUE(effects[0].gain.saves_deadline);
  EXPECT_TRUE(effects[1].is_start());
  EXPECT_EQ(effects[1].task, 1U);
  EXPECT_TRUE(effects_h(10, 20, "reserve").empty());
}

TEST(ReserveStops, NobodyIsStoppedWhoWouldBeLateThen) {
  EXPECT_EQ(effects_h(10, 10.75, "reserve,preemption=on").size(), 2U);
  EXPECT_TRUE(effects_h(10, 10.4, "reserve,preemption=on").empty()) << "9.5 h and the other's hour";
}

TEST(ReserveStops, NorForATaskThatMakesAnotherOneLate) {
  // Another gang has a place after the run, and no time to wait for the run's second part.
  const PlanTask third = a_task(3, {4, 8}, 3, 12.6);
  EXPECT_TRUE(effects_h(10, 20, "reserve,preemption=on", {}, {third}).size() == 2U)
      << "it goes before the run";
  EXPECT_TRUE(effects_h(10, 13.5, "reserve,preemption=on", {}, {third}).empty());
}

TEST(ReserveStops, ALateRunMakesRoomAtOnce) {
  const auto effects = effects_h(10, 5, "reserve,preemption=on");
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_TRUE(effects[0].is_stop());
}

TEST(ReserveStops, ProtectedRunsAreNotStopped) {
  const auto stops = [](std::string_view options, const std::function<void(PlanTask&)>& change) {
    return !effects_h(10, 20, "reserve,preemption=on" + std::string(options), change).empty();
  };
  EXPECT_TRUE(stops("", {}));
  EXPECT_FALSE(stops("", [](PlanTask& run) { run.preemptible = false; }));
  EXPECT_FALSE(stops("", [](PlanTask& run) { run.qos = QosClass::kUrgent; }));
  EXPECT_FALSE(stops("", [](PlanTask& run) { run.promised_to = 7; }));
  EXPECT_FALSE(stops("", [](PlanTask& run) { run.notice_s = 3600; })) << "told an hour before";
  EXPECT_TRUE(stops("", [](PlanTask& run) { run.notice_s = 1200; }));
  EXPECT_FALSE(stops(",protect=3600", {}));
  EXPECT_FALSE(stops(",max_preempts=0", {}));
  const auto loses_half_an_hour = [](PlanTask& run) { run.checkpoint_s = 7200; };
  EXPECT_TRUE(stops(",budget=20", loses_half_an_hour));
  EXPECT_FALSE(stops(",budget=10", loses_half_an_hour)) << "16 GPU-hours";
}

TEST(ReserveStops, AQueueThatHasSpentItsBudgetIsTold) {
  std::vector<PlanTask> both{a_task(1, {4, 8}, 10, 20), a_task(2, {4, 8}, 1, 1.5)};
  both[0].checkpoint_s = 7200;
  const TaskTable tasks(std::move(both));
  PlanState state(tasks, FreeGpus(kFourNodes));
  state.arrive(0);
  state.start(0, state.run_at(0, 0, -0.5 * kHour, {}));
  state.arrive(1);
  const Plan planned = plan(state, 0, *parse_policy("reserve,preemption=on,budget=1"));
  EXPECT_EQ(planned.denied_room, (std::vector<TaskIndex>{1}));
}

// What one asker cannot pay at one place it may find cheaper at the next.
TEST(ReserveStops, WhoFindsRoomElsewhereIsNotDenied) {
  const std::vector<Pool> two = {{GpuType("A100"), "", 1, 8, 1.0},
                                 {GpuType("H100"), "", 1, 8, 1.0}};
  const auto task = [&](std::int64_t id, PoolIndex pool, double run_h, double due_h) {
    PlanTask made = a_task(id, {1, 8}, run_h, due_h);
    made.menu = std::make_shared<const PlacementMenu>(
        make_menu({{pool, {1, 8}, 1, run_h * kHour, 0, 0}}, two, {}));
    return made;
  };
  std::vector<PlanTask> tasks{task(1, 0, 10, 20), task(2, 1, 10, 20), task(3, 0, 1, 1.5)};
  tasks[0].checkpoint_s = 7200;  // a stop would lose four GPU-hours
  tasks[2].menu = std::make_shared<const PlacementMenu>(
      make_menu({{0, {1, 8}, 1, kHour, 0, 0}, {1, {1, 8}, 1, 1.1 * kHour, 0, 0}}, two, {}));
  const TaskTable table(std::move(tasks));
  PlanState state(table, FreeGpus(two));
  for (TaskIndex run = 0; run < 3; ++run) {
    state.arrive(run);
    if (run < 2) state.start(run, state.run_at(run, 0, -0.5 * kHour, {0}));
  }
  const Plan planned = plan(state, 0, *parse_policy("reserve,preemption=on,budget=1"));
  EXPECT_TRUE(planned.denied_room.empty());
  ASSERT_EQ(planned.effects.size(), 2U);
  EXPECT_EQ(planned.effects[0].task, 1U);
}

TEST(ReserveStops, AnUrgentTaskTakesTheRoomOfWhoStaysInTime) {
  const auto effects = [](double due_h, double protect_s = 60) {
    std::vector<PlanTask> tasks{a_task(1, {4, 8}, 10, due_h), a_task(2, {1, 8}, 1, 0)};
    tasks[1].qos = QosClass::kUrgent;
    const TaskTable table(std::move(tasks));
    PlanState state(table, FreeGpus(kFourNodes));
    state.arrive(0);
    state.start(0, state.run_at(0, 0, -0.5 * kHour, {}));
    state.arrive(1);
    return plan(state, 0, *parse_policy(format("reserve,preemption=on,protect={}", protect_s)))
        .effects;
  };
  ASSERT_EQ(effects(20).size(), 2U);
  EXPECT_TRUE(effects(20)[0].is_stop());
  EXPECT_EQ(effects(20)[1].task, 1U);
  EXPECT_EQ(effects(20, 7200).size(), 2U) << "a minute protects against an urgent task";
  EXPECT_TRUE(effects(10.4).empty()) << "the run would be late";
  EXPECT_EQ(effects(5).size(), 2U) << "it is late anyway";
  EXPECT_EQ(effects(kNoDeadline / kHour).size(), 2U);
}

// The run uses all of what nobody owns. One node is free, and owned by others.
TEST(ReserveStops, NobodyIsStoppedForATaskWithoutRoomInItsShare) {
  std::vector<PlanTask> both{a_task(1, {3, 8}, 10, 5), a_task(2, {1, 8}, 1, 1.5)};
  both[1].queue = 1;
  const TaskTable tasks(std::move(both));
  const auto effects = [&](bool shared) {
    auto shares = std::make_shared<Shares>();
    shares->types = {"H100"};
    shares->type_of_pool = {0};
    shares->gpus = {32};
    shares->owned = {8};
    shares->of_queue.resize(3);
    shares->of_queue[2].of_types = {{8, 0}};
    PlanState state(tasks, FreeGpus(kFourNodes));
    if (shared) state.share_by(shares);
    state.arrive(0);
    state.start(0, state.run_at(0, 0, -0.5 * kHour, {}));
    state.arrive(1);
    return plan(state, 0, *parse_policy("reserve,preemption=on")).effects;
  };
  EXPECT_TRUE(effects(true).empty());
  ASSERT_EQ(effects(false).size(), 1U);
  EXPECT_TRUE(effects(false)[0].is_start());
}

// It was told, and others would be cheaper by now.
TEST(ReserveStops, WhoWasToldMakesTheRoom) {
  std::vector<PlanTask> tasks;
  for (std::int64_t id = 1; id <= 4; ++id)
    tasks.push_back(a_task(id, {1, 8}, 10, 20 + static_cast<double>(id)));
  tasks.push_back(a_task(5, {1, 8}, 1, 1.5));
  tasks[2].promised_to = 4;
  tasks[2].checkpoint_s = 7200;
  const TaskTable table(std::move(tasks));
  PlanState state(table, FreeGpus(kFourNodes));
  for (TaskIndex task = 0; task < 5; ++task) {
    state.arrive(task);
    if (task < 4) state.start(task, state.run_at(task, 0, -0.5 * kHour, {task}));
  }
  const auto effects = plan(state, 0, *parse_policy("reserve,preemption=on")).effects;
  ASSERT_EQ(effects.size(), 2U);
  EXPECT_EQ(effects[0].task, 2U);
}

// Reservations while tasks of one number of GPUs wait, prices else.
TEST(Reserve, DefaultHoldsForGangsWhereItIsAskedTo) {
  const TaskTable tasks = a_gang_between_others();
  const auto starts = starts_h(begun(tasks, 3), "default,held=8");
  EXPECT_DOUBLE_EQ(starts.at(3), 5);
  EXPECT_DOUBLE_EQ(starts.at(4), 0);
  EXPECT_DOUBLE_EQ(starts.at(5), 9);
  EXPECT_LT(starts_h(begun(tasks, 3), "default").at(5), 9) << "the gang is starved";
}

// While both wait, whoever is due later never moves the start of one that is due earlier.
TEST(Reserve, WhoIsDueLaterMovesNobody) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    std::vector<PlanTask> tasks;
    const auto draw = [&](int low, int high) {
      return low + static_cast<int>(random.index(static_cast<std::uint64_t>(high - low + 1)));
    };
    for (int id = 0; id < 4; ++id)
      tasks.push_back(a_task(id, {1, draw(1, 8)}, draw(1, 20), 1000));
    const int waiting = draw(2, 8);
    for (int id = 4; id < 4 + waiting; ++id) {
      const Placement shape = draw(0, 2) > 0 ? Placement{1, draw(1, 8)} : Placement{draw(2, 4), 8};
      tasks.push_back(a_task(id, shape, draw(1, 20), 1000 + id));
    }
    const TaskTable all(tasks);
    tasks.pop_back();
    const TaskTable without(tasks);
    const auto with_last = starts_h(begun(all, 4), "reserve,tick=0");
    for (const auto& [task, start_h] : starts_h(begun(without, 4), "reserve,tick=0"))
      ASSERT_NEAR(with_last.at(task), start_h, 1e-9) << "seed " << seed << " task " << task;
  }
}

TEST(Reserve, PlannedRunsAreAsLongAsNineInTen) {
  // The long one would end at the gang's start, if it lasted as long as predicted.
  const auto starts = [](double error) {
    const TaskTable tasks(
        {a_task(1, {1, 8}, 5, 100), a_task(2, {4, 8}, 4, 50), a_task(3, {1, 8}, 4.5, 90, error)});
    return starts_h(begun(tasks, 1), "reserve").at(2);
  };
  EXPECT_DOUBLE_EQ(starts(0), 0);
  EXPECT_DOUBLE_EQ(starts(0.2), 9);
}

}  // namespace
}  // namespace slackline::core
