#include "slackline/core/handover/hand_over.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "hand_over_placing.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/quotas.h"
#include "type_pin.h"

namespace slackline::core {
namespace {

class HandOver {
 public:
  HandOver(const ClusterSnapshot& snapshot, const std::unordered_set<Uid>& unanswered,
           HandOverMemory& memory, PlanStamp& stamp, double now_steady_s, double now_wall_s)
      : snapshot_(snapshot),
        unanswered_(unanswered),
        memory_(memory),
        stamp_(stamp),
        now_s_(now_steady_s),
        placer_(snapshot, memory, now_steady_s, now_wall_s) {}

  std::vector<OwnWrite> run() {
    const std::vector<PlannedTask> tasks = planned_tasks(snapshot_);
    memory_.see(tasks, now_s_);
    for (const PlannedTask& task : tasks)
      if (task.plan->epoch <= stamp_.epoch) advance(task);
    clear_stale_nominations();
    return std::move(writes_);
  }

 private:
  void advance(const PlannedTask& task) {
    memory_.see_lifted(task, now_s_);
    if (was_not_replaced(task)) return suspend(*task.job, reason::kNotReplaced);
    switch (stage_of(task, memory_, now_s_)) {
      case Stage::kReleased:
      case Stage::kLifted:
        return;  // the Job controller or kube-scheduler goes on; nominations hold what it takes
      case Stage::kIncomplete:
        return end_incomplete(task);
      case Stage::kPlacing:
        return place(task);
      case Stage::kGivenUp:
        memory_.count_misses(task, now_s_);
        return suspend(*task.job, kNotBound, keys_of(task.unbound));
      case Stage::kBound:
        if (task.job != nullptr) memory_.backoff.erase(task.job->uid);
        return;
    }
  }

  // A member was lost, its replacement found no place, and the others wait for it.
  bool was_not_replaced(const PlannedTask& task) const {
    if (task.job == nullptr) return false;
    const auto since = memory_.replaces_since.find(task.id);
    return since != memory_.replaces_since.end() && now_s_ >= since->second + kReplacedWithin_s;
  }

  // ---- kIncomplete and kGivenUp: back into the queue

  void end_incomplete(const PlannedTask& task) {
    if (task.job != nullptr)
      suspend(*task.job, why_incomplete(task));
    else
      back_to_queue(task);
  }

  // Judged by a pod that is there: a LimitRange may have added to what the template asks for.
  std::string_view why_incomplete(const PlannedTask& task) const {
    const Resources& pod =
        task.unbound.empty() ? task.job->pod_requests : task.unbound.front()->requests;
    const auto missing = task.wanted - static_cast<std::int64_t>(task.unbound.size());
    const bool admitted = QuotaBook(snapshot_).admits(task.job->key.ns, pod, missing);
    return admitted ? kPodsRejected : kQuotaExceeded;
  }

  static std::vector<ObjectKey> keys_of(const std::vector<PodPtr>& pods) {
    std::vector<ObjectKey> keys;
    for (const PodPtr& pod : pods)
      keys.push_back(pod->key);
    return keys;
  }

  void suspend(const Job& job, std::string_view reason, std::vector<ObjectKey> unless_bound = {}) {
    HandOverMemory::Backoff& backoff = memory_.backoff[job.uid];
    // A suspension that failed is the same one, once more.
    if (backoff.until_s <= now_s_)
      backoff.step_s = std::clamp(2 * backoff.step_s, kLeastBackoff_s, kMostBackoff_s);
    backoff.until_s = now_s_ + backoff.step_s;
    backoff.reason = reason;
    writes_.push_back(job_write(job, SuspendJob{.unless_bound = std::move(unless_bound)},
                                {.verb = Verb::kSuspend, .reason = reason}));
  }

  // Nothing to move to. What is bound stays; a task without bound pods waits for its turn again.
  void back_to_queue(const PlannedTask& task) {
    if (!task.bound.empty()) return;
    if (now_s_ < memory_.pods_due.at(task.id) && placer_.only_lacks_room(task)) return;
    const bool all_gated = std::all_of(task.unbound.begin(), task.unbound.end(),
                                       [](const PodPtr& pod) { return pod->gated; });
    if (task.job != nullptr) {
      if (all_gated) suspend(*task.job, kNodesLost);
      return;
    }
    if (!all_gated) return;
    for (const PodPtr& pod : task.unbound) {
      if (!pod->nominated_node.empty())
        writes_.push_back(pod_write(*pod, ClearNomination{}));
      else
        writes_.push_back(
            pod_write(*pod, UnplanPod{}, {.verb = Verb::kSuspend, .reason = kNodesLost}));
    }
  }

  // ---- kPlacing: a node for every pod, then the gates

  void place(const PlannedTask& task) {
    memory_.count_misses(task, now_s_);
    const Places places = placer_.place(task);
    if (places.homeless != nullptr) {
      if (memory_.missed(*places.homeless, now_s_))
        memory_.lifted.at(places.homeless->uid).to_move = false;  // it may wait where it is
      return back_to_queue(task);
    }
    if (!places.moved_because.empty()) return replan(task, places);
    const bool all_stand = nominate(task, places) && !places.wait_for_room;
    if (all_stand && (stamp_.pin_pods_by == nullptr || pin_to_type(task))) lift(task);
  }

