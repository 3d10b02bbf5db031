// BindsInFlight: GPU shares that Slackline's bindings have assigned and that the watch does not
// show yet. Counting without them would assign the same share twice.
//
//   book ---> in flight --- bound -------> bound -----+--- a snapshot shows the pod there, or
//                 |                                   |    nowhere any more, or kBelieved_s -> gone
//                 +------ doubtful ------> doubtful --+--- or the time is over -----------> gone
//                 +------ failed -----------------------------------------------------------> gone
//
// It books only self-accounted resources (GpuResourceRule::self_accounted); kube-scheduler knows
// more about all others. A pod is in flight to one node at a time.
//
// Pure; the owner locks. Calls take O(entries) and a few look-ups in the snapshot for each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "slackline/model/device_slots.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/ids.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// How long an API server may take to do what it did not answer in time.
inline constexpr double kDoubtfulBind_s = 60;
// A binding that was answered with success but that the watch never shows did not happen.
inline constexpr double kBelievedBind_s = 300;

// Shares of a node that are assigned in addition to what the snapshot shows.
struct TakenShares {
  NodeIndex node = 0;
  Resources amount;
};

enum class Booking : std::uint8_t { kBooked, kFull, kUnderWay };

struct Booked {
  Booking booking = Booking::kFull;
  // Which of the node's slots the pod gets. Empty: it gets its shares, but the slots that other
  // pods name leave no choice; or it is on the node already.
  std::vector<DeviceSlots> slots;
};

class BindsInFlight {
 public:
  // Removes the entries that `snapshot` shows. The snapshot must not be older than the last.
  void settle(const ClusterSnapshot& snapshot, double now_steady_s);

  // Books what the pod asks for, if it is free besides everything booked. kUnderWay: a binding of
  // this pod is not answered yet. `snapshot` is the one that was settled with last. A repeated
  // order of a pod to a node has the same slots: the first may still happen.
  Booked book(const ClusterSnapshot& snapshot, const Pod& pod, const NodeName& node,
              const GpuCatalog& catalog);

  void bound(const Uid& pod, const NodeName& node, double now_steady_s);
  // It did not happen and will not. An earlier one that is doubtful stays so.
  void failed(const Uid& pod, const NodeName& node);
  // It may have happened, or may still happen.
  void doubtful(const Uid& pod, const NodeName& node, double now_steady_s);

  // The shares booked for all other pods, sorted by node; a node may occur more than once.
  std::vector<TakenShares> taken(const ClusterSnapshot& snapshot, const Uid& but_for) const;
  std::size_t size() const { return entries_.size(); }

 private:
  enum class State : std::uint8_t { kInFlight, kBound, kDoubtful };
  struct Entry {
    Uid pod;
    ObjectKey key;
    NodeName node;
    Resources shares{};
    std::vector<DeviceSlots> slots{};
    State state = State::kInFlight;
    double until_s = 0;        // of kBound and kDoubtful
    double doubt_until_s = 0;  // an earlier order to this node may still happen
    bool seen = false;         // a snapshot has shown the pod
  };

  Entry* find(const Uid& pod, const NodeName& node);
  bool over(Entry& entry, const ClusterSnapshot& snapshot, double now_steady_s) const;
  // On the node, for all other pods, in addition to what the snapshot shows.
  std::int64_t booked(const ClusterSnapshot& snapshot, const NodeName& node, const Uid& but_for,
                      std::string_view resource) const;
  std::vector<DeviceSlots> choose(const ClusterSnapshot& snapshot, NodeIndex node,
                                  const Entry& entry, const GpuCatalog& catalog) const;

  std::vector<Entry> entries_;
};

// The part of a request that only Slackline counts.
Resources self_accounted_part(const Resources& request, const GpuCatalog& catalog);

}  // namespace slackline::core
