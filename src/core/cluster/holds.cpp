#include "slackline/core/cluster/holds.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "slackline/base/duration.h"
#include "slackline/core/cluster/each_pod.h"
#include "slackline/core/cluster/largest_first.h"
#include "slackline/core/cluster/later_members.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {
namespace {

// A Job that is not asking for pods now: its plan is void.
bool idle_job(const Job* job) {
  return job != nullptr && (job->suspended || job->finished || job->deleting);
}

// The plan of an unbound or bound pod, not looking at the time.
const PlanNote* standing_plan(const ClusterSnapshot& snapshot, const Pod& pod) {
  const PlanNote* plan = effective_plan(snapshot, pod);
  if (plan == nullptr || plan->nodes.empty() || idle_job(owning_job(snapshot, pod))) return nullptr;
  return plan;
}

double plan_expires_s(const ClusterSnapshot& snapshot, const Uid& carrier, const PlanNote& plan) {
  const PlanSighting* seen = snapshot.sighting_of(carrier);
  if (seen == nullptr || seen->value_hash != plan.value_hash) return kNever;
  const double begins_s = std::max(seen->first_seen_s, seen->last_progress_s) + kPlanHold_s;
  return seen->lost_s ? std::max(begins_s, *seen->lost_s + kReplacedWithin_s) : begins_s;
}

double plan_expires_s(const ClusterSnapshot& snapshot, const Pod& pod, const PlanNote& plan) {
  return plan_expires_s(snapshot, pod.plan ? pod.uid : pod.owner->uid, plan);
}

// One plan of one task while its holds are counted.
struct PlanGroup {
  const PlanNote* plan = nullptr;
  std::vector<const NodeName*> taken;  // where members are bound or nominated
  std::vector<const Pod*> waiting;     // unbound, not nominated; in the snapshot's order
  const Job* job = nullptr;            // whose pods may not all exist yet
  std::int64_t members = 0;            // live pods of that Job
  std::int64_t gone = 0;               // of its pods, deleted before they had a node
  std::int64_t gpus = 0;               // without a Job: of its live pods
  const Pod* alone = nullptr;          // one of them, that runs and has seen others lost
  const Pod* awaits = nullptr;         // one whose plan keeps room for members to come
  double keeps_until_s = 0;
};

// Groups stand in the order of the Jobs, then of the pods that brought a plan of their own. Nearly
// every pod follows its Job's plan, and is found by its owner alone.
class HoldDeriver {
 public:
  explicit HoldDeriver(const ClusterSnapshot& snapshot) : snapshot_(snapshot) {}

  HoldTable derive() {
    of_job_.reserve(snapshot_.jobs.size());
    for (const JobPtr& job : snapshot_.jobs) {
      if (!job->plan || job->plan->nodes.empty() || idle_job(job.get())) continue;
      PlanGroup& group = new_group(*job->plan);
      group.job = job.get();
      of_job_.emplace(job->uid.str(), &group);
    }
    for (const PodPtr& pod : snapshot_.unbound)
      if (!pod->terminal() && !pod->bound()) add_unbound(*pod);
    if (!groups_.empty() || any_losses(snapshot_, -kNever) || any_to_come(snapshot_))
      for (const NodeStatePtr& state : snapshot_.nodes)
        for (const PodPtr& pod : state->pods)
          add_bound(*pod);
    for (const PlanGroup& group : groups_)
      hold_plan(group);
    for (const SucceededPod* last : followed_by_others(snapshot_)) {
      HoldIdentity self = hold_identity(snapshot_, *last->pod);
      add(last->pod->node, Hold{last->pod->requests, last->pod->priority, std::move(self.task),
                                std::move(self.gang), Uid{}, last->at_s + kNextPodWithin_s});
    }
    return {snapshot_.nodes.size(), nodes_, std::move(holds_)};
  }

 private:
  PlanGroup& new_group(const PlanNote& plan) {
    groups_.emplace_back().plan = &plan;
    return groups_.back();
  }

  // Of the plan that the pod's Job carries; null where it carries none.
  PlanGroup* group_of_job(const Pod& pod) const {
    if (!pod.owner) return nullptr;
    const auto at = of_job_.find(pod.owner->uid.str());
    return at != of_job_.end() ? at->second : nullptr;
  }

