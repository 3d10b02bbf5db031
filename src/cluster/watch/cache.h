// Cache: the cluster as the watch reports it, compact, and the snapshots made of it.
//
// Fed by one feeder per kind (a reflector, or the file source), each in the order of the server.
// A relist is mark and sweep: begin_relist(), an upsert() per object found, finish_relist() forgets
// what was not found; an abandoned relist removes nothing. Terminal pods are dropped, but
// those that others ended (Pod::disruption) stay in a list of their own for ten minutes. A pod
// bound to a node that is not known (yet) waits outside of the snapshot until the node appears.
// Jobs and pods enter as far as they count (cluster/watch/belief.h), and Jobs with their templates
// as admission will make their pods (core/cluster/pod_admission.h); when that changes for a
// namespace, its objects are judged again at once.
//
// Snapshots share what did not change: a node's record is copied once between two publications, and
// only if one of its pods or the node itself changed. Before nodes, pods and Jobs, and where plans
// have to prove themselves namespaces, are all listed once, snapshot() is empty with synced =
// false.
//
// Thread-safety: all methods. The observer is called on the feeder's thread, outside any lock.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/watch/belief.h"
#include "cluster/watch/fingerprint.h"
#include "cluster/watch/resource.h"
#include "cluster/watch/shelf.h"
#include "cluster/watch/source.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/model/snapshot.h"
#include "wire/kube/kube_decode.h"

namespace slackline::cluster {

// Within this time the watch shows the label of a namespace that the webhook saw.
inline constexpr double kHeardWithin_s = 10;

class Cache {
 public:
  // `observer` may be null, and `mac`, too: a dump proves nothing. All outlive the cache.
  // `schedulers` as ClusterSnapshot has them.
  Cache(const Clock& clock, ClusterObserver* observer, const MessageAuthenticator* mac = nullptr,
        bool keys_count_everywhere = false, std::vector<std::string> schedulers = {});

  void begin_relist(wire::KubeKind kind);
  void upsert(wire::KubeObject object);
  // By key; an object of another uid under that key is a successor and stays.
  void remove(const wire::KubeObject& object);
  void finish_relist(wire::KubeKind kind);
  // The keys of proofs have changed.
  void judge_anew();
  // What was read of the gangs that wait.
  void set_gang_specs(std::shared_ptr<const GangSpecs> specs);

  // Makes the present state the snapshot that snapshot() returns, if anything changed.
  SnapshotPtr publish();
  SnapshotPtr snapshot() const;

  // Waits until something changed since the last publish(), wake() is called, or the time is over.
  // True when there is something to publish.
  bool wait_for_change(double timeout_s);
  void wake();

  bool synced() const;
  std::size_t count(wire::KubeKind kind) const;
  Fingerprints fingerprints(wire::KubeKind kind) const;

 private:
  struct NodeSlot {
    std::shared_ptr<NodeState> state = std::make_shared<NodeState>();  // node null = not known yet
    std::uint64_t generation = 0;
    std::uint64_t owned_in = 0;  // the version for which `state` is the cache's own copy
    NodeIndex index = 0;         // in node_list_, while membership_changed_ is false
  };
  struct PodEntry {
    PodPtr seen;  // as the watch reported it
    PodPtr pod;   // the part that counts; the same if all of it does
    std::uint64_t generation = 0;
  };
  struct Displaced {
    PodPtr pod;
    double until_s = 0;  // steady
  };
  // Whether the plug-ins are on that read annotations of its namespace.
  struct ShownAdmission {
    double created_s = 0;  // of the pod that shows it
    bool selector_counts = true;
    bool tolerations_count = true;
  };
  struct KeyHash {
    std::size_t operator()(const ObjectKey& key) const noexcept;
  };
  // The observer's calls once the lock is released.
  struct News {
    PodPtr bound;
    PodPtr running;
    std::vector<PodPtr> ended_pods;
    std::vector<JobPtr> jobs;
    std::vector<Uid> gone_jobs;
    std::vector<DoubtedPlan> doubted;
  };

