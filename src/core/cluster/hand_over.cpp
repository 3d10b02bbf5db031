#include "slackline/core/cluster/hand_over.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "room.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/quotas.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/model/reason.h"
#include "type_pin.h"

namespace slackline::core {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// A planned task on its way.
struct Party {
  Uid id;                    // the Job's, or "namespace/plan id"
  const Job* job = nullptr;  // carries the plan; null: each pod does
  std::shared_ptr<const PlanNote> plan;
  std::vector<PodPtr> unbound;  // in the snapshot's order
  std::vector<NodeName> bound;  // nodes of the bound ones
  std::int64_t wanted = 0;      // pods that should exist

  bool complete() const {
    return static_cast<std::int64_t>(unbound.size() + bound.size()) >= wanted;
  }
};

class HandOver {
 public:
  HandOver(const ClusterSnapshot& snapshot, const std::unordered_set<Uid>& unanswered,
           HandOverMemory& memory, PlanStamp& stamp, double now_steady_s)
      : snapshot_(snapshot),
        unanswered_(unanswered),
        memory_(memory),
        stamp_(stamp),
        now_s_(now_steady_s),
        room_(snapshot, now_steady_s) {}

  std::vector<OwnWrite> run() {
    gather();
    forget_what_is_gone();
    for (Party& party : parties_)
      if (party.plan->epoch <= stamp_.epoch) advance(party);
    clear_stale_nominations();
    return std::move(writes_);
  }

 private:
  // ---- who is on the way
  // -------------------------------------------------------------------------

  void gather() {
    for (const JobPtr& job : snapshot_.jobs) {
      if (!job->plan || job->suspended || job->finished || !job->managed) continue;
      Party& party = party_of(job->uid);
      party.job = job.get();
      party.plan = job->plan;
      party.wanted = job->wanted_pods();
    }
    for (const PodPtr& pod : snapshot_.unbound)
      if (!pod->deleting && !pod->terminal()) add(pod);
    for (const NodeStatePtr& state : snapshot_.nodes)
      for (const PodPtr& pod : state->pods)
        add(pod);
  }

  void add(const PodPtr& pod) {
    Party* party = nullptr;
    const auto at = pod->owner ? by_id_.find(pod->owner->uid) : by_id_.end();
    if (pod->plan && pod->managed) {
      party = &party_of(Uid(pod->key.ns + "/" + pod->plan->id));
      party->plan = pod->plan;
      party->wanted = static_cast<std::int64_t>(pod->plan->nodes.size());
    } else if (at != by_id_.end()) {
      party = &parties_[at->second];
    }
    if (party == nullptr) return;
    if (pod->bound()) {
      if (!pod->deleting) party->bound.push_back(pod->node);
    } else if (!pod->foreign_gate) {
      party->unbound.push_back(pod);
    }
  }

  Party& party_of(const Uid& id) {
    const auto [at, first] = by_id_.try_emplace(id, parties_.size());
    if (first) parties_.emplace_back().id = id;
    return parties_[at->second];
  }

  void forget_what_is_gone() {
    std::unordered_set<Uid> pods;
    for (const Party& party : parties_) {
      memory_.pods_due.try_emplace(party.id, now_s_ + kIncompleteAfter_s);
      for (const PodPtr& pod : party.unbound)
        pods.insert(pod->uid);
    }
    std::erase_if(memory_.pods_due,
                  [&](const auto& entry) { return !by_id_.contains(entry.first); });
    std::erase_if(memory_.lifted, [&](const auto& entry) { return !pods.contains(entry.first); });
    std::erase_if(memory_.backoff, [&](const auto& entry) {
      return entry.second.until_s + kMostBackoff_s < now_s_;
    });
  }

  // ---- one task
  // ----------------------------------------------------------------------------------