  // Of the plan that the pod follows; null where it follows none. `jobs` is group_of_job().
  PlanGroup* group_of(const Pod& pod, PlanGroup* jobs) {
    if (!pod.plan) return jobs;
    const PlanNote* plan = standing_plan(snapshot_, pod);
    if (plan == nullptr) return nullptr;
    if (jobs != nullptr && jobs->plan->id == plan->id) return jobs;
    const HoldIdentity identity = hold_identity(snapshot_, pod);
    const std::string& owner = identity.gang.empty() ? identity.task.str() : identity.gang;
    PlanGroup*& group = of_owner_[owner + "\n" + plan->id];
    if (group == nullptr) group = &new_group(*plan);
    return group;
  }

  void add_unbound(const Pod& pod) {
    PlanGroup* jobs = group_of_job(pod);
    if (jobs != nullptr) ++(pod.deleting ? jobs->gone : jobs->members);
    if (pod.deleting) return;
    const bool nominated = !pod.nominated_node.empty();
    if (nominated) hold_nomination(pod, jobs);
    PlanGroup* mine = group_of(pod, jobs);
    if (mine == nullptr) return;
    mine->gpus += pod.requests.gpu_total();
    look_ahead(pod, *mine);
    if (nominated && !is_about_to_move(pod, *mine->plan))
      mine->taken.push_back(&pod.nominated_node);
    else
      mine->waiting.push_back(&pod);
  }

  // It still ends, on a node that came back.
  static bool is_of_an_earlier_run(const Pod& pod, const PlanNote& plan) {
    return pod.deleting && !names(plan, pod.node);
  }

  static bool names(const PlanNote& plan, const NodeName& node) {
    return std::find(plan.nodes.begin(), plan.nodes.end(), node) != plan.nodes.end();
  }

  // Its plan has another node for it by now, and its nomination follows: nobody else may be planned
  // there meanwhile.
  bool is_about_to_move(const Pod& pod, const PlanNote& plan) const {
    if (!snapshot_.find_node(pod.nominated_node.str())) return true;
    return pod.our_gate && !names(plan, pod.nominated_node);
  }

  void add_bound(const Pod& pod) {
    PlanGroup* jobs = group_of_job(pod);
    if (jobs != nullptr && is_of_an_earlier_run(pod, *jobs->plan)) return;
    if (jobs != nullptr) ++jobs->members;
    PlanGroup* mine = group_of(pod, jobs);
    if (mine == nullptr) return;
    mine->taken.push_back(&pod.node);
    mine->gpus += pod.requests.gpu_total();
    if (mine->job == nullptr && seen_losses(snapshot_, pod) != nullptr) mine->alone = &pod;
    look_ahead(pod, *mine);
  }

  void look_ahead(const Pod& pod, PlanGroup& group) const {
    const auto until_s = group.job == nullptr ? keeps_room_until_s(snapshot_, pod) : std::nullopt;
    if (until_s && (group.awaits == nullptr || *until_s < group.keeps_until_s)) {
      group.awaits = &pod;
      group.keeps_until_s = *until_s;
    }
  }

  void hold_nomination(const Pod& pod, const PlanGroup* jobs) {
    HoldIdentity self = identity_in(jobs, pod);
    add(pod.nominated_node, Hold{pod.requests, pod.priority, std::move(self.task),
                                 std::move(self.gang), pod.uid, kNever});
  }

  // `jobs` is group_of_job().
  HoldIdentity identity_in(const PlanGroup* jobs, const Pod& pod) const {
    return hold_identity(pod, jobs != nullptr ? jobs->job : owning_job(snapshot_, pod));
  }

  void hold_plan(const PlanGroup& group) {
    const std::int64_t missing = missing_pods(group);
    if (group.waiting.empty() && missing <= 0) return;
    const std::vector<const NodeName*> left = nodes_left(group);
    std::size_t next = 0;
    std::vector<const Pod*> waiting = group.waiting;
    if (group.job == nullptr) sort_largest_first(waiting);
    for (const Pod* pod : waiting) {
      if (next == left.size()) return;
      HoldIdentity self = identity_in(group_of_job(*pod), *pod);
      add(*left[next++],
          Hold{pod->requests, pod->priority, std::move(self.task), std::move(self.gang), Uid{},
               plan_expires_s(snapshot_, *pod, *group.plan)});
    }
    const Pod* there = group.alone != nullptr ? group.alone : group.awaits;
    if (missing <= 0 || (group.job == nullptr && there == nullptr)) return;
    const Hold hold =
        group.job != nullptr ? missing_pod_hold(group) : absent_pod_hold(group, *there);
    for (std::int64_t i = 0; i < missing && next < left.size(); ++i)
      add(*left[next++], hold);
  }

