// A world for the hand-over: an API server that performs Slackline's writes, a Job controller that
// makes pods, a controller that replaces evicted ones, a pod webhook that gates them, and a
// kube-scheduler that binds what is nominated and not gated, and keeps apart what has to be. Time
// moves when a test says so; everything can be made to fail. Needs layer core.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/cluster/gang_places.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/make_snapshot.h"
#include "slackline/core/cluster/quotas.h"
#include "slackline/core/handover/begin_growth.h"
#include "slackline/core/handover/begin_starts.h"
#include "slackline/core/handover/hand_over.h"
#include "slackline/core/handover/own_writes.h"
#include "slackline/core/handover/take_on.h"
#include "support/cluster_builder.h"

namespace slackline::test {

class HandOverWorld {
 public:
  static constexpr double kGrace_s = 30;  // that lingering pods have

  void add(const NodeBuilder& node) { nodes_[node.build().name] = node.build(); }
  void add(const JobBuilder& job) { put(job.build()); }
  void add(const PodBuilder& pod) { put(pod.build()); }
  // Enforced from now on. `known` = false: the watch has not shown it.
  void add(const DisruptionBudget& budget) { budgets_.push_back(budget); }
  void add(const QuotaBuilder& quota, bool known = true) {
    quotas_[quota.build().key] = {quota.build(), known};
  }
  void lift_quota(const std::string& name) { quotas_.erase(key_of(name)); }
  // The pods of this Job, or this pod, take their time to end, from the moment it is suspended or
  // evicted until they linger no more.
  void linger(const std::string& job, bool lingers = true) {
    lingers ? void(lingering_.insert(job)) : void(lingering_.erase(job));
  }
  void remove_node(const std::string& name) { nodes_.erase(NodeName(name)); }
  void remove_job(const std::string& name) {
    end_pods(job(name));
    jobs_.erase(key_of(name));
  }
  Node& node(const std::string& name) { return nodes_.at(NodeName(name)); }
  Job& job(const std::string& name) { return jobs_.at(key_of(name)); }
  bool has_job(const std::string& name) const { return jobs_.contains(key_of(name)); }
  std::map<ObjectKey, Pod>& pods() { return pods_; }
  const std::map<ObjectKey, Pod>& pods() const { return pods_; }
  std::map<ObjectKey, Job>& jobs() { return jobs_; }
  const std::map<ObjectKey, Job>& jobs() const { return jobs_; }
  // Pods that hold a node: of this Job, or of all.
  int bound(const std::string& job = "") const {
    return static_cast<int>(std::count_if(pods_.begin(), pods_.end(), [&](const auto& entry) {
      const Pod& pod = entry.second;
      return pod.bound() && (job.empty() || (pod.owner && pod.owner->name == job));
    }));
  }
  // What was done to it, in order: the words of the writes.
  std::vector<std::string> written() const {
    std::vector<std::string> words;
    for (const OwnWrite& write : performed)
      words.emplace_back(write.word());
    return words;
  }
  template <class Kind>
  std::int64_t count_of() const {
    return std::count_if(performed.begin(), performed.end(),
                         [](const OwnWrite& write) { return write.is<Kind>(); });
  }
  double now_s() const { return now_s_; }
  void pass(double seconds) { now_s_ += seconds; }
  // Its annotation is gone, whoever has removed it.
  void lose_plan(Job& job) {
    job.plan = nullptr;
    job.resource_version = next_version();
    sight(job.uid, nullptr);
  }
  void lose_plan(Pod& pod) {
    pod.plan = nullptr;
    pod.resource_version = next_version();
    sight(pod.uid, nullptr);
  }
  // As a plan of an older version, or of a run that nobody planned.
  void forget_what_was_asked(Job& job) {
    PlanNote plan = *job.plan;
    plan.checkpoint_interval_s.reset();
    plan.work_s.reset();
    plan.asked.clear();
    job.plan = std::make_shared<const PlanNote>(plan);
  }
  // Somebody has written the Job over: these keys of Slackline's are gone.
  void lose_mark(Job& job) {
    job.suspended_by_us = false;
    job.resource_version = next_version();
  }
  void lose_notes(Job& job) {
    job.original = nullptr;
    job.preemptions = nullptr;
    job.resource_version = next_version();
  }
  // The webhook queues a Job that is resumed.
  void resume(Job& job) {
    job.suspended_by_us = job.suspended;
    job.resource_version = next_version();
  }
  // A bound pod of the Job fails or is deleted; make_pods() replaces it.
  void lose(const std::string& job, const ObjectKey& pod) {
    pods_.erase(pod);
    sightings_[job_uid(job)].lost_s = now_s_;
  }

