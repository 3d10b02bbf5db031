#include "cluster/watch/fingerprint.h"

#include <variant>

#include "slackline/base/text.h"

namespace slackline::cluster {
namespace {

std::string text_of(const Resources& amount) {
  std::string text = format("{},{},{}", amount.cpu_milli, amount.memory_bytes, amount.pods);
  for (const ResourceAmounts* amounts : {&amount.gpus, &amount.others})
    for (const ResourceAmount& each : *amounts)
      text += format(",{}={}", each.resource, each.count);
  return text;
}

std::string text_of(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels)
    text += format("|{}={}", key, value);
  return text;
}

std::string text_of(const std::vector<Toleration>& tolerations) {
  std::string text;
  for (const Toleration& each : tolerations)
    text += format("|{}{}{}/{}", each.key, each.exists ? "?" : "=", each.value,
                   each.effect ? static_cast<int>(*each.effect) : -1);
  return text;
}

std::string key_text(const Node& node) {
  return "/" + node.name.str();
}
template <class T>
std::string key_text(const T& object) {
  return object.key.str();
}

}  // namespace

std::uint64_t fingerprint_of(const Node& node) {
  return fingerprint(format("{}|{}|{}|{}|{}", node.uid.str(), text_of(node.allocatable),
                            node.unschedulable, node.ready, node.gpu_type.str()));
}

std::uint64_t fingerprint_of(const Pod& pod) {
  return fingerprint(format("{}|{}|{}|{}|{}|{}|{}", pod.uid.str(), pod.node.str(),
                            pod.nominated_node.str(), to_string(pod.phase), pod.deleting, pod.gated,
                            pod.priority));
}

std::uint64_t fingerprint_of(const Job& job) {
  return fingerprint(format("{}|{}|{}|{}|{}|{}|{}", job.uid.str(), job.parallelism, job.suspended,
                            job.finished, job.active, job.succeeded, job.failed));
}

std::uint64_t fingerprint_of(const DisruptionBudget& budget) {
  return fingerprint(format("{}|{}", budget.uid.str(), budget.disruptions_allowed));
}

std::uint64_t fingerprint_of(const ResourceQuota& quota) {
  std::string text = quota.uid.str();
  for (const QuotaLimit& limit : quota.limits)
    text += format("|{}={}/{}", limit.resource, limit.used, limit.hard);
  for (const std::string& name : quota.must_state)
    text += format("|{}", name);
  return fingerprint(text);
}

std::uint64_t fingerprint_of(const Namespace& ns) {
  return fingerprint(format("{}|{}|{}|{}{}/{}/{}/{}", ns.uid.str(), ns.managed, ns.deleting,
                            ns.resize ? to_string(*ns.resize) : std::string_view(),
                            text_of(ns.pods.node_selector), text_of(ns.pods.tolerations),
                            text_of(ns.pods.allowed_tolerations), ns.pods.pod_security));
}

std::uint64_t fingerprint_of(const PriorityClass& priority_class) {
  return fingerprint(format("{}|{}|{}|{}", priority_class.uid.str(), priority_class.value,
                            priority_class.global_default, priority_class.never_preempts));
}

std::uint64_t fingerprint_of(const RuntimeClass& runtime) {
  return fingerprint(format("{}|{}{}|{}", runtime.uid.str(), text_of(runtime.overhead),
                            text_of(runtime.node_selector), text_of(runtime.tolerations)));
}

std::uint64_t fingerprint_of(const LimitRange& range) {
  std::string text = range.uid.str();
  for (const LimitRange::Item& item : range.items) {
    text += format("/{}", item.of_pod);
    for (const auto* amounts :
         {&item.default_requests, &item.default_limits, &item.least, &item.most, &item.ratios}) {
      text += '|';
      for (const NamedAmount& each : *amounts)
        text += format(",{}={}", each.resource, each.amount);
    }
  }
  return fingerprint(text);
}

std::uint64_t fingerprint_of(const DeviceClass& device_class) {
  return fingerprint(format("{}|{}", device_class.uid.str(), device_class.resource));
}

std::uint64_t fingerprint_of(const VolumeClaim& claim) {
  return fingerprint(format("{}|{}", claim.uid.str(), claim.volume));
}

std::uint64_t fingerprint_of(const Volume& volume) {
  std::string text = format("{}|{}", volume.uid.str(), volume.claim.str());
  for (const NodeSelectorTerm& term : volume.terms) {
    text += '/';
    for (const MatchExpression& each : term)
      text += format("|{} {} {}", each.key, static_cast<int>(each.op), join(each.values, ","));
  }
  return fingerprint(text);
}

void add_fingerprint(Fingerprints& into, const wire::KubeObject& object) {
  if (const Pod* pod = std::get_if<Pod>(&object); pod != nullptr && pod->terminal()) return;
  std::visit([&](const auto& value) { into[key_text(value)] = fingerprint_of(value); }, object);
}

}  // namespace slackline::cluster
