// Gangs whose pods differ: the largest first, each where it fits, all of them or none.
#include "slackline/core/planning/mixed_pods.h"

#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "slackline/base/duration.h"
#include "slackline/base/random.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/play.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_node;
using test::a_pod;

class MixedPodsTest : public testing::Test {
 protected:
  // Of the gang "g". A name that comes first in the snapshot is not the largest.
  void add_gang(const std::map<std::string, std::int64_t>& gpus_of) {
    for (const auto& [name, gpus] : gpus_of)
      world_.add(a_member(name, gpus, std::ssize(gpus_of)));
  }
  static test::PodBuilder a_member(const std::string& name, std::int64_t gpus, std::int64_t size) {
    return a_pod(name).gpus(gpus).gated().managed().in_gang("g", size);
  }
  std::string node_of(const std::string& pod) const {
    return world_.pods().at({"default", pod}).node.str();
  }

  test::HandOverWorld world_;
  test::WorldPlanner planner_{1};
};

TEST_F(MixedPodsTest, StartWhereAsManyOfTheLargestHaveNoRoom) {
  world_.add(a_node("n1").of("A100", 8));
  world_.add(a_node("n2").of("A100", 4));
  world_.add(a_pod("stranger").gpus(1).on("n2"));
  add_gang({{"a", 1}, {"b", 8}, {"c", 2}});
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(node_of("b"), "n1");
  EXPECT_EQ(node_of("a"), "n2");
  EXPECT_EQ(node_of("c"), "n2");
}

TEST_F(MixedPodsTest, StartAsAWholeOrNotAtAll) {
  world_.add(a_node("n1").of("A100", 8));
  world_.add(a_node("n2").of("A100", 4));
  world_.add(a_pod("stranger").gpus(2).on("n2"));
  add_gang({{"a", 1}, {"b", 8}, {"c", 2}});
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(world_.written().empty()) << "one GPU is missing";
  world_.pods().erase({"default", "stranger"});
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.bound(), 3);
}

TEST_F(MixedPodsTest, LeaveToOthersWhatTheSmallerOnesDoNotNeed) {
  world_.add(a_node("n1").of("A100", 8));
  world_.add(a_node("n2").of("A100", 8));
  add_gang({{"a", 1}, {"b", 8}, {"c", 2}});
  planner_.act(world_);  // it has a plan, and no pod of it is bound
  ASSERT_EQ(world_.count_of<PlanPod>(), 3);
  world_.add(a_pod("other").gpus(5).gated().managed().created(5));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.bound(), 4);
  EXPECT_EQ(node_of("other"), "n2");
}

TEST_F(MixedPodsTest, EachGoesToANodeThatItMayUse) {
  world_.add(a_node("n1").label("zone", "a"));
  world_.add(a_node("n2").label("zone", "b"));
  for (const std::string zone : {"a", "b"}) {
    SchedulingConstraints constraints;
    constraints.node_selector = {{"zone", zone}};
    world_.add(a_member("pod-" + zone, 4, 2).constrained(constraints));
  }
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(node_of("pod-a"), "n1");
  EXPECT_EQ(node_of("pod-b"), "n2");
}

TEST_F(MixedPodsTest, AreOneRunOfTheirOwnSize) {
  world_.add(a_node("n1").of("A100", 8));
  world_.add(a_node("n2").of("A100", 8));
  add_gang({{"a", 1}, {"b", 8}, {"c", 2}});
  ASSERT_TRUE(planner_.settle(world_));
  const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
  ASSERT_EQ(queue.state().running().size(), 1U);
  EXPECT_EQ(queue.state().running_choice(*queue.state().running().begin()).gpus, 11);
  EXPECT_EQ(queue.state().free().idle(), 5);
}

TEST_F(MixedPodsTest, WaitForANodeWhereNoneCouldTakeThemAll) {
  world_.add(a_node("n1").of("A100", 8));
  world_.add(a_node("n2").of("A100", 8));
  add_gang({{"a", 5}, {"b", 5}, {"c", 5}, {"d", 1}});  // 16 GPUs, but three nodes
  const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
  EXPECT_TRUE(queue.state().tasks()[0].menu->empty());
}

