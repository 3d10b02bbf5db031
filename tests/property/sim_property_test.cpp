// What must hold of every simulated run, whatever the policy, platform, tasks and model error.
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "sim/engine.h"
#include "sim/report.h"
#include "slackline/base/random.h"

namespace slackline::sim {
namespace {

constexpr std::uint64_t kSeeds = 25;

std::vector<std::string> every_policy() {
  std::vector<std::string> names = core::policy_names();
  for (const char* options :
       {"preempt=1", "shrink=on", "protect=0", "order=slack,rest=fifo", "order=class,rest=area",
        "order=area,place=perf", "place=cer,gap=0,max_preempts=9", "tick=0",
        "share=1,age=0,floor=0", "headroom=0.5,calm=0.5", "patience=1e6,protect=0,shrink=on,gap=0"})
    names.push_back(std::string("savable-p,") + options);
  for (const char* options : {"tick=0", "headroom=1,calm=1", "headroom=1,calm=1,tick=0"})
    names.push_back(std::string("savable,") + options);
  for (const char* options : {"preemption=on", "preemption=on,protect=0,budget=off,max_preempts=9",
                              "held=0,age=0,hopeless=0,tick=0"})
    names.push_back(std::string("reserve,") + options);
  return names;
}

struct Scene {
  Platform platform;
  core::TaskTable tasks;
  Noise noise;
};

int pick(Random& random, int low, int high) {
  return low + static_cast<int>(random.index(static_cast<std::uint64_t>(high - low + 1)));
}

std::vector<core::Estimate> random_estimates(Random& random, const Platform& platform) {
  const double work_s = 300 + 20000 * random.uniform();
  std::vector<core::Estimate> estimates;
  for (core::PoolIndex pool = 0; pool < platform.pools.size(); ++pool)
    for (const Placement& shape : core::enumerate_placements(platform.pools[pool], {})) {
      const double speed = std::pow(shape.gpus(), 0.5 + 0.5 * random.uniform()) * (pool + 1);
      estimates.push_back({pool, shape, speed, work_s / speed, 30});
    }
  return estimates;
}

// At least one node of every pool.
core::EligibleNodesPtr random_nodes(Random& random, const Platform& platform) {
  core::EligibleNodes eligible;
  for (const core::Pool& pool : platform.pools) {
    std::vector<bool> nodes(static_cast<std::size_t>(pool.nodes));
    for (auto&& node : nodes)
      node = random.index(2) == 0;
    nodes[random.index(nodes.size())] = true;
    eligible.by_pool.emplace_back(nodes);
  }
  return std::make_shared<const core::EligibleNodes>(std::move(eligible));
}

Scene random_scene(std::uint64_t seed) {
  Random random(seed);
  Scene scene;
  const int pools = pick(random, 1, 2);
  for (int i = 0; i < pools; ++i)
    scene.platform.pools.push_back(
        {GpuType("type" + std::to_string(i)), "", pick(random, 1, 4), pick(random, 1, 4), 1.0 + i});
  scene.platform.fixed = random.index(4) == 0;
  double now_s = 0;
  std::vector<core::PlanTask> tasks;
  const int count = pick(random, 1, 40);
  for (std::int64_t id = 0; id < count; ++id) {
    now_s += std::floor(random.exponential(1500));  // ties happen
    TraceTask task{id,
                   now_s,
                   "w" + std::to_string(random.index(3)),
                   64,
                   1,
                   QosClass::kNormal,
                   0,
                   1 << random.index(3)};
    const auto qos = random.index(5);
    if (qos == 0) task.qos = QosClass::kUrgent;
    if (qos == 1) task.qos = QosClass::kPrior;
    task.deadline_s = now_s + 20000 * random.uniform() - 1000;
    tasks.push_back(prepare_task(task, random_estimates(random, scene.platform), scene.platform));
    if (random.index(3) == 0) tasks.back().eligible = random_nodes(random, scene.platform);
    if (random.index(8) == 0) tasks.back().preemptible = false;
    if (random.index(8) == 0) tasks.back().deadline_s = core::kNoDeadline;
  }
  scene.tasks = core::TaskTable(std::move(tasks));
  if (random.index(2) == 0) scene.noise = draw_noise(scene.tasks, scene.platform.pools, 0.3, seed);
  return scene;
}

// Keeps its own books from the event log alone.
class Auditor {
 public:
  explicit Auditor(const Scene& scene) : scene_(scene), started_(scene.tasks.size(), -1) {
    for (const core::Pool& pool : scene.platform.pools)
      free_.emplace_back(static_cast<std::size_t>(pool.nodes), pool.gpus_per_node);
    whole_ = free_;
  }

