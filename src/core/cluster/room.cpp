#include "slackline/core/cluster/room.h"

#include <algorithm>

#include "slackline/core/cluster/predicates.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {

RoomTable::RoomTable(const ClusterSnapshot& snapshot, double now_steady_s, double now_wall_s)
    : snapshot_(snapshot), now_s_(now_steady_s), ending_(snapshot, now_wall_s) {
  free_.reserve(snapshot.nodes.size());
  for (NodeIndex i = 0; i < snapshot.nodes.size(); ++i) {
    free_.push_back(snapshot.node(i).free());
    if (const Resources* held = ending_.held_on(i)) free_.back() += *held;
    for (const Hold& hold : snapshot.holds_on(i))
      if (hold.expires_s > now_steady_s) free_.back() -= hold.amount;
  }
}

RoomTable once_gpu_pods_end(const ClusterSnapshot& snapshot, RoomTable room) {
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node)
    for (const PodPtr& pod : snapshot.node(node).pods)
      if (pod->requests.wants_gpus() && !pod->terminal()) room.give_back(node, pod->requests);
  return room;
}

Room RoomTable::without(const HoldIdentity& self, const std::unordered_set<Uid>& pods,
                        const std::set<NodeIndex>& nodes) const {
  const auto is_ours = [&](const Hold& hold) {
    if (!hold.pod.empty()) return pods.contains(hold.pod);
    return (!hold.task.empty() && hold.task == self.task) ||
           (!hold.gang.empty() && hold.gang == self.gang);
  };
  Room room(snapshot_, *this);
  for (const NodeIndex node : nodes)
    for (const Hold& hold : snapshot_.holds_on(node))
      if (is_ours(hold) && hold.expires_s > now_s_) room.change_[node] += hold.amount;
  return room;
}

void RoomTable::claim(const Room& room) {
  for (const auto& [node, change] : room.change_)
    free_[node] += change - max_of(change, Resources{});
}

Resources Room::free(NodeIndex node) const {
  const auto at = change_.find(node);
  return at == change_.end() ? table_.free(node) : table_.free(node) + at->second;
}

bool Room::fits(NodeIndex node, const Resources& request) const {
  return snapshot_.fits(request, free(node));
}

bool Room::waits_on(const NodeName& node) const {
  const auto index = snapshot_.find_node(node.str());
  const Resources* held = index ? table_.ending().held_on(*index) : nullptr;
  if (held == nullptr) return false;
  const Resources now = free(*index) - *held;
  const auto is_short = [](const ResourceAmount& amount) { return amount.count < 0; };
  return now.cpu_milli < 0 || now.memory_bytes < 0 || now.pods < 0 ||
         std::any_of(now.gpus.begin(), now.gpus.end(), is_short) ||
         std::any_of(
             now.others.begin(), now.others.end(),
             [&](const ResourceAmount& other) {
               return is_short(other) && snapshot_.node_table.lists(other.resource);
             });
}

void Room::take(const NodeName& node, const Resources& request) {
  if (const auto index = snapshot_.find_node(node.str())) change_[*index] -= request;
}

Resources besides_gpus(const Pod& member, std::int64_t pods) {
  Resources of_one = member.requests;
  const std::string pooled = primary_gpu_resource(of_one);
  std::erase_if(of_one.gpus, [&](const ResourceAmount& gpus) { return gpus.resource == pooled; });
  Resources rest = of_one;
  for (std::int64_t more = 1; more < pods; ++more)
    rest += of_one;
  return rest;
}

NodeSet usable_nodes(const ClusterSnapshot& snapshot, const RoomTable& room, const Pod& member,
                     const std::vector<NodeIndex>& nodes, std::int64_t pods) {
  const Resources rest = besides_gpus(member, pods);
  NodeSet usable(nodes.size());
  for (PoolNode i = 0; i < nodes.size(); ++i)
    if (!misfit(member, *snapshot.node(nodes[i]).node) && snapshot.fits(rest, room.free(nodes[i])))
      usable.insert(i);
  return usable;
}

}  // namespace slackline::core
