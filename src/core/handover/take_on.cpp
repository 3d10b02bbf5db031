#include "slackline/core/handover/take_on.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "hand_over_placing.h"
#include "slackline/base/duration.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/later_members.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {
namespace {

bool lacks_a_plan(const Job& job) {
  return job.managed && job.topmost() && !job.suspended && !job.finished && !job.deleting &&
         !job.plan && job.plan_doubt == PlanDoubt::kNone && job.pod_requests.wants_gpus() &&
         job.problems.empty() && !starts_one_by_one(job);
}

// Where the plans of one turn find room for pods that are missing.
class Taker {
 public:
  Taker(const ClusterSnapshot& snapshot, PlanStamp& stamp, double now_steady_s, double now_wall_s)
      : snapshot_(snapshot), stamp_(stamp), room_(snapshot, now_steady_s, now_wall_s) {}

  // A missing pod is named with a node that has room for it, one of the others' first; where there
  // is none, it is left out.
  PlanNote plan_of(const Job& job, std::vector<NodeName> nodes) {
    const std::int64_t gpus = job.pod_requests.gpu_count(primary_gpu_resource(job.pod_requests));
    const GpuType type = plan_of_run(snapshot_, nodes, gpus).gpu_type;
    const Pod member = present_pod(job);
    Room room = room_.without(hold_identity(member, &job), {}, {});
    for (auto missing = job.wanted_pods() - std::ssize(nodes); missing > 0; --missing) {
      const auto node = home(type, member, room, nodes);
      if (!node) break;
      room.take(*node, member.requests);
      nodes.push_back(*node);
    }
    room_.claim(room);
    PlanNote note = plan_of_run(snapshot_, std::move(nodes), gpus);
    note.id = stamp_.next_id();
    note.epoch = stamp_.epoch;
    return note;
  }

 private:
  // As the Job's controller makes one now.
  static Pod present_pod(const Job& job) {
    Pod pod = *written_pod(job);
    pod.requests = job.pod_requests;
    return pod;
  }

  std::optional<NodeName> home(const GpuType& type, const Pod& member, const Room& room,
                               const std::vector<NodeName>& nodes) const {
    std::optional<NodeName> best;
    for (NodeIndex i = 0; i < snapshot_.nodes.size(); ++i) {
      const Node& node = *snapshot_.node(i).node;
      if (node.gpu_type != type || misfit(member, node) || !room.fits(i, member.requests) ||
          !may_join(snapshot_, member, node.name, nodes))
        continue;
      if (std::find(nodes.begin(), nodes.end(), node.name) != nodes.end()) return node.name;
      if (!best) best = node.name;
    }
    return best;
  }

  const ClusterSnapshot& snapshot_;
  PlanStamp& stamp_;
  RoomTable room_;  // what this turn's plans leave
};

// Pods that a controller has made while others of the gang run, in the places of members that were
// lost, or in those that the plan keeps for members to come: they get its plan.
class Joiner {
 public:
  Joiner(const ClusterSnapshot& snapshot, double now_steady_s)
      : snapshot_(snapshot), now_s_(now_steady_s) {}

  std::vector<OwnWrite> writes() {
    if (!any_losses(snapshot_, now_s_ - kMadeAgainWithin_s) && !any_came()) return {};
    const TaskCatalog catalog(snapshot_);
    for (const TaskParts& parts : catalog.parts())
      if (parts.kind == TaskKind::kGang && !parts.unbound.empty()) look_at(parts);
    return std::move(writes_);
  }

 private:
  // What a plan still has for members that are not there.
  struct Open {
    std::int64_t pods = 0;
    std::int64_t gpus = 0;
  };

  bool any_came() const {
    return any_to_come(snapshot_) &&
           std::any_of(snapshot_.unbound.begin(), snapshot_.unbound.end(),
                       [](const PodPtr& pod) { return pod->owner_gang && may_join_gang(*pod); });
  }

  // False: its hour is over, or all are there.
  bool waits_for_others(const TaskParts& parts) const {
    double until_s = kNever;
    bool any = false;
    for (const PodPtr& pod : parts.bound)
      if (const auto of_pod_s = keeps_room_until_s(snapshot_, *pod)) {
        until_s = std::min(until_s, *of_pod_s);
        any = true;
      }
    return any && until_s > now_s_;
  }

