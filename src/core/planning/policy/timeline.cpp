#include "timeline.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "slackline/core/planning/mixed_pods.h"

namespace slackline::core {
namespace {

constexpr double kMoment_s = 1e-6;  // changes this close are one

}  // namespace

Timeline::Timeline(const FreeGpus& free, double now_s) : now_s_(now_s) {
  pools_.resize(free.pools());
  for (PoolIndex pool = 0; pool < pools_.size(); ++pool) {
    pools_[pool].resize(free.nodes(pool));
    for (PoolNode node = 0; node < pools_[pool].size(); ++node)
      pools_[pool][node].free = free.at(pool, node);
  }
  if (free.to_come() == nullptr) return;
  for (const FreeGpus::ToCome& run : *free.to_come())
    end_run(pools_[run.pool][run.node], std::min(run.at_s, now_s + kFar_s), run.gpus);
}

void Timeline::add_change(Line& line, double at_s, int gpus) {
  const auto at = std::lower_bound(line.changes.begin(), line.changes.end(), at_s,
                                   [](const Change& change, double s) { return change.at_s < s; });
  line.changes.insert(at, {at_s, gpus});
}

void Timeline::take(const TimelinePlace& place) {
  for (const PoolNode node : place.nodes) {
    Line& line = pools_[place.pool][node];
    if (place.start_s <= now_s_) {
      line.free -= place.gpus_per_node;
      end_run(line, place.end_s, place.gpus_per_node);
      continue;
    }
    add_change(line, place.start_s, -place.gpus_per_node);
    add_change(line, place.end_s, place.gpus_per_node);
  }
}

void Timeline::end_run(Line& line, double at_s, int gpus) const {
  add_change(line, at_s, gpus);
  line.cleared_s = std::max(line.cleared_s, at_s);
}

void Timeline::free_at(PoolIndex pool, const std::vector<PoolNode>& nodes, int gpus, double at_s) {
  for (const PoolNode node : nodes)
    end_run(pools_[pool][node], at_s, gpus);
}

void Timeline::add_openings(const Line& line, PoolNode node, const Wish& wish,
                            std::vector<Opening>& openings) const {
  std::optional<double> since_s;
  const auto close = [&](double end_s) {
    const double from_s = std::max(*since_s, wish.not_before_s);
    const double until_s = std::min(end_s - wish.run_s + kMoment_s, wish.last_start_s);
    if (from_s <= until_s) openings.push_back({from_s, until_s, node});
    since_s.reset();
  };
  int free = line.free;
  if (free >= wish.shape.d_gpn) since_s = now_s_;
  for (std::size_t i = 0; i < line.changes.size();) {
    const double at_s = line.changes[i].at_s;
    for (; i < line.changes.size() && line.changes[i].at_s <= at_s + kMoment_s; ++i)
      free += line.changes[i].gpus;
    if (since_s && free < wish.shape.d_gpn) close(at_s);
    if (!since_s && free >= wish.shape.d_gpn) since_s = at_s;
    if (!since_s && at_s > wish.last_start_s) return;
  }
  if (since_s) close(std::numeric_limits<double>::infinity());
}

// The first moment at which that many of them are open.
std::optional<double> Timeline::first_start_s(std::vector<Opening>& openings, std::size_t nodes) {
  if (openings.size() < nodes) return std::nullopt;
  std::sort(openings.begin(), openings.end(),
            [](const Opening& a, const Opening& b) { return a.from_s < b.from_s; });
  std::priority_queue<double, std::vector<double>, std::greater<>> open_until_s;
  for (const Opening& opening : openings) {
    while (!open_until_s.empty() && open_until_s.top() < opening.from_s)
      open_until_s.pop();
    open_until_s.push(opening.until_s);
    if (open_until_s.size() == nodes) return opening.from_s;
  }
  return std::nullopt;
}

int Timeline::least_free(const Line& line, double from_s, double until_s) const {
  int free = line.free;
  std::size_t i = 0;
  for (; i < line.changes.size() && line.changes[i].at_s <= from_s + kMoment_s; ++i)
    free += line.changes[i].gpus;
  int least = free;
  for (; i < line.changes.size() && line.changes[i].at_s < until_s - kMoment_s; ++i) {
    free += line.changes[i].gpus;
    least = std::min(least, free);
  }
  return least;
}

// At which more may fit than before.
std::vector<double> Timeline::moments(const Wish& wish) const {
  const double first_s = std::max(now_s_, wish.not_before_s);
  std::vector<double> moments;
  if (first_s <= wish.last_start_s) moments.push_back(first_s);
  for (const Line& line : pools_[wish.pool])
    for (const Change& change : line.changes)
      if (change.gpus > 0 && change.at_s > first_s && change.at_s <= wish.last_start_s)
        moments.push_back(change.at_s);
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end(),
                            [](double a, double b) { return b - a <= kMoment_s; }),
                moments.end());
  return moments;
}