  void replan(const PlannedTask& task, const Places& places) {
    PlanNote note = *task.plan;
    note.id = stamp_.next_id();
    note.epoch = stamp_.epoch;
    note.value_hash = 0;  // another value than the one whose time is counted
    note.text.clear();    // and than the one that was read
    note.code.clear();
    note.generation.reset();
    note.nodes = task.bound;
    for (const PodPtr& pod : task.unbound)
      if (const NodeName* node = places.find(*pod)) note.nodes.push_back(*node);
    note.nodes.insert(note.nodes.end(), places.for_later.begin(), places.for_later.end());
    const auto plan = std::make_shared<const PlanNote>(std::move(note));
    const Decision move{.verb = Verb::kMove, .reason = places.moved_because};
    if (task.job != nullptr) {
      writes_.push_back(job_write(*task.job, ReleaseJob{.plan = plan}, move));
      return;
    }
    for (const auto* pods : {&task.unbound, &task.carriers})  // one plan, one task
      for (const PodPtr& pod : *pods)
        writes_.push_back(pod_write(*pod, PlanPod{plan}, move));
  }

  // True once every nomination, and the plan behind them, stands: gates may go.
  bool nominate(const PlannedTask& task, const Places& places) {
    bool all_stand = task.job == nullptr || !unanswered_.contains(task.job->uid);
    for (const PodPtr& pod : task.unbound) {
      all_stand &= !unanswered_.contains(pod->uid);
      const NodeName* node = places.find(*pod);
      if (node == nullptr || pod->nominated_node == *node) continue;
      Decision decision{.plan_id = task.plan->id};
      // Another place of the same plan; a plan that was moved has been reported already.
      const auto& planned = task.plan->nodes;
      if (memory_.missed(*pod, now_s_) &&
          std::find(planned.begin(), planned.end(), pod->nominated_node) != planned.end()) {
        decision.verb = Verb::kMove;
        decision.reason = kNotBound;
      }
      writes_.push_back(pod_write(*pod, Nominate{*node}, std::move(decision)));
      all_stand = false;
    }
    return all_stand;
  }

  // True once no gated pod of the task could land on another GPU type.
  bool pin_to_type(const PlannedTask& task) {
    std::vector<NodeIndex> of_type;
    std::vector<NodeIndex> planned;
    bool other_types = false;
    for (NodeIndex i = 0; i < snapshot_.nodes.size(); ++i) {
      const Node& node = *snapshot_.node(i).node;
      const auto& names = task.plan->nodes;
      if (node.gpu_type == task.plan->gpu_type) of_type.push_back(i);
      if (std::find(names.begin(), names.end(), node.name) != names.end()) planned.push_back(i);
      other_types |= node.gpu_type != task.plan->gpu_type && node.allocatable.wants_gpus();
    }
    const auto type = other_types && !planned.empty()
                          ? type_requirement(snapshot_, *stamp_.pin_pods_by, of_type, planned)
                          : std::nullopt;
    if (!type) return true;
    bool all_pinned = true;
    for (const PodPtr& pod : task.unbound) {
      const auto terms =
          pod->constraints ? pod->constraints->affinity_terms : std::vector<NodeSelectorTerm>{};
      if (!pod->our_gate || is_narrowed(terms, *type)) continue;
      writes_.push_back(pod_write(*pod, NarrowPod{narrowed(terms, *type)}));
      all_pinned = false;
    }
    return all_pinned;
  }

  // The last lift completes the release of a task of which nothing is bound yet.
  void lift(const PlannedTask& task) {
    std::vector<PodPtr> gated;
    std::copy_if(task.unbound.begin(), task.unbound.end(), std::back_inserter(gated),
                 [](const PodPtr& pod) { return pod->our_gate; });
    for (const PodPtr& pod : gated) {
      LiftGate lift;
      if (pod == gated.back() && task.bound.empty())
        lift.releases = task.job != nullptr ? OwnerRef{"Job", task.job->key.name, task.job->uid}
                                            : OwnerRef{"Pod", pod->key.name, pod->uid};
      writes_.push_back(pod_write(*pod, std::move(lift)));
    }
  }

  // ---- pods whose plan is void

  void clear_stale_nominations() {
    for (const PodPtr& pod : snapshot_.unbound) {
      if (!pod->our_gate || !pod->managed || pod->deleting || pod->nominated_node.empty()) continue;
      const Job* job = owning_job(snapshot_, *pod);
      const bool void_plan = job != nullptr && (job->suspended || job->deleting);
      if (effective_plan(snapshot_, *pod) == nullptr || void_plan)
        writes_.push_back(pod_write(*pod, ClearNomination{}));
    }
  }

  const ClusterSnapshot& snapshot_;
  const std::unordered_set<Uid>& unanswered_;
  HandOverMemory& memory_;
  PlanStamp& stamp_;
  const double now_s_;
  Placer placer_;
  std::vector<OwnWrite> writes_;
};

}  // namespace

std::vector<OwnWrite> hand_over(const ClusterSnapshot& snapshot,
                                const std::unordered_set<Uid>& unanswered, HandOverMemory& memory,
                                PlanStamp& stamp, double now_steady_s, double now_wall_s) {
  return HandOver(snapshot, unanswered, memory, stamp, now_steady_s, now_wall_s).run();
}

}  // namespace slackline::core