  void remove(const wire::KubeObject& object, News& news);
  void put(Node node, News& news) SLACKLINE_REQUIRES(mutex_);
  void put(Pod pod, News& news) SLACKLINE_REQUIRES(mutex_);
  void put(Job job, News& news) SLACKLINE_REQUIRES(mutex_);
  void put(Namespace ns, News& news) SLACKLINE_REQUIRES(mutex_);
  void put(const PriorityClass& priority_class, News& news) SLACKLINE_REQUIRES(mutex_);
  void put(RuntimeClass runtime, News& news) SLACKLINE_REQUIRES(mutex_);
  void put(LimitRange range, News& news) SLACKLINE_REQUIRES(mutex_);
  void put(ResourceQuota quota) SLACKLINE_REQUIRES(mutex_);
  void put(VolumeClaim claim, News& news) SLACKLINE_REQUIRES(mutex_);
  void put(Volume volume, News& news) SLACKLINE_REQUIRES(mutex_);
  void forget_claim(const ObjectKey& key, News& news) SLACKLINE_REQUIRES(mutex_);
  void forget_volume(const ObjectKey& key, News& news) SLACKLINE_REQUIRES(mutex_);
  // What PodAdmission::volumes says of a claim; judges anew what claims it and has no node.
  void find_volume_of(const ObjectKey& claim, News& news) SLACKLINE_REQUIRES(mutex_);
  void forget_limit_range(const ObjectKey& key, News& news) SLACKLINE_REQUIRES(mutex_);
  void set_limit_ranges(const std::string& ns, News& news) SLACKLINE_REQUIRES(mutex_);
  void forget_quota(const ObjectKey& key) SLACKLINE_REQUIRES(mutex_);
  void take_in(const JobPtr& seen, double due_s, News& news) SLACKLINE_REQUIRES(mutex_);
  // The part of it that counts; with the volumes of its claims, as long as it has no node.
  PodPtr judged(const PodPtr& seen, News& news) SLACKLINE_REQUIRES(mutex_);
  void judge_anew(PodEntry& entry, double due_s, News& news) SLACKLINE_REQUIRES(mutex_);
  void forget_namespace(const std::string& name, News& news) SLACKLINE_REQUIRES(mutex_);
  void forget_priority_class(const std::string& name, News& news) SLACKLINE_REQUIRES(mutex_);
  void forget_runtime_class(const std::string& name, News& news) SLACKLINE_REQUIRES(mutex_);
  // For this namespace; empty: for all. Objects that are given up by that are due then
  // (snapshot.h).
  void judge_anew(const std::string& ns, double due_s, News& news) SLACKLINE_REQUIRES(mutex_);
  void know_priority_classes() SLACKLINE_REQUIRES(mutex_);
  // Those that `which` names; empty: all.
  void judge_jobs_anew(const std::string& ns, double due_s, News& news,
                       const std::function<bool(const Job&)>& which = {})
      SLACKLINE_REQUIRES(mutex_);
  double due_for_news() const { return clock_.steady_s() + kHeardWithin_s; }
  // As ClusterSnapshot::served_by_devices; judges anew what that changes.
  void find_served_by_devices(News& news) SLACKLINE_REQUIRES(mutex_);
  void forget_node(const std::string& name) SLACKLINE_REQUIRES(mutex_);
  void forget_pod(const ObjectKey& key) SLACKLINE_REQUIRES(mutex_);
  void lose_pod(const ObjectKey& key, News& news) SLACKLINE_REQUIRES(mutex_);
  void forget_job(const ObjectKey& key, News& news) SLACKLINE_REQUIRES(mutex_);
  void sweep(wire::KubeKind kind, News& news) SLACKLINE_REQUIRES(mutex_);
  // What `take` says of the objects of a kind; of nodes and pods, which are on no shelf: nothing.
  template <class Take>
  auto of_shelf(wire::KubeKind kind, const Take& take) const SLACKLINE_REQUIRES(mutex_);
  void report(const News& news) const;

