// The part of an object that enters the cache, and its change when other keys count.
#include <algorithm>
#include <utility>

#include "cluster/watch/cache.h"

namespace slackline::cluster {

using wire::KubeKind;

void Cache::take_in(const JobPtr& seen, double due_s, News& news) {
  JobPtr job = belief_.judge(seen, news.doubted);
  if (job == seen)
    seen_jobs_.erase(seen->key);
  else
    seen_jobs_[seen->key] = seen;
  give_up(given_up_jobs_, seen, job, due_s);
  sight(job->uid, job->plan.get());
  news.jobs.push_back(job);
  jobs_.entries[seen->key].object = std::move(job);
  jobs_.list_outdated = true;
}

// In separate lists if it waits for Slackline and does not count.
template <class T>
void Cache::give_up(std::map<ObjectKey, GivenUp<T>>& given_up, const std::shared_ptr<const T>& seen,
                    const std::shared_ptr<const T>& counted, double due_s) {
  const auto at = given_up.find(seen->key);
  if (seen == counted || !holds_back(*seen) || belief_.counts(seen->key.ns)) {
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
  if (before != namespaces_.entries.end() && before->second.object->managed)
    ns.managed_since_s = before->second.object->managed_since_s;
  else if (ns.managed && listed_[index_of(KubeKind::kNamespace)])
    ns.managed_since_s = clock_.wall_s();
  namespaces_.put(ns, generation(KubeKind::kNamespace));
  if (belief_.put(ns) && listed_[index_of(KubeKind::kNamespace)])
    judge_anew(belief_.proves() ? ns.key.name : "", clock_.steady_s(), news);
}

void Cache::forget_namespace(const std::string& name, News& news) {
  namespaces_.forget({"", name});
  if (belief_.forget_namespace(name))
    judge_anew(belief_.proves() ? name : "", clock_.steady_s(), news);
}

void Cache::put(const PriorityClass& priority_class, News& news) {
  priority_classes_.put(priority_class, generation(KubeKind::kPriorityClass));
  if (belief_.put(priority_class) && listed_[index_of(KubeKind::kPriorityClass)])
    judge_jobs_anew("", due_for_news(), news);
}

void Cache::forget_priority_class(const std::string& name, News& news) {
  priority_classes_.forget({"", name});
  if (belief_.forget_priority_class(name)) judge_jobs_anew("", due_for_news(), news);
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
  return std::any_of(pod.requests.gpus.begin(), pod.requests.gpus.end(), [&](const GpuAmount& of) {
    return tolerates(pod.constraints, of.resource) &&
           !tolerates(at->second.object->constraints, of.resource);
  });
}

void Cache::learn_admission() {
  for (const auto& [key, entry] : pods_)
    learn_admission_of(*entry.pod);
}

void Cache::learn_admission_of(const Pod& pod) {
  if (!shows_added_toleration(pod)) return;
  requests_are_tolerated_ = true;
  for (auto& [name, slot] : nodes_) {
    if (!slot.state->node || slot.state->node->tolerated_by_request) continue;
    Node node = *slot.state->node;
    node.tolerated_by_request = true;
    edit(slot).node = std::make_shared<const Node>(std::move(node));
  }
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
  for (auto& [key, entry] : pods_) {
    if (!ns.empty() && key.ns != ns) continue;
    PodPtr pod = belief_.judge(entry.seen, news.doubted);
    give_up(given_up_pods_, entry.seen, pod, due_s);
    if (pod == entry.pod) continue;
    detach(*entry.pod);
    entry.pod = std::move(pod);
    attach(entry.pod);
    sight(entry.pod->uid, entry.pod->plan.get());
  }
}

void Cache::judge_jobs_anew(const std::string& ns, double due_s, News& news) {
  for (auto at = jobs_.entries.lower_bound({ns, ""}); at != jobs_.entries.end(); ++at) {
    if (!ns.empty() && at->first.ns != ns) return;
    const auto seen = seen_jobs_.find(at->first);
    take_in(seen != seen_jobs_.end() ? JobPtr(seen->second) : JobPtr(at->second.object), due_s,
            news);
  }
}

}  // namespace slackline::cluster
