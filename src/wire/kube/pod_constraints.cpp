#include <algorithm>

#include "wire/kube/kube_common.h"
#include "wire/kube/object_decode.h"

namespace slackline::wire {
namespace {

// False for tolerations that cannot be judged; leaving one out is only more careful.
bool read_toleration(JsonView item, Toleration& out) {
  const std::string_view op = item["operator"].text();
  if (!op.empty() && op != "Equal" && op != "Exists") return false;
  out.key = std::string(item["key"].text());
  out.exists = op == "Exists";
  out.value = std::string(item["value"].text());
  const std::string_view effect = item["effect"].text();
  if (effect == "NoSchedule")
    out.effect = TaintEffect::kNoSchedule;
  else if (effect == "PreferNoSchedule")
    out.effect = TaintEffect::kPreferNoSchedule;
  else if (effect == "NoExecute")
    out.effect = TaintEffect::kNoExecute;
  else if (!effect.empty())
    return false;
  return true;
}

bool uses_host_ports(JsonView containers) {
  for (const JsonView container : containers.items())
    for (const JsonView port : container["ports"].items())
      if (port["hostPort"].integer().value_or(0) != 0) return true;
  return false;
}

bool uses_volume_claims(JsonView volumes) {
  for (const JsonView volume : volumes.items())
    if (volume["persistentVolumeClaim"].present() || volume["ephemeral"].present()) return true;
  return false;
}

}  // namespace

std::vector<NodeSelectorTerm> read_term_list(JsonView list) {
  std::vector<NodeSelectorTerm> terms;
  for (const JsonView item : list.items()) {
    NodeSelectorTerm term = read_match_expressions(item["matchExpressions"]);
    const NodeSelectorTerm by_field = read_match_expressions(item["matchFields"]);
    term.insert(term.end(), by_field.begin(), by_field.end());
    // Kubernetes: an empty term matches no node.
    if (term.empty()) term.push_back(never_matches());
    terms.push_back(std::move(term));
  }
  return terms;
}

std::shared_ptr<const SchedulingConstraints> read_constraints(JsonView spec) {
  SchedulingConstraints out;
  const JsonView affinity = spec["affinity"];
  out.node_selector = read_labels(spec["nodeSelector"]);
  const JsonView required =
      affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  out.affinity_terms = read_term_list(required["nodeSelectorTerms"]);
  // A selector without terms matches no node either.
  if (out.affinity_terms.empty() && required.present())
    out.affinity_terms.push_back({never_matches()});
  for (const JsonView item : spec["tolerations"].items()) {
    Toleration toleration;
    if (read_toleration(item, toleration)) out.tolerations.push_back(std::move(toleration));
  }
  out.has_host_ports =
      uses_host_ports(spec["containers"]) || uses_host_ports(spec["initContainers"]);
  out.has_pod_affinity = affinity["podAffinity"].present() ||
                         affinity["podAntiAffinity"].present() ||
                         spec["topologySpreadConstraints"].items().count() > 0;
  out.has_volume_claims = uses_volume_claims(spec["volumes"]);
  const bool any = !out.node_selector.empty() || !out.affinity_terms.empty() ||
                   !out.tolerations.empty() || out.has_host_ports || out.has_pod_affinity ||
                   out.has_volume_claims;
  return any ? std::make_shared<const SchedulingConstraints>(std::move(out)) : nullptr;
}

}  // namespace slackline::wire
