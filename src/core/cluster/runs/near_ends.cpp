#include "slackline/core/cluster/near_ends.h"

#include <algorithm>
#include <utility>

namespace slackline::core {
namespace {

constexpr double kLeast_s = 60;  // an end that is nearer may be late by a little

}  // namespace

void NearEnds::see(const Queue& queue, double protect_s, double now_s) {
  std::unordered_map<Uid, NearEnd> seen;
  const PlanState& state = queue.state();
  for (const TaskIndex index : state.running()) {
    if (index >= queue.size() || queue.task(index).plan == nullptr) continue;
    const Uid& uid = queue.task(index).uid;
    const double started_s = state.progress(index).run.started_s;
    if (const auto known_s = since_s(uid, started_s))
      seen.emplace(uid, NearEnd{started_s, *known_s});
    else if (const double left_s = state.observed_due_s(index, now_s) - now_s;
             left_s > 0 && left_s < protect_s)
      seen.emplace(
          uid, NearEnd{started_s, now_s - std::max(0.0, protect_s - std::max(left_s, kLeast_s))});
  }
  ends_ = std::move(seen);
}

std::optional<double> NearEnds::since_s(const Uid& task, double started_s) const {
  const auto at = ends_.find(task);
  if (at == ends_.end() || at->second.started_s != started_s) return std::nullopt;
  return at->second.since_s;
}

}  // namespace slackline::core