// "n1" to "n4" with 4 or 8 GPUs, some of them taken, and three gangs of up to four pods.
struct RandomWorld {
  explicit RandomWorld(std::uint64_t seed) : random(seed) {
    for (int i = 1; i <= 4; ++i) {
      const std::string name = format("n{}", i);
      world.add(a_node(name).of("A100", 4 + 4 * pick(0, 1)));
      if (const int taken = pick(0, 4); taken > 0)
        world.add(a_pod("stranger-" + name).gpus(taken).on(name));
    }
    for (const char* gang : {"g1", "g2", "g3"}) {
      const int size = pick(2, 4);
      for (int i = 0; i < size; ++i) {
        auto pod = a_pod(format("{}-{}", gang, i)).gpus(pick(1, 8)).gated().managed();
        world.add(pod.in_gang(gang, size));
      }
    }
  }

  int pick(int least, int most) {
    return least + static_cast<int>(random.index(static_cast<std::uint64_t>(most - least + 1)));
  }
  // GPUs by node.
  std::map<std::string, std::int64_t> taken() const {
    std::map<std::string, std::int64_t> gpus;
    for (const auto& [key, pod] : world.pods())
      if (pod.bound()) gpus[pod.node.str()] += pod.requests.gpu_count(test::kGpu);
    return gpus;
  }
  // Its pods that are bound, and that are not.
  std::pair<int, int> of_gang(const std::string& gang) const {
    std::pair<int, int> pods;
    for (const auto& [key, pod] : world.pods())
      if (pod.intent->gang == gang) (pod.bound() ? pods.first : pods.second) += 1;
    return pods;
  }

  Random random;
  test::HandOverWorld world;
  test::WorldPlanner planner{1};
};

TEST(MixedPods, NoNodeIsOverfullAndNoGangRunsByHalves) {
  int started = 0;
  int waiting = 0;
  for (std::uint64_t seed = 0; seed < 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomWorld all(seed);
    ASSERT_TRUE(all.planner.settle(all.world));
    for (const auto& [node, gpus] : all.taken())
      EXPECT_LE(gpus, all.world.node(node).allocatable.gpu_count(test::kGpu)) << node;
    for (const char* gang : {"g1", "g2", "g3"}) {
      const auto [bound, unbound] = all.of_gang(gang);
      EXPECT_TRUE(bound == 0 || unbound == 0) << gang;
      (bound > 0 ? started : waiting) += 1;
    }
  }
  EXPECT_GT(started, 100);
  EXPECT_GT(waiting, 100);
}

constexpr int kNodes = 6;

class RandomPods {
 public:
  explicit RandomPods(std::uint64_t seed) : random_(seed) {}

  FreeGpus free() {
    std::vector<int> gpus(kNodes);
    for (int& node : gpus)
      node = pick(0, 8);
    return FreeGpus({gpus});
  }

  PlanTask task() {
    auto mixed = std::make_shared<MixedPods>();
    auto all = std::make_shared<EligibleNodes>();
    all->by_pool = {NodeSet(kNodes)};
    for (PoolNode node = 0; node < kNodes; ++node)
      all->by_pool[0].insert(node);
    for (int gpus = pick(1, 8); gpus >= 1; gpus -= pick(1, 4)) {
      auto eligible = std::make_shared<EligibleNodes>();
      eligible->by_pool = {NodeSet(kNodes)};
      for (PoolNode node = 0; node < kNodes; ++node)
        if (pick(0, 5) > 0)
          eligible->by_pool[0].insert(node);
        else
          all->by_pool[0].erase(node);
      mixed->groups.push_back({pick(1, 2), gpus, eligible});
    }
    if (pick(0, 2) == 0) mixed->most_on_node = pick(1, 2);
    PlanTask task;
    task.mixed = std::move(mixed);
    task.eligible = std::move(all);
    return task;
  }

 private:
  int pick(int least, int most) {
    return least + static_cast<int>(random_.index(static_cast<std::uint64_t>(most - least + 1)));
  }
  Random random_;
};

// One for each pod.
std::vector<PoolNode> nodes_by_pod(const MixedPods& mixed, const std::vector<PoolNode>& run,
                                   int gpus_of_unit) {
  std::vector<PoolNode> nodes;
  std::size_t unit = 0;
  for (const PodGroup& group : mixed.groups)
    for (std::int64_t pod = 0; pod < group.pods; ++pod) {
      nodes.push_back(run[unit]);
      unit += static_cast<std::size_t>(group.gpus / gpus_of_unit);
    }
  EXPECT_EQ(unit, run.size());
  return nodes;
}