  // The same of a pod without a Job; its controller replaces it.
  void lose(const ObjectKey& key) {
    const Pod lost = pods_.at(key);
    pods_.erase(key);
    for (const auto& [other, pod] : pods_)
      if (lost.bound() && pod.bound() && pod.plan && lost.plan && pod.plan->id == lost.plan->id)
        sightings_[pod.uid].lost_s = now_s_;
  }

  ClusterSnapshot snapshot() const {
    ClusterSnapshot snapshot;
    snapshot.version = 1;
    snapshot.synced = true;
    std::map<NodeName, NodeState> states;
    for (const auto& [name, node] : nodes_)
      states[name].node = std::make_shared<const Node>(node);
    for (const auto& [key, pod] : pods_) {
      const auto shared = std::make_shared<const Pod>(pod);
      if (!pod.bound()) snapshot.unbound.push_back(shared);
      if (const auto at = states.find(pod.node); at != states.end()) {
        at->second.pods.push_back(shared);
        at->second.used += pod.requests;
      } else if (pod.bound()) {
        snapshot.displaced.push_back(shared);
      }
    }
    for (const PodPtr& pod : displaced_)
      snapshot.displaced.push_back(pod);
    for (auto& [name, state] : states)
      snapshot.nodes.push_back(std::make_shared<const NodeState>(std::move(state)));
    for (const auto& [key, job] : jobs_)
      snapshot.jobs.push_back(std::make_shared<const Job>(job));
    for (const auto& [key, entry] : quotas_)
      if (entry.second)
        snapshot.quotas.push_back(std::make_shared<const ResourceQuota>(entry.first));
    for (const DisruptionBudget& budget : budgets_)
      snapshot.budgets.push_back(std::make_shared<const DisruptionBudget>(budget));
    snapshot.sightings = std::make_shared<const Sightings>(sightings_.begin(), sightings_.end());
    if (!gang_specs.empty()) snapshot.gang_specs = std::make_shared<const GangSpecs>(gang_specs);
    return core::make_snapshot(std::move(snapshot));
  }

  // As the API server: false where the precondition does not hold.
  bool perform(const OwnWrite& write) {
    performed.push_back(write);
    if (write.of_job()) return perform_on_job(write);
    const auto at = pods_.find(write.target.key);
    if (at == pods_.end() || at->second.uid != write.target.uid) return false;
    Pod& pod = at->second;
    if (write.is<LiftGate>()) {
      if (!pod.our_gate) return false;
      pod.gated = pod.our_gate = false;
    } else if (const auto* narrow = write.as<NarrowPod>()) {
      if (!pod.gated) return false;
      SchedulingConstraints own = pod.constraints ? *pod.constraints : SchedulingConstraints{};
      own.affinity_terms = narrow->affinity_terms;
      pod.constraints = std::make_shared<const SchedulingConstraints>(std::move(own));
    } else if (const auto* nominate = write.as<Nominate>()) {
      pod.nominated_node = nominate->node;
    } else if (const auto* tell = write.as<TellOfStop>()) {
      pod.notice = tell->notice;
    } else if (write.is<TakeBackStop>()) {
      pod.notice = nullptr;
    } else if (write.is<EvictPod>()) {
      if (refuses_evictions) return false;
      pod.deleting = true;
      pod.gone_by_s = now_s_ + kGrace_s;
      pod.disruption = PodDisruption{DisruptionKind::kEvictionByEvictionApi, now_s_};
    } else if (write.is<ClearNomination>()) {
      pod.nominated_node = NodeName();
    } else {
      pod.plan = as_read(write.plan());
      sight(pod.uid, pod.plan.get());
    }
    pod.resource_version = next_version();
    return true;
  }

