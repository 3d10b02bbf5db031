// What the cache does with an object, by its kind.
#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/watch/cache.h"

namespace slackline::cluster {

using wire::KubeKind;
using wire::KubeObject;

void Cache::upsert(KubeObject object) {
  News news;
  {
    MutexLock lock(mutex_);
    if (Pod* pod = std::get_if<Pod>(&object)) {
      put(std::move(*pod), news);
    } else if (Node* node = std::get_if<Node>(&object)) {
      put(std::move(*node), news);
    } else if (Job* job = std::get_if<Job>(&object)) {
      put(std::move(*job), news);
    } else if (DisruptionBudget* budget = std::get_if<DisruptionBudget>(&object)) {
      budgets_.put(std::move(*budget), generation(KubeKind::kDisruptionBudget));
    } else if (ResourceQuota* quota = std::get_if<ResourceQuota>(&object)) {
      put(std::move(*quota));
    } else if (Namespace* ns = std::get_if<Namespace>(&object)) {
      put(*ns, news);
    } else if (auto* runtime = std::get_if<RuntimeClass>(&object)) {
      put(std::move(*runtime), news);
    } else if (auto* range = std::get_if<LimitRange>(&object)) {
      put(std::move(*range), news);
    } else if (auto* devices = std::get_if<DeviceClass>(&object)) {
      device_classes_.put(std::move(*devices), generation(KubeKind::kDeviceClass));
      find_served_by_devices(news);
    } else if (auto* claim = std::get_if<VolumeClaim>(&object)) {
      put(std::move(*claim), news);
    } else if (auto* volume = std::get_if<Volume>(&object)) {
      put(std::move(*volume), news);
    } else {
      put(std::get<PriorityClass>(object), news);
    }
    changed();
  }
  report(news);
}

void Cache::remove(const KubeObject& object) {
  News news;
  remove(object, news);
  report(news);
}

void Cache::remove(const KubeObject& object, News& news) {
  const auto same = [](const Uid& kept, const Uid& gone) { return gone.empty() || kept == gone; };
  MutexLock lock(mutex_);
  if (const Pod* pod = std::get_if<Pod>(&object)) {
    const auto at = pods_.find(pod->key);
    if (at != pods_.end() && same(at->second.pod->uid, pod->uid)) lose_pod(pod->key, news);
  } else if (const Node* node = std::get_if<Node>(&object)) {
    const auto at = nodes_.find(node->name.str());
    if (at != nodes_.end() && at->second.state->node &&
        same(at->second.state->node->uid, node->uid)) {
      forget_node(node->name.str());
      find_served_by_devices(news);
    }
  } else if (const Job* job = std::get_if<Job>(&object)) {
    if (jobs_.holds(job->key, job->uid)) forget_job(job->key, news);
  } else if (const auto* budget = std::get_if<DisruptionBudget>(&object)) {
    if (budgets_.holds(budget->key, budget->uid)) budgets_.forget(budget->key);
  } else if (const auto* quota = std::get_if<ResourceQuota>(&object)) {
    if (quotas_.holds(quota->key, quota->uid)) forget_quota(quota->key);
  } else if (const auto* ns = std::get_if<Namespace>(&object)) {
    if (namespaces_.holds(ns->key, ns->uid)) forget_namespace(ns->key.name, news);
  } else if (const auto* runtime = std::get_if<RuntimeClass>(&object)) {
    if (runtime_classes_.holds(runtime->key, runtime->uid))
      forget_runtime_class(runtime->key.name, news);
  } else if (const auto* range = std::get_if<LimitRange>(&object)) {
    if (limit_ranges_.holds(range->key, range->uid)) forget_limit_range(range->key, news);
  } else if (const auto* devices = std::get_if<DeviceClass>(&object)) {
    if (device_classes_.holds(devices->key, devices->uid)) device_classes_.forget(devices->key);
    find_served_by_devices(news);
  } else if (const auto* claim = std::get_if<VolumeClaim>(&object)) {
    if (claims_.holds(claim->key, claim->uid)) forget_claim(claim->key, news);
  } else if (const auto* volume = std::get_if<Volume>(&object)) {
    if (volumes_.holds(volume->key, volume->uid)) forget_volume(volume->key, news);
  } else {
    const auto& gone = std::get<PriorityClass>(object);
    if (priority_classes_.holds(gone.key, gone.uid)) forget_priority_class(gone.key.name, news);
  }
  changed();
}

void Cache::sweep(KubeKind kind, News& news) {
  const std::uint64_t current = generation(kind);
  std::vector<ObjectKey> gone;
  switch (kind) {
    case KubeKind::kNode:
      for (const auto& [name, slot] : nodes_)
        if (slot.generation != current) gone.push_back({"", name});
      for (const ObjectKey& key : gone)
        forget_node(key.name);
      break;
    case KubeKind::kPod:
      for (const auto& [key, entry] : pods_)
        if (entry.generation != current) gone.push_back(key);
      for (const ObjectKey& key : gone)
        lose_pod(key, news);
      break;
    case KubeKind::kJob:
      for (const ObjectKey& key : jobs_.older_than(current))
        forget_job(key, news);
      break;
    case KubeKind::kDisruptionBudget:
      for (const ObjectKey& key : budgets_.older_than(current))
        budgets_.forget(key);
      break;
    case KubeKind::kResourceQuota:
      for (const ObjectKey& key : quotas_.older_than(current))
        forget_quota(key);
      break;
    case KubeKind::kNamespace:
      for (const ObjectKey& key : namespaces_.older_than(current))
        forget_namespace(key.name, news);
      break;
    case KubeKind::kPriorityClass:
      for (const ObjectKey& key : priority_classes_.older_than(current))
        forget_priority_class(key.name, news);
      break;
    case KubeKind::kRuntimeClass:
      for (const ObjectKey& key : runtime_classes_.older_than(current))
        forget_runtime_class(key.name, news);
      break;
    case KubeKind::kLimitRange:
      for (const ObjectKey& key : limit_ranges_.older_than(current))
        forget_limit_range(key, news);
      break;
    case KubeKind::kDeviceClass:
      for (const ObjectKey& key : device_classes_.older_than(current))
        device_classes_.forget(key);
      break;
    case KubeKind::kVolumeClaim:
      for (const ObjectKey& key : claims_.older_than(current))
        forget_claim(key, news);
      break;
    case KubeKind::kVolume:
      for (const ObjectKey& key : volumes_.older_than(current))
        forget_volume(key, news);
      break;
  }
}

template <class Take>
auto Cache::of_shelf(KubeKind kind, const Take& take) const {
  switch (kind) {
    case KubeKind::kNode:
    case KubeKind::kPod:
      break;
    case KubeKind::kJob:
      return take(jobs_);
    case KubeKind::kDisruptionBudget:
      return take(budgets_);
    case KubeKind::kResourceQuota:
      return take(quotas_);
    case KubeKind::kNamespace:
      return take(namespaces_);
    case KubeKind::kPriorityClass:
      return take(priority_classes_);
    case KubeKind::kRuntimeClass:
      return take(runtime_classes_);
    case KubeKind::kLimitRange:
      return take(limit_ranges_);
    case KubeKind::kDeviceClass:
      return take(device_classes_);
    case KubeKind::kVolumeClaim:
      return take(claims_);
    case KubeKind::kVolume:
      return take(volumes_);
  }
  return decltype(take(jobs_)){};
}

std::size_t Cache::count(KubeKind kind) const {
  MutexLock lock(mutex_);
  if (kind == KubeKind::kNode)
    return static_cast<std::size_t>(std::count_if(
        nodes_.begin(), nodes_.end(), [](const auto& slot) { return slot.second.state->node; }));
  if (kind == KubeKind::kPod) return pods_.size();
  return of_shelf(kind, [](const auto& shelf) { return shelf.entries.size(); });
}

Fingerprints Cache::fingerprints(KubeKind kind) const {
  MutexLock lock(mutex_);
  Fingerprints result = of_shelf(kind, [](const auto& shelf) { return shelf.fingerprints(); });
  if (kind == KubeKind::kNode)
    for (const auto& [name, slot] : nodes_)
      if (slot.state->node) result["/" + name] = fingerprint_of(*slot.state->node);
  if (kind == KubeKind::kPod)
    for (const auto& [key, entry] : pods_)
      result[key.str()] = fingerprint_of(*entry.pod);
  return result;
}

}  // namespace slackline::cluster
