#include "slackline/core/verbs/victims.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "eviction_loss.h"
#include "node_fit.h"
#include "slackline/base/saturating.h"
#include "slackline/core/cluster/budgets.h"
#include "slackline/core/cluster/holds.h"

namespace slackline::core {
namespace {

constexpr std::size_t kExactCandidates = 12;
// The pods of a node that the cache may lack; an offer with more is ignored.
constexpr std::size_t kMostUnknown = 1000;

// One pod that could be evicted, with the cost and gain.
struct Candidate {
  const Pod* pod = nullptr;
  bool violates_budget = false;
  std::string gang;
  double lost_gpu_s = 0;            // of the whole gang for a member
  std::vector<std::int64_t> frees;  // in the order of the shortage
};

// How good a set of victims is; smaller is better.
struct SetKey {
  std::int64_t pdb_violations = 0;
  std::int32_t top_priority = std::numeric_limits<std::int32_t>::min();
  double lost_gpu_s = 0;
  std::int64_t gpus = 0;
  std::size_t count = 0;
  std::vector<std::string_view> uids;  // sorted

  friend bool operator<(const SetKey& a, const SetKey& b) {
    return std::tie(a.pdb_violations, a.top_priority, a.lost_gpu_s, a.gpus, a.count, a.uids) <
           std::tie(b.pdb_violations, b.top_priority, b.lost_gpu_s, b.gpus, b.count, b.uids);
  }
};

using Chosen = std::vector<const Candidate*>;

SetKey key_of(const Chosen& chosen) {
  SetKey key;
  std::vector<const std::string*> gangs;
  for (const Candidate* candidate : chosen) {
    key.pdb_violations += candidate->violates_budget ? 1 : 0;
    key.top_priority = std::max(key.top_priority, candidate->pod->priority);
    key.gpus = saturating_add(key.gpus, candidate->pod->requests.gpu_total());
    key.uids.push_back(candidate->pod->uid.str());
    const bool counted = std::any_of(gangs.begin(), gangs.end(), [&](const std::string* gang) {
      return *gang == candidate->gang;
    });
    if (counted) continue;
    key.lost_gpu_s += candidate->lost_gpu_s;
    if (!candidate->gang.empty()) gangs.push_back(&candidate->gang);
  }
  key.count = chosen.size();
  std::sort(key.uids.begin(), key.uids.end());
  return key;
}

// The part of the preemptor's request that the node lacks, one entry per resource.
struct Shortage {
  bool cpu = false;
  bool memory = false;
  bool pods = false;
  std::vector<std::string> gpus;
  std::vector<std::string> others;
  std::vector<std::int64_t> missing;  // cpu, memory, pods, gpus, others: those that are short

  bool empty() const { return missing.empty(); }

  std::vector<std::int64_t> share_of(const Resources& amount) const {
    std::vector<std::int64_t> share;
    if (cpu) share.push_back(amount.cpu_milli);
    if (memory) share.push_back(amount.memory_bytes);
    if (pods) share.push_back(amount.pods);
    for (const std::string& resource : gpus)
      share.push_back(amount.gpu_count(resource));
    for (const std::string& resource : others)
      share.push_back(count_of(amount.others, resource));
    return share;
  }
};

// As ClusterSnapshot::fits.
Shortage shortage_of(const ClusterSnapshot& snapshot, const Resources& request,
                     const Resources& available) {
  Shortage shortage;
  const auto lacks = [&](std::int64_t asked, std::int64_t there) {
    if (asked <= 0 || asked <= there) return false;
    shortage.missing.push_back(saturating_sub(asked, there));
    return true;
  };
  shortage.cpu = lacks(request.cpu_milli, available.cpu_milli);
  shortage.memory = lacks(request.memory_bytes, available.memory_bytes);
  shortage.pods = lacks(request.pods, available.pods);
  for (const ResourceAmount& amount : request.gpus)
    if (lacks(amount.count, available.gpu_count(amount.resource)))
      shortage.gpus.push_back(amount.resource);
  for (const ResourceAmount& amount : request.others)
    if (snapshot.node_table.lists(amount.resource) &&
        lacks(amount.count, count_of(available.others, amount.resource)))
      shortage.others.push_back(amount.resource);
  return shortage;
}

bool covers(const Chosen& chosen, const Shortage& shortage) {
  for (std::size_t i = 0; i < shortage.missing.size(); ++i) {
    std::int64_t freed = 0;
    for (const Candidate* candidate : chosen)
      freed = saturating_add(freed, candidate->frees[i]);
    if (freed < shortage.missing[i]) return false;
  }
  return true;
}

// Depth first over all subsets in a fixed order. A set that covers the shortage is not grown
// further, and one that is already no better than the best found is dropped: a larger set never has
// a smaller key. For the same reason the best set is minimal.
class ExactSearch {
 public:
  ExactSearch(const std::vector<Candidate>& candidates, const Shortage& shortage)
      : candidates_(candidates), shortage_(shortage) {}

