// Random lives of a cluster: Jobs come and end, nodes go and return, the planner dies at any write,
// the watch lags, kube-scheduler dawdles, the wall clock jumps, quotas come unforeseen, running
// Jobs make room for urgent ones, shrink and grow, replicas are evicted, others take pods away or
// remove plans.
// Whatever happens, no GPU is promised twice and no gang is lifted in part; left in peace,
// everything that fits runs.
#include <map>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/cluster/task_catalog.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;
using test::a_quota;

constexpr int kLives = 60;

// What comes besides Jobs that are run as they are written.
struct Tasks {
  bool shapes = false;    // Jobs that may run in several shapes
  bool replicas = false;  // pods of ReplicaSets, which run until they are removed
};

class Life {
 public:
  Life(std::uint64_t seed, std::string policy, double notice_s, Tasks tasks)
      : random_(seed), policy_(std::move(policy)), tasks_(tasks) {
    rules_.defaults.notice_s = notice_s;
    planner_ = fresh_planner();
    for (int i = 0; i < kNodes; ++i)
      world_.add(node(i));
  }

  void live(int steps) {
    for (int i = 0; i < steps; ++i) {
      act_of_god();
      turn();
    }
  }

  // Nobody disturbs it any more.
  void rest() {
    disturbed_ = false;
    world_.binds_unplanned = true;
    world_.lift_quota("team");
    std::erase_if(world_.pods(), [](const auto& entry) { return is_replaced(entry.second); });
    for (int i = 0; i < jobs_; ++i)
      world_.linger("job-" + std::to_string(i), false);
    for (int i = 0; i < kNodes; ++i)
      world_.add(node(i));
    for (auto& [key, job] : world_.jobs())
      world_.resume(job);
    for (int i = 0; i < 200; ++i) {
      lag_ = 0;
      turn();
      world_.make_pods();
      world_.bind();
      world_.pass(20);
      if (i % 4 == 3) check_everybody_is_in_the_queue();
      if (i % 4 == 3) finish_one();
    }
  }

  std::int64_t evictions() const { return world_.count_of<EvictPod>(); }
  // For other tasks, or after disruptions.
  std::int64_t stops(bool disrupted) const {
    return std::count_if(world_.performed.begin(), world_.performed.end(), [&](const auto& write) {
      const auto* stop = write.template as<StopJob>();
      return stop != nullptr && stop->disruption.has_value() == disrupted;
    });
  }

  void expect_all_served() {
    for (const auto& [key, job] : world_.jobs())
      EXPECT_TRUE(job.finished) << key.str() << (job.suspended ? " still waits" : " is stuck");
    for (const auto& [key, pod] : world_.pods())
      EXPECT_EQ(pod.notice, nullptr) << key.str() << " was told of a stop that nobody wants";
  }

 private:
  static constexpr int kNodes = 4;
  static constexpr std::int64_t kTenYears_s = 315'360'000;

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool one_in(std::int64_t n) { return pick(1, n) == 1; }
  bool fails(std::int64_t one_in_n) { return disturbed_ && one_in(one_in_n); }

  static test::NodeBuilder node(int i) {
    return a_node("n" + std::to_string(i)).of(i < 2 ? "K80" : "T4", 4);
  }

  // Its first look is a fresh one: a Lease changes hands more slowly than a watch lags.
  std::unique_ptr<test::WorldPlanner> fresh_planner() {
    writes_ = {};
    seen_ = world_.snapshot();
    lag_ = 2;
    auto planner = std::make_unique<test::WorldPlanner>(++epoch_, policy_);
    planner->follow(&rules_);
    const Coefficients speed{"S", {10, 1, 0, 0.1, 1.4}};
    planner->know(WorkloadProfiles({{"bert", GpuType("K80"), speed, 5, 12, {}, ""},
                                    {"bert", GpuType("T4"), speed, 5, 12, {}, ""}}));
    return planner;
  }

  void act_of_god() {
    // The watch lags by events, not by seconds.
    if (one_in(2)) {
      world_.pass(static_cast<double>(pick(1, 16)));
      seen_ = world_.snapshot();
    }
    if (one_in(3)) submit();
    if (one_in(3)) world_.make_pods(pick(0, 3));
    if (one_in(2)) world_.bind();
    if (one_in(6)) finish_one();
    if (one_in(8)) world_.linger("job-" + std::to_string(pick(0, jobs_)), false);
    if (tasks_.replicas && one_in(4)) add_replica();
    if (tasks_.replicas && one_in(8)) remove_replica();
    if (one_in(15)) planner_ = fresh_planner();
    if (one_in(25)) world_.remove_node("n" + std::to_string(pick(0, kNodes - 1)));
    if (one_in(8)) world_.add(node(static_cast<int>(pick(0, kNodes - 1))));
    if (one_in(12)) wall_jump_s_ = static_cast<double>(pick(-kTenYears_s, kTenYears_s));
    if (one_in(12)) {
      const std::int64_t limit = pick(0, 16);  // compilers choose the order of arguments
      world_.add(a_quota("team").limit(test::kGpu, limit), one_in(2));
    }
    if (one_in(10)) disrupt_one();
    if (one_in(24)) lose_something();
    if (one_in(20) && !world_.pods().empty()) {
      auto& pod = world_.pods().begin()->second;
      if (!pod.bound()) pod.nominated_node = NodeName();
    }
  }