  // In the plan's order.
  static std::vector<const NodeName*> nodes_left(const PlanGroup& group) {
    std::vector<const NodeName*> left;
    for (const NodeName& node : group.plan->nodes)
      left.push_back(&node);
    for (const NodeName* taken : group.taken) {
      const auto at = std::find_if(left.begin(), left.end(),
                                   [&](const NodeName* node) { return *node == *taken; });
      if (at != left.end()) left.erase(at);
    }
    return left;
  }

  // Of a gang of pods without a Job: nodes of its plan where none of them is, or will be.
  static std::int64_t open_places(const PlanGroup& group) {
    return std::ssize(group.plan->nodes) - std::ssize(group.taken) - std::ssize(group.waiting);
  }

  // Members that their controller has not created yet.
  std::int64_t missing_pods(const PlanGroup& group) const {
    if (group.job == nullptr) {
      if (group.alone != nullptr) return open_places(group);
      return group.awaits != nullptr ? std::min(open_places(group), group.plan->later) : 0;
    }
    const std::int64_t wanted = group.job->wanted_pods();
    if (wanted <= group.members) return 0;
    if (awaits_replacements(*group.job)) return wanted - group.members;
    return wanted - std::max(group.members, ended_or_live(*group.job) - group.gone);
  }

  // Whether the Job still counts the member that was lost, or its controller backs off, its place
  // is its replacement's.
  bool awaits_replacements(const Job& job) const {
    const PlanSighting* seen = snapshot_.sighting_of(job.uid);
    return seen != nullptr && seen->value_hash == job.plan->value_hash && seen->lost_s;
  }

  // Pods that the controller has made: where one that we saw is gone, it has ended, and the Job's
  // count follows a second later.
  std::int64_t ended_or_live(const Job& job) const {
    const PlanSighting* seen = snapshot_.sighting_of(job.uid);
    const bool progressed = seen != nullptr && seen->value_hash == job.plan->value_hash &&
                            seen->last_progress_s > seen->first_seen_s;
    return progressed ? job.active : 0;
  }

  Hold missing_pod_hold(const PlanGroup& group) const {
    Pod member;
    member.key.ns = group.job->key.ns;
    member.owner = OwnerRef{"Job", group.job->key.name, group.job->uid};
    HoldIdentity self = hold_identity(member, group.job);
    const bool known = !group.waiting.empty();
    return Hold{planned_requests(*group.job),
                known ? group.waiting.front()->priority : group.job->priority,
                std::move(self.task),
                std::move(self.gang),
                Uid{},
                plan_expires_s(snapshot_, group.job->uid, *group.plan)};
  }

  // As one that is there, but for what the absent pods have of the plan's GPUs.
  Hold absent_pod_hold(const PlanGroup& group, const Pod& there) const {
    double until_s = group.awaits != nullptr ? group.keeps_until_s : 0;
    if (group.alone != nullptr)
      until_s = std::max(until_s, *seen_losses(snapshot_, there)->lost_s + kMadeAgainWithin_s);
    HoldIdentity self = hold_identity(snapshot_, there);
    Hold hold{there.requests,       there.priority, std::move(self.task),
              std::move(self.gang), Uid{},          until_s};
    const std::int64_t gpus = std::max<std::int64_t>(0, group.plan->shape.gpus() - group.gpus);
    hold.amount.set_gpus(primary_gpu_resource(there.requests), gpus / open_places(group));
    return hold;
  }

  void add(const NodeName& node, Hold hold) {
    const auto index = snapshot_.find_node(node.str());
    if (!index) return;
    nodes_.push_back(*index);
    holds_.push_back(std::move(hold));
  }

  const ClusterSnapshot& snapshot_;
  std::deque<PlanGroup> groups_;
  std::unordered_map<std::string_view, PlanGroup*> of_job_;  // by uid
  std::unordered_map<std::string, PlanGroup*> of_owner_;     // by task or gang, and plan
  std::vector<NodeIndex> nodes_;                             // of holds_
  std::vector<Hold> holds_;
};

}  // namespace