std::optional<TimelinePlace> Timeline::earliest_of_mixed(const PlanTask& task,
                                                         const Wish& wish) const {
  const std::vector<Line>& lines = pools_[wish.pool];
  std::vector<NodeSet> avoided(wish.pool + std::size_t{1});
  avoided[wish.pool] = NodeSet(lines.size());
  for (PoolNode node = 0; node < lines.size(); ++node)
    if (wish.now != nullptr && wish.now->avoids(wish.pool, node)) avoided[wish.pool].insert(node);
  std::vector<std::vector<int>> gpus(wish.pool + std::size_t{1});
  for (const double start_s : moments(wish)) {
    gpus[wish.pool].clear();
    std::int64_t total = 0;
    for (const Line& line : lines) {
      gpus[wish.pool].push_back(std::max(0, least_free(line, start_s, start_s + wish.run_s)));
      total += gpus[wish.pool].back();
    }
    if (total < wish.shape.gpus()) continue;
    FreeGpus free(gpus);
    free.avoid(avoided);
    if (wish.now != nullptr && start_s <= now_s_) free.set_rest(wish.now->rest());
    auto nodes = pack(free, wish.pool, *task.mixed, wish.shape.d_gpn, task.preferred.get());
    if (!nodes.empty())
      return TimelinePlace{wish.pool, wish.shape.d_gpn, std::move(nodes), start_s,
                           start_s + wish.run_s};
  }
  return std::nullopt;
}

std::vector<Timeline::Opening> Timeline::find_openings(const PlanTask& task,
                                                       const Wish& wish) const {
  const std::vector<Line>& lines = pools_[wish.pool];
  const EligibleNodes* with_rest = wish.now ? wish.now->usable(task.rest, nullptr) : nullptr;
  const auto may_use = [&](const EligibleNodes* eligible, PoolNode node) {
    return eligible == nullptr || eligible->contains(wish.pool, node, wish.shape.d_gpn);
  };
  const EligibleNodes* later_on = (task.later ? *task.later : task.eligible).get();
  std::vector<Opening> openings;
  for (PoolNode node = 0; node < lines.size(); ++node) {
    const bool stopped = task.if_stopped && lines[node].cleared_s <= now_s_;  // whoever was there
    if (may_use((stopped ? task.if_stopped : task.eligible).get(), node) &&
        may_use(with_rest, node)) {
      add_openings(lines[node], node, wish, openings);
    } else if (lines[node].cleared_s > now_s_ && may_use(later_on, node)) {
      Wish later = wish;
      later.not_before_s = std::max(wish.not_before_s, lines[node].cleared_s);
      add_openings(lines[node], node, later, openings);
    }
  }
  return openings;
}

// Of several that start now, those that are near each other; empty: it does not matter.
std::vector<PoolNode> Timeline::nodes_near(const PlanTask& task, const Wish& wish,
                                           const std::vector<Opening>& openings,
                                           double start_s) const {
  const bool matters = wish.now != nullptr && start_s <= now_s_ && wish.shape.d_node > 1 &&
                       wish.now->has_blocks(wish.pool);
  if (!matters) return {};
  EligibleNodes open;
  open.by_pool.resize(wish.pool + std::size_t{1});
  open.by_pool[wish.pool] = NodeSet(pools_[wish.pool].size());
  for (const Opening& opening : openings)
    if (opening.from_s <= start_s && start_s <= opening.until_s)
      open.by_pool[wish.pool].insert(opening.node);
  return wish.now->find(wish.pool, wish.shape, &open, task.preferred.get());
}

std::optional<TimelinePlace> Timeline::earliest(const PlanTask& task, const Wish& wish) const {
  if (task.mixed != nullptr) return earliest_of_mixed(task, wish);
  const std::vector<Line>& lines = pools_[wish.pool];
  const auto needed = static_cast<std::size_t>(wish.shape.d_node);
  std::vector<Opening> openings = find_openings(task, wish);
  const auto start_s = first_start_s(openings, needed);
  if (!start_s) return std::nullopt;
  TimelinePlace place{wish.pool, wish.shape.d_gpn, {}, *start_s, *start_s + wish.run_s};
  place.nodes = nodes_near(task, wish, openings, *start_s);
  if (!place.nodes.empty()) return place;
  using Rank = std::tuple<bool, bool, int, PoolNode>;
  std::vector<Rank> ranks;
  for (const Opening& opening : openings) {
    if (opening.from_s > *start_s || opening.until_s < *start_s) continue;
    const bool preferred =
        task.preferred != nullptr && task.preferred->contains(wish.pool, opening.node);
    const bool avoided = wish.now != nullptr && wish.now->avoids(wish.pool, opening.node);
    ranks.emplace_back(avoided, !preferred,
                       least_free(lines[opening.node], *start_s, *start_s + wish.run_s),
                       opening.node);
  }
  std::sort(ranks.begin(), ranks.end());
  for (std::size_t i = 0; i < needed; ++i)
    place.nodes.push_back(std::get<PoolNode>(ranks[i]));
  return place;
}

}  // namespace slackline::core