  // Somebody writes a Job or a pod over, a namespace loses its label for a moment, a backup brings
  // an object back.
  void lose_something() {
    for (auto& [key, job] : world_.jobs()) {
      if (job.finished || !one_in(2)) continue;
      if (job.plan && one_in(2)) return world_.lose_plan(job);
      if (job.suspended && one_in(2)) return world_.lose_mark(job);
      return world_.lose_notes(job);
    }
    for (auto& [key, pod] : world_.pods())
      if (pod.plan && one_in(2)) return world_.lose_plan(pod);
  }

  void submit() {
    const std::string name = "job-" + std::to_string(jobs_++);
    auto job = a_job(name).created(world_.now_s());
    job.intent().expected_duration_s = 600;
    job.intent().checkpoint_interval_s = 10;
    if (one_in(3)) job.intent().qos_class = QosClass::kUrgent;
    if (one_in(4)) world_.linger(name);
    if (tasks_.shapes && one_in(2)) {
      job.intent().expected_duration_s.reset();
      job.trains("bert", 64, 1000).gpus(4).waiting();
      job.intent().any_placement = true;
    } else if (one_in(2))
      job.of(2).gang().gpus(pick(1, 4)).waiting();
    else
      job.gpus(pick(1, 4)).waiting();
    world_.add(job);
  }

  void add_replica() {
    const std::string name = "set-" + std::to_string(sets_++);
    auto pod = test::a_pod(name).gpus(pick(1, 4)).managed().gated().created(world_.now_s());
    pod.owned_by("ReplicaSet", name);
    pod.intent().expected_duration_s = 600;
    if (one_in(4)) world_.linger(name);
    world_.add(pod);
  }

  void remove_replica() {
    for (int i = 0; i < sets_; ++i)
      world_.linger("set-" + std::to_string(i), false);
    auto& pods = world_.pods();
    const auto at = std::find_if(pods.begin(), pods.end(),
                                 [](const auto& entry) { return is_replaced(entry.second); });
    if (at != pods.end() && one_in(2)) pods.erase(at);
  }

  void disrupt_one() {
    const auto& pods = world_.pods();
    if (pods.empty()) return;
    auto at = pods.begin();
    std::advance(at, pick(0, static_cast<std::int64_t>(pods.size()) - 1));
    if (!at->second.bound() || is_replaced(at->second)) return;
    const auto kind = static_cast<DisruptionKind>(pick(0, 5));
    world_.disrupt(at->first.name, kind, /*at_once=*/one_in(2));
  }

  void finish_one() {
    for (const auto& [key, job] : world_.jobs()) {
      if (job.finished || job.suspended) continue;  // without a plan, its pod may have one
      std::int64_t bound = 0;
      for (const auto& [name, pod] : world_.pods())
        bound += pod.bound() && pod.owner->uid == job.uid ? 1 : 0;
      if (bound < job.parallelism) continue;
      return world_.finish(key.name);
    }
  }

  // The planner as the daemon runs it: on what the watch shows, own writes laid over it.
  void turn() {
    if (lag_ == 0 || one_in(3)) seen_ = world_.snapshot();
    lag_ = pick(0, 2);
    writes_.settle(seen_, world_.now_s());
    planner_->wall_jump_s = wall_jump_s_;
    perform(planner_->hand_over(with_writes(seen_, writes_.writes()), world_.now_s(),
                                writes_.unanswered()));
    view_ = with_writes(seen_, writes_.writes());
    perform(planner_->plan(view_, world_.now_s()));
    check_no_gpu_is_promised_twice();
  }

  void perform(const std::vector<OwnWrite>& wanted) {
    for (const OwnWrite& write : wanted)
      if (write.is<LiftGate>()) check_gang_is_answered(write);
    for (const OwnWrite& write : wanted) {
      if (writes_.waiting_for(write.target.uid) || !is_room_made(write)) continue;
      if (write.is<LiftGate>()) check_gang_is_whole(write);
      if (write.is<StopJob>()) check_pods_were_told(write);
      const auto number = writes_.sent(write);
      if (fails(12)) {
        writes_.failed(number);  // it never arrived
      } else if (!world_.perform(write)) {
        writes_.failed(number);
      } else if (fails(12)) {
        writes_.doubtful(number, world_.now_s() + 60);  // its answer never arrived
      } else if (write.is<EvictPod>()) {
        writes_.doubtful(number, world_.now_s() + 10);
        writes_.written(number, "");
        planner_->book.stops.push_back(*booked_stop(write, world_.now_s()));
      } else {
        writes_.written(number, version_of(write));
      }
      if (fails(60)) {
        planner_ = fresh_planner();
        return;
      }
    }
  }