  void advance(Party& party) {
    if (!party.bound.empty()) memory_.pods_due[party.id] = kNever;
    if (!party.complete() && party.bound.empty()) return wait_for_pods(party);
    if (party.unbound.empty()) {
      if (party.job != nullptr) memory_.backoff.erase(party.job->uid);
      return;
    }
    if (!note_misses(party)) return;
    const bool only_waits_to_be_bound =
        std::all_of(party.unbound.begin(), party.unbound.end(),
                    [&](const PodPtr& pod) { return is_left_alone(*pod); });
    if (only_waits_to_be_bound) return;  // its nominations hold what it takes
    if (place(party)) nominate_or_lift(party);
  }

  // Of a task that has run, pods are missing because they ended.
  void wait_for_pods(const Party& party) {
    const bool ran = party.job != nullptr && party.job->failed + party.job->succeeded > 0;
    if (ran || now_s_ < memory_.pods_due.at(party.id)) return;
    if (party.job != nullptr)
      suspend(*party.job, why_incomplete(party));
    else
      back_to_queue(party);
  }

  // Judged by a pod that is there: a LimitRange may have added to what the template asks for.
  std::string_view why_incomplete(const Party& party) const {
    const Resources& pod =
        party.unbound.empty() ? party.job->pod_requests : party.unbound.front()->requests;
    const auto missing = party.wanted - static_cast<std::int64_t>(party.unbound.size());
    const bool admitted = QuotaBook(snapshot_).admits(party.job->key.ns, pod, missing);
    return admitted ? kPodsRejected : kQuotaExceeded;
  }

  void suspend(const Job& job, std::string_view reason) {
    HandOverMemory::Backoff& backoff = memory_.backoff[job.uid];
    backoff.step_s = std::clamp(2 * backoff.step_s, kLeastBackoff_s, kMostBackoff_s);
    backoff.until_s = now_s_ + backoff.step_s;
    backoff.reason = reason;
    writes_.push_back(job_write(job, SuspendJob{}, {.verb = Verb::kSuspend, .reason = reason}));
  }

  // False where the task was given up.
  bool note_misses(const Party& party) {
    for (const PodPtr& pod : party.unbound) {
      if (pod->gated) continue;
      const auto [at, first] = memory_.lifted.try_emplace(pod->uid);
      const bool moved = !pod->nominated_node.empty() && pod->nominated_node != at->second.node;
      if (first || moved) at->second.since_s = now_s_;
      if (moved) at->second.node = pod->nominated_node;
      if (moved) at->second.to_move = false;
      if (now_s_ - at->second.since_s >= kUnboundAfter_s) {
        at->second.since_s = now_s_;
        at->second.to_move = true;
        if (++at->second.misses >= kMostMisses && party.job != nullptr) {
          suspend(*party.job, kNotBound);
          return false;
        }
      }
      if (at->second.to_move) missed_.insert(pod->uid);
    }
    return true;
  }

  // It was let go before it had a plan (queue.h).
  bool was_never_nominated(const Pod& pod) const {
    const auto at = memory_.lifted.find(pod.uid);
    return pod.nominated_node.empty() && at != memory_.lifted.end() && at->second.node.empty();
  }

  // kube-scheduler may bind it at any moment, where it is nominated or elsewhere.
  bool is_left_alone(const Pod& pod) const {
    return !pod.gated && !missed_.contains(pod.uid) && !node_is_lost(pod) &&
           !was_never_nominated(pod);
  }

  bool given_up(const Pod& pod) const {
    const auto at = memory_.lifted.find(pod.uid);
    return at != memory_.lifted.end() && at->second.misses >= kMostMisses;
  }