TEST(MixedPods, OverfillNoNodeAndFitWhereverEqualOnesDo) {
  int found = 0;
  int better = 0;
  int none = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    RandomPods random(seed);
    const FreeGpus free = random.free();
    const PlanTask task = random.task();
    std::vector<std::int64_t> of_each;
    for (const PodGroup& group : task.mixed->groups)
      of_each.insert(of_each.end(), static_cast<std::size_t>(group.pods), group.gpus);
    Choice choice;
    choice.shape = in_units(of_each);
    ASSERT_EQ(choice.shape.gpus(), std::accumulate(of_each.begin(), of_each.end(), 0));
    const Placement equal = as_if_equal(task, choice).shape;
    const bool equal_fit = free.fits(0, equal, task.eligible.get());
    const auto run = find_room(free, task, choice);
    (run.empty() ? none : equal_fit ? found : better) += 1;
    if (run.empty()) {
      EXPECT_FALSE(equal_fit) << seed;
      continue;
    }
    std::map<PoolNode, int> gpus_on;
    std::map<PoolNode, int> pods_on;
    const auto nodes = nodes_by_pod(*task.mixed, run, choice.shape.d_gpn);
    std::size_t pod = 0;
    for (const PodGroup& group : task.mixed->groups)
      for (std::int64_t i = 0; i < group.pods; ++i, ++pod) {
        EXPECT_TRUE(group.eligible->contains(0, nodes[pod])) << seed;
        gpus_on[nodes[pod]] += group.gpus;
        ++pods_on[nodes[pod]];
      }
    for (const auto& [node, gpus] : gpus_on) {
      EXPECT_LE(gpus, free.at(0, node)) << seed;
      EXPECT_LE(pods_on[node], task.mixed->most_on_node.value_or(pods_on[node])) << seed;
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(better, 100);
  EXPECT_GT(none, 100);
}

const std::vector<Pool> kPairOfNodes = {{GpuType("H100"), "", 2, 8, 1.0}};

PlanTask one_task(std::int64_t id, Placement shape, double run_h, double deadline_h) {
  PlanTask task;
  task.id = id;
  task.submit_s = static_cast<double>(id);
  task.deadline_s = deadline_h * kHour_s;
  task.request_gpus = shape.gpus();
  task.menu = std::make_shared<const PlacementMenu>(
      make_menu({{0, shape, 1, run_h * kHour_s, 0, 0}}, kPairOfNodes, {}));
  return task;
}

// When each task starts; the first one runs.
std::map<TaskIndex, double> starts_of(const TaskTable& tasks, std::string_view policy) {
  PlanState state(tasks, FreeGpus(kPairOfNodes));
  for (TaskIndex task = 0; task < tasks.size(); ++task)
    state.arrive(task);
  state.start(0, state.run_at(0, 0, 0, {0}));
  std::map<TaskIndex, double> starts;
  PlayHooks hooks;
  hooks.work_s = [&](TaskIndex task, const Run& run) {
    return state.choice(task, run.choice).work_s;
  };
  hooks.on_event = [&](double now_s, RunEvent event, TaskIndex task, const Run&) {
    if (event == RunEvent::kStart) starts.try_emplace(task, now_s / kHour_s);
  };
  play(state, *parse_policy(policy), {}, hooks, {.plan_at_s = 0.0});
  return starts;
}

// One node runs a task of 8 GPUs for five hours, the gang of 8+2+1 waits for it.
TEST(MixedPods, HaveAPlaceLaterAndOthersStartBeside) {
  PlanTask gang = one_task(2, in_units({8, 2, 1}), 1, 8);
  gang.mixed = std::make_shared<const MixedPods>(
      MixedPods{{{1, 8, nullptr}, {1, 2, nullptr}, {1, 1, nullptr}}, std::nullopt});
  const TaskTable tasks({one_task(1, {1, 8}, 5, 100), gang, one_task(3, {1, 5}, 20, 90),
                         one_task(4, {1, 1}, 20, 95)});
  for (const std::string_view policy : {"reserve", "easy"}) {
    const auto starts = starts_of(tasks, policy);
    EXPECT_DOUBLE_EQ(starts.at(1), 5) << policy << ": once the largest pod has its node";
    EXPECT_DOUBLE_EQ(starts.at(2), 0) << policy << ": 3 GPUs beside it are enough for the others";
    EXPECT_GT(starts.at(3), 5) << policy << ": it would take one of these";
  }
}

}  // namespace
}  // namespace slackline::core
