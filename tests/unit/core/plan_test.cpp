// Menus, free GPUs, the task states and one plan at a time; whole runs are in tests/contract/sim.
#include "slackline/core/planning/plan.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/planning/rollout.h"

namespace slackline::core {
namespace {

using ::testing::ElementsAre;

const std::vector<Pool> kPools = {{GpuType("K80"), "", 2, 4, 1.0}};

// work_s on one GPU; four GPUs are twice as fast.
std::vector<Estimate> scaling(double work_s, const std::vector<Placement>& shapes) {
  std::vector<Estimate> estimates;
  for (const Placement& shape : shapes)
    estimates.push_back({0, shape, std::sqrt(shape.gpus()), work_s / std::sqrt(shape.gpus()), 30});
  return estimates;
}

PlanTask a_task(std::int64_t id, double work_s, double deadline_s) {
  PlanTask task;
  task.id = id;
  task.deadline_s = deadline_s;
  task.type = "w";
  task.menu = std::make_shared<const PlacementMenu>(
      make_menu(scaling(work_s, {{1, 1}, {1, 2}, {1, 4}, {2, 4}}), kPools, {}));
  return task;
}

Policy policy(std::string_view name) {
  return *parse_policy(name);
}

TEST(PlacementMenu, LeavesOutDominatedPlacementsForSavableFirstOnly) {
  auto estimates = scaling(1000, {{1, 1}, {1, 2}, {2, 2}});
  estimates[2].work_s = 800;  // slower than one node
  const PlacementMenu menu = make_menu(estimates, kPools, {});
  EXPECT_EQ(menu.by_cer.size(), 3U);
  EXPECT_EQ(menu.by_area, (std::vector<ChoiceIndex>{0, 1}));
  EXPECT_EQ(menu.by_lat, (std::vector<ChoiceIndex>{1, 0}));
  EXPECT_EQ(menu.base_s, 1030);
}

TEST(PlacementMenu, AFixedCountKeepsItsPlacementsAndTheBaseOfAll) {
  const auto estimates = scaling(1000, {{1, 1}, {1, 2}, {2, 1}});
  const PlacementMenu two = make_menu(estimates, kPools, {kDefaultTheta, 2});
  ASSERT_EQ(two.all.size(), 2U);
  EXPECT_EQ(two.all[1].shape, (Placement{2, 1}));
  EXPECT_EQ(two.base_s, 1030);
  const PlacementMenu three = make_menu(estimates, kPools, {kDefaultTheta, 3});
  ASSERT_EQ(three.all.size(), 1U);
  EXPECT_EQ(three.all[0].gpus, 1);
}

TEST(FreeGpus, FindsTheFullestNodesThatStillHaveRoom) {
  FreeGpus free(std::vector<std::vector<int>>{{4, 4, 2, 4}});
  free.take(0, {3}, 3);
  free.take(0, {1}, 1);
  EXPECT_EQ(free.find(0, {2, 1}, nullptr), (std::vector<PoolNode>{3, 2}));
  EXPECT_EQ(free.find(0, {2, 3}, nullptr), (std::vector<PoolNode>{1, 0}));
  EXPECT_TRUE(free.find(0, {3, 3}, nullptr).empty());
  const EligibleNodes two{{NodeSet(std::vector<bool>{true, true, false, false})}};
  EXPECT_EQ(free.find(0, {1, 1}, &two), (std::vector<PoolNode>{1}));
  EXPECT_EQ(free.idle(), 10);
}

TEST(FreeGpus, AgreesWithBruteForce) {
  std::mt19937_64 random(1);
  const auto pick = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most + 1));
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<int> nodes(static_cast<std::size_t>(pick(5) + 1));
    std::vector<bool> eligible(nodes.size(), true);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i] = pick(4);
      if (round % 2 == 0) eligible[i] = pick(2) > 0;
    }
    const FreeGpus free(std::vector<std::vector<int>>{nodes});
    const Placement shape{pick(3) + 1, pick(3) + 1};
    std::vector<std::pair<int, PoolNode>> room;
    for (PoolNode i = 0; i < nodes.size(); ++i)
      if (nodes[i] >= shape.d_gpn && eligible[i]) room.emplace_back(nodes[i], i);
    std::sort(room.begin(), room.end());
    std::vector<PoolNode> wanted;
    for (int i = 0; i < shape.d_node && room.size() >= static_cast<std::size_t>(shape.d_node); ++i)
      wanted.push_back(room[static_cast<std::size_t>(i)].second);
    const EligibleNodes mask{{NodeSet(eligible)}};
    ASSERT_EQ(free.find(0, shape, &mask), wanted);
    ASSERT_EQ(free.fits(0, shape, &mask), !wanted.empty());
  }
}

