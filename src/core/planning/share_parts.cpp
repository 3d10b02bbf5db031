#include "slackline/core/planning/share_parts.h"

#include <algorithm>
#include <map>
#include <utility>

namespace slackline::core {
namespace {

std::int64_t part(std::int64_t wanted, std::int64_t left) {
  return std::clamp<std::int64_t>(left, 0, wanted);
}

}  // namespace

std::vector<ShareParts> share_parts(const PlanState& state) {
  std::vector<ShareParts> parts(state.tasks().size());
  const Shares* shares = state.shares().shares();
  if (shares == nullptr) return parts;
  std::map<std::pair<QueueNumber, std::uint32_t>, ShareParts> of_queue;
  std::vector<ShareParts> of_type(shares->types.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> of_group;  // own and borrowed
  for (const TaskIndex task : state.running()) {
    const Choice& choice = state.running_choice(task);
    const std::uint32_t type = shares->type_of_pool[choice.pool];
    if (type == Shares::kNoType) continue;
    const QueueNumber queue = state.tasks()[task].queue;
    const GpuShare share = shares->share(queue, type);
    ShareParts& used = of_queue[{queue, type}];
    ShareParts& all = of_type[type];
    ShareParts& run = parts[task];
    run.own = part(choice.gpus, share.own - used.own);
    all.own += run.own;
    std::int64_t idle = shares->owned[type] - all.own - all.borrowed;
    const std::uint32_t group = shares->group(queue);
    if (group != QueueShare::kNoGroup)
      idle = std::min(idle, shares->groups[group][type] - of_group[{group, type}] - run.own);
    run.borrowed = part(choice.gpus - run.own, std::min(idle, share.borrow - used.borrowed));
    of_group[{group, type}] += run.own + run.borrowed;
    run.of_pool = choice.gpus - run.own - run.borrowed;
    all.borrowed += run.borrowed;
    used.own += run.own;
    used.borrowed += run.borrowed;
  }
  return parts;
}

}  // namespace slackline::core
