#include "slackline/core/holds.h"

#include <algorithm>
#include <map>
#include <optional>

namespace slackline::core {
namespace {

// A Job that is not asking for pods now: its plan is void.
bool idle_job(const Job* job) {
  return job != nullptr && (job->suspended || job->finished);
}

// The plan of an unbound or bound pod, not looking at the time.
const PlanNote* standing_plan(const ClusterSnapshot& snapshot, const Pod& pod) {
  const PlanNote* plan = effective_plan(snapshot, pod);
  if (plan == nullptr || plan->nodes.empty() || idle_job(owning_job(snapshot, pod))) return nullptr;
  return plan;
}

double plan_expires_s(const ClusterSnapshot& snapshot, const Uid& carrier, const PlanNote& plan) {
  const auto at = snapshot.sightings.find(carrier);
  if (at == snapshot.sightings.end() || at->second.value_hash != plan.value_hash)
    return std::numeric_limits<double>::infinity();
  return std::max(at->second.first_seen_s, at->second.last_progress_s) + kPlanHold_s;
}

double plan_expires_s(const ClusterSnapshot& snapshot, const Pod& pod, const PlanNote& plan) {
  return plan_expires_s(snapshot, pod.plan ? pod.uid : pod.owner->uid, plan);
}

// Pods that the Job still wants to run at once.
std::int64_t wanted_pods(const Job& job) {
  const std::int64_t left = job.completions ? *job.completions - job.succeeded : job.parallelism;
  return std::max<std::int64_t>(0, std::min(job.parallelism, left));
}

// One plan of one task while its holds are counted.
struct PlanGroup {
  const PlanNote* plan = nullptr;
  std::vector<NodeName> taken;      // nodes on which members are bound or nominated
  std::vector<const Pod*> waiting;  // unbound, not nominated; in the snapshot's order
  const Job* job = nullptr;         // whose pods may not all exist yet
};

class HoldDeriver {
 public:
  explicit HoldDeriver(const ClusterSnapshot& snapshot) : snapshot_(snapshot) {}

  HoldTable derive() {
    for (const JobPtr& job : snapshot_.jobs) {
      if (!job->plan || job->plan->nodes.empty() || idle_job(job.get())) continue;
      group(job->uid.str(), *job->plan).job = job.get();
      members_[job->uid] = 0;
    }
    for (const PodPtr& pod : snapshot_.unbound)
      if (!pod->deleting && !pod->terminal() && !pod->bound()) add_unbound(*pod);
    if (!groups_.empty())
      for (const NodeStatePtr& state : snapshot_.nodes)
        for (const PodPtr& pod : state->pods)
          add_bound(*pod);
    for (const auto& [key, group] : groups_)
      hold_plan(group);
    return std::move(table_);
  }

 private:
  // Pods of one Job, or of one gang or other task, that follow the same plan.
  PlanGroup& group(const std::string& owner, const PlanNote& plan) {
    PlanGroup& group = groups_[owner + "\n" + plan.id];
    if (group.plan == nullptr) group.plan = &plan;
    return group;
  }

  PlanGroup& group(const Pod& pod, const PlanNote& plan) {
    if (owning_job(snapshot_, pod) != nullptr) return group(pod.owner->uid.str(), plan);
    const HoldIdentity identity = hold_identity(snapshot_, pod);
    return group(identity.gang.empty() ? identity.task.str() : identity.gang, plan);
  }

  // True where the pod's Job carries a plan.
  bool count_member(const Pod& pod) {
    if (!pod.owner) return false;
    const auto at = members_.find(pod.owner->uid);
    if (at == members_.end()) return false;
    ++at->second;
    return true;
  }

  void add_unbound(const Pod& pod) {
    count_member(pod);
    const bool nominated = !pod.nominated_node.empty();
    if (nominated) hold_nomination(pod);
    const PlanNote* plan = standing_plan(snapshot_, pod);
    if (plan == nullptr) return;
    PlanGroup& mine = group(pod, *plan);
    if (nominated)
      mine.taken.push_back(pod.nominated_node);
    else
      mine.waiting.push_back(&pod);
  }