TEST(FreeGpusDeathTest, NoGpuIsGivenTwice) {
  FreeGpus free(std::vector<std::vector<int>>{{2}});
  free.take(0, {0}, 2);
  EXPECT_DEATH(free.take(0, {0}, 1), "");
  free.give_back(0, {0}, 2);
  EXPECT_DEATH(free.give_back(0, {0}, 1), "");
}

TEST(PlanState, AStopKeepsWholeCheckpointsAndCostsARestart) {
  const TaskTable tasks({a_task(1, 4000, 1e6)});
  PlanState state(tasks, FreeGpus(kPools));
  state.arrive(0);
  state.start(0, state.run_at(0, 0, 100, {}));
  const auto run = state.stop(0, 100 + 30 + 1500);  // two checkpoints of 600 s, 300 s lost
  EXPECT_EQ(run.started_s, 100);
  EXPECT_DOUBLE_EQ(state.progress(0).left, 1 - 1200.0 / 4000);
  EXPECT_DOUBLE_EQ(state.lat_s(0, state.choice(0, 0)), 4000 * 0.7 + 60);
  EXPECT_THAT(state.waiting(), ElementsAre(0U));
  EXPECT_EQ(state.free().idle(), 8);
}

TEST(PlanState, LearnsItsErrorFromRunsThatFinish) {
  const TaskTable tasks({a_task(1, 1000, 1e6), a_task(2, 1000, 1e6)});
  PlanState state(tasks, FreeGpus(kPools));
  for (const TaskIndex task : {0U, 1U}) {
    state.arrive(task);
    state.start(task, state.run_at(task, 0, 0, {}));
  }
  state.finish(0, 1030);
  EXPECT_EQ(state.error().rms(), 0);
  state.finish(1, 30 + 1500);
  EXPECT_GT(state.error().rms(), 0.1);
}

TEST(PlanStateDeathTest, VerbsOutsideTheDiagramAbort) {
  const TaskTable tasks({a_task(1, 1000, 1e6)});
  PlanState state(tasks, FreeGpus(kPools));
  EXPECT_DEATH(state.finish(0, 1), "");
  state.arrive(0);
  EXPECT_DEATH(state.arrive(0), "");
  EXPECT_DEATH(state.stop(0, 1), "");
}

TEST(Plan, StartsOnEligibleNodesOnly) {
  PlanTask task = a_task(1, 1000, 1e6);
  task.eligible = std::make_shared<const EligibleNodes>(
      EligibleNodes{{NodeSet(std::vector<bool>{false, true})}});
  const TaskTable tasks({task});
  for (const std::string& name : policy_names()) {
    PlanState state(tasks, FreeGpus(kPools));
    state.arrive(0);
    const Plan made = plan(state, 0, policy(name));
    ASSERT_LE(made.effects.size(), 1U) << name;
    for (const Effect& effect : made.effects)
      EXPECT_EQ(effect.begun->nodes, (std::vector<PoolNode>{1})) << name;
  }
}

// One GPU of each of two types; the second is four times as fast.
PlanTask a_picky_task(double deadline_s, std::vector<PoolIndex> preference) {
  const std::vector<Pool> pools = {{GpuType("K80"), "", 1, 1, 1.0},
                                   {GpuType("P100"), "", 1, 1, 1.0}};
  PlanTask task = a_task(1, 1, deadline_s);
  task.menu = std::make_shared<const PlacementMenu>(
      make_menu({{0, {1, 1}, 1, 4000, 30}, {1, {1, 1}, 4, 1000, 30}}, pools, {}));
  task.preference = std::move(preference);
  task.fallback_after_s = 600;
  return task;
}

