#include "slackline/core/cluster/binds_in_flight.h"

#include <algorithm>

#include "slackline/base/saturating.h"
#include "slackline/core/cluster/slots.h"

namespace slackline::core {
namespace {

bool shows_bound(const ClusterSnapshot& snapshot, const NodeName& node, const Uid& pod) {
  const auto index = snapshot.find_node(node.str());
  if (!index) return false;
  const std::vector<PodPtr>& pods = snapshot.node(*index).pods;
  const auto at = std::lower_bound(pods.begin(), pods.end(), pod,
                                   [](const PodPtr& a, const Uid& uid) { return a->uid < uid; });
  return at != pods.end() && (*at)->uid == pod;
}

bool shows_unbound(const ClusterSnapshot& snapshot, const ObjectKey& key, const Uid& pod) {
  const PodPtr waiting = snapshot.find_unbound(key);
  return waiting != nullptr && waiting->uid == pod;
}

}  // namespace

Resources self_accounted_part(const Resources& request, const GpuCatalog& catalog) {
  Resources part;
  for (const ResourceAmount& amount : request.gpus) {
    const GpuResourceRule* rule = catalog.resource(amount.resource);
    if (amount.count > 0 && rule != nullptr && rule->self_accounted)
      part.set_gpus(amount.resource, amount.count);
  }
  return part;
}

void BindsInFlight::settle(const ClusterSnapshot& snapshot, double now_steady_s) {
  std::erase_if(entries_, [&](Entry& entry) { return over(entry, snapshot, now_steady_s); });
}

bool BindsInFlight::over(Entry& entry, const ClusterSnapshot& snapshot, double now_steady_s) const {
  if (entry.state == State::kInFlight) return false;  // its answer decides
  if (shows_bound(snapshot, entry.node, entry.pod) || now_steady_s >= entry.until_s) return true;
  if (shows_unbound(snapshot, entry.key, entry.pod)) {
    entry.seen = true;
    return false;
  }
  // It was seen and now neither waits nor is on this node: it is elsewhere, ended or deleted.
  return entry.seen;
}

Booked BindsInFlight::book(const ClusterSnapshot& snapshot, const Pod& pod, const NodeName& node,
                           const GpuCatalog& catalog) {
  const bool under_way = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.pod == pod.uid && entry.state == State::kInFlight;
  });
  if (under_way) return {Booking::kUnderWay, {}};
  Entry entry{.pod = pod.uid, .key = pod.key, .node = node};
  entry.shares = self_accounted_part(pod.requests, catalog);
  entry.seen = shows_unbound(snapshot, pod.key, pod.uid);
  const auto index = snapshot.find_node(node.str());
  Entry* const again = find(pod.uid, node);
  if (!shows_bound(snapshot, node, pod.uid)) {
    for (const ResourceAmount& amount : entry.shares.gpus) {
      const std::vector<GpuCell>* cells = snapshot.node_table.cells(amount.resource);
      const std::int64_t free = index && cells != nullptr ? (*cells)[*index].free : 0;
      if (amount.count > saturating_sub(free, booked(snapshot, node, pod.uid, amount.resource)))
        return {Booking::kFull, {}};
    }
    if (again != nullptr && !again->slots.empty())
      entry.slots = again->slots;
    else if (index)
      entry.slots = choose(snapshot, *index, entry, catalog);
  }
  Booked done{Booking::kBooked, entry.slots};
  if (again != nullptr) {
    entry.doubt_until_s = again->doubt_until_s;
    *again = std::move(entry);
  } else {
    entries_.push_back(std::move(entry));
  }
  return done;
}

void BindsInFlight::bound(const Uid& pod, const NodeName& node, double now_steady_s) {
  // Then it is nowhere else, whatever order was doubtful.
  std::erase_if(entries_, [&](const Entry& entry) {
    return entry.pod == pod && entry.node != node && entry.state != State::kInFlight;
  });
  if (Entry* entry = find(pod, node)) {
    entry->state = State::kBound;
    entry->until_s = now_steady_s + kBelievedBind_s;
  }
}

void BindsInFlight::failed(const Uid& pod, const NodeName& node) {
  Entry* entry = find(pod, node);
  if (entry == nullptr) return;
  entry->state = State::kDoubtful;
  entry->until_s = entry->doubt_until_s;
  if (entry->doubt_until_s == 0) entries_.erase(entries_.begin() + (entry - entries_.data()));
}

void BindsInFlight::doubtful(const Uid& pod, const NodeName& node, double now_steady_s) {
  if (Entry* entry = find(pod, node)) {
    entry->state = State::kDoubtful;
    entry->until_s = entry->doubt_until_s = now_steady_s + kDoubtfulBind_s;
  }
}

std::vector<TakenShares> BindsInFlight::taken(const ClusterSnapshot& snapshot,
                                              const Uid& but_for) const {
  std::vector<TakenShares> all;
  for (const Entry& entry : entries_) {
    if (entry.pod == but_for || shows_bound(snapshot, entry.node, entry.pod)) continue;
    if (const auto index = snapshot.find_node(entry.node.str()))
      all.push_back({*index, entry.shares});
  }
  std::sort(all.begin(), all.end(),
            [](const TakenShares& a, const TakenShares& b) { return a.node < b.node; });
  return all;
}

BindsInFlight::Entry* BindsInFlight::find(const Uid& pod, const NodeName& node) {
  const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.pod == pod && entry.node == node;
  });
  return at == entries_.end() ? nullptr : &*at;
}

std::int64_t BindsInFlight::booked(const ClusterSnapshot& snapshot, const NodeName& node,
                                   const Uid& but_for, std::string_view resource) const {
  std::int64_t sum = 0;
  for (const Entry& entry : entries_)
    if (entry.node == node && entry.pod != but_for && !shows_bound(snapshot, node, entry.pod))
      sum = saturating_add(sum, entry.shares.gpu_count(resource));
  return sum;
}

// If one resource has no choice, the pod gets no slots: half an answer would be read as whole.
std::vector<DeviceSlots> BindsInFlight::choose(const ClusterSnapshot& snapshot, NodeIndex node,
                                               const Entry& entry,
                                               const GpuCatalog& catalog) const {
  const NodeState& state = snapshot.node(node);
  std::vector<DeviceSlots> chosen;
  for (const ResourceAmount& amount : entry.shares.gpus) {
    SlotsInUse in_use;
    for (const PodPtr& pod : state.pods)
      in_use.add(amount.resource, pod->requests.gpu_count(amount.resource), pod->device_slots);
    for (const Entry& other : entries_)
      if (other.node == entry.node && other.pod != entry.pod &&
          !shows_bound(snapshot, other.node, other.pod))
        in_use.add(amount.resource, other.shares.gpu_count(amount.resource), other.slots);
    auto slots =
        choose_slots(slot_layout(*state.node, amount.resource, catalog), in_use, amount.count);
    if (!slots) return {};
    chosen.push_back({amount.resource, *std::move(slots)});
  }
  return chosen;
}

}  // namespace slackline::core
