// Placer: which node each unbound pod of a planned task goes to.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>

#include "slackline/core/cluster/room.h"
#include "slackline/core/handover/hand_over_stage.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

struct Places {
  std::unordered_map<Uid, NodeName> node_of;  // but of pods that have missed too often
  PodPtr homeless;                  // no node takes it; the places of the others mean nothing then
  std::vector<NodeName> for_later;  // nodes of the plan for pods that do not exist yet
  bool wait_for_room = false;       // pods that were stopped for it still hold some of its places
  std::string_view moved_because;  // a code of reason.h: the plan has to name other nodes; or empty

  const NodeName* find(const Pod& pod) const {
    const auto at = node_of.find(pod.uid);
    return at == node_of.end() ? nullptr : &at->second;
  }
};

// Beside these pods of its task, as far as its own rules tell (OwnSpread).
bool may_join(const ClusterSnapshot& snapshot, const Pod& pod, const NodeName& node,
              const std::vector<NodeName>& others);

// The snapshot and the memory outlive it. A task's places are taken from the room of those that are
// placed after it.
class Placer {
 public:
  Placer(const ClusterSnapshot& snapshot, const HandOverMemory& memory, double now_steady_s,
         double now_wall_s)
      : snapshot_(snapshot),
        memory_(memory),
        now_s_(now_steady_s),
        room_(snapshot, now_steady_s, now_wall_s) {}

  // A pod keeps a nomination that stands. Else it gets the next node of the plan, else the fullest
  // one of its GPU type that has room.
  Places place(const PlannedTask& task);

  // All nodes of the plan may be used: only room is missing, and it may come back, as whoever was
  // there last may not be counted off yet.
  bool only_lacks_room(const PlannedTask& task) const;

 private:
  Room own_room(const PlannedTask& task) const;
  bool usable(const Room& room, const Pod& pod, const NodeName& node) const;
  std::optional<NodeName> home_for(const Pod& pod, std::vector<NodeName>& left,
                                   const std::vector<NodeName>& others, const Room& room,
                                   const PlannedTask& task, bool& moved) const;
  std::optional<NodeName> elsewhere(const Pod& pod, const NodeName& missed,
                                    const std::vector<NodeName>& taken, const Room& room,
                                    const PlannedTask& task) const;

  const ClusterSnapshot& snapshot_;
  const HandOverMemory& memory_;
  const double now_s_;
  RoomTable room_;
};

}  // namespace slackline::core