TEST(Plan, AGpuTypeIsTakenInOrderOfPreference) {
  struct Case {
    std::string_view why;
    double deadline_s;
    std::vector<PoolIndex> preference;
    double now_s;
    bool first_taken;
    std::optional<PoolIndex> pool;  // where it starts
  };
  const std::vector<Case> cases = {
      {"no preference: the faster", 1e6, {}, 0, false, 1U},
      {"the preferred type, although slower", 1e6, {0, 1}, 0, false, 0U},
      {"taken: it waits", 1e6, {0, 1}, 0, true, std::nullopt},
      {"has waited for long enough", 1e6, {0, 1}, 600, true, 1U},
      {"the preferred type would be late", 2000, {0, 1}, 0, false, 1U},
      {"accepts nothing else", 2000, {0}, 700, true, std::nullopt},
  };
  for (const Case& c : cases)
    for (const char* name : {"fifo/idle", "savable", "default"}) {
      PlanTask task = a_picky_task(c.deadline_s, c.preference);
      if (c.preference.size() == 1)
        task.menu = std::make_shared<const PlacementMenu>(
            make_menu({{0, {1, 1}, 1, 4000, 30}}, {{GpuType("K80"), "", 1, 1, 1.0}}, {}));
      const TaskTable tasks({task});
      PlanState state(tasks, FreeGpus(std::vector<std::vector<int>>{{c.first_taken ? 0 : 1}, {1}}));
      state.arrive(0);
      const Plan made = plan(state, c.now_s, policy(name));
      ASSERT_EQ(made.effects.size(), c.pool ? 1U : 0U) << name << ": " << c.why;
      if (c.pool) {
        EXPECT_EQ(state.running_choice(0).pool, *c.pool) << name << ": " << c.why;
      }
    }
}

TEST(Plan, WakesWhenAnotherGpuTypeOpens) {
  const TaskTable tasks({a_picky_task(1e6, {0, 1})});
  PlanState state(tasks, FreeGpus(std::vector<std::vector<int>>{{0}, {1}}));
  state.arrive(0);
  EXPECT_EQ(plan(state, 0, policy("fifo")).next_wake_s, 600);
  EXPECT_EQ(plan(state, 600, policy("fifo")).effects.size(), 1U);
}

TEST(Plan, SavableFirstBuysFewerGpusWhenManyWait) {
  std::vector<PlanTask> many;
  for (int id = 0; id < 20; ++id)
    many.push_back(a_task(id, 3000, 1e6));
  const TaskTable tasks(many);
  PlanState alone(tasks, FreeGpus(kPools));
  alone.arrive(0);
  const Plan one = plan(alone, 0, policy("savable-p"));
  ASSERT_EQ(one.effects.size(), 1U);
  PlanState crowded(tasks, FreeGpus(kPools));
  for (TaskIndex task = 0; task < tasks.size(); ++task)
    crowded.arrive(task);
  const Plan all = plan(crowded, 0, policy("savable-p"));
  EXPECT_EQ(all.effects.size(), 8U);  // one GPU each
  EXPECT_GT(alone.running_choice(0).gpus, 1);
  EXPECT_EQ(all.next_wake_s, 60);
}

// On whole nodes of eight GPUs; the count is fixed.
const std::vector<Pool> kEights = {{GpuType("H100"), "", 4, 8, 1.0}};

PlanTask of_nodes(std::int64_t id, int nodes, double work_s, double deadline_s) {
  PlanTask task = a_task(id, 1, deadline_s);
  const Placement shape{nodes, 8};
  task.menu = std::make_shared<const PlacementMenu>(
      make_menu({{0, shape, 1, work_s, 0}}, kEights, {kDefaultTheta, shape.gpus()}));
  return task;
}