  void add_bound(const Pod& pod) {
    const bool planned_job = count_member(pod);
    if (!pod.plan && !planned_job) return;
    if (const PlanNote* plan = standing_plan(snapshot_, pod))
      group(pod, *plan).taken.push_back(pod.node);
  }

  void hold_nomination(const Pod& pod) {
    const HoldIdentity identity = hold_identity(snapshot_, pod);
    add(pod.nominated_node, Hold{pod.requests, pod.priority, identity.task, identity.gang, pod.uid,
                                 std::numeric_limits<double>::infinity()});
  }

  void hold_plan(const PlanGroup& group) {
    std::vector<NodeName> left = group.plan->nodes;
    for (const NodeName& node : group.taken)
      if (const auto at = std::find(left.begin(), left.end(), node); at != left.end())
        left.erase(at);
    std::size_t next = 0;
    for (const Pod* pod : group.waiting) {
      if (next == left.size()) return;
      const HoldIdentity identity = hold_identity(snapshot_, *pod);
      add(left[next++], Hold{pod->requests, pod->priority, identity.task, identity.gang, Uid{},
                             plan_expires_s(snapshot_, *pod, *group.plan)});
    }
    if (group.job != nullptr) hold_missing(group, left, next);
  }

  // Members that the Job controller has not created yet.
  void hold_missing(const PlanGroup& group, const std::vector<NodeName>& left, std::size_t next) {
    const Job& job = *group.job;
    std::int64_t missing = wanted_pods(job) - std::max(members_.at(job.uid), ended_or_live(job));
    const Hold hold = missing_pod_hold(group);
    for (; missing > 0 && next < left.size(); --missing)
      add(left[next++], hold);
  }

  // Pods that the controller has made: where one that we saw is gone, it has ended, and the Job's
  // count follows a second later.
  std::int64_t ended_or_live(const Job& job) const {
    const auto at = snapshot_.sightings.find(job.uid);
    const bool seen = at != snapshot_.sightings.end() &&
                      at->second.value_hash == job.plan->value_hash &&
                      at->second.last_progress_s > at->second.first_seen_s;
    return seen ? job.active : 0;
  }

  Hold missing_pod_hold(const PlanGroup& group) const {
    Pod member;
    member.key.ns = group.job->key.ns;
    member.owner = OwnerRef{"Job", group.job->key.name, group.job->uid};
    const HoldIdentity identity = hold_identity(snapshot_, member);
    const bool known = !group.waiting.empty();
    return Hold{group.job->pod_requests,
                known ? group.waiting.front()->priority : group.job->priority,
                identity.task,
                identity.gang,
                Uid{},
                plan_expires_s(snapshot_, group.job->uid, *group.plan)};
  }

  void add(const NodeName& node, const Hold& hold) {
    const auto index = snapshot_.find_node(node.str());
    if (!index) return;
    table_.resize(snapshot_.nodes.size());
    table_[*index].push_back(hold);
  }

  const ClusterSnapshot& snapshot_;
  std::map<std::string, PlanGroup> groups_;
  std::unordered_map<Uid, std::int64_t> members_;  // live pods of each Job that carries a plan
  HoldTable table_;
};

}  // namespace

HoldTable derive_holds(const ClusterSnapshot& snapshot) {
  return HoldDeriver(snapshot).derive();
}

const PlanNote* live_plan(const ClusterSnapshot& snapshot, const Pod& pod, double now_steady_s) {
  const PlanNote* plan = standing_plan(snapshot, pod);
  if (plan == nullptr || plan_expires_s(snapshot, pod, *plan) <= now_steady_s) return nullptr;
  return plan;
}

HoldIdentity hold_identity(const ClusterSnapshot& snapshot, const Pod& pod) {
  HoldIdentity identity;
  identity.task = pod.owner ? pod.owner->uid : pod.uid;
  const Job* job = owning_job(snapshot, pod);
  // A JobSet's Jobs are one task; a CronJob's are not.
  if (job != nullptr && job->owner && job->owner->kind != "CronJob")
    identity.task = job->owner->uid;
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
