#include "slackline/core/cluster/quota_menu.h"

namespace slackline::core {

QuotaDemand demand_of(const QueueTask& task, const Placement& shape) {
  if (!task.job || !task.job->suspended) return {};  // its pods are there, and counted
  QuotaDemand demand{task.member->requests, task.pods_in(shape)};
  demand.pod.set_gpus(task.request.resource, task.gpus_per_pod_in(shape));
  return demand;
}

std::shared_ptr<const PlacementMenu> admitted_menu(const QuotaBook& quotas, const QueueTask& task,
                                                   const std::shared_ptr<const PlacementMenu>& menu,
                                                   const std::vector<Pool>& pools, double theta) {
  std::vector<Estimate> admitted;
  for (const Choice& choice : menu->all) {
    const QuotaDemand demand = demand_of(task, choice.shape);
    if (quotas.admits(task.key.ns, demand.pod, demand.pods))
      admitted.push_back({choice.pool, choice.shape, choice.throughput_samples_per_s, choice.work_s,
                          choice.startup_s});
  }
  if (admitted.size() == menu->all.size()) return menu;
  PlacementMenu rest =
      admitted.empty() ? PlacementMenu{} : make_menu(admitted, pools, {.theta = theta});
  rest.base_s = menu->base_s;
  return std::make_shared<const PlacementMenu>(std::move(rest));
}

}  // namespace slackline::core
