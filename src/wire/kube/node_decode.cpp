#include <algorithm>

#include "slackline/base/text.h"
#include "wire/kube/kube_common.h"
#include "wire/kube/object_decode.h"

namespace slackline::wire {
namespace {

TaintEffect read_effect(std::string_view text) {
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return TaintEffect::kNoExecute;
  return TaintEffect::kNoSchedule;  // also for unknown effects: keep away
}

// GKE adds a toleration for each resource that a pod asks for.
bool is_of_gke(const Labels& labels) {
  return std::any_of(labels.begin(), labels.end(), [](const auto& label) {
    return label.first.starts_with("cloud.google.com/gke-");
  });
}

// What is unreadable in a capacity keeps nobody off the node.
ResourceAmounts unhealthy_gpus(JsonView capacity, const Resources& allocatable,
                               const GpuCatalog& catalog) {
  std::vector<std::string> ignored;
  Resources there;
  ResourceReader(catalog, ignored).of_capacity().apply(capacity, "status.capacity", there);
  ResourceAmounts unhealthy;
  for (const ResourceAmount& gpus : there.gpus)
    if (const auto offered = allocatable.gpu_count(gpus.resource); gpus.count > offered)
      unhealthy.push_back({gpus.resource, gpus.count - offered});
  return unhealthy;
}

// A node without a Ready condition has not reported yet, except in dumps written by hand.
void read_ready(JsonView status, Node& node) {
  for (const JsonView condition : status["conditions"].items()) {
    if (condition["type"].text() != "Ready") continue;
    node.ready = condition["status"].text() == "True";
    const double since_s = read_time_s(condition["lastTransitionTime"]);
    if (!node.ready && since_s > 0) node.unready_since_s = since_s;
    return;
  }
}

}  // namespace

Node read_node(JsonView json, const GpuCatalog& catalog) {
  const JsonView metadata = json["metadata"];
  const JsonView spec = json["spec"];
  const JsonView status = json["status"];
  Node node;
  node.name = NodeName(metadata["name"].text());
  node.uid = read_uid(metadata);
  node.labels = read_labels(metadata["labels"]);
  node.gpu_type = catalog.classify(node.labels);
  node.blocks = catalog.blocks_of(node.labels);
  node.tolerated_by_request = is_of_gke(node.labels);
  ResourceReader(catalog, node.problems)
      .of_capacity()
      .apply(status["allocatable"], "status.allocatable", node.allocatable);
  node.unhealthy = unhealthy_gpus(status["capacity"], node.allocatable, catalog);
  for (const JsonView taint : spec["taints"].items())
    node.taints.push_back({std::string(taint["key"].text()), std::string(taint["value"].text()),
                           read_effect(taint["effect"].text())});
  node.unschedulable = spec["unschedulable"].is_true();
  read_ready(status, node);
  return node;
}

}  // namespace slackline::wire
