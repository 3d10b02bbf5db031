#include "room.h"

namespace slackline::core {

RoomTable::RoomTable(const ClusterSnapshot& snapshot, double now_steady_s)
    : snapshot_(snapshot), now_s_(now_steady_s) {
  free_.reserve(snapshot.nodes.size());
  for (NodeIndex i = 0; i < snapshot.nodes.size(); ++i) {
    free_.push_back(snapshot.node(i).free());
    for (const Hold& hold : snapshot.holds_on(i))
      if (hold.expires_s > now_steady_s) free_.back() -= hold.amount;
  }
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
  return slackline::fits(request, free(node));
}

void Room::take(const NodeName& node, const Resources& request) {
  if (const auto index = snapshot_.find_node(node.str())) change_[*index] -= request;
}

}  // namespace slackline::core