  // The Job controller: pods of running Jobs appear, those of suspended ones go.
  void make_pods(std::int64_t at_most = 1 << 20) {
    replace_evicted();
    for (auto& [key, job] : jobs_) {
      if (job.suspended) {
        end_pods(job);
        job.active = 0;
        job.halted = true;
        job.resumed = false;
        job.started_s.reset();
        continue;
      }
      job.halted = false;
      job.resumed = true;
      if (!job.started_s) job.started_s = now_s_;
      for (std::int64_t i = 0; i < job.parallelism && at_most > 0; ++i) {
        const ObjectKey name{key.ns, key.name + "-" + std::to_string(i)};
        if (pods_.contains(name) || ended_.contains(name) || !admitted(job)) continue;
        put(member(job, name));
        --at_most;
      }
      job.active = static_cast<std::int64_t>(
          std::count_if(pods_.begin(), pods_.end(),
                        [&](const auto& entry) { return is_member(entry.second, job); }));
    }
  }

  // kube-scheduler: on the nominated node where it has room, else nowhere.
  int bind() {
    int bound = 0;
    for (auto& [key, pod] : pods_) {
      if (pod.bound() || pod.gated) continue;
      const bool anywhere = binds_unplanned && is_nobodys(pod);
      const auto at = nodes_.find(anywhere ? any_room_for(pod) : pod.nominated_node);
      if (at == nodes_.end() || at->second.unschedulable) continue;
      Resources free = at->second.allocatable;
      std::int64_t alike = 0;
      for (const auto& [other_key, other] : pods_)
        if (other.node == at->first) {
          free -= other.requests;
          alike += other.owner && pod.owner && other.owner->uid == pod.owner->uid ? 1 : 0;
        }
      if (!snapshot().fits(pod.requests, free)) continue;
      if (alike >= spread_of(pod.constraints.get()).most.value_or(alike + 1)) continue;
      pod.node = at->first;
      pod.phase = PodPhase::kRunning;
      if (!pod.started_s) pod.started_s = now_s_;
      progressed(pod);
      ++bound;
    }
    return bound;
  }

  // Somebody else ends a pod: it has a while left, or is gone at once.
  void disrupt(const std::string& pod, DisruptionKind kind, bool at_once = false) {
    Pod& ended = pods_.at(key_of(pod));
    ended.disruption = PodDisruption{kind, now_s_};
    ended.deleting = true;
    ended.gone_by_s = now_s_ + kGrace_s;
    if (at_once) let_end(pod);
  }
  void let_end(const std::string& pod) {
    const auto at = pods_.find(key_of(pod));
    if (at == pods_.end()) return;
    if (at->second.disruption && at->second.bound())
      displaced_.push_back(std::make_shared<const Pod>(at->second));
    pods_.erase(at);
  }

  // The pod ran short of memory; its Job makes another one.
  void run_short(const std::string& pod) {
    Pod& ended = pods_.at(key_of(pod));
    ended.out_of_memory = true;
    ended.phase = PodPhase::kFailed;
    displaced_.push_back(std::make_shared<const Pod>(ended));
    pods_.erase(key_of(pod));
  }

  // Every pod that runs succeeds; so does its Job once all have.
  void finish(const std::string& name) {
    Job& done = job(name);
    std::erase_if(pods_, [&](const auto& entry) {
      if (!is_member(entry.second, done)) return false;
      ended_[entry.first] = true;
      return true;
    });
    done.finished = true;
  }

