// choose_victims against brute force over every subset of at most 12 pods, 10,000 random nodes.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "slackline/core/cluster/holds.h"
#include "slackline/core/verbs/victims.h"
#include "support/random_cluster.h"

namespace slackline::core {
namespace {

using namespace slackline::test;

constexpr std::uint64_t kRounds = 10000;
constexpr double kNow_s = 10000;

// One crowded node, a second one with the rest of its gangs, and a preemptor.
struct Scene {
  ClusterSnapshot cluster;
  Pod preemptor;
};

Scene random_scene(std::uint64_t seed) {
  RandomCluster random(seed);
  ClusterBuilder cluster = a_cluster()
                               .with(a_node("here").of("A100", random.pick(4, 16)).cpus(64))
                               .with(a_node("there").of("A100", 16));
  for (std::int64_t i = random.pick(1, 12); i > 0; --i) {
    PodBuilder pod = a_pod("pod-" + std::to_string(i)).gpus(random.pick(1, 4));
    pod.priority(static_cast<std::int32_t>(random.pick(0, 3)));
    pod.on("here").started(static_cast<double>(random.pick(0, 9000)));
    if (random.one_in(3)) pod.in_gang("g" + std::to_string(random.pick(1, 2)), 3);
    if (random.one_in(3)) pod.label("app", "guarded");
    if (random.one_in(4)) pod.intent().checkpoint_interval_s = 600;
    if (random.one_in(4)) pod.cpus(random.pick(4, 16));
    if (random.one_in(10)) pod.deleting();
    cluster.with(pod);
  }
  if (random.one_in(2)) cluster.with(a_pod("g1-x").gpus(4).in_gang("g1", 3).on("there").started(5));
  if (random.one_in(3)) cluster.with(a_pod("next").gpus(1).priority(3).nominated("here"));
  DisruptionBudget budget;
  budget.key = {"default", "guard"};
  budget.match_labels = {{"app", "guarded"}};
  budget.disruptions_allowed = random.pick(0, 2);
  if (random.one_in(2)) cluster.with(budget);
  return {cluster.build(),
          a_pod("asking").gpus(random.pick(1, 8)).cpus(random.pick(1, 16)).priority(3).build()};
}

double lost_gpu_s(const Pod& pod) {
  double ran_s = kNow_s - *pod.started_s;
  if (pod.intent->checkpoint_interval_s) ran_s = std::fmod(ran_s, 600.0);
  return ran_s * static_cast<double>(pod.requests.gpu_total());
}

double lost_gpu_s(const ClusterSnapshot& cluster, const std::vector<const Pod*>& set) {
  std::set<std::string> gangs;
  double lost = 0;
  for (const Pod* pod : set) {
    if (!pod->intent->gang) lost += lost_gpu_s(*pod);
    if (pod->intent->gang) gangs.insert(*pod->intent->gang);
  }
  for (const NodeStatePtr& state : cluster.nodes)
    for (const PodPtr& pod : state->pods)
      if (pod->intent->gang && gangs.contains(*pod->intent->gang)) lost += lost_gpu_s(*pod);
  return lost;
}

class BruteForce {
 public:
  explicit BruteForce(const Scene& scene) : scene_(scene), here_(scene.cluster.node(0)) {
    for (const PodPtr& pod : here_.pods)
      if (pod->priority < scene.preemptor.priority) lower_.push_back(pod.get());
    std::sort(lower_.begin(), lower_.end(), [](const Pod* a, const Pod* b) {
      return std::tuple(-a->priority, *a->started_s, a->uid) <
             std::tuple(-b->priority, *b->started_s, b->uid);
    });
    room_ = here_.free() - held_against(scene.cluster, 0, scene.preemptor, 0);
    for (const PodPtr& pod : here_.pods)
      if (pod->deleting) room_ += pod->requests;
    std::int64_t allowed =
        scene.cluster.budgets.empty() ? 1000 : scene.cluster.budgets[0]->disruptions_allowed;
    for (const Pod* pod : lower_)
      if (!pod->labels.empty() && allowed-- <= 0) violating_.insert(pod->uid.str());
  }

  bool fits_without(const std::vector<const Pod*>& set) const {
    Resources free = room_;
    for (const Pod* pod : set)
      free += pod->requests;
    return fits(scene_.preemptor.requests, free);
  }

  // Whether the pod does not fit before anybody has left.
  bool full() const {
    const Resources free = here_.free() - held_against(scene_.cluster, 0, scene_.preemptor, 0);
    return !fits(scene_.preemptor.requests, free);
  }

