#include "slackline/core/cluster/own_writes.h"

#include <algorithm>
#include <map>

#include "slackline/core/cluster/holds.h"

namespace slackline::core {
namespace {

void apply(const OwnWrite& write, Job& job) {
  job.plan = write.plan;
  job.plan_doubt = PlanDoubt::kNone;
  if (write.kind == OwnWriteKind::kClearPlan) return;
  job.suspended = write.kind == OwnWriteKind::kSuspendJob;
  job.suspended_by_us = job.suspended;
  job.halted = job.halted && job.suspended;
  job.generation = write.generation;
  if (write.original) job.original = write.original;
  if (!write.reshape) return;
  job.parallelism = write.reshape->parallelism;
  job.completions = write.reshape->parallelism;
  if (!write.reshape->container.empty())
    job.pod_requests.set_gpus(write.reshape->gpu_resource, write.reshape->gpus);
}

void narrow(Pod& pod, const std::vector<NodeSelectorTerm>& terms) {
  auto own = pod.constraints ? *pod.constraints : SchedulingConstraints{};
  own.affinity_terms = terms;
  pod.constraints = std::make_shared<const SchedulingConstraints>(std::move(own));
}

void apply(const OwnWrite& write, Pod& pod) {
  switch (write.kind) {
    case OwnWriteKind::kPlanPod:
      pod.plan = write.plan;
      pod.plan_doubt = PlanDoubt::kNone;
      break;
    case OwnWriteKind::kNominate:
      pod.nominated_node = write.node;
      break;
    case OwnWriteKind::kClearNomination:
      pod.nominated_node = NodeName();
      break;
    case OwnWriteKind::kNarrowPod:
      narrow(pod, *write.affinity_terms);
      break;
    case OwnWriteKind::kLiftGate:
      pod.our_gate = false;
      pod.gated = pod.foreign_gate;
      break;
    case OwnWriteKind::kReleaseJob:
    case OwnWriteKind::kClearPlan:
    case OwnWriteKind::kOpenJob:
    case OwnWriteKind::kSuspendJob:
      break;
  }
}

// The object of the list with this key, which is sorted by it; end() where there is none.
template <class T>
auto place_of(T& list, const ObjectKey& key) {
  const auto at = std::lower_bound(
      list.begin(), list.end(), key,
      [](const auto& object, const ObjectKey& wanted) { return object->key < wanted; });
  return at != list.end() && (*at)->key == key ? at : list.end();
}

template <class T>
void apply_in(std::vector<std::shared_ptr<const T>>& list, const OwnWrite& write) {
  const auto at = place_of(list, write.key);
  if (at == list.end() || (*at)->uid != write.uid) return;
  auto changed = std::make_shared<T>(**at);
  apply(write, *changed);
  *at = std::move(changed);
}

template <class T>
void apply_in(std::vector<GivenUp<T>>& list, const OwnWrite& write) {
  for (GivenUp<T>& each : list) {
    if (each.object->uid != write.uid) continue;
    auto changed = std::make_shared<T>(*each.object);
    apply(write, *changed);
    each.object = std::move(changed);
  }
}

// Of the very object; nullptr where it is gone, bound or replaced.
const std::string* version_of(const ClusterSnapshot& snapshot, const OwnWrite& write) {
  if (writes_job(write.kind)) {
    const auto at = place_of(snapshot.jobs, write.key);
    return at != snapshot.jobs.end() && (*at)->uid == write.uid ? &(*at)->resource_version
                                                                : nullptr;
  }
  const auto at = place_of(snapshot.unbound, write.key);
  return at != snapshot.unbound.end() && (*at)->uid == write.uid ? &(*at)->resource_version
                                                                 : nullptr;
}

}  // namespace

ClusterSnapshot with_writes(const ClusterSnapshot& snapshot, const std::vector<OwnWrite>& writes) {
  ClusterSnapshot after = snapshot;
  for (const OwnWrite& write : writes) {
    if (writes_job(write.kind)) {
      apply_in(after.jobs, write);
      apply_in(after.given_up_jobs, write);
    } else {
      apply_in(after.unbound, write);
      apply_in(after.given_up_pods, write);
    }
  }
  after.holds = derive_holds(after);
  return after;
}

bool shows_version(std::string_view seen, std::string_view written) {
  if (seen.size() != written.size()) return seen.size() > written.size();
  return seen >= written;
}

std::uint64_t OwnWrites::sent(OwnWrite write) {
  Entry entry;
  entry.number = next_number_++;
  entry.base_version = write.resource_version;
  entry.write = std::move(write);
  entries_.push_back(std::move(entry));
  return entries_.back().number;
}

OwnWrites::Entry* OwnWrites::find(std::uint64_t number) {
  const auto at = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& entry) { return entry.number == number; });
  return at == entries_.end() ? nullptr : &*at;
}

void OwnWrites::written(std::uint64_t number, std::string resource_version) {
  if (Entry* entry = find(number)) entry->written_version = std::move(resource_version);
}

void OwnWrites::failed(std::uint64_t number) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.number == number; });
}

void OwnWrites::doubtful(std::uint64_t number, double until_steady_s) {
  if (Entry* entry = find(number)) entry->doubtful_until_s = until_steady_s;
}

bool OwnWrites::settle(const ClusterSnapshot& snapshot, double now_steady_s) {
  bool gave_up = false;
  std::erase_if(entries_, [&](Entry& entry) {
    const std::string* seen = version_of(snapshot, entry.write);
    if (seen == nullptr) return true;
    if (!entry.written_version.empty()) return shows_version(*seen, entry.written_version);
    if (entry.base_version.empty()) entry.base_version = *seen;
    if (!entry.doubtful_until_s) return false;
    if (*seen != entry.base_version) return true;
    const bool over = now_steady_s >= *entry.doubtful_until_s;
    gave_up |= over;
    return over;
  });
  return gave_up;
}

bool OwnWrites::waiting_for(const Uid& uid) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.write.uid == uid && entry.written_version.empty();
  });
}

std::unordered_set<Uid> OwnWrites::unanswered() const {
  std::unordered_set<Uid> uids;
  for (const Entry& entry : entries_)
    if (entry.written_version.empty()) uids.insert(entry.write.uid);
  return uids;
}

std::vector<OwnWrite> OwnWrites::writes() const {
  std::vector<OwnWrite> writes;
  writes.reserve(entries_.size());
  for (const Entry& entry : entries_)
    writes.push_back(entry.write);
  return writes;
}

}  // namespace slackline::core