  void read(const EventRow& row) {
    const core::PlanTask& task = scene_.tasks[row.task];
    const core::Choice& choice = task.menu->all[row.run.choice];
    ASSERT_GE(row.time_s, task.submit_s);
    const bool starts = row.kind == core::RunEvent::kStart;
    ASSERT_EQ(starts, started_[row.task] < 0) << "task " << task.id;
    ASSERT_EQ(row.run.nodes.size(), static_cast<std::size_t>(choice.shape.d_node));
    for (const core::PoolNode node : row.run.nodes) {
      ASSERT_TRUE(task.eligible == nullptr || task.eligible->contains(choice.pool, node));
      int& free = free_[choice.pool][node];
      free += starts ? -choice.shape.d_gpn : choice.shape.d_gpn;
      ASSERT_GE(free, 0) << "a GPU was given twice";
    }
    if (!starts) gpu_seconds_ += choice.gpus * (row.time_s - started_[row.task]);
    if (row.kind == core::RunEvent::kPreempt) {
      ASSERT_TRUE(task.preemptible);
      ++preemptions_;
    }
    started_[row.task] = starts ? row.time_s : -1;
  }

  void close(const Outcome& outcome, bool serves_who_fits) {
    EXPECT_EQ(free_, whole_);
    EXPECT_NEAR(outcome.gpu_seconds, gpu_seconds_, 1e-9 * gpu_seconds_ + 1e-9);
    EXPECT_EQ(outcome.preemptions, preemptions_);
    for (core::TaskIndex task = 0; serves_who_fits && task < scene_.tasks.size(); ++task)
      EXPECT_TRUE(outcome.tasks[task].finished || !fits_alone(task)) << "task " << task;
  }

 private:
  // On the whole cluster.
  bool fits_alone(core::TaskIndex task) const {
    const core::FreeGpus free(scene_.platform.pools);
    const core::PlanTask& planned = scene_.tasks[task];
    return std::any_of(planned.menu->all.begin(), planned.menu->all.end(), [&](const auto& choice) {
      return free.fits(choice.pool, choice.shape, planned.eligible.get());
    });
  }

  const Scene& scene_;
  std::vector<std::vector<int>> free_;
  std::vector<std::vector<int>> whole_;
  std::vector<double> started_;
  double gpu_seconds_ = 0;
  int preemptions_ = 0;
};

// A placement that a baseline insists on may not exist on a task's own nodes.
bool serves_who_fits(const core::Policy& policy) {
  return policy.family == "savable-first";
}

TEST(SimulationProperty, BooksBalanceForEveryPolicy) {
  std::map<std::string, int> preemptions;
  for (const std::string& name : every_policy()) {
    const auto policy = core::parse_policy(name);
    ASSERT_TRUE(policy) << policy.error().message;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE(name + ", seed " + std::to_string(seed));
      const Scene scene = random_scene(seed);
      const Outcome outcome =
          simulate(scene.tasks, scene.platform, *policy, scene.noise, {.keep_events = true});
      Auditor auditor(scene);
      for (const EventRow& row : outcome.events)
        ASSERT_NO_FATAL_FAILURE(auditor.read(row));
      auditor.close(outcome, serves_who_fits(*policy));
      preemptions[name] += outcome.preemptions;
    }
  }
  EXPECT_GT(preemptions["savable-p"], 0) << "the scenes never preempt";
  EXPECT_GT(preemptions["savable-p,preempt=1"], 0);
  EXPECT_EQ(preemptions["savable"], 0);
  EXPECT_EQ(preemptions["qos"], 0);
}

// A run ends half a microsecond before the policy wanted to be called again: both are one batch, at
// the time of the first.
TEST(SimulationProperty, AWakeUpIsNotLostInABatchThatBeginsBeforeIt) {
  Platform platform;
  platform.pools = {{GpuType("g"), "", 1, 8, 1.0}};
  const auto task = [&](std::int64_t id, double submit_s, Placement shape, double work_s) {
    core::PlanTask planned;
    planned.id = id;
    planned.submit_s = submit_s;
    planned.menu = std::make_shared<const core::PlacementMenu>(
        core::make_menu({{0, shape, 1, work_s, 0}}, platform.pools, {}));
    return planned;
  };
  const core::TaskTable tasks({task(0, 0, {1, 8}, 3060 - 5e-7), task(1, 3000, {1, 1}, 100)});
  // All GPUs are kept from late tasks for an hour after the arrival of another.
  const auto policy = core::parse_policy("savable,headroom=1");
  const Outcome outcome = simulate(tasks, platform, *policy, {});
  EXPECT_TRUE(outcome.tasks[1].finished);
}

TEST(SimulationProperty, TheSameRunTwiceIsTheSame) {
  for (const std::string& name : every_policy())
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Scene scene = random_scene(seed);
      const auto policy = core::parse_policy(name);
      const auto log = [&] {
        return format_events_csv(
            scene.tasks, scene.platform,
            simulate(scene.tasks, scene.platform, *policy, scene.noise, {.keep_events = true}));
      };
      EXPECT_EQ(log(), log()) << name;
    }
}

