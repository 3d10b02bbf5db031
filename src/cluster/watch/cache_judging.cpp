// The part of an object that enters the cache, and its change when other keys count.
#include <algorithm>
#include <utility>

#include "cluster/watch/cache.h"
#include "slackline/core/cluster/pod_admission.h"
#include "slackline/model/band.h"

namespace slackline::cluster {

using wire::KubeKind;

void Cache::take_in(const JobPtr& seen, double due_s, News& news) {
  JobPtr job = core::with_admission(belief_.judge(seen, news.doubted), *admission_);
  if (job == seen)
    seen_jobs_.erase(seen->key);
  else
    seen_jobs_[seen->key] = seen;
  give_up(given_up_jobs_, seen, job, due_s);
  const bool first = !sightings_ || !sightings_->contains(job->uid);
  sight(job->uid, job->plan.get());
  if (first && job->plan && job->failed > 0 && job->started_s && !job->halted)
    edit_sightings().at(job->uid).lost_s = clock_.steady_s();  // nobody saw when
  news.jobs.push_back(job);
  jobs_.entries[seen->key].object = std::move(job);
  jobs_.list_outdated = true;
}

PodPtr Cache::judged(const PodPtr& seen, News& news) {
  const PodPtr counted = belief_.judge(seen, news.doubted);
  return counted->bound() ? counted : core::with_volumes(counted, *admission_);
}

// In separate lists if it waits for Slackline and does not count.
template <class T>
void Cache::give_up(std::map<ObjectKey, GivenUp<T>>& given_up, const std::shared_ptr<const T>& seen,
                    const std::shared_ptr<const T>& counted, double due_s) {
  const auto at = given_up.find(seen->key);
  if (seen == counted || !holds_back(*seen) || belief_.counts(*seen)) {
    if (at != given_up.end()) given_up.erase(at);
    return;
  }
  const bool known = at != given_up.end() && at->second.object->uid == seen->uid;
  given_up[seen->key] = {seen, known ? std::min(at->second.due_s, due_s) : due_s};
}

template void Cache::give_up(std::map<ObjectKey, GivenUp<Pod>>&, const PodPtr&, const PodPtr&,
                             double);

void Cache::put(Namespace ns, News& news) {
  const auto before = namespaces_.entries.find(ns.key);
  const bool known = before != namespaces_.entries.end();
  if (known && before->second.object->managed)
    ns.managed_since_s = before->second.object->managed_since_s;
  else if (ns.managed && listed_[index_of(KubeKind::kNamespace)])
    ns.managed_since_s = clock_.wall_s();
  const bool other_pods = ns.pods != (known ? before->second.object->pods : NamespaceAdmission());
  namespaces_.put(ns, generation(KubeKind::kNamespace));
  if (other_pods) {
    shown_admission_.erase(ns.key.name);  // pods from before it show nothing
    set_namespace_admission(ns.key.name, news);
  }
  if (belief_.put(ns) && listed_[index_of(KubeKind::kNamespace)])
    judge_anew(ns.key.name, clock_.steady_s(), news);
}

void Cache::forget_namespace(const std::string& name, News& news) {
  namespaces_.forget({"", name});
  shown_admission_.erase(name);
  set_namespace_admission(name, news);
  if (belief_.forget_namespace(name)) judge_anew(name, clock_.steady_s(), news);
}

void Cache::put(const PriorityClass& priority_class, News& news) {
  priority_classes_.put(priority_class, generation(KubeKind::kPriorityClass));
  const std::string& name = priority_class.key.name;
  if (priority_class.never_preempts && band_named(name))
    edit_admission().bands[name] = priority_class.value;
  if (auto& known = edit_admission().priority_classes) known->insert(name);
  if (belief_.put(priority_class) && listed_[index_of(KubeKind::kPriorityClass)])
    judge_jobs_anew("", due_for_news(), news);
}

// All of them are there. A dump may lack some.
void Cache::know_priority_classes() {
  if (!belief_.proves()) return;
  auto& known = edit_admission().priority_classes.emplace();
  for (const auto& [key, entry] : priority_classes_.entries)
    known.insert(key.name);
}

void Cache::forget_priority_class(const std::string& name, News& news) {
  priority_classes_.forget({"", name});
  if (band_named(name)) edit_admission().bands.erase(name);
  if (auto& known = edit_admission().priority_classes) known->erase(name);
  if (belief_.forget_priority_class(name)) judge_jobs_anew("", due_for_news(), news);
}

void Cache::put(RuntimeClass runtime, News& news) {
  const std::string name = runtime.key.name;
  runtime_classes_.put(std::move(runtime), generation(KubeKind::kRuntimeClass));
  const auto& entry = runtime_classes_.entries.at({"", name});
  auto& known = edit_admission().runtime_classes[name];
  const bool same = known && fingerprint_of(*known) == fingerprint_of(*entry.object);
  known = entry.object;
  if (!same) judge_jobs_anew("", due_for_news(), news);
}

void Cache::forget_runtime_class(const std::string& name, News& news) {
  runtime_classes_.forget({"", name});
  edit_admission().runtime_classes.erase(name);
  judge_jobs_anew("", due_for_news(), news);
}

void Cache::put(LimitRange range, News& news) {
  const ObjectKey key = range.key;
  const auto before = limit_ranges_.entries.find(key);
  const bool same = before != limit_ranges_.entries.end() &&
                    fingerprint_of(*before->second.object) == fingerprint_of(range);
  limit_ranges_.put(std::move(range), generation(KubeKind::kLimitRange));
  if (!same) set_limit_ranges(key.ns, news);
}

void Cache::forget_limit_range(const ObjectKey& key, News& news) {
  limit_ranges_.forget(key);
  set_limit_ranges(key.ns, news);
}

void Cache::put(ResourceQuota quota) {
  quotas_.put(std::move(quota), generation(KubeKind::kResourceQuota));
}

void Cache::forget_quota(const ObjectKey& key) {
  quotas_.forget(key);
}

void Cache::put(VolumeClaim claim, News& news) {
  const ObjectKey key = claim.key;
  claims_.put(std::move(claim), generation(KubeKind::kVolumeClaim));
  find_volume_of(key, news);
}

void Cache::forget_claim(const ObjectKey& key, News& news) {
  claims_.forget(key);
  find_volume_of(key, news);
}

void Cache::put(Volume volume, News& news) {
  const ObjectKey claim = volume.claim;
  volumes_.put(std::move(volume), generation(KubeKind::kVolume));
  find_volume_of(claim, news);
}

void Cache::forget_volume(const ObjectKey& key, News& news) {
  const ObjectKey claim = volumes_.entries.at(key).object->claim;
  volumes_.forget(key);
  find_volume_of(claim, news);
}

void Cache::find_volume_of(const ObjectKey& claim, News& news) {
  std::shared_ptr<const Volume> volume;
  if (const auto at = claims_.entries.find(claim); at != claims_.entries.end())
    if (const auto of = volumes_.entries.find({"", at->second.object->volume});
        of != volumes_.entries.end() && !of->second.object->terms.empty())
      volume = of->second.object;
  const auto before = admission_->volumes.find(claim);
  const bool had = before != admission_->volumes.end();
  if (had ? volume && before->second->terms == volume->terms : !volume) return;
  if (volume)
    edit_admission().volumes[claim] = std::move(volume);
  else
    edit_admission().volumes.erase(claim);
  const auto claims_it = [&claim](const auto& object) {
    const auto* constraints = object.constraints.get();
    return constraints != nullptr &&
           std::ranges::find(constraints->claims, claim.name) != constraints->claims.end();
  };
  judge_jobs_anew(claim.ns, due_for_news(), news, claims_it);
  std::vector<ObjectKey> pods;
  for (auto at = unbound_.lower_bound({claim.ns, ""});
       at != unbound_.end() && at->first.ns == claim.ns; ++at)
    if (claims_it(*at->second)) pods.push_back(at->first);
  for (const ObjectKey& key : pods)
    judge_anew(pods_.at(key), due_for_news(), news);
}

void Cache::set_limit_ranges(const std::string& ns, News& news) {
  std::vector<std::shared_ptr<const LimitRange>> ranges;
  for (auto at = limit_ranges_.entries.lower_bound({ns, ""});
       at != limit_ranges_.entries.end() && at->first.ns == ns; ++at)
    ranges.push_back(at->second.object);
  if (ranges.empty())
    edit_admission().limit_ranges.erase(ns);
  else
    edit_admission().limit_ranges[ns] = std::move(ranges);
  judge_jobs_anew(ns, due_for_news(), news);
}

// As a node's record: copied at the first change after a publication.
void Cache::set_gang_specs(std::shared_ptr<const GangSpecs> specs) {
  MutexLock lock(mutex_);
  gang_specs_ = std::move(specs);
  changed();
}

void Cache::find_served_by_devices(News& news) {
  if (!listed_[index_of(KubeKind::kNode)] || !listed_[index_of(KubeKind::kDeviceClass)]) return;
  ServedByDevices served;
  for (const auto& [key, entry] : device_classes_.entries)
    if (!entry.object->resource.empty()) served.emplace(entry.object->resource, key.name);
  for (const auto& [name, slot] : nodes_) {
    if (served.empty()) break;
    if (!slot.state->node) continue;
    for (const ResourceAmount& listed : slot.state->node->allocatable.gpus)
      if (listed.count > 0) served.erase(listed.resource);
  }
  if (belief_.set_served_by_devices(std::move(served))) judge_anew("", due_for_news(), news);
}

PodAdmission& Cache::edit_admission() {
  if (admission_owned_in_ != next_version_) {
    admission_ = std::make_shared<PodAdmission>(*admission_);
    admission_owned_in_ = next_version_;
  }
  return *admission_;
}

void Cache::set_namespace_admission(const std::string& ns, News& news) {
  const auto at = namespaces_.entries.find({"", ns});
  const auto shown = shown_admission_.find(ns);
  NamespaceAdmission counted;
  if (at != namespaces_.entries.end()) counted = at->second.object->pods;
  if (shown != shown_admission_.end() && !shown->second.selector_counts)
    counted.node_selector.clear();
  if (shown != shown_admission_.end() && !shown->second.tolerations_count) {
    counted.tolerations.clear();
    counted.allowed_tolerations.clear();
  }
  const auto before = admission_->namespaces.find(ns);
  const bool had = before != admission_->namespaces.end();
  if (counted == (had ? before->second : NamespaceAdmission())) return;
  if (counted == NamespaceAdmission())
    edit_admission().namespaces.erase(ns);
  else
    edit_admission().namespaces[ns] = std::move(counted);
  judge_jobs_anew(ns, due_for_news(), news);
}

bool Cache::shows_added_toleration(const Pod& pod) const {
  if (requests_are_tolerated_ || !pod.constraints || !pod.owner || pod.owner->kind != "Job")
    return false;
  const auto at = jobs_.entries.find({pod.key.ns, pod.owner->name});
  if (at == jobs_.entries.end() || at->second.object->uid != pod.owner->uid) return false;
  const auto tolerates = [](const std::shared_ptr<const SchedulingConstraints>& constraints,
                            const std::string& resource) {
    return constraints && std::any_of(constraints->tolerations.begin(),
                                      constraints->tolerations.end(), [&](const auto& toleration) {
                                        return toleration.key == resource && toleration.exists;
                                      });
  };
  return std::any_of(pod.requests.gpus.begin(), pod.requests.gpus.end(),
                     [&](const ResourceAmount& of) {
                       return tolerates(pod.constraints, of.resource) &&
                              !tolerates(at->second.object->constraints, of.resource);
                     });
}

void Cache::learn_admission(News& news) {
  for (const auto& [key, entry] : pods_)
    learn_admission_of(*entry.pod, news);
}

void Cache::learn_admission_of(const Pod& pod, News& news) {
  learn_tolerations_of(pod);
  learn_namespace_of(pod, news);
}

void Cache::learn_tolerations_of(const Pod& pod) {
  if (!shows_added_toleration(pod)) return;
  requests_are_tolerated_ = true;
  for (auto& [name, slot] : nodes_) {
    if (!slot.state->node || slot.state->node->tolerated_by_request) continue;
    Node node = *slot.state->node;
    node.tolerated_by_request = true;
    edit(slot).node = std::make_shared<const Node>(std::move(node));
  }
}

void Cache::learn_namespace_of(const Pod& pod, News& news) {
  const auto ns = namespaces_.entries.find({"", pod.key.ns});
  if (ns == namespaces_.entries.end() || !pod.requests.wants_gpus()) return;
  const NamespaceAdmission& wanted = ns->second.object->pods;
  if (!core::adds_or_refuses(wanted)) return;
  const auto [shown, first] = shown_admission_.try_emplace(pod.key.ns);
  if (!first && pod.created_s < shown->second.created_s) return;
  static const SchedulingConstraints kNone;
  const SchedulingConstraints& own = pod.constraints ? *pod.constraints : kNone;
  shown->second = {pod.created_s, has_labels(own.node_selector, wanted.node_selector),
                   core::shows_tolerations_of(wanted, own)};
  set_namespace_admission(pod.key.ns, news);
}

void Cache::judge_anew() {
  News news;
  {
    MutexLock lock(mutex_);
    judge_anew("", due_for_news(), news);
    changed();
  }
  report(news);
}

void Cache::judge_anew(const std::string& ns, double due_s, News& news) {
  judge_jobs_anew(ns, due_s, news);
  for (auto& [key, entry] : pods_)
    if (ns.empty() || key.ns == ns) judge_anew(entry, due_s, news);
}

void Cache::judge_anew(PodEntry& entry, double due_s, News& news) {
  PodPtr pod = judged(entry.seen, news);
  give_up(given_up_pods_, entry.seen, pod, due_s);
  if (pod == entry.pod) return;
  detach(*entry.pod, /*replaced=*/true);
  entry.pod = std::move(pod);
  attach(entry.pod);
  sight(entry.pod->uid, entry.pod->plan.get());
}

void Cache::judge_jobs_anew(const std::string& ns, double due_s, News& news,
                            const std::function<bool(const Job&)>& which) {
  for (auto at = jobs_.entries.lower_bound({ns, ""}); at != jobs_.entries.end(); ++at) {
    if (!ns.empty() && at->first.ns != ns) return;
    if (which && !which(*at->second.object)) continue;
    const auto seen = seen_jobs_.find(at->first);
    take_in(seen != seen_jobs_.end() ? JobPtr(seen->second) : JobPtr(at->second.object), due_s,
            news);
  }
}

}  // namespace slackline::cluster