  void attach(const PodPtr& pod) SLACKLINE_REQUIRES(mutex_);
  // `replaced`: it is attached again at once, as it is now.
  void detach(const Pod& pod, bool replaced = false) SLACKLINE_REQUIRES(mutex_);
  void note_displaced(const PodPtr& pod) SLACKLINE_REQUIRES(mutex_);
  std::vector<PodPtr> displaced() SLACKLINE_REQUIRES(mutex_);
  const NamespaceList& namespaces() SLACKLINE_REQUIRES(mutex_);
  // Whether its admission added a toleration that its Job's template has not.
  bool shows_added_toleration(const Pod& pod) const SLACKLINE_REQUIRES(mutex_);
  void learn_admission_of(const Pod& pod, News& news) SLACKLINE_REQUIRES(mutex_);
  void learn_admission(News& news) SLACKLINE_REQUIRES(mutex_);
  void learn_tolerations_of(const Pod& pod) SLACKLINE_REQUIRES(mutex_);
  // The youngest pod of a namespace shows whether the annotation of node selectors counts there.
  void learn_namespace_of(const Pod& pod, News& news) SLACKLINE_REQUIRES(mutex_);
  void set_namespace_admission(const std::string& ns, News& news) SLACKLINE_REQUIRES(mutex_);
  PodAdmission& edit_admission() SLACKLINE_REQUIRES(mutex_);
  NodeState& edit(NodeSlot& slot) SLACKLINE_REQUIRES(mutex_);
  void sight(const Uid& uid, const PlanNote* plan) SLACKLINE_REQUIRES(mutex_);
  void note_progress(const Pod& pod) SLACKLINE_REQUIRES(mutex_);
  void note_loss(const Pod& pod) SLACKLINE_REQUIRES(mutex_);
  void note_success(const PodPtr& pod) SLACKLINE_REQUIRES(mutex_);
  void forget_carrier(const Uid& uid) SLACKLINE_REQUIRES(mutex_);
  template <class T>
  void give_up(std::map<ObjectKey, GivenUp<T>>& given_up, const std::shared_ptr<const T>& seen,
               const std::shared_ptr<const T>& counted, double due_s) SLACKLINE_REQUIRES(mutex_);
  void forget_sighting(const Uid& uid) SLACKLINE_REQUIRES(mutex_);
  Sightings& edit_sightings() SLACKLINE_REQUIRES(mutex_);
  void rebuild_nodes() SLACKLINE_REQUIRES(mutex_);
  std::shared_ptr<ClusterSnapshot> build() SLACKLINE_EXCLUDES(mutex_);
  std::uint64_t generation(wire::KubeKind kind) const SLACKLINE_REQUIRES(mutex_) {
    return generations_[index_of(kind)];
  }
  bool all_listed() const SLACKLINE_REQUIRES(mutex_);
  void changed() SLACKLINE_REQUIRES(mutex_);

  const Clock& clock_;
  ClusterObserver* const observer_;
  const std::vector<std::string> schedulers_;

