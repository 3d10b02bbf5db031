// ClusterSnapshot: the cluster at one moment, immutable and shared. Every decision is a pure
// function of it.
//
// Thread-safety: immutable after publication; readers hold a shared_ptr<const ClusterSnapshot>.
// Structure: per-node records are shared between successive snapshots, so that publishing after one
// event copies pointers, not pods. What every request asks of every node lies side by side in
// node_table.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "slackline/model/namespace.h"
#include "slackline/model/node_names.h"
#include "slackline/model/node_state.h"
#include "slackline/model/node_table.h"
#include "slackline/model/pod.h"
#include "slackline/model/pod_admission.h"
#include "slackline/model/quota.h"
#include "slackline/model/resize.h"

namespace slackline {

using JobPtr = std::shared_ptr<const Job>;

// When this daemon first saw a plan value and when its task last progressed, on the steady clock: a
// plan's hold expires by these times, never by a timestamp in an annotation.
struct PlanSighting {
  std::uint64_t value_hash = 0;
  double first_seen_s = 0;
  double last_progress_s = 0;
  // When a member last ended without success, or was deleted: its replacement gets its place.
  std::optional<double> lost_s{};
  bool awaits_others = false;  // the plan has nodes for members to come
};
using Sightings = std::unordered_map<Uid, PlanSighting>;  // by uid of the object with the plan

// An object with marks of Slackline that hold it back, in a namespace that Slackline does not
// manage.
template <class T>
struct GivenUp {
  std::shared_ptr<const T> object;  // as it is
  // Steady: not returned to the scheduler before. Its namespace may have got the label a moment
  // before the object was created, and the two are seen in any order.
  double due_s = 0;
};

// A pod of a Job that has succeeded on its node, which may make another one now.
struct SucceededPod {
  PodPtr pod;                // as it ran
  double at_s = 0;           // steady
  std::int64_t counted = 0;  // what its Job had counted as succeeded then
};

// GPUs of a node that are promised to a task's unbound pods (core/cluster/holds.h).
struct Hold {
  Resources amount;
  std::int32_t rank = 0;  // spec.priority: counts for pods of equal or lower rank
  Uid task;               // the controller's uid, or the pod's own where it stands alone
  std::string gang;       // "namespace/gang" of a labelled gang; empty otherwise
  Uid pod;                // the nominated pod; empty for the unnamed rest of a plan
  double expires_s = std::numeric_limits<double>::infinity();  // steady clock
};

// The holds of all nodes, side by side by NodeIndex. Copies share them.
class HoldTable {
 public:
  HoldTable() = default;  // no node has any
  // `nodes[i]` is the node of `holds[i]`; a node's holds keep their order.
  HoldTable(std::size_t node_count, const std::vector<NodeIndex>& nodes, std::vector<Hold> holds);

  std::span<const Hold> on(NodeIndex node) const {
    if (empty()) return {};
    const std::vector<std::uint32_t>& begins = content_->begins;
    return all().subspan(begins[node], begins[node + 1] - begins[node]);
  }
  std::span<const Hold> all() const {
    return empty() ? std::span<const Hold>{} : std::span(content_->holds);
  }
  bool empty() const { return content_ == nullptr; }