  // Gives every unbound member a node of the plan; false where the plan has to be changed first.
  bool place(Party& party) {
    place_.clear();
    std::vector<NodeName> left = party.plan->nodes;
    const auto take = [&](const NodeName& node) {
      const auto at = std::find(left.begin(), left.end(), node);
      if (at == left.end()) return false;
      left.erase(at);
      return true;
    };
    for (const NodeName& node : party.bound)
      take(node);
    Room room = own_room(party);
    bool moved = false;
    bool missed = false;
    std::vector<PodPtr> homeless;
    for (const PodPtr& pod : party.unbound) {
      const bool planned = take(pod->nominated_node);
      const bool stays = pod->gated && planned && usable(room, *pod, pod->nominated_node);
      if (!is_left_alone(*pod) && !stays) {
        if (!given_up(*pod)) homeless.push_back(pod);
        moved |= planned && !given_up(*pod);  // its node is lost
        missed |= missed_.contains(pod->uid) && !node_is_lost(*pod);
        continue;
      }
      room.take(pod->nominated_node, pod->requests);
      place_[pod->uid] = pod->nominated_node;
    }
    for (const PodPtr& pod : homeless) {
      const auto node = home_for(*pod, left, room, *party.plan, moved);
      if (!node) {
        if (missed_.contains(pod->uid)) memory_.lifted.at(pod->uid).to_move = false;  // it may wait
        back_to_queue(party);
        return false;
      }
      room.take(*node, pod->requests);
      place_[pod->uid] = *node;
    }
    room_.claim(room);  // its plan's hold may be over
    if (moved) replan(party, missed ? kNotBound : kNodesLost);
    return !moved;
  }

  Room own_room(const Party& party) const {
    std::unordered_set<Uid> pods;
    std::set<NodeIndex> nodes;
    const auto look_on = [&](const NodeName& name) {
      if (const auto index = snapshot_.find_node(name.str())) nodes.insert(*index);
    };
    for (const NodeName& name : party.plan->nodes)
      look_on(name);
    for (const PodPtr& pod : party.unbound) {
      pods.insert(pod->uid);
      look_on(pod->nominated_node);
    }
    const Pod& first = *party.unbound.front();
    const Job* job = party.job != nullptr ? party.job : owning_job(snapshot_, first);
    return room_.without(hold_identity(first, job), pods, nodes);
  }

  bool usable(const Room& room, const Pod& pod, const NodeName& node) const {
    const auto index = snapshot_.find_node(node.str());
    return index && !misfit(pod, *snapshot_.node(*index).node) && room.fits(*index, pod.requests);
  }

  // The next node of the plan, else the fullest one of its GPU type that has room. A node that the
  // pod has missed comes last, and only if its nomination is gone.
  std::optional<NodeName> home_for(const Pod& pod, std::vector<NodeName>& left, const Room& room,
                                   const PlanNote& plan, bool& moved) const {
    const NodeName missed =
        missed_.contains(pod.uid) ? memory_.lifted.at(pod.uid).node : NodeName();
    const auto next_of_plan = [&](bool again) -> std::optional<NodeName> {
      for (auto at = left.begin(); at != left.end(); ++at) {
        if ((*at == missed) != again || !usable(room, pod, *at)) continue;
        NodeName node = *at;
        left.erase(at);
        return node;
      }
      return std::nullopt;
    };
    if (const auto node = next_of_plan(false)) return node;
    if (const auto node = elsewhere(pod, missed, room, plan)) {
      moved = true;
      return node;
    }
    return pod.nominated_node.empty() ? next_of_plan(true) : std::nullopt;
  }

  std::optional<NodeName> elsewhere(const Pod& pod, const NodeName& missed, const Room& room,
                                    const PlanNote& plan) const {
    const std::string resource = primary_gpu_resource(pod.requests);
    std::optional<std::tuple<std::int64_t, NodeName>> best;
    for (NodeIndex i = 0; i < snapshot_.nodes.size(); ++i) {
      const Node& node = *snapshot_.node(i).node;
      if (node.gpu_type != plan.gpu_type || node.name == missed || !usable(room, pod, node.name))
        continue;
      const std::tuple candidate(room.free(i).gpu_count(resource), node.name);
      if (!best || candidate < *best) best = candidate;
    }
    return best ? std::optional(std::get<NodeName>(*best)) : std::nullopt;
  }

