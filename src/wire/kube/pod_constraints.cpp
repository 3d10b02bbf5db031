#include <algorithm>

#include "slackline/base/text.h"
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

// In the host's network every port is the host's.
bool uses_host_ports(JsonView containers, bool host_network) {
  for (const JsonView container : containers.items())
    for (const JsonView port : container["ports"].items())
      if (host_network || port["hostPort"].integer().value_or(0) != 0) return true;
  return false;
}

// A pod that brings a claim of its own gives it its name.
void read_claims(JsonView volumes, std::string_view pod_name, SchedulingConstraints& out) {
  for (const JsonView volume : volumes.items()) {
    const bool own = volume["ephemeral"].present();
    if (!own && !volume["persistentVolumeClaim"].present()) continue;
    out.has_volume_claims = true;
    if (!own)
      out.claims.emplace_back(volume["persistentVolumeClaim"]["claimName"].text());
    else if (!pod_name.empty())
      out.claims.push_back(format("{}-{}", pod_name, volume["name"].text()));
  }
}

// What the pods of one task differ in.
bool is_of_one_pod(std::string_view label) {
  return label == "batch.kubernetes.io/job-completion-index" ||
         label == "apps.kubernetes.io/pod-index" || label == "statefulset.kubernetes.io/pod-name";
}

// Whether a rule of the pod is about pods with its own labels.
bool selects(JsonView rule, const Labels& own) {
  const JsonView selector = rule["labelSelector"];
  if (!selector.is_object()) return false;
  // Of the keys of mismatchLabelKeys the pods of a task have the same value.
  if (rule["mismatchLabelKeys"].items().count() > 0) return false;
  for (const JsonView key : rule["matchLabelKeys"].items())
    if (is_of_one_pod(key.text())) return false;
  return slackline::selects(read_labels(selector["matchLabels"]),
                            read_match_expressions(selector["matchExpressions"]), own);
}

bool is_by_host_name(JsonView rule) {
  return rule["topologyKey"].text() == "kubernetes.io/hostname";
}

// Without namespaces a rule is about its own; a selector of namespaces that names labels cannot be
// judged here.
bool is_about(std::string_view ns, JsonView term) {
  const JsonView selector = term["namespaceSelector"];
  if (selector.is_object() && read_labels(selector["matchLabels"]).empty() &&
      selector["matchExpressions"].items().count() == 0)
    return true;
  const JsonView names = term["namespaces"];
  if (names.items().count() == 0) return !selector.is_object();
  for (const JsonView name : names.items())
    if (name.text() == ns) return true;
  return false;
}

// As the plug-ins NodePorts, InterPodAffinity and PodTopologySpread judge pods that are alike.
OwnSpread read_own_spread(JsonView pod, std::string_view ns, bool has_host_ports) {
  OwnSpread out;
  const JsonView spec = pod["spec"];
  const Labels own = read_labels(pod["metadata"]["labels"]);
  if (has_host_ports) out.most = 1;
  const JsonView apart = spec["affinity"]["podAntiAffinity"];
  for (const JsonView term : apart["requiredDuringSchedulingIgnoredDuringExecution"].items()) {
    if (!is_about(ns, term) || !selects(term, own)) continue;
    out.most = 1;
    if (!is_by_host_name(term)) out.apart = {std::string(term["topologyKey"].text()), 0};
  }
  for (const JsonView term :
       spec["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"].items())
    if (is_about(ns, term) && selects(term, own))
      out.together.emplace_back(term["topologyKey"].text());
  std::sort(out.together.begin(), out.together.end());
  out.together.erase(std::unique(out.together.begin(), out.together.end()), out.together.end());
  for (const JsonView rule : spec["topologySpreadConstraints"].items()) {
    if (rule["whenUnsatisfiable"].text() != "DoNotSchedule" || !selects(rule, own)) continue;
    const std::int64_t skew = std::max<std::int64_t>(1, rule["maxSkew"].integer().value_or(1));
    if (is_by_host_name(rule))
      out.skew = std::min(skew, out.skew.value_or(skew));
    else if (!out.apart)
      out.apart = {std::string(rule["topologyKey"].text()), skew};
  }
  return out;
}

}  // namespace

std::vector<Toleration> read_tolerations(JsonView list) {
  std::vector<Toleration> tolerations;
  for (const JsonView item : list.items()) {
    Toleration toleration;
    if (read_toleration(item, toleration)) tolerations.push_back(std::move(toleration));
  }
  return tolerations;
}

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

VolumeClaim read_volume_claim(JsonView json) {
  return {read_uid(json["metadata"]), read_key(json["metadata"]),
          std::string(json["spec"]["volumeName"].text())};
}

Volume read_volume(JsonView json) {
  const JsonView spec = json["spec"];
  const JsonView reached = spec["nodeAffinity"]["required"];
  Volume volume{read_uid(json["metadata"]), read_key(json["metadata"]), read_key(spec["claimRef"])};
  volume.terms = read_term_list(reached["nodeSelectorTerms"]);
  if (volume.terms.empty() && reached.present()) volume.terms.push_back({never_matches()});
  return volume;
}

std::shared_ptr<const SchedulingConstraints> read_constraints(JsonView pod, std::string_view ns) {
  const JsonView spec = pod["spec"];
  SchedulingConstraints out;
  const JsonView affinity = spec["affinity"];
  out.node_selector = read_labels(spec["nodeSelector"]);
  const JsonView required =
      affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  out.affinity_terms = read_term_list(required["nodeSelectorTerms"]);
  // A selector without terms matches no node either.
  if (out.affinity_terms.empty() && required.present())
    out.affinity_terms.push_back({never_matches()});
  out.tolerations = read_tolerations(spec["tolerations"]);
  const bool host_network = spec["hostNetwork"].is_true();
  out.has_host_ports = uses_host_ports(spec["containers"], host_network) ||
                       uses_host_ports(spec["initContainers"], host_network);
  out.has_pod_affinity = affinity["podAffinity"].present() ||
                         affinity["podAntiAffinity"].present() ||
                         spec["topologySpreadConstraints"].items().count() > 0;
  read_claims(spec["volumes"], pod["metadata"]["name"].text(), out);
  out.own_spread = read_own_spread(pod, ns, out.has_host_ports);
  out.runtime_class = std::string(spec["runtimeClassName"].text());
  out.has_overhead = spec["overhead"].present();
  const bool any = !out.node_selector.empty() || !out.affinity_terms.empty() ||
                   !out.tolerations.empty() || out.has_host_ports || out.has_pod_affinity ||
                   out.has_volume_claims || !out.runtime_class.empty();
  return any ? std::make_shared<const SchedulingConstraints>(std::move(out)) : nullptr;
}

}  // namespace slackline::wire