// Without preemption no policy can meet more deadlines than the best of all list schedules: every
// order of the tasks, every choice of GPU counts, each started as soon as it fits.
int best_by_brute_force(const core::TaskTable& tasks, std::vector<double> gpu_free_s,
                        std::vector<bool> done) {
  int best = 0;
  for (core::TaskIndex task = 0; task < tasks.size(); ++task) {
    if (done[task]) continue;
    done[task] = true;
    best = std::max(best, best_by_brute_force(tasks, gpu_free_s, done));  // never mind this one
    for (const core::Choice& choice : tasks[task].menu->all) {
      std::vector<double> after = gpu_free_s;
      std::sort(after.begin(), after.end());
      const auto last = static_cast<std::size_t>(choice.gpus - 1);
      const double start_s = std::max(tasks[task].submit_s, after[last]);
      const double end_s = start_s + choice.lat_s;
      if (end_s > tasks[task].deadline_s + 1e-3) continue;
      for (std::size_t gpu = 0; gpu <= last; ++gpu)
        after[gpu] = end_s;
      best = std::max(best, 1 + best_by_brute_force(tasks, after, done));
    }
    done[task] = false;
  }
  return best;
}

TEST(SimulationProperty, NoPolicyBeatsBruteForceAndSavableFirstGetsTwoThirdsOfIt) {
  int met_by_savable = 0;
  int possible = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Platform platform;
    platform.pools = {{GpuType("g"), "", 1, 2, 1.0}};
    std::vector<core::PlanTask> tasks;
    for (std::int64_t id = 0; id < 5; ++id) {
      const double submit_s = 600 * static_cast<double>(id);
      tasks.push_back(prepare_task({id, submit_s, "w", 64, 1, QosClass::kNormal,
                                    submit_s + 1000 + 15000 * random.uniform(), 1},
                                   random_estimates(random, platform), platform));
    }
    const core::TaskTable table(std::move(tasks));
    const int best = best_by_brute_force(table, {0, 0}, std::vector<bool>(table.size(), false));
    possible += best;
    for (const std::string& name : core::policy_names()) {
      const auto policy = core::parse_policy(name);
      const Outcome outcome = simulate(table, platform, *policy, {}, {});
      const Report report = make_report(table, platform, *policy, outcome);
      const int met = static_cast<int>(std::lround(report.q * 5 / 100));
      if (outcome.preemptions == 0) {
        EXPECT_LE(met, best) << name << ", seed " << seed;
      }
      if (name == "savable") met_by_savable += met;
    }
  }
  EXPECT_GE(met_by_savable, possible * 2 / 3) << "of " << possible;
}