  // Of a pod that kube-scheduler may bind at any moment: no word of room, which it may be taking.
  bool node_is_lost(const Pod& pod) const {
    if (pod.nominated_node.empty()) return false;
    const auto index = snapshot_.find_node(pod.nominated_node.str());
    return !index || misfit(pod, *snapshot_.node(*index).node);
  }

  // Only room is missing, and it may come back: who was there last may not be counted off yet.
  bool has_its_nodes(const Party& party) const {
    return std::all_of(
        party.plan->nodes.begin(), party.plan->nodes.end(), [&](const NodeName& name) {
          const auto index = snapshot_.find_node(name.str());
          return index && !misfit(*party.unbound.front(), *snapshot_.node(*index).node);
        });
  }

  // Nothing to move to. What is bound stays; a task without bound pods waits for its turn again.
  void back_to_queue(const Party& party) {
    if (!party.bound.empty()) return;
    if (now_s_ < memory_.pods_due.at(party.id) && has_its_nodes(party)) return;
    const bool all_gated = std::all_of(party.unbound.begin(), party.unbound.end(),
                                       [](const PodPtr& pod) { return pod->gated; });
    if (party.job != nullptr) {
      if (all_gated) suspend(*party.job, kNodesLost);
      return;
    }
    if (!all_gated) return;
    for (const PodPtr& pod : party.unbound) {
      if (!pod->nominated_node.empty())
        writes_.push_back(pod_write(*pod, ClearNomination{}));
      else
        writes_.push_back(
            pod_write(*pod, UnplanPod{}, {.verb = Verb::kSuspend, .reason = kNodesLost}));
    }
  }

  void replan(const Party& party, std::string_view why) {
    PlanNote note = *party.plan;
    note.id = stamp_.next_id();
    note.epoch = stamp_.epoch;
    note.value_hash = 0;  // another value than the one whose time is counted
    note.text.clear();    // and than the one that was read
    note.code.clear();
    note.generation.reset();
    note.nodes = party.bound;
    for (const PodPtr& pod : party.unbound)
      if (const auto at = place_.find(pod->uid); at != place_.end())
        note.nodes.push_back(at->second);
    const auto plan = std::make_shared<const PlanNote>(std::move(note));
    const Decision move{.verb = Verb::kMove, .reason = why};
    if (party.job != nullptr) {
      writes_.push_back(job_write(*party.job, ReleaseJob{.plan = plan}, move));
      return;
    }
    for (const PodPtr& pod : party.unbound)
      writes_.push_back(pod_write(*pod, PlanPod{plan}, move));
  }

  // Nominations first; gates go once every one of them, and the plan behind them, stands.
  void nominate_or_lift(const Party& party) {
    bool all_stand = party.job == nullptr || !unanswered_.contains(party.job->uid);
    for (const PodPtr& pod : party.unbound) {
      all_stand &= !unanswered_.contains(pod->uid);
      const auto at = place_.find(pod->uid);
      if (at == place_.end() || pod->nominated_node == at->second) continue;
      Decision decision{.plan_id = party.plan->id};
      // Another place of the same plan; a plan that was moved has told so itself.
      const auto& planned = party.plan->nodes;
      if (missed_.contains(pod->uid) &&
          std::find(planned.begin(), planned.end(), pod->nominated_node) != planned.end()) {
        decision.verb = Verb::kMove;
        decision.reason = kNotBound;
      }
      writes_.push_back(pod_write(*pod, Nominate{at->second}, std::move(decision)));
      all_stand = false;
    }
    if (!all_stand || (stamp_.pin_pods_by != nullptr && !pin_to_type(party))) return;
    lift(party);
  }