  bool has_lost_others(const Pod& pod) const {
    const PlanSighting* seen = seen_losses(snapshot_, pod);
    return seen != nullptr && now_s_ < *seen->lost_s + kMadeAgainWithin_s;
  }

  void look_at(const TaskParts& parts) {
    const bool comes_later = waits_for_others(parts);
    const auto loser = std::find_if(parts.bound.begin(), parts.bound.end(),
                                    [&](const PodPtr& pod) { return has_lost_others(*pod); });
    const bool any_lost = loser != parts.bound.end();
    const auto runs =
        any_lost ? loser
                 : std::find_if(parts.bound.begin(), parts.bound.end(), [&](const PodPtr& pod) {
                     return comes_later && keeps_room_until_s(snapshot_, *pod);
                   });
    if (runs == parts.bound.end()) return;
    PlanNote note = *(*runs)->plan;
    Open open = open_of(parts, note);
    if (!any_lost) open.pods = std::min(open.pods, note.later);
    note.value_hash = 0;  // as it is written, for another object
    note.text.clear();
    note.code.clear();
    const auto plan = std::make_shared<const PlanNote>(std::move(note));
    for (const PodPtr& pod : parts.unbound) {
      const std::int64_t gpus = pod->requests.gpu_total();
      // Those that come later may differ: at least one GPU is left for each of the others.
      const bool fits =
          comes_later ? gpus + open.pods - 1 <= open.gpus : gpus * open.pods == open.gpus;
      if (open.pods < 1 || !may_join_gang(*pod) || !fits) continue;
      writes_.push_back(pod_write(*pod, PlanPod{plan}, {.verb = Verb::kPlan}));
      --open.pods;
      open.gpus -= gpus;
    }
  }

  static Open open_of(const TaskParts& parts, const PlanNote& plan) {
    Open open{std::ssize(plan.nodes), plan.shape.gpus()};
    for (const auto* pods : {&parts.bound, &parts.unbound})
      for (const PodPtr& pod : *pods)
        if (pod->plan && pod->plan->id == plan.id && !pod->deleting) {
          --open.pods;
          open.gpus -= pod->requests.gpu_total();
        }
    return open;
  }

  static bool may_join_gang(const Pod& pod) {
    const bool is_held = pod.intent && pod.intent->hold.value_or(false);
    return pod.our_gate && !pod.foreign_gate && pod.managed && !pod.deleting && !pod.plan &&
           pod.plan_doubt == PlanDoubt::kNone && !pod.in_pod_group && pod.problems.empty() &&
           !is_held;
  }

  const ClusterSnapshot& snapshot_;
  const double now_s_;
  std::vector<OwnWrite> writes_;
};

}  // namespace

std::vector<OwnWrite> take_on(const ClusterSnapshot& snapshot, PlanStamp& stamp,
                              double now_steady_s, double now_wall_s) {
  std::unordered_map<Uid, std::vector<NodeName>> nodes;  // of the pods of Jobs without a plan
  for (const JobPtr& job : snapshot.jobs)
    if (lacks_a_plan(*job)) nodes.try_emplace(job->uid);
  std::vector<OwnWrite> writes = Joiner(snapshot, now_steady_s).writes();
  if (nodes.empty()) return writes;
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods) {
      const auto at = pod->owner ? nodes.find(pod->owner->uid) : nodes.end();
      if (at == nodes.end() || pod->terminal()) continue;
      if (pod->plan)  // it started by itself
        nodes.erase(at);
      else
        at->second.push_back(pod->node);
    }
  std::optional<Taker> taker;
  for (const JobPtr& job : snapshot.jobs) {
    const auto at = nodes.find(job->uid);
    const bool whole = at != nodes.end() && job->wanted_pods() <= std::ssize(at->second);
    if (at == nodes.end() || at->second.empty() || whole) continue;
    if (!taker) taker.emplace(snapshot, stamp, now_steady_s, now_wall_s);
    auto plan = std::make_shared<const PlanNote>(taker->plan_of(*job, std::move(at->second)));
    writes.push_back(job_write(*job, ReleaseJob{.plan = std::move(plan)}, {.verb = Verb::kPlan}));
  }
  return writes;
}

}  // namespace slackline::core