// Three days at 20 tasks an hour, more than the GPUs can do, with run times that nobody knows.
Scene long_scene(std::uint64_t seed) {
  Random random(seed);
  Scene scene;
  scene.platform.pools = {{GpuType("g"), "", 4, 4, 1.0}};
  std::vector<core::PlanTask> tasks;
  double now_s = 0;
  for (std::int64_t id = 0; now_s < 3 * 86400.0; ++id) {
    now_s += random.exponential(180);
    TraceTask task{id, now_s, "w", 64, 1, QosClass::kNormal, 0, 1};
    if (random.index(20) == 0) task.qos = QosClass::kUrgent;
    task.deadline_s = now_s + 40000 * random.uniform();
    tasks.push_back(prepare_task(task, random_estimates(random, scene.platform), scene.platform));
  }
  scene.tasks = core::TaskTable(std::move(tasks));
  scene.noise = draw_noise(scene.tasks, scene.platform.pools, 0.2, seed);
  return scene;
}

// What bounds preemption: stops of one task, GPU time lost in a day, and no stop of a run that has
// just begun or is about to end.
void expect_protected(const char* name, std::uint64_t seed) {
  constexpr double kLeast_s = 60;  // against an urgent preemptor
  const auto policy = core::parse_policy(name);
  const core::LossBudget budget = *policy->budget();
  const Scene scene = long_scene(seed);
  double lost_gpu_s = 0;
  const auto watch = [&](const core::PlanState& state, double now_s) {
    if (state.lost_gpu_s() > lost_gpu_s) {
      EXPECT_GE(state.budgets_left_gpu_s(budget, now_s).at(0), -1e-6);
    }
    lost_gpu_s = state.lost_gpu_s();
    return true;
  };
  const Outcome outcome = simulate(scene.tasks, scene.platform, *policy, scene.noise,
                                   {.keep_events = true, .watch = watch});
  EXPECT_GT(outcome.preemptions, 50);
  for (const TaskOutcome& task : outcome.tasks) {
    EXPECT_TRUE(task.finished);
    EXPECT_LE(task.stops, 3);
  }
  for (const EventRow& row : outcome.events) {
    if (row.kind != core::RunEvent::kPreempt) continue;
    const core::Run& run = row.run;
    EXPECT_GE(row.time_s - run.started_s, kLeast_s);
    const double work_began_s = run.started_s + run.overhead_s;
    if (row.time_s < work_began_s + kLeast_s) continue;  // its speed does not show yet
    const double end_s = work_began_s + run.observed_work_s * run.left;
    EXPECT_GE(end_s - row.time_s, kLeast_s);
  }
}

TEST(SimulationProperty, WhoIsStoppedIsProtected) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    expect_protected("default", seed);
  }
  expect_protected("reserve,preemption=on", 0);
}

// Whether it could still start in time if nothing but the runs of the state ended, and one more.
bool has_room_in_time(const core::PlanState& state, core::TaskIndex waiting, double now_s,
                      std::optional<core::Run> begun, core::TaskIndex begun_task) {
  core::FreeGpus free = state.free();
  std::multimap<double, std::pair<core::TaskIndex, core::Run>> ends;
  for (const core::TaskIndex run : state.running())
    ends.emplace(state.predicted_end_s(run, now_s), std::pair(run, state.progress(run).run));
  if (begun) {
    const core::Choice& choice = state.choice(begun_task, begun->choice);
    free.take(choice.pool, begun->nodes, choice.shape.d_gpn);
    ends.emplace(begun->predicted_end_s, std::pair(begun_task, *begun));
  }
  double at_s = now_s;
  for (auto end = ends.begin();; ++end) {
    for (const core::Choice& choice : state.tasks()[waiting].menu->all)
      if (at_s + state.lat_s(waiting, choice) <= state.tasks()[waiting].deadline_s + 1e-3 &&
          free.fits(choice.pool, choice.shape, state.tasks()[waiting].eligible.get()))
        return true;
    if (end == ends.end()) return false;
    at_s = end->first;
    const core::Choice& choice = state.choice(end->second.first, end->second.second.choice);
    free.give_back(choice.pool, end->second.second.nodes, choice.shape.d_gpn);
  }
}