  std::vector<OwnWrite> performed;
  GangSpecs gang_specs;            // what the objects say that make gangs
  bool binds_unplanned = false;    // also pods without plan and nomination, where nobody plans
  bool refuses_evictions = false;  // as under a budget that the watch has not shown

 private:
  bool is_nobodys(const Pod& pod) const {
    if (pod.plan || !pod.nominated_node.empty() || !pod.owner) return false;
    const auto job = jobs_.find({pod.key.ns, pod.owner->name});
    return job != jobs_.end() && !job->second.suspended && !job->second.plan;
  }
  NodeName any_room_for(const Pod& pod) const {
    const ClusterSnapshot now = snapshot();
    for (NodeIndex i = 0; i < now.nodes.size(); ++i) {
      Resources free = now.node(i).node->allocatable;
      free -= now.node(i).used;
      for (const Hold& hold : now.holds_on(i))
        free -= hold.amount;
      if (now.fits(pod.requests, free)) return now.node(i).node->name;
    }
    return {};
  }

  // The new pod is a copy without a past.
  void replace_evicted() {
    std::vector<Pod> made;
    std::erase_if(pods_, [&](const auto& entry) {
      const Pod& pod = entry.second;
      if (!core::was_evicted(pod) || lingering_.contains(pod.key.name)) return false;
      Pod fresh = pod;
      fresh.key.name += "+";
      fresh.uid = Uid(fresh.key.str() + "#" + next_version());
      fresh.created_s = now_s_;
      fresh.started_s.reset();
      fresh.node = fresh.nominated_node = NodeName();
      fresh.phase = PodPhase::kPending;
      fresh.deleting = false;
      fresh.gone_by_s.reset();
      fresh.disruption.reset();
      fresh.gated = fresh.our_gate = true;
      fresh.plan = nullptr;
      fresh.notice = nullptr;
      made.push_back(std::move(fresh));
      return true;
    });
    for (Pod& pod : made)
      put(std::move(pod));
  }

  bool perform_on_job(const OwnWrite& write) {
    const auto at = jobs_.find(write.target.key);
    if (at == jobs_.end() || at->second.uid != write.target.uid) return false;
    Job& job = at->second;
    if (job.resource_version != write.target.resource_version) return false;
    job.suspended = write.is<SuspendJob>() || write.is<StopJob>();
    if (const auto* stop = write.as<StopJob>()) job.preemptions = stop->preemptions;
    job.suspended_by_us = job.suspended;
    job.plan = as_read(write.plan());
    if (const auto* release = write.as<ReleaseJob>()) take_shape(release->shape, job);
    if (const auto* open = write.as<OpenJob>()) take_shape(open->shape, job);
    job.resource_version = next_version();
    sight(job.uid, job.plan.get());
    return true;
  }

  static void take_shape(const ShapeChange& shape, Job& job) {
    if (shape.original) job.original = shape.original;
    if (shape.amounts && job.amounts) {
      change_amounts(job.pod_requests, *job.amounts, shape.amounts->amounts);
      job.amounts = shape.amounts->amounts;
    }
    if (!shape.reshape) return;
    job.parallelism = shape.reshape->parallelism;
    job.completions = shape.reshape->parallelism;
    if (!shape.reshape->container.empty())
      job.pod_requests.set_gpus(shape.reshape->gpu_resource, shape.reshape->gpus);
  }

  void put(Job job) {
    job.resource_version = next_version();
    jobs_[job.key] = std::move(job);
  }
  void put(Pod pod) {
    pod.resource_version = next_version();
    progressed(pod);
    pods_[pod.key] = std::move(pod);
  }

  // The admission plug-in: what the pods that are there leave of every quota.
  bool admitted(const Job& job) const {
    if (quotas_.empty()) return true;
    ClusterSnapshot now = snapshot();
    now.quotas.clear();
    for (const auto& [key, entry] : quotas_)
      now.quotas.push_back(std::make_shared<const ResourceQuota>(entry.first));
    return core::QuotaBook(now).admits(job.key.ns, job.pod_requests, 1);
  }