TEST(Plan, AWholeNodeIsNotKeptFreeForNobody) {
  constexpr double kDay_s = 86400;
  for (const double deadline_s : {kDay_s, kNoDeadline, 60.0}) {
    const TaskTable tasks({of_nodes(1, 1, 7200, deadline_s)});
    PlanState state(tasks, FreeGpus(std::vector<std::vector<int>>{{8}}));
    state.arrive(0);
    EXPECT_EQ(plan(state, 0, policy("savable")).effects.size(), 1U) << deadline_s;
  }
  // The second of two that come at once, on the last of two nodes.
  const TaskTable tasks({of_nodes(1, 1, 7200, kDay_s), of_nodes(2, 1, 7200, kDay_s)});
  PlanState state(tasks, FreeGpus(std::vector<std::vector<int>>{{8, 8}}));
  state.arrive(0);
  state.arrive(1);
  EXPECT_EQ(plan(state, 0, policy("savable")).effects.size(), 2U);
}

TEST(Plan, AfterAnArrivalOthersLeaveSomeGpusFree) {
  struct Case {
    std::string_view why;
    std::vector<Placement> shapes;
    double other_came_s;
    bool starts;
  };
  const std::vector<Case> cases = {
      {"its own arrival does not count", {{1, 1}, {1, 2}}, -7200, true},
      {"somebody came half an hour ago", {{1, 1}, {1, 2}}, -1800, false},
      {"it asks for as many as are kept", {{1, 1}}, -1800, false},
  };
  for (const Case& c : cases) {
    const auto menu = [&](double work_s, const std::vector<Placement>& shapes) {
      return std::make_shared<const PlacementMenu>(make_menu(scaling(work_s, shapes), kEights, {}));
    };
    PlanTask task = a_task(1, 1, 1e6);
    task.menu = menu(600, c.shapes);
    PlanTask runs = a_task(2, 1, 1e6);
    runs.submit_s = c.other_came_s;
    runs.menu = menu(1e5, {{1, 7}});
    const TaskTable tasks({task, runs});
    PlanState state(tasks, FreeGpus(std::vector<std::vector<int>>{{8}}));
    state.arrive(1);
    state.start(1, state.run_at(1, 0, c.other_came_s, {}));
    state.arrive(0);
    const Plan made = plan(state, 0, policy("savable"));
    EXPECT_EQ(made.effects.size(), c.starts ? 1U : 0U) << c.why;
  }
}

// Three nodes are busy for five hours; the gang needs all four, and can wait for seven hours.
TEST(Plan, ALargeTaskThatWaitsNamesWhomItsStartWouldHurt) {
  constexpr double kHour = 3600;
  const auto made = [&](double long_s, double gang_due_s) {
    const TaskTable tasks({of_nodes(1, 3, 5 * kHour, kNoDeadline),
                           of_nodes(2, 4, 4 * kHour, gang_due_s),
                           of_nodes(3, 1, long_s, 30 * kHour)});
    PlanState state(tasks, FreeGpus(std::vector<std::vector<int>>{{8, 8, 8, 8}}));
    for (const TaskIndex task : {0U, 1U, 2U})
      state.arrive(task);
    state.start(0, state.run_at(0, 0, 0, {}));
    return plan(state, 0, policy("savable"));
  };
  const Plan waits = made(10 * kHour, 12 * kHour);
  EXPECT_TRUE(waits.effects.empty());
  ASSERT_EQ(waits.yields.size(), 1U);
  EXPECT_EQ(waits.yields[0].task, 2U);
  EXPECT_EQ(waits.yields[0].to, 1U);
  EXPECT_EQ(made(2 * kHour, 12 * kHour).effects.size(), 1U) << "it ends before the gang must start";
  EXPECT_EQ(made(10 * kHour, 8 * kHour).effects.size(), 1U) << "the gang is lost anyhow";
}