// Runs that could begin now; where its deadline can still be kept, those that keep it.
std::vector<core::Run> possible_runs(const core::PlanState& state, core::TaskIndex task,
                                     double now_s) {
  const core::PlanTask& planned = state.tasks()[task];
  const double room_s = planned.deadline_s - now_s;
  std::vector<core::Run> runs;
  for (const core::ChoiceIndex index : planned.menu->by_area) {
    const core::Choice& choice = planned.menu->all[index];
    const bool in_time = state.fastest_lat_s(task) > room_s || state.lat_s(task, choice) <= room_s;
    if (in_time && state.free().fits(choice.pool, choice.shape, planned.eligible.get()))
      runs.push_back(state.run_at(task, index, now_s, {}));
  }
  return runs;
}

// What is kept free is for tasks that can take as little. One that needs more waits for somebody:
// the plan says for whom, and it is true.
TEST(SimulationProperty, WhoFitsAndNeedsMoreThanIsKeptWaitsForSomebody) {
  constexpr double kShare = 0.25;
  const auto policy = core::parse_policy("savable,headroom=0.25,calm=0.25");
  int held = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Scene scene = random_scene(seed);
    scene.noise = {};
    const auto watch = [&](const core::PlanState& state, double now_s) {
      const auto kept =
          static_cast<int>(std::floor(kShare * static_cast<double>(state.free().total())));
      core::PlanState again = state;
      const core::Plan plan = core::plan(again, now_s, *policy);
      for (const core::TaskIndex task : state.waiting()) {
        const core::PlacementMenu& menu = *state.tasks()[task].menu;
        if (kept == 0 || menu.all[menu.by_size.front()].gpus <= kept) continue;
        const std::vector<core::Run> runs = possible_runs(state, task, now_s);
        if (runs.empty()) continue;
        const auto why =
            std::find_if(plan.yields.begin(), plan.yields.end(),
                         [&](const core::Yielding& each) { return each.task == task; });
        if (why == plan.yields.end()) {
          ADD_FAILURE() << "task " << task << " waits for nobody at " << now_s;
          return false;
        }
        ++held;
        EXPECT_TRUE(has_room_in_time(state, why->to, now_s, std::nullopt, task));
        const auto hurts = [&](const core::Run& run) {
          return !has_room_in_time(state, why->to, now_s, run, task);
        };
        EXPECT_TRUE(std::any_of(runs.begin(), runs.end(), hurts)) << "task " << task;
      }
      return true;
    };
    simulate(scene.tasks, scene.platform, *policy, scene.noise, {.watch = watch});
  }
  EXPECT_GT(held, 0) << "nobody was ever held back";
}

// Savable tasks arrive for two days faster than they can be served. A task that is late from the
// start still gets its turn, after age x base + floor and the longest run before it.
TEST(SimulationProperty, ALateTaskIsNotStarved) {
  for (const char* name : {"savable", "savable-p", "default"}) {
    Platform platform;
    platform.pools = {{GpuType("g"), "", 1, 8, 1.0}};
    const std::vector<core::Estimate> estimates = {{0, {1, 1}, 1, 3600, 30}};
    // Every GPU is taken when the late task comes, and somebody savable waits ever after.
    constexpr std::int64_t kLateTask = 20;
    std::vector<core::PlanTask> tasks;
    for (std::int64_t id = 0; id < 1000; ++id) {
      const double submit_s = static_cast<double>(id) * 173;
      const double deadline_s = id == kLateTask ? submit_s : submit_s + 1e6;
      tasks.push_back(prepare_task({id, submit_s, "w", 64, 1, QosClass::kNormal, deadline_s, 1},
                                   estimates, platform));
    }
    const core::TaskTable table(std::move(tasks));
    const auto policy = core::parse_policy(name);
    const Outcome outcome = simulate(table, platform, *policy, {}, {});
    const double waited_s = outcome.tasks[kLateTask].first_start_s - table[kLateTask].submit_s;
    EXPECT_GE(waited_s, 8 * 3630 + 7200) << name << ": it was never in danger";
    EXPECT_LE(waited_s, 8 * 3630 + 7200 + 3630) << name;
  }
}

}  // namespace
}  // namespace slackline::sim
