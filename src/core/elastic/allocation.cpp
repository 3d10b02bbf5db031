#include "slackline/core/elastic/allocation.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace slackline::core {
namespace {

// One more unit for a task.
struct UnitOffer {
  double gain = 0;
  std::size_t task = 0;
  int units = 0;     // with it
  double total = 0;  // gain of all of them

  // Of equal gains, the task with the fewest units comes first.
  bool operator<(const UnitOffer& other) const {
    if (gain != other.gain) return gain < other.gain;
    return units != other.units ? units > other.units : task > other.task;
  }
};

}  // namespace

int elastic_floor(const ElasticTask& task, int fair_share) {
  constexpr double kOfFairShare = 0.25;
  return std::min(fair_share, std::max(task.least, static_cast<int>(kOfFairShare * fair_share)));
}

double loss_gain(const ElasticTask& task, int units, double seconds) {
  if (!task.curve || units <= 0 || !(seconds > 0) || !(task.loss_range > 0)) return 0;
  const double iterations = std::min(task.iterations_per_s(units) * seconds, task.iterations_left);
  return task.weight * task.curve->drop(task.iteration, task.iteration + iterations) /
         task.loss_range;
}

std::vector<int> fair_shares(std::span<const ElasticTask> tasks, int units) {
  std::vector<int> shares(tasks.size());
  using Turn = std::pair<int, std::size_t>;  // units, task
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].least > units) continue;
    units -= shares[i] = tasks[i].least;
    turns.emplace(shares[i], i);
  }
  while (units > 0 && !turns.empty()) {
    const std::size_t i = turns.top().second;
    turns.pop();
    if (shares[i] >= tasks[i].most) continue;
    --units;
    turns.emplace(++shares[i], i);
  }
  return shares;
}

std::vector<int> allocate_greedily(std::span<const ElasticTask> tasks, const ElasticRound& round) {
  std::vector<int> sizes = fair_shares(tasks, round.units);
  std::priority_queue<UnitOffer> offers;
  const auto offer = [&](std::size_t i, double total) {
    const int units = sizes[i] + 1;
    if (units > tasks[i].most) return;
    const double with = loss_gain(tasks[i], units, round.period_s);
    offers.push({with - total, i, units, with});
  };
  int units = round.units;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].curve) sizes[i] = elastic_floor(tasks[i], sizes[i]);
    units -= sizes[i];
    if (tasks[i].curve && sizes[i] > 0) offer(i, loss_gain(tasks[i], sizes[i], round.period_s));
  }
  for (; units > 0 && !offers.empty(); --units) {
    const UnitOffer best = offers.top();
    offers.pop();
    sizes[best.task] = best.units;
    offer(best.task, best.total);
  }
  return sizes;
}

}  // namespace slackline::core
