#include "telemetry/measured_tasks.h"

#include <algorithm>
#include <map>

namespace slackline::telemetry {
namespace {

bool shares_gpus(const Pod& pod, const Node& node, const GpuCatalog& catalog) {
  if (marks_shared(node.gpu_type)) return true;
  return std::any_of(pod.requests.gpus.begin(), pod.requests.gpus.end(),
                     [&](const ResourceAmount& amount) {
                       return amount.count > 0 && catalog.is_shared(amount.resource);
                     });
}

}  // namespace

bool marks_shared(const GpuType& node_type) {
  return node_type.str().find("-SHARED") != std::string::npos;
}

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
      task.pods.push_back({pod->key.name,
                           pod->requests.gpu_total(),
                           shares_gpus(*pod, *node->node, catalog),
                           {*pod->started_s, std::numeric_limits<double>::infinity()}});
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
