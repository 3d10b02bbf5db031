// Shares of queues, under every policy.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "slackline/base/random.h"
#include "slackline/core/planning/play.h"
#include "slackline/core/planning/share_parts.h"

namespace slackline::core {
namespace {

constexpr std::uint64_t kSeeds = 20;
constexpr QueueNumber kQueues = 4;  // the last has no share

std::vector<std::string> every_policy() {
  std::vector<std::string> names = policy_names();
  for (const char* more : {"savable-p,protect=0,shrink=on", "savable-p,headroom=0.5,calm=0.5",
                           "reserve,preemption=on,protect=0,budget=off"})
    names.emplace_back(more);
  return names;
}

int pick(Random& random, int low, int high) {
  return low + static_cast<int>(random.index(static_cast<std::uint64_t>(high - low + 1)));
}

struct ShareScene {
  std::vector<Pool> pools;
  TaskTable tasks;
  std::shared_ptr<Shares> shares = std::make_shared<Shares>();
};

PlanTask random_task(Random& random, const std::vector<Pool>& pools, std::int64_t id, double at_s) {
  const double work_s = 300 + 20000 * random.uniform();
  const int most = 1 << random.index(4);
  std::vector<Estimate> estimates;
  for (PoolIndex pool = 0; pool < pools.size(); ++pool)
    for (const Placement& shape : enumerate_placements(pools[pool], {}))
      if (shape.gpus() <= most)
        estimates.push_back({pool, shape, 1, work_s / std::pow(shape.gpus(), 0.8), 30});
  PlanTask task;
  task.id = id;
  task.submit_s = at_s;
  if (random.index(4) > 0) task.deadline_s = at_s + 40000 * random.uniform();
  if (random.index(6) == 0) task.keeps_gpus = true;
  if (random.index(6) == 0) task.preemptible = false;
  if (random.index(8) == 0) task.qos = QosClass::kUrgent;
  task.request_gpus = most;
  task.queue = static_cast<QueueNumber>(random.index(kQueues));
  task.menu = std::make_shared<const PlacementMenu>(make_menu(estimates, pools, {}));
  return task;
}

// They are the children of one parent, which owns no more and lets both borrow less.
void bind_first_two(Random& random, Shares& shares) {
  std::vector<std::int64_t>& most = shares.groups.emplace_back();
  for (std::size_t type = 0; type < 2; ++type)
    most.push_back(shares.of_queue[0].of_types[type].own + shares.of_queue[1].of_types[type].own +
                   pick(random, 0, 2));
  shares.of_queue[0].group = shares.of_queue[1].group = 0;
}

ShareScene random_share_scene(std::uint64_t seed) {
  Random random(seed);
  ShareScene scene;
  for (int i = 0; i < 2; ++i)
    scene.pools.push_back(
        {GpuType("type" + std::to_string(i)), "", pick(random, 1, 4), pick(random, 1, 4), 1.0 + i});
  std::vector<PlanTask> tasks;
  double now_s = 0;
  for (std::int64_t id = 0; id < pick(random, 1, 40); ++id) {
    now_s += std::floor(random.exponential(1500));
    tasks.push_back(random_task(random, scene.pools, id, now_s));
  }
  scene.tasks = TaskTable(std::move(tasks));
  scene.shares->types = {"type0", "type1"};
  scene.shares->type_of_pool = {0, 1};
  for (const Pool& pool : scene.pools)
    scene.shares->gpus.push_back(std::int64_t{pool.nodes} * pool.gpus_per_node);
  scene.shares->owned = {0, 0};
  for (QueueNumber queue = 0; queue + 1 < kQueues; ++queue) {
    QueueShare share;
    share.give_back_within_s = pick(random, 0, 2) * 1000;
    if (random.index(4) == 0) share.max_running = pick(random, 1, 3);
    for (std::size_t type = 0; type < 2; ++type) {
      share.of_types.push_back({pick(random, 0, 4), pick(random, 0, 3)});
      scene.shares->owned[type] += share.of_types.back().own;
    }
    scene.shares->of_queue.push_back(std::move(share));
  }
  if (random.index(2) == 0) bind_first_two(random, *scene.shares);
  return scene;
}

PlanState state_of(const ShareScene& scene, bool shared) {
  PlanState state(scene.tasks, FreeGpus(scene.pools));
  if (shared) state.share_by(scene.shares);
  return state;
}

// Keeps its own books, by queue and type.
class Auditor {
 public:
  explicit Auditor(const ShareScene& scene) : scene_(scene) {}