  // By stops that the API server has taken, and said so.
  bool is_room_made(const OwnWrite& write) const {
    return std::none_of(write.after.begin(), write.after.end(), [&](const Uid& uid) {
      const auto at = std::find_if(world_.jobs().begin(), world_.jobs().end(),
                                   [&](const auto& entry) { return entry.second.uid == uid; });
      const bool stopped = at != world_.jobs().end() && at->second.suspended;
      return writes_.waiting_for(uid) || !(stopped || is_evicted(uid));
    });
  }

  bool is_evicted(const Uid& uid) const {
    return std::any_of(world_.performed.begin(), world_.performed.end(), [&](const auto& write) {
      return write.target.uid == uid && write.template is<EvictPod>();
    });
  }

  std::string version_of(const OwnWrite& write) {
    if (write.of_job()) return world_.jobs().at(write.target.key).resource_version;
    return world_.pods().at(write.target.key).resource_version;
  }

  void check_gang_is_whole(const OwnWrite& lift) {
    const Pod& pod =
        world_.pods().contains(lift.target.key) ? world_.pods().at(lift.target.key) : Pod{};
    if (!pod.owner || is_replaced(pod)) return;
    std::int64_t members = 0;
    for (const auto& [key, other] : world_.pods()) {
      if (!other.owner || other.owner->uid != pod.owner->uid) continue;
      ++members;
    }
    const Job& job = world_.job(pod.owner->name);
    // Those of this run that others ended since the planner looked.
    for (const PodPtr& gone : world_.snapshot().displaced)
      if (gone->owner && gone->owner->uid == job.uid &&
          gone->created_s >= job.started_s.value_or(0))
        ++members;
    EXPECT_TRUE(members >= job.parallelism) << lift.target.key.str() << " lifted with " << members;
  }

  // By what the planner sees: who was told is stopped then, and not before.
  void check_pods_were_told(const OwnWrite& write) {
    if (rules_.defaults.notice_s <= 0 || write.as<StopJob>()->disruption) return;
    bool any_told = false;
    for (const NodeStatePtr& state : view_.nodes)
      for (const PodPtr& pod : state->pods) {
        if (!pod->owner || pod->owner->uid != write.target.uid || !pod->notice) continue;
        any_told = true;
        EXPECT_LE(pod->notice->at_s, world_.now_s() + wall_jump_s_) << pod->key.str();
      }
    EXPECT_TRUE(any_told) << write.target.key.str();
  }

  // Nothing goes on what may still fail.
  void check_gang_is_answered(const OwnWrite& lift) {
    if (!world_.pods().contains(lift.target.key)) return;
    const auto owner = world_.pods().at(lift.target.key).owner;
    for (const auto& [key, pod] : world_.pods())
      if (!pod.bound() && pod.owner && owner && pod.owner->uid == owner->uid) {
        EXPECT_FALSE(writes_.waiting_for(pod.uid))
            << lift.target.key.str() << " before " << key.str();
      }
  }

  // Bound pods never exceed a node, not even together with Slackline's nominations; but pods that
  // were stopped may still end where others are nominated.
  void check_no_gpu_is_promised_twice() {
    const ClusterSnapshot now = world_.snapshot();
    for (NodeIndex i = 0; i < now.nodes.size(); ++i) {
      std::int64_t taken = 0;
      for (const PodPtr& pod : now.node(i).pods)
        if (!was_stopped(*pod)) taken += pod->requests.gpu_count(test::kGpu);
      for (const Hold& hold : now.holds_on(i))
        if (hold.expires_s > world_.now_s()) taken += hold.amount.gpu_count(test::kGpu);
      ASSERT_LE(taken, 4) << now.node(i).node->name.str();
      ASSERT_LE(now.node(i).used.gpu_count(test::kGpu), 4) << now.node(i).node->name.str();
    }
  }

