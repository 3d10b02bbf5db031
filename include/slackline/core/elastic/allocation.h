// How many units (GPUs, or workers of one) each elastic task gets, by how much its loss will fall.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "slackline/core/elastic/loss_curve.h"

namespace slackline::core {

struct ElasticTask {
  int units = 0;  // now; 0: it came since the last round
  int least = 1;
  int most = 1;
  double weight = 1;
  std::optional<LossCurve> curve;  // nullopt: on probation, it gets the fair share
  double loss_range = 0;           // LossHistory::range()
  double iteration = 0;
  double iterations_left = std::numeric_limits<double>::infinity();
  double since_resize_s = std::numeric_limits<double>::infinity();
  double owed_unit_s = 0;  // its account; see accounts.h
  std::function<double(int units)> iterations_per_s;
};

struct ElasticRound {
  int units = 0;  // that there are
  double period_s = 120;
  double restart_s = 0;  // that a task does nothing for after it was resized
};

// What a task gains in so many seconds with so many units: the predicted drop of its loss over the
// range seen, times its weight. 0 without a curve.
double loss_gain(const ElasticTask& task, int units, double seconds);

// One unit at a time to whoever has fewest, within least..most. Tasks whose `least` there is no
// room for get 0, the last ones first.
std::vector<int> fair_shares(std::span<const ElasticTask> tasks, int units);

// What a task keeps of its fair share at least: a quarter, and its `least`.
int elastic_floor(const ElasticTask& task, int fair_share);

// Policy `loss-greedy`: fair shares for tasks on probation, the floor for the others, then unit by
// unit to the one that gains most by it until the next round. Optimal where gains are concave;
// what a restart costs is not looked at.
std::vector<int> allocate_greedily(std::span<const ElasticTask> tasks, const ElasticRound& round);

// Policy `trades`: a newcomer gets its fair share, of idle units or else from the tasks that lose
// least by being halved; then a task is doubled where that gains at least twice what others lose
// that are halved for it, all of their restarts included. Where a restart costs nothing, greedily.
std::vector<int> allocate_by_trades(std::span<const ElasticTask> tasks, const ElasticRound& round);

}  // namespace slackline::core
