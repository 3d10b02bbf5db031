#include "hand_over_placing.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "slackline/core/cluster/largest_first.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/model/reason.h"

namespace slackline::core {

Places Placer::place(const PlannedTask& task) {
  std::vector<NodeName> left = task.plan->nodes;
  const auto take = [&](const NodeName& node) {
    const auto at = std::find(left.begin(), left.end(), node);
    if (at == left.end()) return false;
    left.erase(at);
    return true;
  };
  for (const NodeName& node : task.bound)
    take(node);
  Room room = own_room(task);
  Places places;
  bool moved = false;
  bool missed = false;
  std::vector<PodPtr> homeless;
  for (const PodPtr& pod : task.unbound) {
    const bool planned = take(pod->nominated_node);
    const bool stays = pod->gated && planned && usable(room, *pod, pod->nominated_node);
    if (stays || is_left_alone(task, *pod, memory_, now_s_)) {
      room.take(pod->nominated_node, pod->requests);
      places.node_of[pod->uid] = pod->nominated_node;
      continue;
    }
    missed |= memory_.missed(*pod, now_s_) && !task.on_lost_nodes.contains(pod->uid);
    if (memory_.misses(*pod) >= kMostMisses &&
        !memory_.is_refused(task.name, pod->nominated_node, now_s_) &&
        !task.on_lost_nodes.contains(pod->uid))
      continue;
    homeless.push_back(pod);
    moved |= planned;  // its node is lost
  }
  std::vector<NodeName> others = task.bound;  // where other pods of it are, or will be
  for (const auto& [pod, node] : places.node_of)
    others.push_back(node);
  sort_largest_first(homeless);
  for (const PodPtr& pod : homeless) {
    const auto node = home_for(*pod, left, others, room, task, moved);
    if (!node) {
      places.homeless = pod;
      return places;
    }
    room.take(*node, pod->requests);
    others.push_back(*node);
    places.node_of[pod->uid] = *node;
  }
  for (const auto& [pod, node] : places.node_of)
    places.wait_for_room |= room.waits_on(node);
  room_.claim(room);  // the hold of its plan may be over
  const auto later = std::ssize(task.plan->nodes) - std::ssize(others);
  left.resize(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(later, 0, std::ssize(left))));
  places.for_later = std::move(left);
  if (moved) places.moved_because = missed ? reason::kNotBound : reason::kNodesLost;
  return places;
}

bool Placer::only_lacks_room(const PlannedTask& task) const {
  return std::all_of(task.plan->nodes.begin(), task.plan->nodes.end(), [&](const NodeName& name) {
    const auto index = snapshot_.find_node(name.str());
    return index && std::any_of(task.unbound.begin(), task.unbound.end(), [&](const PodPtr& pod) {
             return !misfit(*pod, *snapshot_.node(*index).node);
           });
  });
}

Room Placer::own_room(const PlannedTask& task) const {
  std::unordered_set<Uid> pods;
  std::set<NodeIndex> nodes;
  const auto look_on = [&](const NodeName& name) {
    if (const auto index = snapshot_.find_node(name.str())) nodes.insert(*index);
  };
  for (const NodeName& name : task.plan->nodes)
    look_on(name);
  for (const PodPtr& pod : task.unbound) {
    pods.insert(pod->uid);
    look_on(pod->nominated_node);
  }
  const Pod& first = *task.unbound.front();
  const Job* job = task.job != nullptr ? task.job : owning_job(snapshot_, first);
  return room_.without(hold_identity(first, job), pods, nodes);
}

bool Placer::usable(const Room& room, const Pod& pod, const NodeName& node) const {
  const auto index = snapshot_.find_node(node.str());
  return index && !misfit(pod, *snapshot_.node(*index).node) && room.fits(*index, pod.requests);
}

bool may_join(const ClusterSnapshot& snapshot, const Pod& pod, const NodeName& node,
              const std::vector<NodeName>& others) {
  const OwnSpread spread = spread_of(pod.constraints.get());
  if (spread.most && std::count(others.begin(), others.end(), node) >= *spread.most) return false;
  const auto here = snapshot.find_node(node.str());
  if (spread.apart && spread.apart->skew == 0)
    for (const NodeName& other : others)
      if (const auto there = snapshot.find_node(other.str());
          here && there &&
          in_same_domain(*snapshot.node(*here).node, *snapshot.node(*there).node,
                         {spread.apart->label}))
        return false;
  if (spread.together.empty() || others.empty()) return true;
  const auto there = snapshot.find_node(others.front().str());
  return here && there &&
         in_same_domain(*snapshot.node(*here).node, *snapshot.node(*there).node, spread.together);
}

// Where kube-scheduler refused the pod, or another of its task, comes after other nodes. A node
// that the pod has missed comes last, and only if its nomination is gone.
std::optional<NodeName> Placer::home_for(const Pod& pod, std::vector<NodeName>& left,
                                         const std::vector<NodeName>& others, const Room& room,
                                         const PlannedTask& task, bool& moved) const {
  const NodeName missed =
      memory_.missed(pod, now_s_) ? memory_.lifted.at(pod.uid).node : NodeName();
  const auto next_of_plan = [&](auto may_take) -> std::optional<NodeName> {
    const auto at = std::find_if(left.begin(), left.end(), [&](const NodeName& node) {
      return may_take(node) && usable(room, pod, node);
    });
    if (at == left.end()) return std::nullopt;
    NodeName node = *at;
    left.erase(at);
    return node;
  };
  const auto is_other = [&](const NodeName& node) { return node != missed; };
  const auto is_new = [&](const NodeName& node) {
    return is_other(node) && !memory_.is_refused(task.name, node, now_s_);
  };
  if (const auto node = next_of_plan(is_new)) return node;
  // Those that are left are for pods still to come.
  std::vector<NodeName> taken = others;
  taken.insert(taken.end(), left.begin(), left.end());
  if (const auto node = elsewhere(pod, missed, taken, room, task)) {
    moved = true;
    return node;
  }
  if (const auto node = next_of_plan(is_other)) return node;
  return pod.nominated_node.empty() ? next_of_plan([](const NodeName&) { return true; })
                                    : std::nullopt;
}

std::optional<NodeName> Placer::elsewhere(const Pod& pod, const NodeName& missed,
                                          const std::vector<NodeName>& taken, const Room& room,
                                          const PlannedTask& task) const {
  const std::string resource = primary_gpu_resource(pod.requests);
  const Job* job = owning_job(snapshot_, pod);
  const auto was_slow_on = [&](const NodeName& node) {
    return job != nullptr && job->preemptions && job->preemptions->slow &&
           job->preemptions->slow->on(node);
  };
  std::optional<std::tuple<std::int64_t, NodeName>> best;
  for (NodeIndex i = 0; i < snapshot_.nodes.size(); ++i) {
    const Node& node = *snapshot_.node(i).node;
    if (node.gpu_type != task.plan->gpu_type || node.name == missed || was_slow_on(node.name) ||
        memory_.is_refused(task.name, node.name, now_s_) ||
        !may_join(snapshot_, pod, node.name, taken) || !usable(room, pod, node.name))
      continue;
    const std::tuple candidate(room.free(i).gpu_count(resource), node.name);
    if (!best || candidate < *best) best = candidate;
  }
  return best ? std::optional(std::get<NodeName>(*best)) : std::nullopt;
}

}  // namespace slackline::core
