#include "slackline/core/cluster/not_in_queue.h"

#include <algorithm>
#include <set>

#include "queue_tasks.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {
namespace {

std::string in_namespace_without_label(const ClusterSnapshot& snapshot, const std::string& name) {
  const Namespace* ns = snapshot.find_namespace(name);
  if (snapshot.taken_on_trust || (ns != nullptr && ns->managed)) return {};
  return format(
      "is in a namespace that Slackline does not manage: kubectl label namespace {} "
      "slackline.dev/managed=true",
      name);
}

std::string controlled_by(const OwnerRef& owner) {
  return format("belongs to {} {}, which Slackline does not queue", owner.kind,
                printable(owner.name, 64));
}

// Empty: a node lists what is asked for, or no DeviceClass serves it.
std::string served_by_devices(const ClusterSnapshot& snapshot, const Resources& requests) {
  const std::string* device_class = device_class_of(snapshot.served_by_devices, requests);
  if (device_class == nullptr) return {};
  return format(
      "asks for devices of the DeviceClass {}, which no node lists: it is left to kube-scheduler",
      printable(*device_class, 64));
}

std::string asks_another(const ClusterSnapshot& snapshot, const std::string& scheduler) {
  if (snapshot.plans_for(scheduler)) return {};
  return format(
      "asks for the scheduler {}, which does not ask Slackline (extender.schedulerNames) and "
      "starts it when it likes",
      printable(scheduler, 64));
}

std::string part_of(const OwnerGang& gang) {
  return format("is part of the {} {}: ask for that", gang.kind, printable(gang.name, 64));
}

std::vector<PodPtr> bound_pods_of(const ClusterSnapshot& snapshot, const Job& job) {
  std::vector<PodPtr> pods;
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      if (pod->owner && pod->owner->uid == job.uid) pods.push_back(pod);
  return pods;
}

std::string nodes_of(const std::vector<PodPtr>& pods) {
  std::set<std::string> nodes;
  for (const PodPtr& pod : pods)
    nodes.insert(pod->node.str());
  return join(std::vector<std::string>(nodes.begin(), nodes.end()), ", ");
}

// Empty: none of them was planned alone.
std::string planned_alone(const std::vector<PodPtr>& pods) {
  for (const PodPtr& pod : pods)
    if (pod->plan)
      return format("starts pod by pod, and none of them waits: ask for each, as for {}",
                    printable(pod->key.name, 64));
  return {};
}

// Empty: none of its pods waits its turn alone.
std::string pod_by_pod(const ClusterSnapshot& snapshot, const Job& job) {
  const auto waits = [&](const PodPtr& pod) {
    return pod->owner && pod->owner->uid == job.uid && pod->our_gate && !pod->deleting;
  };
  const auto first = std::find_if(snapshot.unbound.begin(), snapshot.unbound.end(), waits);
  if (first == snapshot.unbound.end()) return {};
  return format("starts pod by pod (waiting: {}): ask for each, as for {}",
                std::count_if(first, snapshot.unbound.end(), waits),
                printable((*first)->key.name, 64));
}

constexpr std::string_view kLetGo =
    "waits for kube-scheduler, without a plan: `slackline release` or planner.giveBack let it go, "
    "or, where no node that is there could run it, scaleUp did, for a cluster autoscaler";

constexpr std::string_view kNoGpu =
    "asks for no GPU of the resources in managedResources (devices by resourceClaims are left to "
    "kube-scheduler)";

constexpr std::string_view kNamesItsNode =
    "names its node itself (spec.nodeName), so that no scheduler is asked";

// Empty: none of its pods waits so.
std::string_view let_go(const ClusterSnapshot& snapshot, const Job& job) {
  const bool any = std::ranges::any_of(snapshot.unbound, [&](const PodPtr& pod) {
    return pod->owner && pod->owner->uid == job.uid && was_let_go(*pod);
  });
  return any && !job.plan ? kLetGo : std::string_view();
}

// Of a Job that nobody holds back. Empty: it starts as a whole, or is one pod.
std::string without_pods(const Job& job) {
  if (job.suspended || job.is_gang()) return {};
  if (job.parallelism == 0) return "asks for no pod (parallelism 0)";
  if (job.wanted_pods() == 0)
    return format("asks for no pod: it has {} of {} completions", job.succeeded, *job.completions);
  if (job.wanted_pods() == 1 && job.completions.value_or(1) == 1) return {};
  return "starts pod by pod, and has no pod that waits";
}

std::string why(const ClusterSnapshot& snapshot, const Job& job) {
  if (job.finished) return "has ended: see slackline history";
  if (job.deleting) return "is being deleted";
  if (!job.problems.empty()) return "cannot be read: " + job.problems.front();
  if (!job.pod_requests.wants_gpus()) return std::string(kNoGpu);
  if (std::string devices = served_by_devices(snapshot, job.pod_requests); !devices.empty())
    return devices;
  if (job.kueue) return why_left_to_others(job);
  if (std::string another = asks_another(snapshot, job.scheduler_name); !another.empty())
    return another;
  if (job.owner_gang) return part_of(*job.owner_gang);
  if (!job.topmost()) return controlled_by(*job.owner);
  if (job.holds_pods) return why_left_to_others(job);
  const std::vector<PodPtr> bound = bound_pods_of(snapshot, job);
  const bool began = job.is_gang() && !bound.empty();
  if (std::string pods = pod_by_pod(snapshot, job); !pods.empty() && !began) return pods;
  if (std::string pods = planned_alone(bound); !pods.empty()) return pods;
  if (const std::string nodes = nodes_of(bound); !nodes.empty())
    return format("runs on {}, without a plan of Slackline", nodes);
  if (std::string label = in_namespace_without_label(snapshot, job.key.ns); !label.empty())
    return label;
  if (const std::string_view released = let_go(snapshot, job); !released.empty())
    return std::string(released);
  if (std::string none = without_pods(job); !none.empty()) return none;
  if (!job.managed)
    return "was not seen by Slackline's webhook, and does not wait its turn "
           "(docs/reasons/NotReviewed.md)";
  if (!job.suspended) return "has no pod yet that could wait";
  return job.halted ? "starts pod by pod: Slackline opens it at once in active mode, and its pods "
                      "wait then"
                    : "is suspended, and its controller has not noted that yet (the condition "
                      "Suspended)";
}

std::string why(const ClusterSnapshot& snapshot, const Pod& pod) {
  if (const Job* job = owning_job(snapshot, pod); job != nullptr && job->is_gang())
    return format("is a pod of the Job {}: ask for that", printable(job->key.name, 64));
  if (pod.bound()) return format("runs on {}, without a plan of Slackline", pod.node.str());
  if (pod.deleting) return "is being deleted";
  if (!pod.problems.empty()) return "cannot be read: " + pod.problems.front();
  if (!pod.requests.wants_gpus()) return std::string(kNoGpu);
  if (std::string devices = served_by_devices(snapshot, pod.requests); !devices.empty())
    return devices;
  if (std::string others = why_left_to_others(pod); !others.empty()) return others;
  if (std::string another = asks_another(snapshot, pod.scheduler_name); !another.empty())
    return another;
  if (pod.owner_gang) return part_of(*pod.owner_gang);
  if (pod.owner && pod.owner->kind == "Job")
    return format("is a pod of the Job {}: ask for that", printable(pod.owner->name, 64));
  if (pod.owner) return controlled_by(*pod.owner);
  if (std::string label = in_namespace_without_label(snapshot, pod.key.ns); !label.empty())
    return label;
  return was_let_go(pod) ? std::string(kLetGo)
                         : "waits for kube-scheduler, without Slackline's gate";
}

// A gang that a controller makes, by its name.
const OwnerGang* gang_named(const ClusterSnapshot& snapshot, const ObjectKey& key) {
  const auto is_it = [&](const PodPtr& pod) {
    return pod->owner_gang && pod->owner_gang->name == key.name && pod->key.ns == key.ns;
  };
  const auto waits = std::find_if(snapshot.unbound.begin(), snapshot.unbound.end(), is_it);
  if (waits != snapshot.unbound.end()) return (*waits)->owner_gang.get();
  for (const NodeStatePtr& state : snapshot.nodes) {
    const auto runs = std::find_if(state->pods.begin(), state->pods.end(), is_it);
    if (runs != state->pods.end()) return (*runs)->owner_gang.get();
  }
  return nullptr;
}

// Of the pods of another controller, which start by themselves.
std::string why_not_as_one(const ClusterSnapshot& snapshot, const TaskParts& parts) {
  const auto turn = std::ranges::find_if(
      parts.unbound, [](const PodPtr& pod) { return pod->our_gate && !pod->deleting; });
  if (turn != parts.unbound.end())
    return format("the pods of the {} start one by one: ask for each, as for {}", parts.controller,
                  printable((*turn)->key.name, 64));
  const Pod& pod = parts.unbound.empty() ? *parts.bound.front() : *parts.unbound.front();
  return format("the pod {} of the {} {}", printable(pod.key.name, 64), parts.controller,
                why(snapshot, pod));
}

}  // namespace

