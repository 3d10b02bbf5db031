#include "slackline/core/planning/forecast_book.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace slackline::core {

double resolution_for(std::size_t waiting) {
  if (waiting <= 200) return 0.01;
  return waiting <= 1000 ? 0.03 : 0.1;
}

ForecastBook::ForecastBook(const PlanState& state, const std::vector<Uid>& names, double now_s,
                           const Policy& policy, const StopAsked& stop, Expected expected,
                           const NodeNameOf& node_name)
    : made_s_(now_s) {
  std::vector<TaskIndex> asked(state.waiting().begin(), state.waiting().end());
  for (const TaskIndex task : state.running())
    if (task < names.size()) asked.push_back(task);
  RolloutOptions options;
  options.followers = followers_in(state);
  std::copy_if(options.followers.begin(), options.followers.end(), std::back_inserter(asked),
               [&](TaskIndex task) { return task < names.size(); });
  options.resolution = resolution_for(state.waiting().size());
  options.stop = stop;
  options.horizon_s = horizon_for(state, now_s, expected.tasks.size(), expected.window_s);
  options.expected = std::move(expected.tasks);
  options.window_s = expected.window_s;
  entries_.reserve(asked.size());
  for (const Forecast& forecast : rollout(state, now_s, policy, asked, options)) {
    entries_.emplace(names[forecast.task], forecast);
    if (const double start_s = forecast.start_s.p50(); start_s > now_s)
      holds_until_s_ = std::min(holds_until_s_, start_s);
    if (!forecast.reserved || !node_name) continue;
    std::vector<NodeName>& nodes = reserved_[names[forecast.task]];
    for (const PoolNode node : forecast.reserved->nodes)
      nodes.push_back(node_name(forecast.reserved->pool, node));
  }
}

const Forecast* ForecastBook::find(const Uid& name) const {
  const auto at = entries_.find(name);
  return at == entries_.end() ? nullptr : &at->second;
}

const std::vector<NodeName>& ForecastBook::nodes_for(const Uid& name) const {
  static const std::vector<NodeName> kNone;
  const auto at = reserved_.find(name);
  return at == reserved_.end() ? kNone : at->second;
}

}  // namespace slackline::core