  void read(RunEvent event, TaskIndex task, const Run& run) {
    const PlanTask& planned = scene_.tasks[task];
    const Choice& choice = planned.menu->all[run.choice];
    const int sign = event == RunEvent::kStart ? 1 : -1;
    used_[{planned.queue, choice.pool}] += sign * choice.gpus;
    if (planned.keeps_gpus || planned.qos == QosClass::kUrgent)
      staying_[{planned.queue, choice.pool}] += sign * choice.gpus;
    running_[planned.queue] += sign;
    starts_ += event == RunEvent::kStart ? 1 : 0;
    if (event != RunEvent::kStart) return;
    const Shares& shares = *scene_.shares;
    std::int64_t cannot_be_asked_back = 0;
    for (QueueNumber queue = 0; queue < kQueues; ++queue)
      cannot_be_asked_back += std::max<std::int64_t>(
          0, staying_[{queue, choice.pool}] - shares.share(queue, choice.pool).own);
    // An owner starts on its own whatever others of its group have borrowed.
    const std::int64_t of_pool = of_pool_now(choice.pool);
    used_[{planned.queue, choice.pool}] -= choice.gpus;
    const bool grew = of_pool > of_pool_now(choice.pool);
    used_[{planned.queue, choice.pool}] += choice.gpus;
    const bool is_own =
        used_[{planned.queue, choice.pool}] <= shares.share(planned.queue, choice.pool).own;
    const std::int64_t pool = shares.pool(choice.pool);
    EXPECT_TRUE(!grew || is_own || of_pool <= pool) << "task " << planned.id;
    EXPECT_FALSE(shares.groups.empty() && grew && is_own) << "task " << planned.id;
    EXPECT_TRUE(shares.owned[choice.pool] == 0 || cannot_be_asked_back <= pool)
        << "task " << planned.id;
    if (planned.queue >= shares.of_queue.size()) return;
    const std::int64_t most = shares.of_queue[planned.queue].max_running;
    EXPECT_TRUE(most == 0 || running_[planned.queue] <= most) << "task " << planned.id;
  }

  int starts() const { return starts_; }

 private:
  std::int64_t of_pool_now(PoolIndex pool) {
    const Shares& shares = *scene_.shares;
    std::int64_t of_pool = 0;
    std::int64_t of_group = 0;
    std::int64_t used_by_group = 0;
    for (QueueNumber queue = 0; queue < kQueues; ++queue) {
      const GpuShare share = shares.share(queue, pool);
      const std::int64_t used = used_[{queue, pool}];
      const std::int64_t beyond = std::max<std::int64_t>(0, used - share.own - share.borrow);
      const bool grouped = shares.group(queue) != QueueShare::kNoGroup;
      (grouped ? of_group : of_pool) += beyond;
      if (grouped) used_by_group += used;
    }
    if (!shares.groups.empty())
      of_group = std::max(of_group, used_by_group - shares.groups[0][pool]);
    return of_pool + of_group;
  }