  Chosen best() {
    grow(0);
    return best_;
  }

 private:
  void grow(std::size_t next) {
    if (!chosen_.empty()) {
      SetKey key = key_of(chosen_);
      if (best_key_ && !(key < *best_key_)) return;
      if (covers(chosen_, shortage_)) {
        best_key_ = std::move(key);
        best_ = chosen_;
        return;
      }
    }
    for (; next < candidates_.size(); ++next) {
      chosen_.push_back(&candidates_[next]);
      grow(next + 1);
      chosen_.pop_back();
    }
  }

  const std::vector<Candidate>& candidates_;
  const Shortage& shortage_;
  Chosen chosen_;
  Chosen best_;
  std::optional<SetKey> best_key_;
};

// Cheapest pods first until the pod fits, then the dearest out again while it still does.
Chosen search_greedily(const std::vector<Candidate>& candidates, const Shortage& shortage) {
  Chosen order;
  for (const Candidate& candidate : candidates)
    order.push_back(&candidate);
  std::sort(order.begin(), order.end(),
            [](const Candidate* a, const Candidate* b) { return key_of({a}) < key_of({b}); });
  Chosen chosen;
  for (const Candidate* candidate : order) {
    if (covers(chosen, shortage)) break;
    chosen.push_back(candidate);
  }
  if (!covers(chosen, shortage)) return {};
  for (std::size_t i = chosen.size(); i-- > 0;) {
    Chosen without = chosen;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (covers(without, shortage)) chosen = std::move(without);
  }
  return chosen;
}

// What a node's set costs; smaller is better.
using Harm = std::tuple<std::int64_t, std::int32_t, double>;  // budget violations, priority, GPU-s

struct ChosenNode {
  NodeVictims victims;
  std::optional<Harm> harm;  // nullopt: as it was offered
};

// Keeps the nodes whose set harms least, and those that nobody judged: kube-scheduler picks one.
void keep_least_harm(std::vector<ChosenNode>& nodes) {
  std::optional<Harm> least;
  for (const ChosenNode& node : nodes)
    if (node.harm && (!least || *node.harm < *least)) least = node.harm;
  std::erase_if(nodes, [&](const ChosenNode& node) { return node.harm && *least < *node.harm; });
}

class VictimChooser {
 public:
  VictimChooser(const ClusterSnapshot& snapshot, const Pod& preemptor,
                const PreemptOptions& options)
      : snapshot_(snapshot),
        preemptor_(preemptor),
        fit_(snapshot, preemptor, effective_intent(snapshot, preemptor), *options.catalog,
             options.now_steady_s),
        loss_(snapshot, options.predictor ? &options.predictor->profiles() : nullptr,
              options.now_wall_s) {}

  // nullopt: the preemptor cannot use the node.
  std::optional<ChosenNode> choose(const NodeVictims& offered) {
    const auto index = snapshot_.find_node(offered.node);
    if (!index) return std::nullopt;
    const NodeState& state = snapshot_.node(*index);
    if (offered.victims.size() > state.pods.size() + kMostUnknown) return std::nullopt;
    if (!passes(fit_.lasting(*index))) return std::nullopt;
    read_potential_victims(state);
    if (not_only_about_gpus(state, offered)) return keep(state, offered);

    Resources available = state.free() - fit_.holds().against(*index);
    const bool roomy = shortage_of(snapshot_, preemptor_.requests, available).empty();
    if (roomy) return keep(state, offered);
    // Terminating pods free their room without eviction; if that suffices, choose no victims.
    for (const PodPtr& pod : state.pods)
      if (pod->deleting) available += pod->requests;
    const Shortage shortage = shortage_of(snapshot_, preemptor_.requests, available);
    if (shortage.empty()) return std::nullopt;
    return answer(offered, search(shortage));
  }

 private:
  // Pods of lower priority by importance, as kube-scheduler counts budgets over them.
  void read_potential_victims(const NodeState& state) {
    potential_.clear();
    for (const PodPtr& pod : state.pods)
      if (pod->priority < preemptor_.priority) potential_.push_back(pod.get());
    std::sort(potential_.begin(), potential_.end(),
              [](const Pod* a, const Pod* b) { return more_important(*a, *b); });
    violating_ = violations(snapshot_, potential_);
  }

  bool not_only_about_gpus(const NodeState& state, const NodeVictims& offered) const {
    const SchedulingConstraints* constraints = preemptor_.constraints.get();
    if (constraints != nullptr && (constraints->has_host_ports || constraints->has_pod_affinity ||
                                   constraints->has_volume_claims))
      return true;
    return std::any_of(state.pods.begin(), state.pods.end(), [&](const PodPtr& pod) {
      return !pod->requests.wants_gpus() && offers(offered, pod->uid);
    });
  }

