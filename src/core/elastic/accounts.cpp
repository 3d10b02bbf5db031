#include "slackline/core/elastic/accounts.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace slackline::core {

std::vector<double> booked_in_round(std::span<const ElasticTask> tasks, std::span<const int> units,
                                    const ElasticRound& round) {
  const std::vector<int> fair = fair_shares(tasks, round.units);
  const double shared = std::accumulate(fair.begin(), fair.end(), 0.0);
  const double used = std::accumulate(units.begin(), units.end(), 0.0);
  std::vector<double> booked(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const double due = shared > 0 ? fair[i] * used / shared : 0;
    booked[i] = (due - units[i]) * round.period_s;
  }
  return booked;
}

std::vector<ElasticTask> bound_by_accounts(std::span<const ElasticTask> tasks,
                                           const ElasticRound& round) {
  constexpr double kRoundsOfCredit = 5;
  const std::vector<int> fair = fair_shares(tasks, round.units);
  std::vector<ElasticTask> bounded(tasks.begin(), tasks.end());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const double credit = kRoundsOfCredit * round.period_s * fair[i];
    if (fair[i] == 0) continue;
    if (tasks[i].owed_unit_s > credit) bounded[i].least = fair[i];
    if (tasks[i].owed_unit_s < -credit) bounded[i].most = fair[i];
  }
  return bounded;
}

}  // namespace slackline::core