std::string why_left_to_others(const Job& job) {
  if (job.kueue)
    return "is queued by Kueue, or run by another controller than Kubernetes' own (spec.managedBy)";
  if (job.names_node) return std::string(kNamesItsNode);
  return job.holds_pods ? "has scheduling gates or a scheduling group of its own" : "";
}

std::string why_left_to_others(const Pod& pod) {
  if (pod.bound()) return std::string(kNamesItsNode);
  if (pod.foreign_gate) return "waits behind a scheduling gate that is not Slackline's";
  return pod.in_pod_group ? "is in a scheduling group, which kube-scheduler starts as a whole" : "";
}

std::string why_not_managed(const ClusterSnapshot& snapshot, const std::string& ns) {
  const bool lists_namespaces = snapshot.namespaces && !snapshot.namespaces->empty();
  if (!lists_namespaces || snapshot.taken_on_trust) return {};
  if (snapshot.find_namespace(ns) == nullptr)
    return format("there is no namespace {}", printable(ns, 64));
  const std::string label = in_namespace_without_label(snapshot, ns);
  return label.empty() ? "" : "it " + label;
}

std::string asks_for_unlisted(const ClusterSnapshot& snapshot, const Resources& requests) {
  if (device_class_of(snapshot.served_by_devices, requests) != nullptr) return {};
  std::vector<std::string> unlisted;
  for (const ResourceAmount& other : requests.others)
    if (!snapshot.node_table.lists(other.resource))
      unlisted.push_back(printable(other.resource, 64));
  if (unlisted.empty()) return {};
  return format(
      "no node lists {}: until one does, kube-scheduler binds the pods nowhere, unless another "
      "extender serves it, and nobody is stopped for them",
      join(unlisted, ", "));
}

std::optional<std::string> why_not_in_queue(const ClusterSnapshot& snapshot, const ObjectKey& key) {
  const std::string name = printable(key.str(), 128);
  if (const Job* job = snapshot.find_job(key.ns, key.name))
    return format("{} is not in the queue: the Job {}", name, why(snapshot, *job));
  if (const PodPtr pod = snapshot.find_pod(key))
    return format("{} is not in the queue: the pod {}", name, why(snapshot, *pod));
  if (const OwnerGang* gang = gang_named(snapshot, key))
    return format(
        "{} is not in the queue: the pods of the {} run, or were not seen by Slackline's webhook "
        "and wait one by one (docs/GANGS.md)",
        name, gang->kind);
  const TaskCatalog catalog(snapshot);
  for (const TaskParts& parts : catalog.parts())
    if (parts.kind == TaskKind::kController && parts.key == key)
      return format("{} is not in the queue: {}", name, why_not_as_one(snapshot, parts));
  return std::nullopt;
}

}  // namespace slackline::core
