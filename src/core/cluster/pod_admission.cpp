#include "slackline/core/cluster/pod_admission.h"

#include <algorithm>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/cluster/quotas.h"
#include "slackline/model/pod_ask.h"

namespace slackline::core {
namespace {

// ---- LimitRanger

void fill(Resources& of, const NamedAmount& by) {
  if (amount_of(of, by.resource) != 0) return;
  if (by.resource == "cpu")
    of.cpu_milli = by.amount;
  else if (by.resource == "memory")
    of.memory_bytes = by.amount;
  else
    of.set_gpus(by.resource, by.amount);
}

// What is held against an item.
struct Asked {
  std::string_view whose;  // "a container"
  const Resources& requests;
  const Resources& limits;
  const std::string& range;  // the LimitRange
};

// `verdict` is "allows at most", or such words.
std::string breach(const Asked& asked, std::int64_t amount, std::string_view verdict,
                   const NamedAmount& bound) {
  return format("{} asks for {} {}; the LimitRange {} {} {}", asked.whose,
                amount == 0 ? "no" : amount_text({bound.resource, amount}), bound.resource,
                asked.range, verdict, amount_text(bound));
}

std::string breach_of_most(const NamedAmount& most, const Asked& asked) {
  const std::int64_t limit = amount_of(asked.limits, most.resource);
  const std::int64_t larger = std::max(amount_of(asked.requests, most.resource), limit);
  if (larger > most.amount) return breach(asked, larger, "allows at most", most);
  if (limit > 0 || most.amount == 0) return {};
  return format("{} has no limit of {}; the LimitRange {} wants one of at most {}", asked.whose,
                most.resource, asked.range, amount_text(most));
}

std::string breach_of_ratio(const NamedAmount& ratio, const Asked& asked) {
  const std::int64_t request = amount_of(asked.requests, ratio.resource);
  const std::int64_t limit = amount_of(asked.limits, ratio.resource);
  const std::string most =
      format("the LimitRange {} allows a limit of {} times the request at most", asked.range,
             static_cast<double>(ratio.amount) / 1000);
  if (request == 0 || limit == 0)
    return format("{} has no {} of {}; {}", asked.whose, limit == 0 ? "limit" : "request",
                  ratio.resource, most);
  if (static_cast<double>(limit) * 1000 <=
      static_cast<double>(ratio.amount) * static_cast<double>(request))
    return {};
  return format("{} asks for {} {} with a limit of {}; {}", asked.whose,
                amount_text({ratio.resource, request}), ratio.resource,
                amount_text({ratio.resource, limit}), most);
}

std::string breach_of(const LimitRange::Item& item, const Asked& asked) {
  for (const NamedAmount& least : item.least) {
    const std::int64_t request = amount_of(asked.requests, least.resource);
    if (request < least.amount) return breach(asked, request, "wants at least", least);
  }
  for (const NamedAmount& most : item.most)
    if (std::string why = breach_of_most(most, asked); !why.empty()) return why;
  for (const NamedAmount& ratio : item.ratios)
    if (std::string why = breach_of_ratio(ratio, asked); !why.empty()) return why;
  // The API server refuses a request above its limit, be it a default.
  for (const NamedAmount& filled : item.default_limits) {
    const std::int64_t limit = amount_of(asked.limits, filled.resource);
    const std::int64_t request = amount_of(asked.requests, filled.resource);
    if (request > limit)
      return breach(asked, request, "gives it a limit of", {filled.resource, limit});
  }
  return {};
}

std::string breach_of(const LimitRange& range, const PodAsk& ask) {
  const Resources requests = sum_of_requests(ask);
  const Resources limits = sum_of_limits(ask);
  for (const LimitRange::Item& item : range.items) {
    std::string why;
    if (item.of_pod) why = breach_of(item, {"the pod", requests, limits, range.key.name});
    for (const ContainerAsk& each : ask.containers) {
      if (item.of_pod || !why.empty()) break;
      why = breach_of(item, {"a container", each.requests, each.limits, range.key.name});
    }
    if (!why.empty()) return why;
  }
  return {};
}

void fill(ContainerAsk& container, const LimitRange& range) {
  for (const LimitRange::Item& item : range.items) {
    if (item.of_pod) continue;
    for (const NamedAmount& amount : item.default_limits)
      fill(container.limits, amount);
    for (const NamedAmount& amount : item.default_requests)
      fill(container.requests, amount);
  }
}

// Fills in what the containers leave out. Why the pod is refused; empty: it is not.
std::string apply(const std::vector<std::shared_ptr<const LimitRange>>& ranges, PodAsk& ask) {
  for (const auto& range : ranges)
    for (ContainerAsk& container : ask.containers)
      fill(container, *range);
  for (const auto& range : ranges)
    if (std::string why = breach_of(*range, ask); !why.empty()) return why;
  return {};
}

// ---- ResourceQuota

std::int64_t stated(const ContainerAsk& container, std::string_view name) {
  constexpr std::string_view kLimits = "limits.";
  constexpr std::string_view kRequests = "requests.";
  if (name.starts_with(kLimits)) return amount_of(container.limits, name.substr(kLimits.size()));
  if (name.starts_with(kRequests)) name.remove_prefix(kRequests.size());
  return amount_of(container.requests, name);
}

// ---- the other plug-ins

void refuse(SchedulingConstraints& constraints, std::string why) {
  if (constraints.refused.empty()) constraints.refused = std::move(why);
}

void select(SchedulingConstraints& constraints, const Labels& added, const std::string& by) {
  for (const auto& label : added) {
    Labels& own = constraints.node_selector;
    const auto at =
        std::lower_bound(own.begin(), own.end(), label,
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    if (at == own.end() || at->first != label.first)
      own.insert(at, label);
    else if (at->second != label.second)
      refuse(constraints, format("they select nodes with {}={}, and {} those with {}={}", at->first,
                                 at->second, by, label.first, label.second));
  }
}

// Whether a pod that tolerates `wide` tolerates all that `narrow` does.
bool covers(const Toleration& wide, const Toleration& narrow) {
  const bool same_key = wide.key == narrow.key || (wide.exists && wide.key.empty());
  const bool same_effect = !wide.effect || wide.effect == narrow.effect;
  const bool same_value = wide.exists || (!narrow.exists && wide.value == narrow.value);
  return same_key && same_effect && same_value;
}

// The first that none of `wide` covers; null: there is none.
const Toleration* first_beyond(const std::vector<Toleration>& wide,
                               const std::vector<Toleration>& tolerations) {
  const auto at = std::find_if(tolerations.begin(), tolerations.end(), [&](const auto& narrow) {
    return std::none_of(wide.begin(), wide.end(),
                        [&](const Toleration& each) { return covers(each, narrow); });
  });
  return at == tolerations.end() ? nullptr : &*at;
}

void live_in(const NamespaceAdmission& ns, SchedulingConstraints& constraints) {
  select(constraints, ns.node_selector, "the annotation of their namespace");
  std::vector<Toleration>& own = constraints.tolerations;
  own.insert(own.end(), ns.tolerations.begin(), ns.tolerations.end());
  if (ns.allowed_tolerations.empty()) return;
  if (const Toleration* other = first_beyond(ns.allowed_tolerations, own))
    refuse(constraints, format("they tolerate {}, which tolerationsWhitelist of their namespace "
                               "does not allow",
                               other->key.empty() ? "all taints" : other->key));
}

void run_in(const RuntimeClass& runtime, Resources& requests, SchedulingConstraints& constraints) {
  select(constraints, runtime.node_selector, "the RuntimeClass " + runtime.key.name);
  constraints.tolerations.insert(constraints.tolerations.end(), runtime.tolerations.begin(),
                                 runtime.tolerations.end());
  if (!constraints.has_overhead) requests += runtime.overhead;
}

// Of its claims that are bound, those that some nodes do not reach.
std::vector<std::shared_ptr<const Volume>> volumes_of(const std::string& ns,
                                                      const SchedulingConstraints* constraints,
                                                      const PodAdmission& admission) {
  std::vector<std::shared_ptr<const Volume>> volumes;
  if (constraints == nullptr || admission.volumes.empty()) return volumes;
  for (const std::string& claim : constraints->claims)
    if (const auto at = admission.volumes.find({ns, claim}); at != admission.volumes.end())
      volumes.push_back(at->second);
  return volumes;
}

// What admission may change of a pod.
struct Template {
  const std::string& ns;
  Resources requests;
  std::shared_ptr<const PodAsk> ask;
  std::shared_ptr<const SchedulingConstraints> constraints;
  std::string priority_class{};  // empty: the default one
};

// In the order of the API server. False if nothing is added.
bool admit(Template& pod, const PodAdmission& admission) {
  const auto ranges = admission.limit_ranges.find(pod.ns);
  const bool limited = pod.ask != nullptr && ranges != admission.limit_ranges.end();
  const auto ns = admission.namespaces.find(pod.ns);
  const bool of_namespace = ns != admission.namespaces.end() && adds_or_refuses(ns->second);
  const std::string name = pod.constraints ? pod.constraints->runtime_class : std::string();
  const auto runtime = admission.runtime_classes.find(name);
  const bool found = runtime != admission.runtime_classes.end();
  const bool missing = !found && !name.empty() && admission.knows_all_classes;
  const bool ranked = pod.priority_class.empty() || !admission.priority_classes ||
                      admission.priority_classes->contains(pod.priority_class);
  auto volumes = volumes_of(pod.ns, pod.constraints.get(), admission);
  if (!limited && !of_namespace && !found && !missing && ranked && volumes.empty()) return false;
  auto changed = std::make_shared<SchedulingConstraints>(pod.constraints ? *pod.constraints
                                                                         : SchedulingConstraints{});
  if (limited) {
    PodAsk filled = *pod.ask;
    refuse(*changed, apply(ranges->second, filled));
    pod.requests = requests_of(filled);
  }
  if (of_namespace) live_in(ns->second, *changed);
  if (found) run_in(*runtime->second, pod.requests, *changed);
  if (missing) refuse(*changed, format("their RuntimeClass {} does not exist", name));
  if (!ranked)
    refuse(*changed, format("their PriorityClass {} does not exist", pod.priority_class));
  changed->volumes = std::move(volumes);
  pod.constraints = std::move(changed);
  return true;
}

}  // namespace

bool adds_or_refuses(const NamespaceAdmission& ns) {
  return !ns.node_selector.empty() || !ns.tolerations.empty() || !ns.allowed_tolerations.empty();
}

bool shows_tolerations_of(const NamespaceAdmission& ns, const SchedulingConstraints& of_pod) {
  const std::vector<Toleration>& shown = of_pod.tolerations;
  return first_beyond(shown, ns.tolerations) == nullptr &&
         (ns.allowed_tolerations.empty() || first_beyond(ns.allowed_tolerations, shown) == nullptr);
}

JobPtr with_admission(const JobPtr& job, const PodAdmission& admission) {
  if (!job->pod_requests.wants_gpus()) return job;
  Template pod{job->key.ns, job->pod_requests, job->ask, job->constraints, job->priority_class};
  if (!admit(pod, admission)) return job;
  auto admitted = std::make_shared<Job>(*job);
  admitted->pod_requests = std::move(pod.requests);
  admitted->constraints = std::move(pod.constraints);
  return admitted;
}

PodPtr with_admission(const PodPtr& written, const PodAdmission& admission) {
  Template pod{written->key.ns, written->requests, written->ask, written->constraints};
  if (!admit(pod, admission)) return written;
  auto admitted = std::make_shared<Pod>(*written);
  admitted->requests = std::move(pod.requests);
  admitted->constraints = std::move(pod.constraints);
  return admitted;
}

PodPtr with_volumes(const PodPtr& pod, const PodAdmission& admission) {
  auto volumes = volumes_of(pod->key.ns, pod->constraints.get(), admission);
  if (volumes.empty()) return pod;
  auto constraints = std::make_shared<SchedulingConstraints>(*pod->constraints);
  constraints->volumes = std::move(volumes);
  auto changed = std::make_shared<Pod>(*pod);
  changed->constraints = std::move(constraints);
  return changed;
}

std::string unstated(const ClusterSnapshot& snapshot, const std::string& ns, const PodAsk* ask) {
  const auto quotas = quotas_in(snapshot, ns);
  if (ask == nullptr || quotas.empty()) return {};
  if (ask->level_requests != Resources{} || ask->level_limits != Resources{}) return {};
  PodAsk filled = *ask;
  if (snapshot.admission)
    if (const auto ranges = snapshot.admission->limit_ranges.find(ns);
        ranges != snapshot.admission->limit_ranges.end())
      static_cast<void>(apply(ranges->second, filled));  // for its defaults
  const Resources requests = requests_of(filled);
  for (const auto& quota : quotas) {
    if (!covers(*quota, requests)) continue;
    for (const ContainerAsk& container : filled.containers)
      for (const std::string& name : quota->must_state)
        if (!container.zero && stated(container, name) == 0)
          return format(
              "a container states no {}, which the ResourceQuota {} demands: the API server "
              "refuses such pods, unless a webhook of yours adds it; write it, or make a "
              "LimitRange with a default",
              name, quota->key.name);
  }
  return {};
}

std::vector<std::string> admission_doubts(const ClusterSnapshot& snapshot, const std::string& ns,
                                          const SchedulingConstraints* constraints,
                                          const PodAsk* ask) {
  const PodAdmission& admission = *snapshot.admission;
  std::vector<std::string> doubts;
  const std::string name = constraints != nullptr ? constraints->runtime_class : std::string();
  if (!name.empty() && !admission.knows_all_classes && !admission.runtime_classes.contains(name))
    doubts.push_back(
        format("the RuntimeClass {} is not known here: overhead, node selector and tolerations "
               "that it gives to pods are not counted",
               name));
  const auto at = admission.namespaces.find(ns);
  if (at != admission.namespaces.end() && !at->second.pod_security.empty())
    doubts.push_back(
        format("the namespace enforces the Pod Security level {}; whether the pods meet it is not "
               "checked: the API server refuses those that do not",
               at->second.pod_security));
  if (std::string lack = unstated(snapshot, ns, ask); !lack.empty())
    doubts.push_back(std::move(lack));
  return doubts;
}

}  // namespace slackline::core
