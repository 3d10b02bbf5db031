#include "slackline/core/handover/own_writes.h"

#include <algorithm>
#include <map>

#include "slackline/core/cluster/holds.h"

namespace slackline::core {
namespace {

// The Job and the pod as they are once the write is seen.

void apply_shape(const ShapeChange& shape, Job& job) {
  if (shape.original) job.original = shape.original;
  if (shape.amounts && job.amounts) {
    change_amounts(job.pod_requests, *job.amounts, shape.amounts->amounts);
    job.amounts = shape.amounts->amounts;
    job.cpu_limit_milli = limited_cpu_milli(*job.amounts);
  }
  if (!shape.reshape) return;
  if (shape.reshape->parallelism > 0)
    job.completions = job.parallelism = shape.reshape->parallelism;
  if (!shape.reshape->container.empty())
    job.pod_requests.set_gpus(shape.reshape->gpu_resource, shape.reshape->gpus);
}

void set_suspended(bool suspended, Job& job) {
  job.suspended = suspended;
  job.suspended_by_us = suspended && !job.kueue;
  job.halted = job.halted && suspended;
}

void apply(const ReleaseJob& release, Job& job) {
  job.plan = release.plan;
  job.generation = release.generation;
  set_suspended(false, job);
  apply_shape(release.shape, job);
}

void apply(const OpenJob& open, Job& job) {
  job.plan = nullptr;
  set_suspended(false, job);
  apply_shape(open.shape, job);
}

void apply(const SuspendJob& /*suspend*/, Job& job) {
  job.plan = nullptr;
  set_suspended(true, job);
}

void apply(const StopJob& stop, Job& job) {
  apply(SuspendJob{}, job);
  job.preemptions = stop.preemptions;
}

void apply(const ClearPlan& /*clear*/, Job& job) {
  job.plan = nullptr;
}

void apply(const EndCalibration& /*end*/, Job& job) {
  job.active_deadline_s = kEndedBy_s;
}

void apply(const RemoveCalibration& /*remove*/, Job& job) {
  job.finished = true;
}

void apply(const JobChange& change, Job& job) {
  job.plan_doubt = PlanDoubt::kNone;
  std::visit([&](const auto& kind) { apply(kind, job); }, change);
}

void apply(const PlanPod& planned, Pod& pod) {
  pod.plan = planned.plan;
  pod.plan_doubt = PlanDoubt::kNone;
}

void apply(const UnplanPod& /*unplan*/, Pod& pod) {
  pod.plan = nullptr;
  pod.plan_doubt = PlanDoubt::kNone;
}

void apply(const Nominate& nominate, Pod& pod) {
  pod.nominated_node = nominate.node;
}

void apply(const ClearNomination& /*clear*/, Pod& pod) {
  pod.nominated_node = NodeName();
}

void apply(const NarrowPod& narrow, Pod& pod) {
  auto own = pod.constraints ? *pod.constraints : SchedulingConstraints{};
  own.affinity_terms = narrow.affinity_terms;
  pod.constraints = std::make_shared<const SchedulingConstraints>(std::move(own));
}

void apply(const LiftGate& /*lift*/, Pod& pod) {
  pod.our_gate = false;
  pod.gated = pod.foreign_gate;
}

void apply(const TellOfStop& tell, Pod& pod) {
  pod.notice = tell.notice;
  pod.notice_doubted = false;
}

void apply(const TakeBackStop& /*take_back*/, Pod& pod) {
  pod.notice = nullptr;
  pod.notice_doubted = false;
}

void apply(const EvictPod& /*evict*/, Pod& pod) {
  pod.deleting = true;
}

void apply(const PodChange& change, Pod& pod) {
  std::visit([&](const auto& kind) { apply(kind, pod); }, change);
}

// The object of the list with this key, which is sorted by it; end() where there is none.
template <class T>
auto place_of(T& list, const ObjectKey& key) {
  const auto at = std::lower_bound(
      list.begin(), list.end(), key,
      [](const auto& object, const ObjectKey& wanted) { return object->key < wanted; });
  return at != list.end() && (*at)->key == key ? at : list.end();
}

template <class T, class Change>
void apply_in(std::vector<std::shared_ptr<const T>>& list, const Target& target,
              const Change& change) {
  const auto at = place_of(list, target.key);
  if (at == list.end() || (*at)->uid != target.uid) return;
  auto changed = std::make_shared<T>(**at);
  apply(change, *changed);
  *at = std::move(changed);
}

template <class T, class Change>
void apply_in(std::vector<GivenUp<T>>& list, const Target& target, const Change& change) {
  for (GivenUp<T>& each : list) {
    if (each.object->uid != target.uid) continue;
    auto changed = std::make_shared<T>(*each.object);
    apply(change, *changed);
    each.object = std::move(changed);
  }
}

// The place of the bound pod on its node; nullptr where it is gone. O(pods of the node).
const PodPtr* bound_pod(const NodeState& state, const Target& target) {
  const auto at = std::find_if(state.pods.begin(), state.pods.end(),
                               [&](const PodPtr& pod) { return pod->uid == target.uid; });
  return at == state.pods.end() ? nullptr : &*at;
}

void apply_to_bound(ClusterSnapshot& after, const Target& target, const PodChange& change) {
  const auto index = after.find_node(target.node.str());
  if (!index || bound_pod(after.node(*index), target) == nullptr) return;
  auto state = std::make_shared<NodeState>(after.node(*index));
  for (PodPtr& pod : state->pods) {
    if (pod->uid != target.uid) continue;
    auto changed = std::make_shared<Pod>(*pod);
    apply(change, *changed);
    pod = std::move(changed);
  }
  after.nodes[*index] = std::move(state);
}

// The resourceVersion of the very object; nullptr where it is gone, bound since, or replaced.
template <class List>
const std::string* version_in(const List& list, const Target& target) {
  const auto at = place_of(list, target.key);
  return at != list.end() && (*at)->uid == target.uid ? &(*at)->resource_version : nullptr;
}

bool is_ending(const ClusterSnapshot& snapshot, const Target& target) {
  const auto index = snapshot.find_node(target.node.str());
  const PodPtr* pod = index ? bound_pod(snapshot.node(*index), target) : nullptr;
  return pod != nullptr && (*pod)->deleting;
}

const std::string* version_of(const ClusterSnapshot& snapshot, const OwnWrite& write) {
  if (!write.target.node.empty()) {
    const auto index = snapshot.find_node(write.target.node.str());
    const PodPtr* pod = index ? bound_pod(snapshot.node(*index), write.target) : nullptr;
    return pod == nullptr ? nullptr : &(*pod)->resource_version;
  }
  return write.of_job() ? version_in(snapshot.jobs, write.target)
                        : version_in(snapshot.unbound, write.target);
}

}  // namespace

ClusterSnapshot with_writes(const ClusterSnapshot& snapshot, const std::vector<OwnWrite>& writes) {
  ClusterSnapshot after = snapshot;
  for (const OwnWrite& write : writes) {
    if (const auto* of_job = std::get_if<JobChange>(&write.change)) {
      apply_in(after.jobs, write.target, *of_job);
      apply_in(after.given_up_jobs, write.target, *of_job);
    } else if (const auto* of_pod = std::get_if<PodChange>(&write.change)) {
      if (!write.target.node.empty()) {
        apply_to_bound(after, write.target, *of_pod);
        continue;
      }
      apply_in(after.unbound, write.target, *of_pod);
      apply_in(after.given_up_pods, write.target, *of_pod);
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
  entry.base_version = write.target.resource_version;
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
  Entry* entry = find(number);
  if (entry == nullptr) return;
  entry->answered = true;
  entry->written_version = std::move(resource_version);
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
    if (entry.write.is<EvictPod>() && is_ending(snapshot, entry.write.target)) return true;
    if (entry.base_version.empty()) entry.base_version = *seen;
    if (!entry.doubtful_until_s) return false;
    // What else happens to a pod does not tell whether it was evicted.
    if (!entry.write.is<EvictPod>() && *seen != entry.base_version) return true;
    const bool over = now_steady_s >= *entry.doubtful_until_s;
    gave_up |= over;
    return over;
  });
  return gave_up;
}

bool OwnWrites::waiting_for(const Uid& uid) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.write.target.uid == uid && !entry.answered;
  });
}

std::unordered_set<Uid> OwnWrites::unanswered() const {
  std::unordered_set<Uid> uids;
  for (const Entry& entry : entries_)
    if (!entry.answered) uids.insert(entry.write.target.uid);
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