  const ShareScene& scene_;
  std::map<std::pair<QueueNumber, PoolIndex>, std::int64_t> used_;
  std::map<std::pair<QueueNumber, PoolIndex>, std::int64_t> staying_;
  std::map<QueueNumber, std::int64_t> running_;
  int starts_ = 0;
};

// Whether the run must be stopped by now for this task, whose queue owns GPUs of that pool.
bool must_give_back(const PlanState& state, TaskIndex run, TaskIndex owner,
                    const std::vector<ShareParts>& parts, double now_s) {
  const PlanTask& task = state.tasks()[run];
  const PlanTask& asks = state.tasks()[owner];
  const double both_there_s = std::max(state.progress(run).run.started_s, asks.submit_s);
  const Shares& shares = *state.shares().shares();
  return task.queue != asks.queue && parts[run].borrowed + parts[run].of_pool > 0 &&
         !state.stays(run) &&
         state.shares().is_beyond_own(task.queue, state.running_choice(run).pool) &&
         both_there_s + std::max(1.0, shares.of_queue[asks.queue].give_back_within_s) < now_s;
}

// By node: free, or to be given back to the task by now.
std::vector<int> room_for(const PlanState& state, TaskIndex owner, PoolIndex pool, double now_s) {
  std::vector<int> room;
  for (PoolNode node = 0; node < state.free().nodes(pool); ++node)
    room.push_back(state.free().at(pool, node));
  const std::vector<ShareParts> parts = share_parts(state);
  for (const TaskIndex run : state.running()) {
    const Choice& choice = state.running_choice(run);
    if (choice.pool != pool || !must_give_back(state, run, owner, parts, now_s)) continue;
    for (const PoolNode node : state.progress(run).run.nodes)
      room[node] += choice.shape.d_gpn;
  }
  return room;
}

// The tasks that wait though their queue owns room on one node, and others had to give it back.
int kept_waiting(const PlanState& state, double now_s) {
  int waits = 0;
  for (const TaskIndex task : state.waiting()) {
    bool fits = false;
    bool is_owed = false;
    for (const Choice& choice : state.tasks()[task].menu->all) {
      if (!state.shares().is_own(state.use_of(task, choice)) || !state.may_use(task, choice))
        continue;
      fits = fits || state.free().fits(choice.pool, choice.shape, nullptr);
      const std::vector<int> room = room_for(state, task, choice.pool, now_s);
      const auto nodes = std::count_if(room.begin(), room.end(),
                                       [&](int gpus) { return gpus >= choice.shape.d_gpn; });
      is_owed = is_owed || nodes >= choice.shape.d_node;
    }
    waits += !fits && is_owed ? 1 : 0;
  }
  return waits;
}

// By node: free, or in use by a run that this plan has begun for somebody of another queue who uses
// more than it owns, and can be asked for it.
std::vector<int> room_but_for_begun(const PlanState& state, const Plan& made, TaskIndex owner,
                                    PoolIndex pool) {
  std::vector<int> room;
  for (PoolNode node = 0; node < state.free().nodes(pool); ++node)
    room.push_back(state.free().at(pool, node));
  const std::vector<ShareParts> parts = share_parts(state);
  for (const Effect& effect : made.effects) {
    const TaskIndex run = effect.task;
    if (!effect.is_start() || state.progress(run).phase != TaskPhase::kRunning) continue;
    const Choice& choice = state.running_choice(run);
    const QueueNumber queue = state.tasks()[run].queue;
    if (choice.pool != pool || queue == state.tasks()[owner].queue || state.stays(run)) continue;
    if (parts[run].borrowed + parts[run].of_pool == 0) continue;
    if (!state.shares().is_beyond_own(queue, pool)) continue;
    for (const PoolNode node : state.progress(run).run.nodes)
      room[node] += choice.shape.d_gpn;
  }
  return room;
}

bool fits_its_own(const PlanState& state, TaskIndex task, const Choice& choice) {
  return state.shares().is_own(state.use_of(task, choice)) && state.may_use(task, choice) &&
         state.free().fits(choice.pool, choice.shape, nullptr);
}

// Owners who fitted.
struct Lent {
  int beside = 0;      // have started, or still fit
  int pushed_out = 0;  // lost their room to such a run
};

Lent lent_by(const PlanState& before, const PlanState& after, const Plan& made) {
  Lent lent;
  for (const TaskIndex task : before.waiting()) {
    const std::vector<Choice>& all = before.tasks()[task].menu->all;
    const auto fits_in = [&](const PlanState& state) {
      return std::any_of(all.begin(), all.end(),
                         [&](const Choice& choice) { return fits_its_own(state, task, choice); });
    };
    if (!fits_in(before)) continue;
    const bool waits = after.progress(task).phase == TaskPhase::kWaiting;
    if (!waits || fits_in(after)) {
      ++lent.beside;
      continue;
    }
    lent.pushed_out += std::any_of(all.begin(), all.end(), [&](const Choice& choice) {
      if (!after.shares().is_own(after.use_of(task, choice)) || !after.may_use(task, choice))
        return false;
      const std::vector<int> room = room_but_for_begun(after, made, task, choice.pool);
      return std::count_if(room.begin(), room.end(), [&](int gpus) {
               return gpus >= choice.shape.d_gpn;
             }) >= choice.shape.d_node;
    });
  }
  return lent;
}

using Story = std::vector<std::tuple<double, RunEvent, TaskIndex, ChoiceIndex>>;

Story play_out(PlanState& state, const ShareScene& scene, const std::string& policy,
               Auditor* auditor, std::function<bool(double now_s)> go_on = {}) {
  Story story;
  PlayHooks hooks;
  hooks.work_s = [&](TaskIndex task, const Run& run) {
    return state.choice(task, run.choice).work_s;
  };
  hooks.on_event = [&](double now_s, RunEvent event, TaskIndex task, const Run& run) {
    if (auditor != nullptr) auditor->read(event, task, run);
    story.emplace_back(now_s, event, task, run.choice);
  };
  hooks.go_on = std::move(go_on);
  if (auditor != nullptr)
    hooks.go_on = [&](double now_s) {
      EXPECT_EQ(kept_waiting(state, now_s), 0) << "at " << now_s;
      return !testing::Test::HasFailure();
    };
  std::vector<TaskIndex> arrivals;
  for (TaskIndex task = 0; task < scene.tasks.size(); ++task)
    arrivals.push_back(task);
  play(state, *parse_policy(policy), arrivals, hooks);
  return story;
}

TEST(ShareProperty, NoPolicyExceedsThePoolOrWhatMayRunOrKeepsAnOwnerWaiting) {
  int starts = 0;
  int waited = 0;
  for (const std::string& policy : every_policy())
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      SCOPED_TRACE(policy + ", seed " + std::to_string(seed));
      const ShareScene scene = random_share_scene(seed);
      Auditor auditor(scene);
      PlanState state = state_of(scene, true);
      play_out(state, scene, policy, &auditor);
      starts += auditor.starts();
      waited += static_cast<int>(state.waiting().size());
      if (HasFailure()) return;
    }
  EXPECT_GT(starts, 3000);
  EXPECT_GT(waited, 100) << "some tasks have no share that is large enough";
}

// A run ends, and the policy finds its GPUs free.
TEST(ShareProperty, NobodyBorrowsTheRoomOfAnOwnerWhoWaits) {
  Lent all;
  for (const std::string& policy : every_policy())
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      SCOPED_TRACE(policy + ", seed " + std::to_string(seed));
      const ShareScene scene = random_share_scene(seed);
      PlanState state = state_of(scene, true);
      const auto try_without = [&](double now_s, TaskIndex run) {
        PlanState before = state;
        before.finish(run, now_s);
        PlanState after = before;
        const Plan made = plan(after, now_s, *parse_policy(policy));
        const auto makes_room = [](const Effect& effect) { return effect.ended.has_value(); };
        if (std::any_of(made.effects.begin(), made.effects.end(), makes_room)) return;
        const Lent lent = lent_by(before, after, made);
        EXPECT_EQ(lent.pushed_out, 0) << "at " << now_s << " without " << run;
        all.beside += lent.beside;
      };
      play_out(state, scene, policy, nullptr, [&](double now_s) {
        for (const TaskIndex run : state.running())
          try_without(now_s, run);
        return !HasFailure();
      });
      if (HasFailure()) return;
    }
  EXPECT_GT(all.beside, 300);
}

// Shares that bind nobody change no decision: every queue owns more than it could
// ever ask for, or nobody owns anything.
TEST(ShareProperty, SharesThatBindNobodyChangeNothing) {
  for (const std::string& policy : every_policy())
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      SCOPED_TRACE(policy + ", seed " + std::to_string(seed));
      const ShareScene scene = random_share_scene(seed);
      Shares& shares = *scene.shares;
      shares.of_queue.clear();
      shares.owned = {0, 0};
      for (QueueNumber queue = 0; queue < kQueues && seed % 2 == 0; ++queue) {
        shares.of_queue.push_back({.give_back_within_s = 0,
                                   .of_types = {{2 * shares.gpus[0], 0}, {2 * shares.gpus[1], 0}}});
        shares.owned[0] += shares.gpus[0];
        shares.owned[1] += shares.gpus[1];
      }
      PlanState shared = state_of(scene, true);
      PlanState free = state_of(scene, false);
      EXPECT_EQ(play_out(shared, scene, policy, nullptr), play_out(free, scene, policy, nullptr));
      if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace slackline::core