  // A minute after the last fault: what is in the queue and waits has a reason.
  void check_everybody_is_in_the_queue() {
    std::set<std::string> waiting;
    std::set<std::string> running;
    std::set<Uid> replaces;  // of which the queue says so
    const Queue queue = planner_->queue(world_.snapshot(), world_.now_s());
    for (TaskIndex index = 0; index < queue.size(); ++index) {
      const QueueTask& task = queue.task(index);
      auto& names = task.plan ? running : waiting;
      names.insert(task.job ? task.job->uid.str() : task.member->owner->uid.str());
      if (task.plan && has_replacements(task.bound.size(), task.pods))
        for (const PodPtr& pod : task.pods)
          replaces.insert(pod->uid);
    }
    for (const auto& [key, job] : world_.jobs())
      EXPECT_TRUE(job.finished || waiting.contains(job.uid.str()) ||
                  running.contains(job.uid.str()))
          << key.str() << " is in no list: " << words(job);
    for (const auto& [key, pod] : world_.pods()) {
      if (!pod.gated || (pod.owner && waiting.contains(pod.owner->uid.str()))) {
        gated_without_reason_s_.erase(pod.uid);
        continue;
      }
      const auto [since, first] = gated_without_reason_s_.try_emplace(pod.uid, world_.now_s());
      EXPECT_LE(world_.now_s(),
                since->second + (replaces.contains(pod.uid) ? kReplacedWithin_s : 0) + 60)
          << key.str() << " is gated, and nobody says why";
    }
  }

  std::string words(const Job& job) const {
    std::string text = format("{} pods{}{}{}", job.parallelism, job.suspended ? ", suspended" : "",
                              job.suspended_by_us ? " by us" : "", job.plan ? ", planned" : "");
    for (const auto& [key, pod] : world_.pods())
      if (pod.owner && pod.owner->uid == job.uid)
        text += format("; {}{}{}{}{} on \"{}\"", key.name, pod.gated ? " gated" : "",
                       pod.plan ? " planned" : "", pod.deleting ? " deleting" : "",
                       pod.terminal() ? " over" : "", pod.node.str());
    return text;
  }

  bool was_stopped(const Pod& pod) {
    if (is_replaced(pod)) return was_evicted(pod);
    const Job& job = world_.job(pod.owner->name);
    return job.preemptions != nullptr && (job.suspended || pod.deleting);
  }

  std::mt19937_64 random_;
  bool disturbed_ = true;
  const std::string policy_;
  const Tasks tasks_;
  QueueRulebook rules_;
  std::int64_t epoch_ = 0;
  test::HandOverWorld world_;
  OwnWrites writes_;
  ClusterSnapshot seen_;
  ClusterSnapshot view_;  // with own writes, as planned on last
  std::int64_t lag_ = 0;
  double wall_jump_s_ = 0;
  std::map<Uid, double> gated_without_reason_s_;  // since when
  int jobs_ = 0;
  int sets_ = 0;
  std::unique_ptr<test::WorldPlanner> planner_;
};

// The stops of all lives.
struct Stops {
  std::int64_t for_others = 0;
  std::int64_t after_disruptions = 0;
  std::int64_t evictions = 0;
};

Stops live_through(const std::string& policy, double notice_s = 0, Tasks tasks = {}) {
  Stops stops;
  for (std::uint64_t seed = 1; seed <= kLives && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Life life(seed, policy, notice_s, tasks);
    life.live(60);
    life.rest();
    life.expect_all_served();
    stops.for_others += life.stops(false);
    stops.after_disruptions += life.stops(true);
    stops.evictions += life.evictions();
  }
  return stops;
}

TEST(HandOverProperty, NoGpuTwiceNoGangInPartAndEverybodyServed) {
  const Stops stops = live_through("savable,headroom=0,calm=0");
  EXPECT_EQ(stops.for_others, 0);
  EXPECT_GT(stops.after_disruptions, kLives);
}

TEST(HandOverProperty, TheSameWhereTasksMakeRoomForOthers) {
  // Clocks that jump by years make a stop look as costly as that.
  const Stops stops = live_through("default,protect=5,headroom=0,calm=0,budget=1e9");
  EXPECT_GT(stops.for_others, kLives);
  EXPECT_GT(stops.after_disruptions, kLives);
}

TEST(HandOverProperty, TheSameWhereTheyMayShrink) {
  const Stops stops =
      live_through("default,shrink=on,protect=5,headroom=0,calm=0,budget=1e9", 0, {.shapes = true});
  EXPECT_GT(stops.for_others, kLives / 4);
}

TEST(HandOverProperty, TheSameWherePodsAreEvicted) {
  const Stops stops =
      live_through("default,protect=5,headroom=0,calm=0,budget=1e9", 0, {.replicas = true});
  EXPECT_GT(stops.evictions, kLives / 2);
}

TEST(HandOverProperty, TheSameWhereTheyAreToldBefore) {
  const Stops stops = live_through("default,protect=5,headroom=0,calm=0,budget=1e9", 10);
  EXPECT_GT(stops.for_others, kLives / 4);
}

}  // namespace
}  // namespace slackline::core
