#include "slackline/core/cluster/predicates.h"

#include <algorithm>

namespace slackline::core {
namespace {

const SchedulingConstraints& constraints_of(const Pod& pod) {
  static const SchedulingConstraints kNone;
  return pod.constraints ? *pod.constraints : kNone;
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect && *toleration.effect != taint.effect) return false;
  if (toleration.key.empty()) return toleration.exists;
  if (toleration.key != taint.key) return false;
  return toleration.exists || toleration.value == taint.value;
}

bool tolerated(const SchedulingConstraints& constraints, const Taint& taint) {
  return std::any_of(constraints.tolerations.begin(), constraints.tolerations.end(),
                     [&](const Toleration& toleration) { return tolerates(toleration, taint); });
}

std::optional<Misfit> misfit_of_taints(const Pod& pod, const Node& node) {
  std::optional<Misfit> found;
  for (const Taint& taint : node.taints) {
    const auto bar = taint_misfit(pod, node, taint);
    if (bar == Misfit::kTaint) return bar;
    if (bar) found = bar;
  }
  return found;
}

// Terms are alternatives; a term without requirements matches nothing, as in kube-scheduler.
bool any_matches(const std::vector<NodeSelectorTerm>& terms, const Node& node) {
  if (terms.empty()) return true;
  return std::any_of(terms.begin(), terms.end(), [&](const NodeSelectorTerm& term) {
    return !term.empty() && std::all_of(term.begin(), term.end(), [&](const auto& expression) {
      return matches(expression, node.labels, node.name.str());
    });
  });
}

}  // namespace

std::string_view code(Misfit misfit) {
  switch (misfit) {
    case Misfit::kNodeUnreadable:
      return "NodeUnreadable";
    case Misfit::kNotReady:
      return "NotReady";
    case Misfit::kUnschedulable:
      return "Unschedulable";
    case Misfit::kTaint:
    case Misfit::kResourceTaint:
      return "Taint";
    case Misfit::kNodeSelector:
      return "NodeSelector";
    case Misfit::kNodeAffinity:
      return "NodeAffinity";
    case Misfit::kVolume:
      break;
  }
  return "VolumeNodeAffinity";
}

std::string_view message(Misfit misfit) {
  switch (misfit) {
    case Misfit::kNodeUnreadable:
      return "node reports resources that cannot be parsed";
    case Misfit::kNotReady:
      return "node is not ready";
    case Misfit::kUnschedulable:
      return "node is cordoned";
    case Misfit::kTaint:
      return "node has a taint that the pod does not tolerate";
    case Misfit::kResourceTaint:
      return "node has a taint named like the GPUs that the pod asks for, and the pod does not "
             "tolerate it; no pod here shows that the API server would add the toleration";
    case Misfit::kNodeSelector:
      return "node does not match the pod's node selector";
    case Misfit::kNodeAffinity:
      return "node does not match the pod's required node affinity";
    case Misfit::kVolume:
      break;
  }
  return "node does not reach a volume that the pod claims: the nodeAffinity of its "
         "PersistentVolume";
}

// A pod that is not there yet gets the toleration; one that is shows what it has.
std::optional<Misfit> taint_misfit(const Pod& pod, const Node& node, const Taint& taint) {
  if (taint.effect == TaintEffect::kPreferNoSchedule || tolerated(constraints_of(pod), taint))
    return std::nullopt;
  const bool of_resource =
      pod.uid.empty() && taint.effect == TaintEffect::kNoSchedule &&
      (pod.requests.gpu_count(taint.key) > 0 || count_of(pod.requests.others, taint.key) > 0);
  if (!of_resource) return Misfit::kTaint;
  if (node.tolerated_by_request) return std::nullopt;
  return Misfit::kResourceTaint;
}

std::optional<std::vector<std::string>> domain_of(const Node& node,
                                                  const std::vector<std::string>& labels) {
  std::vector<std::string> values;
  for (const std::string& label : labels) {
    const std::string* value = find_label(node.labels, label);
    if (value == nullptr) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

bool in_same_domain(const Node& a, const Node& b, const std::vector<std::string>& labels) {
  if (labels.empty()) return true;
  const auto domain = domain_of(a, labels);
  return domain && domain == domain_of(b, labels);
}

std::optional<Misfit> misfit(const Pod& pod, const Node& node) {
  const SchedulingConstraints& constraints = constraints_of(pod);
  static const Taint kNotReadyTaint{"node.kubernetes.io/not-ready", "", TaintEffect::kNoSchedule};
  static const Taint kCordonTaint{"node.kubernetes.io/unschedulable", "", TaintEffect::kNoSchedule};
  if (!node.problems.empty()) return Misfit::kNodeUnreadable;
  if (!node.ready && !tolerated(constraints, kNotReadyTaint)) return Misfit::kNotReady;
  if (node.unschedulable && !tolerated(constraints, kCordonTaint)) return Misfit::kUnschedulable;
  if (const auto taint = misfit_of_taints(pod, node)) return taint;
  if (!has_labels(node.labels, constraints.node_selector)) return Misfit::kNodeSelector;
  if (!any_matches(constraints.affinity_terms, node)) return Misfit::kNodeAffinity;
  for (const auto& volume : constraints.volumes)
    if (!any_matches(volume->terms, node)) return Misfit::kVolume;
  return std::nullopt;
}

bool is_selected(const Pod& pod, const Node& node) {
  const SchedulingConstraints& constraints = constraints_of(pod);
  return has_labels(node.labels, constraints.node_selector) &&
         any_matches(constraints.affinity_terms, node);
}

std::vector<std::string> rules_not_counted(const Pod& pod) {
  const SchedulingConstraints& constraints = constraints_of(pod);
  std::vector<std::string> rules;
  if (constraints.has_volume_claims)
    rules.emplace_back(
        "volumes: of its PersistentVolumeClaims those count that are bound, by the nodes that "
        "reach "
        "their volumes; kube-scheduler may refuse it others");
  if (constraints.has_pod_affinity)
    rules.emplace_back(
        "affinity: of its rules about other pods, and of topology spread, only what they say of "
        "its own pods is counted here; kube-scheduler may refuse it nodes");
  return rules;
}

}  // namespace slackline::core
