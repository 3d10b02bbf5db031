#include "placed_gang.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "slackline/core/cluster/largest_first.h"
#include "slackline/core/planning/mixed_pods.h"

namespace slackline::core {
namespace {

const NodeName& place_of_member(const Pod& pod) {
  return pod.bound() ? pod.node : pod.nominated_node;
}

// Members to come: on the nodes that are left, with as many of the plan's GPUs each. The largest
// stay first.
void place_those_to_come(std::vector<NodeName>&& left, PlanNote& plan,
                         std::vector<std::int64_t>& of_each) {
  if (plan.later < 1 || left.empty()) return;
  const auto there = std::accumulate(of_each.begin(), of_each.end(), std::int64_t{0});
  const std::int64_t each = (plan.shape.gpus() - there) / std::ssize(left);
  if (each < 1) return;
  const auto at = std::find_if(of_each.begin(), of_each.end(),
                               [&](std::int64_t other) { return other < each; });
  plan.nodes.insert(plan.nodes.begin() + (at - of_each.begin()), left.begin(), left.end());
  of_each.insert(at, left.size(), each);
}

}  // namespace

std::vector<std::int64_t> gpus_of_each(std::vector<PodPtr>& pods, const std::string& resource) {
  sort_largest_first(pods);
  std::vector<std::int64_t> gpus;
  for (const PodPtr& pod : pods)
    gpus.push_back(pod->requests.gpu_count(resource));
  return gpus;
}

void place_each(const TaskParts& parts, QueueTask& task) {
  const PlanNote& plan = *task.plan;
  std::vector<PodPtr> pods;
  for (const auto* some : {&parts.bound, &parts.unbound})
    std::copy_if(some->begin(), some->end(), std::back_inserter(pods),
                 [&](const PodPtr& pod) { return pod->plan && pod->plan->id == plan.id; });
  const std::set<NodeName> distinct(plan.nodes.begin(), plan.nodes.end());
  auto of_each = gpus_of_each(pods, task.request.resource);
  const bool equal = of_each.front() == of_each.back();
  if ((equal && std::ssize(distinct) == plan.shape.d_node) || of_each.back() < 1) return;
  auto placed = std::make_shared<PlanNote>(plan);
  std::vector<NodeName> left = plan.nodes;
  for (const PodPtr& pod : pods)
    if (const auto at = std::find(left.begin(), left.end(), place_of_member(*pod));
        at != left.end())
      left.erase(at);
  placed->nodes.clear();
  auto next = left.begin();
  for (const PodPtr& pod : pods) {
    if (!place_of_member(*pod).empty())
      placed->nodes.push_back(place_of_member(*pod));
    else if (next != left.end())
      placed->nodes.push_back(*next++);
    else
      return;
  }
  left.erase(left.begin(), next);
  place_those_to_come(std::move(left), *placed, of_each);
  placed->shape = in_units(of_each);
  task.plan = std::move(placed);
  task.request.pods = std::ssize(of_each);
  task.request.gpus = of_each.front();
  task.request.of_each = std::move(of_each);
}

}  // namespace slackline::core