  // The best set; empty where none fits or nothing need go.
  std::vector<Uid> best() const {
    std::vector<const Pod*> evictable;
    for (const Pod* pod : lower_)
      if (!pod->deleting) evictable.push_back(pod);
    if (fits_without({})) return {};
    std::optional<Key> best_key;
    std::vector<const Pod*> best_set;
    for (std::uint32_t mask = 1; mask < (1U << evictable.size()); ++mask) {
      std::vector<const Pod*> set;
      for (std::size_t i = 0; i < evictable.size(); ++i)
        if ((mask >> i & 1U) != 0) set.push_back(evictable[i]);
      if (!fits_without(set)) continue;
      const Key key = key_of(set);
      if (best_key && !(key < *best_key)) continue;
      best_key = key;
      best_set = set;
    }
    std::vector<Uid> uids;
    for (const Pod* pod : best_set)
      uids.push_back(pod->uid);
    return uids;
  }

 private:
  using Key = std::tuple<std::size_t, std::int32_t, double, std::int64_t, std::size_t,
                         std::vector<std::string>>;

  Key key_of(const std::vector<const Pod*>& set) const {
    std::size_t violations = 0;
    std::int32_t top = set.front()->priority;
    std::int64_t gpus = 0;
    std::vector<std::string> uids;
    for (const Pod* pod : set) {
      violations += violating_.count(pod->uid.str());
      top = std::max(top, pod->priority);
      gpus += pod->requests.gpu_total();
      uids.push_back(pod->uid.str());
    }
    std::sort(uids.begin(), uids.end());
    return {violations, top, lost_gpu_s(scene_.cluster, set), gpus, set.size(), uids};
  }

  const Scene& scene_;
  const NodeState& here_;
  Resources room_;                 // when all that terminates is gone
  std::vector<const Pod*> lower_;  // by importance
  std::set<std::string> violating_;
};

TEST(VictimsProperty, EqualBruteForceOnUpToTwelvePods) {
  const GpuCatalog catalog = default_gpu_catalog();
  std::size_t preempted = 0;
  for (std::uint64_t seed = 1; seed <= kRounds; ++seed) {
    const Scene scene = random_scene(seed);
    const BruteForce oracle(scene);
    if (!oracle.full()) continue;  // the scheduler would not have asked
    const PreemptRequest request{scene.preemptor, {NodeVictims{"here", {}, 0}}};
    const auto reply =
        choose_victims(scene.cluster, request, {{.catalog = &catalog, .now_wall_s = kNow_s}});
    const auto expected = oracle.best();
    ASSERT_EQ(reply.nodes.empty(), expected.empty()) << "seed " << seed;
    if (expected.empty()) continue;
    ++preempted;
    ASSERT_EQ(reply.nodes[0].victims, expected) << "seed " << seed;
  }
  EXPECT_GT(preempted, 1000U);
}

TEST(VictimsProperty, AreASubsetOfTheOfferedNodesWithOnlyLowerRanks) {
  const GpuCatalog catalog = random_catalog();
  for (std::uint64_t seed = 1; seed <= kRounds; ++seed) {
    RandomCluster random(seed);
    const ClusterSnapshot cluster = random.make();
    PreemptRequest request;
    request.pod = random.request("asking").build();
    for (const NodeStatePtr& state : cluster.nodes) {
      if (random.one_in(4)) continue;
      NodeVictims offered{state->node->name.str(), {}, random.pick(0, 2)};
      for (const PodPtr& pod : state->pods)
        if (random.one_in(2)) offered.victims.push_back(pod->uid);
      if (random.one_in(9)) offered.victims.emplace_back("gone");
      request.candidates.push_back(std::move(offered));
    }
    const auto reply =
        choose_victims(cluster, request, {{.catalog = &catalog, .now_wall_s = kNow_s}});
    std::size_t next = 0;
    for (const NodeVictims& node : reply.nodes) {
      while (next < request.candidates.size() && request.candidates[next].node != node.node)
        ++next;
      ASSERT_LT(next, request.candidates.size()) << "a subset, in the order offered; seed " << seed;
      ASSERT_FALSE(node.victims.empty()) << "seed " << seed;
      std::int32_t above = request.pod.priority - 1;
      for (const Uid& uid : node.victims) {
        const auto& pods = cluster.node(*cluster.find_node(node.node)).pods;
        const auto at = std::find_if(pods.begin(), pods.end(),
                                     [&](const PodPtr& pod) { return pod->uid == uid; });
        ASSERT_NE(at, pods.end()) << "seed " << seed;
        ASSERT_FALSE((*at)->deleting) << "seed " << seed;
        ASSERT_LE((*at)->priority, above) << "sorted, and below the preemptor; seed " << seed;
        above = (*at)->priority;
      }
      const std::set<Uid> given(request.candidates[next].victims.begin(),
                                request.candidates[next].victims.end());
      const bool unchanged = given == std::set<Uid>(node.victims.begin(), node.victims.end());
      ASSERT_TRUE(!unchanged || node.pdb_violations >= request.candidates[next].pdb_violations);
    }
  }
}

}  // namespace
}  // namespace slackline::core