  mutable Mutex mutex_;
  CondVar changed_cv_;
  bool changed_ SLACKLINE_GUARDED_BY(mutex_) = false;
  bool woken_ SLACKLINE_GUARDED_BY(mutex_) = false;
  std::array<std::uint64_t, kResources.size()> generations_ SLACKLINE_GUARDED_BY(mutex_){};
  std::array<bool, kResources.size()> listed_ SLACKLINE_GUARDED_BY(mutex_){};
  std::uint64_t next_version_ SLACKLINE_GUARDED_BY(mutex_) = 1;
  std::map<std::string, NodeSlot, std::less<>> nodes_ SLACKLINE_GUARDED_BY(mutex_);
  std::vector<NodeStatePtr> node_list_ SLACKLINE_GUARDED_BY(mutex_);  // known nodes, by name
  std::shared_ptr<const NodeNames> node_names_ SLACKLINE_GUARDED_BY(mutex_);
  bool membership_changed_ SLACKLINE_GUARDED_BY(mutex_) = true;
  // As a pod has shown once: Node::tolerated_by_request of all nodes.
  bool requests_are_tolerated_ SLACKLINE_GUARDED_BY(mutex_) = false;
  std::set<std::string> gone_nodes_ SLACKLINE_GUARDED_BY(mutex_);  // deleted, and have pods
  std::map<Uid, Displaced> displaced_
      SLACKLINE_GUARDED_BY(mutex_);  // as ClusterSnapshot::displaced
  std::unordered_map<ObjectKey, PodEntry, KeyHash> pods_ SLACKLINE_GUARDED_BY(mutex_);
  std::map<ObjectKey, PodPtr> unbound_ SLACKLINE_GUARDED_BY(mutex_);
  Shelf<Job> jobs_ SLACKLINE_GUARDED_BY(mutex_);
  Shelf<DisruptionBudget> budgets_ SLACKLINE_GUARDED_BY(mutex_);
  Shelf<ResourceQuota> quotas_ SLACKLINE_GUARDED_BY(mutex_);
  Shelf<Namespace> namespaces_ SLACKLINE_GUARDED_BY(mutex_);
  NamespaceList namespace_list_ SLACKLINE_GUARDED_BY(mutex_);  // `namespaces_` when last listed
  Shelf<PriorityClass> priority_classes_ SLACKLINE_GUARDED_BY(mutex_);
  Shelf<RuntimeClass> runtime_classes_ SLACKLINE_GUARDED_BY(mutex_);
  Shelf<LimitRange> limit_ranges_ SLACKLINE_GUARDED_BY(mutex_);
  Shelf<DeviceClass> device_classes_ SLACKLINE_GUARDED_BY(mutex_);
  Shelf<VolumeClaim> claims_ SLACKLINE_GUARDED_BY(mutex_);
  Shelf<Volume> volumes_ SLACKLINE_GUARDED_BY(mutex_);
  // By edit_admission(); never null.
  std::shared_ptr<PodAdmission> admission_ SLACKLINE_GUARDED_BY(mutex_) =
      std::make_shared<PodAdmission>();
  std::uint64_t admission_owned_in_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  std::map<std::string, ShownAdmission> shown_admission_
      SLACKLINE_GUARDED_BY(mutex_);  // by namespace with such annotations
  std::shared_ptr<const GangSpecs> gang_specs_ SLACKLINE_GUARDED_BY(mutex_);  // null: none yet
  Belief belief_ SLACKLINE_GUARDED_BY(mutex_);
  std::unordered_map<ObjectKey, JobPtr, KeyHash> seen_jobs_
      SLACKLINE_GUARDED_BY(mutex_);  // of those that do not count as they are
  std::map<ObjectKey, GivenUp<Job>> given_up_jobs_ SLACKLINE_GUARDED_BY(mutex_);
  std::map<ObjectKey, GivenUp<Pod>> given_up_pods_ SLACKLINE_GUARDED_BY(mutex_);
  std::shared_ptr<Sightings> sightings_ SLACKLINE_GUARDED_BY(mutex_);  // by edit_sightings()
  std::uint64_t sightings_owned_in_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  std::vector<SucceededPod> succeeded_ SLACKLINE_GUARDED_BY(mutex_);  // in order of time

  // Held while a snapshot is made, so that they come out in order; never taken under mutex_.
  Mutex publish_mutex_;
  mutable Mutex snapshot_mutex_;
  SnapshotPtr snapshot_ SLACKLINE_GUARDED_BY(snapshot_mutex_) = std::make_shared<ClusterSnapshot>();
};

}  // namespace slackline::cluster
