// RoomTable and Room: what is free of every node for one task: allocatable, less all bound pods and
// the live holds of others. Made once per snapshot; a Room costs what its task's holds and takes
// cost. Who decides for one task after the other claims each Room before asking for the next.
#pragma once

#include <map>
#include <set>
#include <unordered_set>
#include <vector>

#include "slackline/core/cluster/holds.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

class Room;

class RoomTable {
 public:
  RoomTable(const ClusterSnapshot& snapshot, double now_steady_s);

  // As the task sees it that holds as `self` and has these pods: its own holds are its room. They
  // are looked for on `nodes` only. The table outlives it.
  Room without(const HoldIdentity& self, const std::unordered_set<Uid>& pods,
               const std::set<NodeIndex>& nodes) const;
  const Resources& free(NodeIndex node) const { return free_[node]; }

  // From now on so much more is free of the node.
  void give_back(NodeIndex node, const Resources& amount) { free_[node] += amount; }

  // What was taken of the room, beyond what its task held, is free for nobody from now on. What the
  // task gives back is not free yet.
  void claim(const Room& room);

 private:
  const ClusterSnapshot& snapshot_;
  const double now_s_;
  std::vector<Resources> free_;
};

class Room {
 public:
  Resources free(NodeIndex node) const;
  bool fits(NodeIndex node, const Resources& request) const;
  void take(const NodeName& node, const Resources& request);

 private:
  friend class RoomTable;
  Room(const ClusterSnapshot& snapshot, const RoomTable& table)
      : snapshot_(snapshot), table_(table) {}

  const ClusterSnapshot& snapshot_;
  const RoomTable& table_;
  std::map<NodeIndex, Resources> change_;
};

}  // namespace slackline::core