  void end_pods(const Job& job) {
    const bool lingers = lingering_.contains(job.key.name);
    for (auto& [key, pod] : pods_) {
      if (!lingers || !is_member(pod, job) || pod.deleting) continue;
      pod.deleting = true;
      pod.gone_by_s = now_s_ + kGrace_s;
    }
    if (!lingers)
      std::erase_if(pods_, [&](const auto& entry) { return is_member(entry.second, job); });
  }

  static bool is_member(const Pod& pod, const Job& job) {
    return pod.owner && pod.owner->uid == job.uid;
  }

  Pod member(const Job& job, const ObjectKey& name) {
    Pod pod;
    pod.key = name;
    pod.created_s = now_s_;
    pod.uid = Uid(name.str() + "#" + next_version());
    pod.owner = OwnerRef{"Job", job.key.name, job.uid};
    pod.requests = job.pod_requests;
    pod.priority = job.priority;
    pod.managed = pod.gated = pod.our_gate = job.managed;
    pod.constraints = job.constraints;
    return pod;
  }

  // Every plan has a value of its own once the API server has it.
  static std::shared_ptr<const PlanNote> as_read(const PlanNote* plan) {
    if (plan == nullptr) return nullptr;
    auto note = std::make_shared<PlanNote>(*plan);
    note->value_hash = std::hash<std::string>{}(note->id);
    return note;
  }

  void sight(const Uid& uid, const PlanNote* plan) {
    if (plan == nullptr)
      sightings_.erase(uid);
    else if (sightings_[uid].value_hash != plan->value_hash)
      sightings_[uid] = {plan->value_hash, now_s_, now_s_, {}, plan->later > 0};
  }
  void progressed(const Pod& pod) {
    for (const Uid& uid : {pod.uid, pod.owner ? pod.owner->uid : Uid{}})
      if (const auto at = sightings_.find(uid);
          at != sightings_.end() &&
          now_s_ <
              std::max(at->second.first_seen_s, at->second.last_progress_s) + core::kPlanHold_s)
        at->second.last_progress_s = now_s_;
  }

  std::string next_version() { return std::to_string(++version_); }

  std::map<NodeName, Node> nodes_;
  std::map<ObjectKey, Job> jobs_;
  std::map<ObjectKey, Pod> pods_;
  std::map<ObjectKey, bool> ended_;
  std::vector<PodPtr> displaced_;
  std::map<ObjectKey, std::pair<ResourceQuota, bool>> quotas_;  // and whether the watch shows it
  std::vector<DisruptionBudget> budgets_;
  std::set<std::string> lingering_;
  std::map<Uid, PlanSighting> sightings_;
  std::int64_t version_ = 1000;
  double now_s_ = 1000;
};

// One life of a planner in that world: memory, epoch and menus of its own.
class WorldPlanner {
 public:
  explicit WorldPlanner(std::int64_t epoch, const std::string& policy = "savable,headroom=0,calm=0")
      : policy_(*core::parse_policy(policy)) {
    stamp_.epoch = epoch;
  }

  core::QueueOptions options(double now_s) const {
    core::QueueOptions options;
    options.catalog = &catalog_;
    options.predictor = predictor_;
    options.now_wall_s = now_s + wall_jump_s;
    options.now_steady_s = now_s;
    options.queues = queues_;
    options.portraits = portraits_;
    options.reserves = policy_.reserves();
    options.may_stop = true;
    options.stop_book = &book;
    return options;
  }

  // As people are shown it.
  core::Queue queue(const ClusterSnapshot& snapshot, double now_s) {
    return core::make_queue(snapshot, options(now_s), menus_);
  }

