#include "slackline/model/pod_ask.h"

#include <algorithm>

namespace slackline {
namespace {

// a + b, each amount at most kMaxAmount.
Resources add_capped(const Resources& a, const Resources& b) {
  Resources sum = a + b;
  sum.cpu_milli = std::min(sum.cpu_milli, kMaxAmount);
  sum.memory_bytes = std::min(sum.memory_bytes, kMaxAmount);
  sum.pods = std::min(sum.pods, kMaxAmount);
  for (ResourceAmounts* amounts : {&sum.gpus, &sum.others})
    for (ResourceAmount& amount : *amounts)
      amount.count = std::min(amount.count, kMaxAmount);
  return sum;
}

void fill(ResourceAmounts& first, const ResourceAmounts& second) {
  for (const ResourceAmount& amount : second)
    if (count_of(first, amount.resource) == 0) set_count(first, amount.resource, amount.count);
}

// `first`, and where it has none of a resource, `second`.
Resources either(Resources first, const Resources& second) {
  if (first.cpu_milli == 0) first.cpu_milli = second.cpu_milli;
  if (first.memory_bytes == 0) first.memory_bytes = second.memory_bytes;
  fill(first.gpus, second.gpus);
  fill(first.others, second.others);
  return first;
}

Resources sum_of(const std::vector<ContainerAsk>& containers, Resources ContainerAsk::* amounts) {
  Resources running;
  Resources sidecars;
  Resources init;
  for (const ContainerAsk& container : containers) {
    const Resources& own = container.*amounts;
    if (container.kind == ContainerAsk::Kind::kInit) {
      init = max_of(init, add_capped(sidecars, own));
      continue;
    }
    running = add_capped(running, own);
    if (container.kind == ContainerAsk::Kind::kMain) continue;
    sidecars = add_capped(sidecars, own);
    init = max_of(init, sidecars);
  }
  return max_of(running, init);
}

}  // namespace

Resources sum_of_requests(const PodAsk& ask) {
  return sum_of(ask.containers, &ContainerAsk::requests);
}

Resources sum_of_limits(const PodAsk& ask) {
  return sum_of(ask.containers, &ContainerAsk::limits);
}

Resources requests_of(const PodAsk& ask) {
  const Resources by_containers = either(sum_of_requests(ask), ask.level_limits);
  Resources request = add_capped(either(ask.level_requests, by_containers), ask.overhead);
  request.pods = 1;
  return request;
}

}  // namespace slackline