std::vector<const SucceededPod*> followed_by_others(const ClusterSnapshot& snapshot) {
  struct Ended {
    const Job* job = nullptr;
    std::vector<const SucceededPod*> pods{};
    std::int64_t live = 0;
  };
  std::map<std::string_view, Ended> by_job;  // uid
  for (const SucceededPod& each : snapshot.succeeded) {
    const Job* job = owning_job(snapshot, *each.pod);
    if (job == nullptr || job->plan || idle_job(job) || !job->completions) continue;
    if (!starts_one_by_one(*job)) continue;
    Ended& ended = by_job[job->uid.str()];
    ended.job = job;
    ended.pods.push_back(&each);
  }
  if (by_job.empty()) return {};
  each_pod(snapshot, [&](const Pod& pod) {
    if (!pod.owner || pod.deleting) return;
    if (const auto at = by_job.find(pod.owner->uid.str()); at != by_job.end()) ++at->second.live;
  });
  std::vector<const SucceededPod*> places;
  for (const auto& [uid, ended] : by_job) {
    const Job& job = *ended.job;
    // The Job's counts follow its pods a second later.
    const std::int64_t counted =
        std::max(job.succeeded, ended.pods.front()->counted + std::ssize(ended.pods));
    const std::int64_t left = *job.completions - counted;
    const std::int64_t next = std::min(job.parallelism, left) - ended.live;
    for (std::int64_t i = 0; i < std::min(next, std::ssize(ended.pods)); ++i)
      places.push_back(*(ended.pods.rbegin() + i));
  }
  return places;
}

HoldTable derive_holds(const ClusterSnapshot& snapshot) {
  return HoldDeriver(snapshot).derive();
}

double next_hold_ends_s(const ClusterSnapshot& snapshot, double now_steady_s) {
  double next_s = kNever;
  for (const Hold& hold : snapshot.holds.all())
    if (hold.expires_s > now_steady_s) next_s = std::min(next_s, hold.expires_s);
  return next_s;
}

const PlanNote* live_plan(const ClusterSnapshot& snapshot, const Pod& pod, double now_steady_s) {
  const PlanNote* plan = standing_plan(snapshot, pod);
  if (plan == nullptr || plan_expires_s(snapshot, pod, *plan) <= now_steady_s) return nullptr;
  return plan;
}

const PlanSighting* seen_losses(const ClusterSnapshot& snapshot, const Pod& pod) {
  if (!pod.plan || pod.plan->nodes.size() < 2 || !pod.bound() || pod.deleting || pod.terminal())
    return nullptr;
  const PlanSighting* seen = snapshot.sighting_of(pod.uid);
  const bool of_plan = seen != nullptr && seen->value_hash == pod.plan->value_hash;
  return of_plan && seen->lost_s ? seen : nullptr;
}

bool any_losses(const ClusterSnapshot& snapshot, double after_s) {
  return snapshot.sightings &&
         std::any_of(snapshot.sightings->begin(), snapshot.sightings->end(),
                     [&](const auto& entry) { return entry.second.lost_s > after_s; });
}

HoldIdentity hold_identity(const ClusterSnapshot& snapshot, const Pod& pod) {
  return hold_identity(pod, owning_job(snapshot, pod));
}

HoldIdentity hold_identity(const Pod& pod, const Job* job) {
  HoldIdentity identity;
  identity.task = pod.owner ? pod.owner->uid : pod.uid;
  // Wider than a task of the catalogue: the Jobs of a JobSet start one by one, but do not hold
  // nodes against each other (docs/decisions/0031-a-task-is-what-starts-as-a-whole.md). Those of a
  // CronJob do.
  if (job != nullptr && job->owner && job->owner->kind != "CronJob")
    identity.task = job->owner->uid;
  // One StatefulSet has the leaders of all groups of a LeaderWorkerSet, and one each group's
  // workers.
  if (const auto& made = pod.owner_gang; made && made->uid.empty())
    identity.task = Uid(ObjectKey{pod.key.ns, made->name}.str());
  std::optional<std::string> gang;
  if (pod.intent) gang = pod.intent->gang;
  if (!gang && job != nullptr && job->intent) gang = job->intent->gang;
  if (gang) identity.gang = pod.key.ns + "/" + *gang;
  return identity;
}

HoldView::HoldView(const ClusterSnapshot& snapshot, const Pod& pod, double now_steady_s)
    : snapshot_(snapshot),
      pod_(pod),
      now_steady_s_(now_steady_s),
      self_(hold_identity(snapshot, pod)) {}

bool HoldView::counts(const Hold& hold) const {
  if (hold.rank < pod_.priority || hold.expires_s <= now_steady_s_) return false;
  if (!hold.pod.empty() && hold.pod == pod_.uid) return false;
  if (!hold.task.empty() && hold.task == self_.task) return false;
  return hold.gang.empty() || hold.gang != self_.gang;
}

Resources HoldView::against(NodeIndex node) const {
  Resources sum;
  for (const Hold& hold : on(node))
    if (counts(hold)) sum += hold.amount;
  return sum;
}

Resources held_against(const ClusterSnapshot& snapshot, NodeIndex node, const Pod& pod,
                       double now_steady_s) {
  return HoldView(snapshot, pod, now_steady_s).against(node);
}

}  // namespace slackline::core