 private:
  struct Content {
    std::vector<Hold> holds;
    std::vector<std::uint32_t> begins;  // of each node's, and the end
  };
  std::shared_ptr<const Content> content_;  // null: no node has any
};

// By GPU resource that no node lists, the DeviceClass that serves it. What asks for such a resource
// is kube-scheduler's alone.
using ServedByDevices = std::map<std::string, std::string>;

// The DeviceClass that serves what is asked for; null: none does.
const std::string* device_class_of(const ServedByDevices& served, const Resources& requests);

using NamespaceList = std::shared_ptr<const std::vector<std::shared_ptr<const Namespace>>>;

struct ClusterSnapshot {
  std::uint64_t version = 0;                    // grows by one per publication
  bool synced = false;                          // the first full list of nodes, pods and Jobs is in
  std::vector<NodeStatePtr> nodes;              // sorted by name
  std::shared_ptr<const NodeNames> node_names;  // of `nodes`; null: there are none
  NodeTable node_table;                         // of `nodes`
  std::vector<PodPtr> unbound;  // neither bound nor terminal; sorted by (namespace, name)
  // Bound pods that others have ended (Pod::disruption) or that ended for lack of memory, for ten
  // minutes, and those of nodes that were deleted; sorted by uid. No node has them.
  std::vector<PodPtr> displaced{};
  std::vector<JobPtr> jobs;                                      // sorted by (namespace, name)
  std::vector<std::shared_ptr<const DisruptionBudget>> budgets;  // sorted by (namespace, name)
  std::vector<std::shared_ptr<const ResourceQuota>> quotas;      // the same
  NamespaceList namespaces{};                                    // sorted by name; null: none
  // `jobs` are as it makes them; null: nothing is known of it.
  std::shared_ptr<const PodAdmission> admission{};
  ServedByDevices served_by_devices{};
  std::vector<std::string>
      schedulers{};  // whose pods are planned, beside the default's; empty: all
  std::shared_ptr<const GangSpecs> gang_specs{};  // of gangs that wait; null: nothing is known
  std::vector<GivenUp<Job>> given_up_jobs;     // `jobs` has them without these marks; sorted alike
  std::vector<GivenUp<Pod>> given_up_pods;     // of `unbound`
  std::shared_ptr<const Sightings> sightings;  // null: none
  HoldTable holds;
  bool stock_queue = false;  // as if it all waited (core/shadow/stock_queue.h): nobody writes to it
  std::vector<SucceededPod> succeeded{};  // in the last ten seconds; in order of time
  bool taken_on_trust = false;  // a dump: nothing in it can be proved, so all of it is believed

  // As fits() of model/resources.h, but that of its others `request` may ask for more than is there
  // of one that no node lists: kube-scheduler may be told to leave that to another extender.
  bool fits(const Resources& request, const Resources& available) const;
  // Whether a pod that names this scheduler (empty: the default one) is Slackline's to plan.
  bool plans_for(const std::string& scheduler) const;
  std::optional<NodeIndex> find_node(std::string_view name) const;
  const NodeState& node(NodeIndex index) const { return *nodes[index]; }
  std::span<const Hold> holds_on(NodeIndex index) const { return holds.on(index); }
  const Job* find_job(const Uid& uid) const;                                  // O(jobs)
  const Job* find_job(const std::string& ns, const std::string& name) const;  // O(log jobs)
  const Namespace* find_namespace(const std::string& name) const;             // O(log namespaces)
  PodPtr find_pod(const ObjectKey& key) const;                                // O(pods)
  PodPtr find_unbound(const ObjectKey& key) const;                            // O(log pods)
  // The sighting of the plan on the Job or pod with this uid; null if it has none.
  const PlanSighting* sighting_of(const Uid& carrier) const;
  // What the object says that makes the gang; null: it is not known.
  const GangSpec* spec_of_gang(const Uid& object) const;
};

using SnapshotPtr = std::shared_ptr<const ClusterSnapshot>;

// Whether the cache behind a snapshot may be believed now.
struct CacheHealth {
  bool synced = false;
  double age_s = 0;    // since the last sign of life of the slowest stream
  bool stale = false;  // age_s beyond the configured limit
  std::string detail;  // "pods: watch silent for 95s", for readyz

  bool trusted() const { return synced && !stale; }
};

// The Job that controls the pod, if it is the same one (a recreated Job has another uid).
const Job* owning_job(const ClusterSnapshot& snapshot, const Pod& pod);

// The pod's own intent, completed by its Job's; a default one when neither has any.
TaskIntent effective_intent(const ClusterSnapshot& snapshot, const Pod& pod);

// The plan that binds this pod: its own, else its Job's; nullptr when it has none.
const PlanNote* effective_plan(const ClusterSnapshot& snapshot, const Pod& pod);

}  // namespace slackline