  std::vector<OwnWrite> plan(const ClusterSnapshot& snapshot, double now_s,
                             const std::unordered_set<Uid>& unanswered = {}) {
    const auto held_off = memory.held_off(now_s);
    const core::RefusedNodes refused = memory.refused_nodes(snapshot, now_s);
    core::QueueOptions asked = options(now_s);
    asked.held_off = &held_off;
    asked.refused = &refused;
    places_.see(snapshot, asked.now_wall_s);
    asked.gang_places = &places_;
    core::Queue queue = core::make_queue(snapshot, asked, menus_);
    const core::Plan plan = core::plan(queue.state(), asked.now_wall_s, policy_);
    std::vector<OwnWrite> writes = core::begin_starts(snapshot, unanswered, queue, plan, catalog_,
                                                      stamp_, asked.now_steady_s, asked.now_wall_s);
    const auto stops = [](const core::Effect& effect) { return effect.ended.has_value(); };
    if (std::none_of(plan.effects.begin(), plan.effects.end(), stops))
      for (OwnWrite& write : core::begin_growth(snapshot, asked, queue, policy_))
        writes.push_back(std::move(write));
    return writes;
  }

  std::vector<OwnWrite> hand_over(const ClusterSnapshot& snapshot, double now_s,
                                  const std::unordered_set<Uid>& unanswered = {}) {
    auto writes = core::hand_over(snapshot, unanswered, memory, stamp_, now_s, now_s + wall_jump_s);
    for (OwnWrite& write : core::take_on(snapshot, stamp_, now_s, now_s + wall_jump_s))
      writes.push_back(std::move(write));
    return writes;
  }

  // Everything it wants is done at once. Returns how much that was.
  std::size_t act(HandOverWorld& world) {
    std::size_t writes = 0;
    for (const auto& write : hand_over(world.snapshot(), world.now_s()))
      writes += world.perform(write) ? 1 : 0;
    for (const auto& write : plan(world.snapshot(), world.now_s())) {
      const bool done = world.perform(write);
      writes += done ? 1 : 0;
      const auto booked = core::booked_stop(write, world.now_s());
      if (booked && done) book.stops.push_back(*booked);
    }
    return writes;
  }

  // All that anybody wants to do in a moment. False: it does not come to rest.
  bool settle(HandOverWorld& world, bool bind = true) {
    for (int round = 0; round < 20; ++round) {
      std::size_t done = act(world);
      world.pass(0.001);
      world.make_pods();
      if (bind) done += static_cast<std::size_t>(world.bind());
      if (done == 0) return true;
    }
    return false;
  }

  core::HandOverMemory memory;
  core::StopBook book;
  double wall_jump_s = 0;  // what the wall clock has jumped by; the steady one never does

  // An API server before 1.36.
  void find_templates_fixed() { stamp_.pin_pods_by = &catalog_; }

  void follow(const QueueRulebook* queues) { queues_ = queues; }
  void know(std::shared_ptr<const core::PortraitBook> portraits) {
    portraits_ = std::move(portraits);
  }
  void know(WorkloadProfiles profiles) {
    predictor_ = std::make_shared<const core::Predictor>(std::move(profiles));
  }

 private:
  GpuCatalog catalog_ = default_gpu_catalog();
  std::shared_ptr<const core::Predictor> predictor_ =
      std::make_shared<const core::Predictor>(WorkloadProfiles{});
  core::Policy policy_;
  const QueueRulebook* queues_ = nullptr;
  std::shared_ptr<const core::PortraitBook> portraits_;
  core::TaskMenus menus_;
  core::PlanStamp stamp_;
  core::GangPlaces places_;
};

// Planners of which each ends after its first write: what one has begun, the next completes.
inline void live_by_single_writes(HandOverWorld& world, auto make_planner) {
  for (std::int64_t epoch = 2; epoch < 40; ++epoch) {
    WorldPlanner life = make_planner(epoch);
    std::vector<OwnWrite> writes = life.hand_over(world.snapshot(), world.now_s());
    if (writes.empty()) writes = life.plan(world.snapshot(), world.now_s());
    if (!writes.empty()) world.perform(writes.front());
    world.pass(0.001);
    world.make_pods();
    world.bind();
  }
}

}  // namespace slackline::test
