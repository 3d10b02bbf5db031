#include "cluster/watch/cache.h"

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>

#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/make_snapshot.h"

namespace slackline::cluster {

using wire::KubeKind;

namespace {

constexpr std::size_t kMostDisplaced = 4096;
constexpr double kDisplacedFor_s = 600;

}  // namespace

std::size_t Cache::KeyHash::operator()(const ObjectKey& key) const noexcept {
  const std::hash<std::string> hash;
  return hash(key.ns) * 31 + hash(key.name);
}

Cache::Cache(const Clock& clock, ClusterObserver* observer, const MessageAuthenticator* mac,
             bool keys_count_everywhere, std::vector<std::string> schedulers)
    : clock_(clock),
      observer_(observer),
      schedulers_(std::move(schedulers)),
      belief_(mac, keys_count_everywhere) {}

void Cache::begin_relist(KubeKind kind) {
  MutexLock lock(mutex_);
  ++generations_[index_of(kind)];
}

void Cache::report(const News& news) const {
  if (observer_ == nullptr) return;
  if (news.bound) observer_->on_pod_bound(*news.bound, clock_.wall_s());
  if (news.running) observer_->on_pod_running(*news.running);
  for (const PodPtr& pod : news.ended_pods)
    observer_->on_pod_ended(*pod);
  for (const Uid& uid : news.gone_jobs)
    observer_->on_job_gone(uid);
  for (const JobPtr& job : news.jobs)
    observer_->on_job(*job);
  for (const DoubtedPlan& plan : news.doubted)
    observer_->on_plan_doubted(plan.kind, plan.carrier, plan.doubt);
}

void Cache::finish_relist(KubeKind kind) {
  News news;
  {
    MutexLock lock(mutex_);
    sweep(kind, news);
    const bool first = !std::exchange(listed_[index_of(kind)], true);
    if (first && kind == KubeKind::kNamespace) judge_anew("", due_for_news(), news);
    if (first && kind == KubeKind::kPriorityClass) {
      know_priority_classes();
      judge_jobs_anew("", due_for_news(), news);
    }
    if (first && kind == KubeKind::kRuntimeClass && belief_.proves()) {
      edit_admission().knows_all_classes = true;  // a dump may lack some
      judge_jobs_anew("", due_for_news(), news);
    }
    if (first) learn_admission(news);
    if (kind == KubeKind::kNode || kind == KubeKind::kDeviceClass) find_served_by_devices(news);
    changed();
  }
  report(news);
}

void Cache::put(Node node, News& news) {
  NodeSlot& slot = nodes_[node.name.str()];
  gone_nodes_.erase(node.name.str());
  if (!slot.state->node) membership_changed_ = true;
  slot.generation = generation(KubeKind::kNode);
  node.tolerated_by_request |= requests_are_tolerated_;
  edit(slot).node = std::make_shared<const Node>(std::move(node));
  find_served_by_devices(news);
}

void Cache::put(Pod fresh, News& news) {
  const auto at = pods_.find(fresh.key);
  const PodPtr old = at == pods_.end() ? nullptr : at->second.pod;
  const bool same_pod = old && old->uid == fresh.uid;
  const auto seen = std::make_shared<const Pod>(std::move(fresh));
  const PodPtr pod = judged(seen, news);
  // A terminal pod that was never seen unbound is not news: only the step to "bound" is reported.
  const bool newly_bound = pod->bound() && (same_pod ? !old->bound() : !pod->terminal());
  const bool newly_running =
      pod->bound() && pod->started_s &&
      (same_pod ? !old->started_s || old->restarted != pod->restarted : !pod->terminal());
  if (newly_bound) news.bound = pod;
  if (newly_running) news.running = pod;
  if (pod->terminal()) {
    if (pod->bound()) news.ended_pods.push_back(pod);
    if (old && old->bound() && pod->phase == PodPhase::kFailed) note_loss(*old);
    if (old && pod->phase == PodPhase::kSucceeded) note_success(old);
    if (old) forget_pod(pod->key);
    note_displaced(pod);
    belief_.forget(pod->uid);
    return;
  }
  if (old) {
    detach(*old, pod->node == old->node);
    if (!same_pod) {
      if (old->bound()) news.ended_pods.push_back(old);
      forget_carrier(old->uid);
    }
  }
  pods_[pod->key] = PodEntry{seen, pod, generation(KubeKind::kPod)};
  give_up(given_up_pods_, seen, pod, due_for_news());
  attach(pod);
  sight(pod->uid, pod->plan.get());
  if (!same_pod || newly_bound) note_progress(*pod);
  if (!same_pod) learn_admission_of(*pod, news);
}

void Cache::put(Job job, News& news) {
  const ObjectKey key = job.key;
  const auto at = jobs_.entries.find(key);
  if (at != jobs_.entries.end() && at->second.object->uid != job.uid) {
    forget_carrier(at->second.object->uid);
    news.gone_jobs.push_back(at->second.object->uid);
  }
  take_in(std::make_shared<const Job>(std::move(job)), due_for_news(), news);
  jobs_.entries[key].generation = generation(KubeKind::kJob);
}

void Cache::forget_node(const std::string& name) {
  const auto at = nodes_.find(name);
  if (at == nodes_.end() || !at->second.state->node) return;
  membership_changed_ = true;
  if (at->second.state->pods.empty()) {
    nodes_.erase(at);
  } else {
    edit(at->second).node = nullptr;  // its pods wait for it, or for their own deletion
    gone_nodes_.insert(name);
  }
}

void Cache::forget_pod(const ObjectKey& key) {
  const auto at = pods_.find(key);
  if (at == pods_.end()) return;
  const PodPtr pod = at->second.pod;
  pods_.erase(at);
  given_up_pods_.erase(key);
  forget_carrier(pod->uid);
  detach(*pod);
}

// It was deleted before its end.
void Cache::lose_pod(const ObjectKey& key, News& news) {
  const auto at = pods_.find(key);
  if (at == pods_.end()) return;
  note_loss(*at->second.pod);
  if (at->second.pod->bound()) {
    news.ended_pods.push_back(at->second.pod);
    note_displaced(at->second.pod);
  }
  forget_pod(key);
}

void Cache::forget_job(const ObjectKey& key, News& news) {
  const auto at = jobs_.entries.find(key);
  if (at == jobs_.entries.end()) return;
  news.gone_jobs.push_back(at->second.object->uid);
  forget_carrier(at->second.object->uid);
  seen_jobs_.erase(key);
  given_up_jobs_.erase(key);
  jobs_.forget(key);
}

namespace {

auto place_of(std::vector<PodPtr>& pods, const Uid& uid) {
  return std::lower_bound(pods.begin(), pods.end(), uid,
                          [](const PodPtr& pod, const Uid& wanted) { return pod->uid < wanted; });
}

// Summed again, not adjusted: nobody would notice a rounding error or a lost subtraction.
Resources sum_of(const std::vector<PodPtr>& pods) {
  Resources sum;
  for (const PodPtr& pod : pods)
    sum += pod->requests;
  return sum;
}

}  // namespace

void Cache::attach(const PodPtr& pod) {
  if (!pod->bound()) {
    unbound_[pod->key] = pod;
    return;
  }
  NodeState& state = edit(nodes_[pod->node.str()]);
  state.pods.insert(place_of(state.pods, pod->uid), pod);
  state.used = sum_of(state.pods);
}

void Cache::detach(const Pod& pod, bool replaced) {
  if (!pod.bound()) {
    unbound_.erase(pod.key);
    return;
  }
  const auto at = nodes_.find(pod.node.str());
  if (at == nodes_.end()) return;
  NodeState& state = edit(at->second);
  const auto place = place_of(state.pods, pod.uid);
  if (place != state.pods.end() && (*place)->uid == pod.uid) state.pods.erase(place);
  state.used = sum_of(state.pods);
  if (state.node || !state.pods.empty() || replaced) return;
  gone_nodes_.erase(at->first);
  nodes_.erase(at);
}

void Cache::note_displaced(const PodPtr& pod) {
  const bool fell_short = pod->phase == PodPhase::kFailed && pod->memory_shortage();
  if ((!pod->disruption && !fell_short) || !pod->bound() || !pod->managed) return;
  if (pod->phase == PodPhase::kSucceeded) return;  // it was told to end, and had nothing left to do
  if (displaced_.size() >= kMostDisplaced) displaced_.erase(displaced_.begin());
  displaced_[pod->uid] = {pod, clock_.steady_s() + kDisplacedFor_s};
}

void Cache::note_success(const PodPtr& pod) {
  const bool of_job = pod->owner && pod->owner->kind == "Job";
  if (!of_job || !pod->bound() || !pod->managed || !pod->requests.wants_gpus()) return;
  const auto job = jobs_.entries.find({pod->key.ns, pod->owner->name});
  if (job == jobs_.entries.end() || job->second.object->uid != pod->owner->uid) return;
  succeeded_.push_back({pod, clock_.steady_s(), job->second.object->succeeded});
}

std::vector<PodPtr> Cache::displaced() {
  const double now_s = clock_.steady_s();
  std::erase_if(displaced_, [&](const auto& entry) { return entry.second.until_s < now_s; });
  std::vector<PodPtr> pods;
  for (const auto& [uid, entry] : displaced_)
    pods.push_back(entry.pod);
  for (const std::string& name : gone_nodes_)
    for (const PodPtr& pod : nodes_.find(name)->second.state->pods)
      if (!displaced_.contains(pod->uid)) pods.push_back(pod);
  std::sort(pods.begin(), pods.end(),
            [](const PodPtr& a, const PodPtr& b) { return a->uid < b->uid; });
  return pods;
}

const NamespaceList& Cache::namespaces() {
  if (namespaces_.list_outdated)
    namespace_list_ = std::make_shared<const NamespaceList::element_type>(namespaces_.sorted());
  return namespace_list_;
}

// A record that only this version under construction owns: copied at the first change after a
// publication.
NodeState& Cache::edit(NodeSlot& slot) {
  if (slot.owned_in != next_version_) {
    slot.state = std::make_shared<NodeState>(*slot.state);
    slot.owned_in = next_version_;
    if (!membership_changed_ && slot.state->node) node_list_[slot.index] = slot.state;
  }
  return *slot.state;
}

// As a node's record: copied at the first change after a publication.
Sightings& Cache::edit_sightings() {
  if (sightings_owned_in_ != next_version_) {
    sightings_ =
        sightings_ ? std::make_shared<Sightings>(*sightings_) : std::make_shared<Sightings>();
    sightings_owned_in_ = next_version_;
  }
  return *sightings_;
}

void Cache::forget_sighting(const Uid& uid) {
  if (sightings_ && sightings_->contains(uid)) edit_sightings().erase(uid);
}

void Cache::forget_carrier(const Uid& uid) {
  forget_sighting(uid);
  belief_.forget(uid);
}

void Cache::sight(const Uid& uid, const PlanNote* plan) {
  if (plan == nullptr) {
    forget_sighting(uid);
    return;
  }
  const double now_s = clock_.steady_s();
  const auto [at, first] = edit_sightings().try_emplace(uid);
  if (first || at->second.value_hash != plan->value_hash)
    at->second = PlanSighting{plan->value_hash, now_s, now_s, {}, plan->later > 0};
}

// A pod of a planned task appeared or was bound: the hand-over goes on. An expired hold stays
// expired: its GPUs may be in use by others.
void Cache::note_progress(const Pod& pod) {
  const double now_s = clock_.steady_s();
  Sightings& sightings = edit_sightings();
  for (const Uid& uid : {pod.uid, pod.owner ? pod.owner->uid : Uid{}}) {
    const auto at = sightings.find(uid);
    if (at == sightings.end()) continue;
    PlanSighting& sighting = at->second;
    if (now_s < std::max(sighting.first_seen_s, sighting.last_progress_s) + core::kPlanHold_s)
      sighting.last_progress_s = now_s;
  }
}

// Of a Job, and of the gang that carries the pod's plan.
void Cache::note_loss(const Pod& pod) {
  const auto note = [&](const Uid& carrier) SLACKLINE_REQUIRES(mutex_) {
    if (sightings_ && sightings_->contains(carrier))
      edit_sightings().at(carrier).lost_s = clock_.steady_s();
  };
  if (pod.owner) note(pod.owner->uid);
  if (!pod.plan || !pod.bound()) return;
  const std::set<NodeName> names(pod.plan->nodes.begin(), pod.plan->nodes.end());
  for (const NodeName& name : names)
    if (const auto at = nodes_.find(name.str()); at != nodes_.end())
      for (const PodPtr& other : at->second.state->pods)
        if (other->uid != pod.uid && other->plan && other->plan->id == pod.plan->id)
          note(other->uid);
}

void Cache::rebuild_nodes() {
  node_list_.clear();
  for (auto& [name, slot] : nodes_) {
    if (!slot.state->node) continue;
    slot.index = static_cast<NodeIndex>(node_list_.size());
    node_list_.push_back(slot.state);
  }
  node_names_ = std::make_shared<const NodeNames>(node_list_, process_hash_key());
  membership_changed_ = false;
}

std::shared_ptr<ClusterSnapshot> Cache::build() {
  MutexLock lock(mutex_);
  if (!changed_ || !all_listed()) {
    changed_ = false;
    return nullptr;
  }
  changed_ = false;
  if (membership_changed_) rebuild_nodes();
  auto next = std::make_shared<ClusterSnapshot>();
  next->version = next_version_++;
  next->synced = true;
  next->nodes = node_list_;
  next->node_names = node_names_;
  next->unbound.reserve(unbound_.size());
  for (const auto& [key, pod] : unbound_)
    next->unbound.push_back(pod);
  next->displaced = displaced();
  next->jobs = jobs_.sorted();
  next->budgets = budgets_.sorted();
  next->quotas = quotas_.sorted();
  next->namespaces = namespaces();
  next->admission = admission_;
  next->served_by_devices = belief_.served_by_devices();
  next->schedulers = schedulers_;
  next->gang_specs = gang_specs_;
  for (const auto& [key, each] : given_up_jobs_)
    next->given_up_jobs.push_back(each);
  for (const auto& [key, each] : given_up_pods_)
    next->given_up_pods.push_back(each);
  next->sightings = sightings_;
  std::erase_if(succeeded_, [ended_by_s = clock_.steady_s() - core::kNextPodWithin_s](
                                const SucceededPod& each) { return each.at_s <= ended_by_s; });
  next->succeeded = succeeded_;
  next->taken_on_trust = !belief_.proves();
  return next;
}

SnapshotPtr Cache::publish() {
  MutexLock order(publish_mutex_);
  if (auto next = build()) {
    *next = core::make_snapshot(std::move(*next));
    SnapshotPtr other = std::move(next);  // then the old one, which dies outside the lock
    MutexLock lock(snapshot_mutex_);
    snapshot_.swap(other);
  }
  return snapshot();
}

SnapshotPtr Cache::snapshot() const {
  MutexLock lock(snapshot_mutex_);
  return snapshot_;
}

bool Cache::wait_for_change(double timeout_s) {
  const double until_s = clock_.steady_s() + timeout_s;
  MutexLock lock(mutex_);
  for (double left_s = timeout_s; !changed_ && !woken_ && left_s > 0;
       left_s = until_s - clock_.steady_s())
    changed_cv_.wait_for_s(mutex_, left_s);
  woken_ = false;
  return changed_;
}

void Cache::wake() {
  MutexLock lock(mutex_);
  woken_ = true;
  changed_cv_.notify_all();
}

void Cache::changed() {
  changed_ = true;
  changed_cv_.notify_all();
}

bool Cache::all_listed() const {
  for (const ResourceSpec& resource : kResources)
    if (resource.required && is_asked_for(resource.kind, !belief_.proves()) &&
        !listed_[index_of(resource.kind)])
      return false;
  return true;
}

bool Cache::synced() const {
  MutexLock lock(mutex_);
  return all_listed();
}

}  // namespace slackline::cluster
