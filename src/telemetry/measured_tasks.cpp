#include "telemetry/measured_tasks.h"

#include <algorithm>
#include <map>

namespace slackline::telemetry {
namespace {

// Time-slicing and MPS; nvidia's device plugin marks the product of such a node "-SHARED".
bool shares_gpus(const Pod& pod, const Node& node, const GpuCatalog& catalog) {
  if (node.gpu_type.str().find("-SHARED") != std::string::npos) return true;
  return std::any_of(
      pod.requests.gpus.begin(), pod.requests.gpus.end(), [&](const GpuAmount& amount) {
        const GpuResourceRule* rule = catalog.resource(amount.resource);
        return rule != nullptr && amount.count > 0 && rule->sharing != GpuSharing::kWhole &&
               rule->sharing != GpuSharing::kMig;
      });
}

}  // namespace

std::vector<MeasuredTask> running_tasks(const ClusterSnapshot& snapshot, const GpuCatalog& catalog,
                                        double to_s) {
  std::map<std::pair<ObjectKey, Uid>, MeasuredTask> tasks;
  for (const NodeStatePtr& node : snapshot.nodes)
    for (const PodPtr& pod : node->pods) {
      if (!pod->started_s || !pod->requests.wants_gpus()) continue;
      const Job* job = owning_job(snapshot, *pod);
      const ObjectKey& key = job != nullptr ? job->key : pod->key;
      const Uid& run = job != nullptr ? job->uid : pod->uid;
      MeasuredTask& task = tasks[{key, run}];
      const double from_s =
          task.pods.empty() ? *pod->started_s : std::min(task.window.from_s, *pod->started_s);
      task.task = key;
      task.run = run;
      task.window = {from_s, std::max(from_s, to_s)};
      task.pods.push_back(
          {pod->key.name, pod->requests.gpu_total(), shares_gpus(*pod, *node->node, catalog)});
    }
  std::vector<MeasuredTask> all;
  for (auto& [key, task] : tasks) {
    std::sort(task.pods.begin(), task.pods.end(),
              [](const MeasuredPod& a, const MeasuredPod& b) { return a.name < b.name; });
    all.push_back(std::move(task));
  }
  return all;
}

}  // namespace slackline::telemetry
