// RoomTable and Room: what is free on every node for one task: allocatable, less all bound pods but
// those that are ending (ending_pods.h), and the live holds of others. Made once per snapshot; a
// Room costs what its task's holds and takes cost. A caller that decides for one task after another
// claims each Room before it asks for the next.
#pragma once

#include <map>
#include <set>
#include <unordered_set>
#include <vector>

#include "ending_pods.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/planning/node_set.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

class Room;

class RoomTable {
 public:
  RoomTable(const ClusterSnapshot& snapshot, double now_steady_s, double now_wall_s);

  // The room of the task that holds as `self` and has these pods: its own holds count as free. They
  // are searched on `nodes` only. The table outlives it.
  Room without(const HoldIdentity& self, const std::unordered_set<Uid>& pods,
               const std::set<NodeIndex>& nodes) const;
  const Resources& free(NodeIndex node) const { return free_[node]; }
  const EndingPods& ending() const { return ending_; }

  // From now on this amount more is free on the node.
  void give_back(NodeIndex node, const Resources& amount) { free_[node] += amount; }

  // The part taken from the room beyond the task's own holds is free for no other task from now on.
  // Amounts that the task gives back are not free yet.
  void claim(const Room& room);

 private:
  const ClusterSnapshot& snapshot_;
  const double now_s_;
  EndingPods ending_;
  std::vector<Resources> free_;
};

class Room {
 public:
  Resources free(NodeIndex node) const;
  bool fits(NodeIndex node, const Resources& request) const;
  // Pods that are ending hold a part of what was taken.
  bool waits_on(const NodeName& node) const;
  void take(const NodeName& node, const Resources& request);

 private:
  friend class RoomTable;
  Room(const ClusterSnapshot& snapshot, const RoomTable& table)
      : snapshot_(snapshot), table_(table) {}

  const ClusterSnapshot& snapshot_;
  const RoomTable& table_;
  std::map<NodeIndex, Resources> change_;
};

// What is free on every node once its GPU pods have ended.
RoomTable once_gpu_pods_end(const ClusterSnapshot& snapshot, RoomTable room);

// What as many such members ask for besides the GPUs that pools know: GPUs of another resource are
// among it.
Resources besides_gpus(const Pod& member, std::int64_t pods = 1);

// Of these nodes, by place, those that as many such pods may use together by their own wishes and
// by what is free besides GPUs, which FreeGpus knows.
NodeSet usable_nodes(const ClusterSnapshot& snapshot, const RoomTable& room, const Pod& member,
                     const std::vector<NodeIndex>& nodes, std::int64_t pods = 1);

}  // namespace slackline::core
