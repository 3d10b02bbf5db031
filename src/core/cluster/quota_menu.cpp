#include "slackline/core/cluster/quota_menu.h"

#include <algorithm>

#include "slackline/base/saturating.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {
namespace {

void add(const std::vector<QuotaNeed>& more, std::vector<QuotaNeed>& needs) {
  for (const QuotaNeed& need : more) {
    const auto at = std::find_if(needs.begin(), needs.end(), [&](const QuotaNeed& other) {
      return other.limit == need.limit && other.held == need.held;
    });
    if (at == needs.end())
      needs.push_back(need);
    else
      at->amount = saturating_add(at->amount, need.amount);
  }
}

std::int64_t pods_to_come(const QueueTask& task) {
  if (!task.plan || !task.job || task.job->suspended) return 0;
  return task.job->wanted_pods() - std::ssize(task.bound) - std::ssize(task.pods);
}

// Of a run with all its pods that may go on in another shape: by its GPUs and nodes. Uneven amounts
// stay as they are.
void divide(const QuotaBook& quotas, const QueueTask& task, std::vector<QuotaNeed>& needs) {
  const Placement& shape = task.plan->shape;
  for (QuotaNeed& need : needs) {
    const bool of_gpus = quotas.resource_of(task.key.ns, need.limit) == task.request.resource;
    const std::int64_t parts = of_gpus ? shape.gpus() : shape.d_node;
    if (parts < 1 || need.amount % parts != 0) continue;
    need.amount /= parts;
    need.each = of_gpus ? QuotaNeed::Each::kGpu : QuotaNeed::Each::kNode;
  }
}

}  // namespace

QuotaDemand demand_of(const QueueTask& task, const Placement& shape) {
  if (!task.job || !task.job->suspended) return {};  // its pods are there, and counted
  QuotaDemand demand{task.member->requests, task.pods_in(shape)};
  demand.pod.set_gpus(task.request.resource, task.gpus_per_pod_in(shape));
  return demand;
}

bool is_admitted(const QuotaBook& quotas, const QueueTask& task, const Placement& shape) {
  const QuotaDemand demand = demand_of(task, shape);
  return quotas.admits(task.key.ns, demand.pod, demand.pods);
}

std::shared_ptr<const PlacementMenu> admitted_menu(const QuotaBook& quotas, const QueueTask& task,
                                                   const std::shared_ptr<const PlacementMenu>& menu,
                                                   const std::vector<Pool>& pools, double theta) {
  std::vector<Estimate> admitted;
  for (const Choice& choice : menu->all)
    if (is_admitted(quotas, task, choice.shape))
      admitted.push_back({choice.pool, choice.shape, choice.throughput_samples_per_s, choice.work_s,
                          choice.startup_s});
  if (admitted.size() == menu->all.size()) return menu;
  PlacementMenu rest =
      admitted.empty() ? PlacementMenu{} : make_menu(admitted, pools, {.theta = theta});
  rest.base_s = menu->base_s;
  return std::make_shared<const PlacementMenu>(std::move(rest));
}

bool is_never_admitted(const QuotaBook& quotas, const QueueTask& task, const PlacementMenu& menu) {
  return std::none_of(menu.all.begin(), menu.all.end(), [&](const Choice& choice) {
    const QuotaDemand demand = demand_of(task, choice.shape);
    return quotas.ever_admits(task.key.ns, demand.pod, demand.pods);
  });
}

std::vector<QuotaNeed> quota_needs(const QuotaBook& quotas, const QueueTask& task,
                                   const PlacementMenu& menu) {
  std::vector<QuotaNeed> needs;
  if (quotas.empty()) return needs;
  std::int64_t holders = std::max<std::int64_t>(0, pods_to_come(task));
  if (holders > 0) add(quotas.held(task.key.ns, planned_requests(*task.job), holders), needs);
  for (const auto* pods : {&task.bound, &task.pods})
    for (const PodPtr& pod : *pods) {
      if (is_to_come(*pod)) continue;
      add(quotas.held(task.key.ns, pod->requests, 1), needs);
      ++holders;
    }
  if (task.is_planned() && task.shape_is_free && holders == task.plan->shape.d_node)
    divide(quotas, task, needs);
  // Pods of a stopped one that are still ending hold what its next run will.
  if (task.plan || menu.empty() || !needs.empty()) return needs;
  const QuotaDemand demand = demand_of(task, menu.all[menu.by_size.front()].shape);
  const auto of_nodes = task.shape_is_free ? QuotaNeed::Each::kNode : QuotaNeed::Each::kTask;
  const std::int64_t pods = task.shape_is_free ? 1 : demand.pods;
  for (QuotaNeed need : quotas.held(task.key.ns, demand.pod, pods)) {
    need.held = false;
    const bool of_gpus = quotas.resource_of(task.key.ns, need.limit) == task.request.resource;
    need.each = of_gpus ? QuotaNeed::Each::kGpu : of_nodes;
    if (of_gpus) need.amount = 1;
    needs.push_back(need);
  }
  return needs;
}

}  // namespace slackline::core