  // The last lift completes the release of a task of which nothing is bound yet.
  void lift(const Party& party) {
    std::vector<PodPtr> gated;
    std::copy_if(party.unbound.begin(), party.unbound.end(), std::back_inserter(gated),
                 [](const PodPtr& pod) { return pod->our_gate; });
    for (const PodPtr& pod : gated) {
      LiftGate lift;
      if (pod == gated.back() && party.bound.empty())
        lift.releases = party.job != nullptr ? OwnerRef{"Job", party.job->key.name, party.job->uid}
                                             : OwnerRef{"Pod", pod->key.name, pod->uid};
      writes_.push_back(pod_write(*pod, std::move(lift)));
    }
  }

  // True once no gated pod of the task could land on another GPU type.
  bool pin_to_type(const Party& party) {
    std::vector<NodeIndex> of_type;
    std::vector<NodeIndex> planned;
    bool other_types = false;
    for (NodeIndex i = 0; i < snapshot_.nodes.size(); ++i) {
      const Node& node = *snapshot_.node(i).node;
      const auto& names = party.plan->nodes;
      if (node.gpu_type == party.plan->gpu_type) of_type.push_back(i);
      if (std::find(names.begin(), names.end(), node.name) != names.end()) planned.push_back(i);
      other_types |= node.gpu_type != party.plan->gpu_type && node.allocatable.wants_gpus();
    }
    const auto type = other_types && !planned.empty()
                          ? type_requirement(snapshot_, *stamp_.pin_pods_by, of_type, planned)
                          : std::nullopt;
    if (!type) return true;
    bool all_pinned = true;
    for (const PodPtr& pod : party.unbound) {
      const auto terms =
          pod->constraints ? pod->constraints->affinity_terms : std::vector<NodeSelectorTerm>{};
      if (!pod->our_gate || is_narrowed(terms, *type)) continue;
      writes_.push_back(pod_write(*pod, NarrowPod{narrowed(terms, *type)}));
      all_pinned = false;
    }
    return all_pinned;
  }

  void clear_stale_nominations() {
    for (const PodPtr& pod : snapshot_.unbound) {
      if (!pod->our_gate || !pod->managed || pod->deleting || pod->nominated_node.empty()) continue;
      const Job* job = owning_job(snapshot_, *pod);
      const bool void_plan = job != nullptr && job->suspended;
      if (effective_plan(snapshot_, *pod) == nullptr || void_plan)
        writes_.push_back(pod_write(*pod, ClearNomination{}));
    }
  }

  const ClusterSnapshot& snapshot_;
  const std::unordered_set<Uid>& unanswered_;
  HandOverMemory& memory_;
  PlanStamp& stamp_;
  const double now_s_;
  RoomTable room_;
  std::vector<Party> parties_;                  // Jobs in the snapshot's order, then pods
  std::unordered_map<Uid, std::size_t> by_id_;  // of parties_
  std::unordered_set<Uid> missed_;              // pods that did not get onto their node in time
  std::unordered_map<Uid, NodeName> place_;     // of the task in hand: where each member goes
  std::vector<OwnWrite> writes_;
};

}  // namespace

std::unordered_set<Uid> HandOverMemory::held_off(double now_steady_s) const {
  std::unordered_set<Uid> jobs;
  for (const auto& [uid, entry] : backoff)
    if (entry.until_s > now_steady_s) jobs.insert(uid);
  return jobs;
}

double HandOverMemory::next_let_in_s(double now_steady_s) const {
  double next_s = kNever;
  for (const auto& [uid, entry] : backoff)
    if (entry.until_s > now_steady_s) next_s = std::min(next_s, entry.until_s);
  return next_s;
}

std::vector<OwnWrite> hand_over(const ClusterSnapshot& snapshot,
                                const std::unordered_set<Uid>& unanswered, HandOverMemory& memory,
                                PlanStamp& stamp, double now_steady_s) {
  return HandOver(snapshot, unanswered, memory, stamp, now_steady_s).run();
}

}  // namespace slackline::core