TEST(Plan, LateTasksOfTheBestUsersOfGpusMayComeFirstUntilOthersWaitedForLong) {
  std::vector<PlanTask> list = {a_task(1, 1000, kNoDeadline), a_task(2, 1000, kNoDeadline)};
  list[1].submit_s = 600;
  list[1].level = 9;
  const TaskTable tasks(list);
  const auto first = [&](const char* name, double now_s) {
    PlanState state(tasks, FreeGpus(std::vector<std::vector<int>>{{1}}));
    state.arrive(0);
    state.arrive(1);
    const Plan made = plan(state, now_s, policy(name));
    return made.effects.size() == 1 ? made.effects[0].task : TaskIndex{99};
  };
  EXPECT_EQ(first("savable,headroom=0,share=1", 1000), 0U) << "it waits for longer";
  EXPECT_EQ(first("savable,rest=level,headroom=0,share=1", 1000), 1U);
  EXPECT_EQ(first("savable,rest=level,headroom=0,share=1", 16000), 0U) << "it is promoted";
}

TEST(Plan, WhoWaitedTooLongComesFirstWhereThereAreFewGpus) {
  const TaskTable tasks({a_task(1, 1000, kNoDeadline), a_task(2, 1000, 400'000)});
  const auto first = [&](const char* name, double now_s) {
    PlanState state(tasks, FreeGpus(std::vector<std::vector<int>>{{1}}));
    state.arrive(0);
    state.arrive(1);
    return plan(state, now_s, policy(name)).effects.at(0).task;
  };
  EXPECT_EQ(first("default", 1000), 1U) << "it has a deadline";
  EXPECT_EQ(first("default", 300'000), 0U);
  EXPECT_EQ(first("savable-p", 300'000), 1U) << "an eighth of one GPU is none";
}

TEST(Plan, AnUrgentTaskStopsWhoCanResumeAndNobodyElse) {
  std::vector<PlanTask> list = {a_task(1, 40000, 1e6), a_task(2, 40000, 1e6), a_task(3, 1000, 0)};
  list[1].preemptible = false;
  list[2].qos = QosClass::kUrgent;
  const TaskTable tasks(list);
  PlanState state(tasks, FreeGpus(kPools));
  for (const TaskIndex task : {0U, 1U}) {
    state.arrive(task);
    state.start(task, state.run_at(task, 2, 0, {}));  // four GPUs each
  }
  state.arrive(2);
  EXPECT_TRUE(plan(state, 30, policy("savable-p")).effects.empty()) << "protected for a minute";
  const Plan made = plan(state, 700, policy("savable-p"));
  ASSERT_GE(made.effects.size(), 2U);
  EXPECT_TRUE(made.effects[0].is_stop());
  EXPECT_EQ(made.effects[0].task, 0U);
  EXPECT_TRUE(made.effects[1].is_start());
  EXPECT_EQ(made.effects[1].task, 2U);
}

TEST(Plan, ShrinkGivesUpGpusWithoutLosingTheTask) {
  std::vector<PlanTask> list = {a_task(1, 40000, 1e6), a_task(2, 40000, 1e6), a_task(3, 1000, 0)};
  list[2].qos = QosClass::kUrgent;
  const TaskTable tasks(list);
  PlanState state(tasks, FreeGpus(kPools));
  for (const TaskIndex task : {0U, 1U}) {
    state.arrive(task);
    state.start(task, state.run_at(task, 2, 0, {}));
  }
  state.arrive(2);
  const Plan made = plan(state, 700, policy("savable-p,shrink=on"));
  ASSERT_GE(made.effects.size(), 2U);
  EXPECT_TRUE(made.effects[0].is_restart());
  EXPECT_GT(made.effects[0].gain.earlier_s, 0);
  EXPECT_LT(state.running_choice(made.effects[0].task).gpus, 4);
  EXPECT_EQ(state.progress(2).phase, TaskPhase::kRunning);
}

TEST(Plan, ATradeRisksTheDeadlineThatCostsMost) {
  // Two runs that would just meet their deadlines, and a short task that is about to be lost.
  const TaskTable tasks({a_task(1, 40000, 21000), a_task(2, 60000, 31000), a_task(3, 1000, 3100)});
  PlanState state(tasks, FreeGpus(kPools));
  for (const TaskIndex task : {0U, 1U}) {
    state.arrive(task);
    state.start(task, state.run_at(task, 2, 0, {}));  // four GPUs each
  }
  state.arrive(2);
  PlanState traded = state;
  EXPECT_TRUE(plan(state, 2000, policy("savable-p")).effects.empty())
      << "nobody can resume in time";
  const double ends_s = traded.predicted_end_s(1, 2000);
  const Plan made = plan(traded, 2000, policy("savable-p,trade=on"));
  ASSERT_GE(made.effects.size(), 2U);
  EXPECT_TRUE(made.effects[0].is_stop());
  EXPECT_EQ(made.effects[0].gain, (RoomGain{ends_s - 2000, true}));
  EXPECT_TRUE(made.effects[0].risks_deadline);
  EXPECT_EQ(made.effects[0].task, 1U) << "it holds its GPUs longest";
  EXPECT_TRUE(made.effects[1].is_start());
  EXPECT_EQ(made.effects[1].task, 2U);
  EXPECT_EQ(traded.progress(0).phase, TaskPhase::kRunning);
}

TEST(Plan, ATradeNeverStopsARunThatHoldsLessThanTheAskerNeeds) {
  const TaskTable tasks({a_task(1, 2000, 1100), a_task(2, 2000, 1100), a_task(3, 2000, 2950)});
  PlanState state(tasks, FreeGpus(kPools));
  for (const TaskIndex task : {0U, 1U}) {
    state.arrive(task);
    state.start(task, state.run_at(task, 2, 0, {}));  // 1030 s on four GPUs
  }
  state.arrive(2);
  EXPECT_TRUE(plan(state, 900, policy("savable-p,trade=on")).effects.empty());
}

TEST(Plan, ATradeGivesUpNoDeadlineForCertain) {
  // After a restart, neither run could be in time on all GPUs either: each would lose 570 s of
  // work.
  const TaskTable tasks({a_task(1, 60000, 30031), a_task(2, 60000, 30031), a_task(3, 1000, 29900)});
  PlanState state(tasks, FreeGpus(kPools));
  for (const TaskIndex task : {0U, 1U}) {
    state.arrive(task);
    state.start(task, state.run_at(task, 2, 0, {}));
  }
  state.arrive(2);
  EXPECT_TRUE(plan(state, 28800, policy("savable-p,trade=on")).effects.empty());
}

// One notion of a run's end: its own report comes before the model.
TEST(Plan, ARunThatReportsToBeNearlyDoneIsSpared) {
  std::vector<PlanTask> list = {a_task(1, 40000, 1e6), a_task(2, 1000, 0)};
  list[1].qos = QosClass::kUrgent;
  const TaskTable tasks(list);
  const auto stops_at = [&](double left) {
    PlanState state(tasks, FreeGpus(kPools));
    state.arrive(0);
    auto run = state.run_at(0, 3, 0, {});  // on all GPUs
    run.reported = ReportedWork{690, left};
    state.start(0, std::move(run));
    state.arrive(1);
    return plan(state, 700, policy("default")).effects.size();
  };
  EXPECT_EQ(stops_at(0.003), 0U) << "42 s of 14142 s are left, whatever the model says";
  EXPECT_GE(stops_at(0.5), 2U);
}

TEST(Plan, ARunThatShowsToBeLateMakesRoomFirst) {
  // By the model both runs end in time; the first one is seen to need twice as long.
  const TaskTable tasks({a_task(1, 40000, 21000), a_task(2, 60000, 31000), a_task(3, 1000, 3100)});
  PlanState state(tasks, FreeGpus(kPools));
  for (const TaskIndex task : {0U, 1U}) {
    state.arrive(task);
    state.start(task, state.run_at(task, 2, 0, {}));
  }
  state.observe(0, 40000);
  EXPECT_EQ(state.observed_end_s(0, 89), 20030) << "its first minute shows nothing";
  EXPECT_EQ(state.observed_end_s(0, 90), 40030);
  EXPECT_EQ(state.observed_end_s(1, 90), 30030);
  EXPECT_EQ(state.observed_end_s(1, 31000), 31000 + 3003) << "overdue";
  state.arrive(2);
  PlanState blind = state;
  EXPECT_TRUE(plan(blind, 2000, policy("savable-p")).effects.empty());
  const Plan made = plan(state, 2000, policy("savable-p,learn=on"));
  ASSERT_GE(made.effects.size(), 2U);
  EXPECT_TRUE(made.effects[0].is_stop());
  EXPECT_EQ(made.effects[0].task, 0U);
  EXPECT_EQ(made.effects[1].task, 2U);
}

TEST(Plan, BestEffortTasksComeAfterThoseWithADeadline) {
  std::vector<PlanTask> list;
  for (int id = 0; id < 9; ++id)
    list.push_back(a_task(id, 3000, id == 0 ? kNoDeadline : 1e6));
  const TaskTable tasks(list);
  PlanState state(tasks, FreeGpus(kPools));
  for (TaskIndex task = 0; task < tasks.size(); ++task)
    state.arrive(task);
  plan(state, 0, policy("savable-p"));
  EXPECT_THAT(state.waiting(), ElementsAre(0U));
}

TEST(Rollout, AnExactModelKnowsTheHour) {
  std::vector<PlanTask> list;
  for (int id = 0; id < 3; ++id)
    list.push_back(a_task(id, 3600, 1e6));
  const TaskTable tasks(list);
  PlanState state(tasks, FreeGpus(std::vector<std::vector<int>>{{1}}));
  state.arrive(0);
  state.start(0, state.run_at(0, 0, 0, {}));
  state.arrive(1);
  state.arrive(2);
  const auto forecasts = rollout(state, 630, policy("fifo"), {2, 0});
  ASSERT_EQ(forecasts.size(), 2U);
  EXPECT_EQ(forecasts[0].start_s.p10(), 2 * 3630);
  EXPECT_EQ(forecasts[0].finish_s.p90(), 3 * 3630);
  EXPECT_EQ(forecasts[1].start_s.p50(), 0);
  EXPECT_EQ(forecasts[1].finish_s.p50(), 3630);
  EXPECT_EQ(state.waiting().size(), 2U) << "the state asked about stays as it is";
}

TEST(Rollout, AWrongModelGivesAnInterval) {
  const TaskTable tasks({a_task(1, 3600, 1e6)});
  PlanState state(tasks, FreeGpus(kPools));
  state.believe(ModelError(0.2));
  state.arrive(0);
  state.start(0, state.run_at(0, 0, 0, {}));
  const Quantiles early = rollout(state, 0, policy("fifo"), {0})[0].finish_s;
  EXPECT_NEAR(early.p50(), 3630, 100);
  EXPECT_LT(early.p10(), 3100);
  EXPECT_GT(early.p90(), 4300);
  const Quantiles overdue = rollout(state, 4630, policy("fifo"), {0})[0].finish_s;
  EXPECT_GE(overdue.p10(), 4630) << "what has not happened yet lies ahead";
  for (const double now_s : {8000.0, 20'000.0})
    EXPECT_NEAR(rollout(state, now_s, policy("fifo"), {0})[0].finish_s.p10(), now_s + 360, 1)
        << "far beyond what the error explains it does not end at once for ever";
}

TEST(Rollout, LikeTasksEndTogetherInTheMiddleFuture) {
  for (std::int64_t id = 1; id <= 40; ++id) {
    const TaskTable tasks({a_task(id, 3600, 1e6)});
    PlanState state(tasks, FreeGpus(kPools));
    state.believe(ModelError(0.2));
    state.arrive(0);
    state.start(0, state.run_at(0, 0, 0, {}));
    const Quantiles finish = rollout(state, 0, policy("fifo"), {0})[0].finish_s;
    EXPECT_NEAR(finish.p50(), 3630, 0.01) << id;
    EXPECT_NEAR(std::log((finish.p90() - 30) / 3600), -std::log((finish.p10() - 30) / 3600), 0.05)
        << id;
  }
}

}  // namespace
}  // namespace slackline::core