  static bool offers(const NodeVictims& offered, const Uid& uid) {
    return std::find(offered.victims.begin(), offered.victims.end(), uid) != offered.victims.end();
  }

  // The offered set without terminating pods; nullopt if not all are on this node and of lower
  // priority, or none is left.
  std::optional<ChosenNode> keep(const NodeState& state, const NodeVictims& offered) const {
    NodeVictims kept{offered.node, {}, 0};
    std::size_t known = 0;
    for (std::size_t i = 0; i < potential_.size(); ++i) {
      if (!offers(offered, potential_[i]->uid)) continue;
      ++known;
      if (potential_[i]->deleting) continue;
      kept.victims.push_back(potential_[i]->uid);
      kept.pdb_violations += violating_[i] ? 1 : 0;
    }
    const std::size_t terminating = static_cast<std::size_t>(
        std::count_if(state.pods.begin(), state.pods.end(), [&](const PodPtr& pod) {
          return pod->deleting && pod->priority >= preemptor_.priority && offers(offered, pod->uid);
        }));
    if (kept.victims.empty() || known + terminating != offered.victims.size()) return std::nullopt;
    kept.pdb_violations = std::max(kept.pdb_violations, offered.pdb_violations);
    return ChosenNode{std::move(kept), std::nullopt};
  }

  // Only pods with GPUs: what stopping another one costs nobody knows here, and whether a
  // disruption budget selects it neither.
  Chosen search(const Shortage& shortage) {
    candidates_.clear();
    for (std::size_t i = 0; i < potential_.size(); ++i) {
      const Pod& pod = *potential_[i];
      std::vector<std::int64_t> frees = shortage.share_of(pod.requests);
      const bool helps = std::any_of(frees.begin(), frees.end(), [](auto f) { return f > 0; });
      if (pod.deleting || !helps || !pod.requests.wants_gpus()) continue;
      Candidate candidate{&pod, violating_[i], loss_.gang_of(pod), 0, std::move(frees)};
      candidate.lost_gpu_s =
          candidate.gang.empty() ? loss_.of_pod(pod) : loss_.of_gang(candidate.gang);
      candidates_.push_back(std::move(candidate));
    }
    return candidates_.size() <= kExactCandidates ? ExactSearch(candidates_, shortage).best()
                                                  : search_greedily(candidates_, shortage);
  }

  static std::optional<ChosenNode> answer(const NodeVictims& offered, Chosen chosen) {
    if (chosen.empty()) return std::nullopt;
    std::sort(chosen.begin(), chosen.end(), [](const Candidate* a, const Candidate* b) {
      return more_important(*a->pod, *b->pod);
    });
    NodeVictims out{offered.node, {}, 0};
    bool unchanged = chosen.size() == offered.victims.size();
    for (const Candidate* candidate : chosen) {
      out.victims.push_back(candidate->pod->uid);
      out.pdb_violations += candidate->violates_budget ? 1 : 0;
      unchanged = unchanged && offers(offered, candidate->pod->uid);
    }
    if (unchanged) out.pdb_violations = std::max(out.pdb_violations, offered.pdb_violations);
    const SetKey key = key_of(chosen);
    const Harm harm{out.pdb_violations, key.top_priority, key.lost_gpu_s};
    return ChosenNode{std::move(out), harm};
  }

  const ClusterSnapshot& snapshot_;
  const Pod& preemptor_;
  NodeFit fit_;
  EvictionLoss loss_;
  std::vector<const Pod*> potential_;
  std::vector<bool> violating_;
  std::vector<Candidate> candidates_;
};

PreemptReply as_offered(const PreemptRequest& request) {
  PreemptReply reply;
  for (const NodeVictims& offered : request.candidates)
    if (!offered.victims.empty()) reply.nodes.push_back(offered);
  return reply;
}

}  // namespace

PreemptReply choose_victims(const ClusterSnapshot& snapshot, const PreemptRequest& request,
                            const PreemptOptions& options) {
  PreemptReply reply;
  if (live_plan(snapshot, request.pod, options.now_steady_s) != nullptr) return reply;
  if (!options.trusted || !request.pod.problems.empty()) return as_offered(request);
  VictimChooser chooser(snapshot, request.pod, options);
  std::vector<ChosenNode> nodes;
  for (const NodeVictims& offered : request.candidates) {
    if (is_asked(options.stop)) {
      reply = as_offered(request);
      reply.gave_up = true;
      return reply;
    }
    if (auto chosen = chooser.choose(offered)) nodes.push_back(std::move(*chosen));
  }
  keep_least_harm(nodes);
  for (ChosenNode& node : nodes)
    reply.nodes.push_back(std::move(node.victims));
  return reply;
}

}  // namespace slackline::core
