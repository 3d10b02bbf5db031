// Resizing that costs a restart: newcomers first, then doublings that are worth their price.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "slackline/core/elastic/allocation.h"

namespace slackline::core {
namespace {

constexpr double kPeriodsAhead = 3;     // what a trade is judged over, at least
constexpr double kRestartsAhead = 10;   // and this
constexpr double kRestartsBetween = 5;  // between two resizings of a task
// Gain over costs: of many predicted trades the best looking one is the luckiest.
constexpr double kLeastReturn = 2;

// What a task gets more or fewer, and what it gains or loses by that.
struct UnitChange {
  std::size_t task = 0;
  int units = 0;
  double gain = 0;

  double per_unit() const { return gain / units; }
};

std::vector<UnitChange> best_first(std::vector<UnitChange> changes) {
  std::stable_sort(changes.begin(), changes.end(), [](const UnitChange& a, const UnitChange& b) {
    return a.per_unit() > b.per_unit();
  });
  return changes;
}

class Trades {
 public:
  Trades(std::span<const ElasticTask> tasks, const ElasticRound& round)
      : tasks_(tasks),
        round_(round),
        ahead_s_(std::max(kPeriodsAhead * round.period_s, kRestartsAhead * round.restart_s)),
        fair_(fair_shares(tasks, round.units)),
        sizes_(tasks.size()),
        resized_(tasks.size()) {
    for (std::size_t i = 0; i < tasks.size(); ++i)
      sizes_[i] = tasks[i].units;
    idle_ = round.units - std::accumulate(sizes_.begin(), sizes_.end(), 0);
  }

  std::vector<int> sizes() {
    admit_newcomers();
    trade();
    return sizes_;
  }

 private:
  bool rests(std::size_t i) const {
    return resized_[i] || tasks_[i].since_resize_s < kRestartsBetween * round_.restart_s;
  }
  double gain_of(std::size_t i, int units) const {
    return loss_gain(tasks_[i], units, ahead_s_ - round_.restart_s) -
           loss_gain(tasks_[i], sizes_[i], ahead_s_);
  }
  std::vector<UnitChange> halvings(bool for_newcomers) const;
  std::vector<UnitChange> doublings() const;
  void resize(std::size_t task, int by) {
    idle_ -= by;
    sizes_[task] += by;
    resized_[task] = true;
  }
  void admit_newcomers();
  void trade();

  std::span<const ElasticTask> tasks_;
  ElasticRound round_;
  double ahead_s_;
  std::vector<int> fair_;
  std::vector<int> sizes_;
  std::vector<char> resized_;  // in this round: once is enough
  int idle_ = 0;
};

// The cheapest per unit first. For newcomers tasks give too that were resized lately, and those on
// probation give what is over their fair share.
std::vector<UnitChange> Trades::halvings(bool for_newcomers) const {
  std::vector<UnitChange> all;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const int least = tasks_[i].curve ? elastic_floor(tasks_[i], fair_[i]) : fair_[i];
    const int kept = std::max(least, sizes_[i] / 2);
    if (kept >= sizes_[i] || resized_[i]) continue;
    if (!for_newcomers && (rests(i) || !tasks_[i].curve)) continue;
    all.push_back({i, sizes_[i] - kept, gain_of(i, kept)});
  }
  return best_first(std::move(all));
}

// Those that gain by it, the most per unit first.
std::vector<UnitChange> Trades::doublings() const {
  std::vector<UnitChange> all;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const int more = std::min(2 * sizes_[i], tasks_[i].most) - sizes_[i];
    if (more <= 0 || rests(i)) continue;
    const UnitChange doubling{i, more, gain_of(i, sizes_[i] + more)};
    if (doubling.gain > 0) all.push_back(doubling);
  }
  return best_first(std::move(all));
}

void Trades::admit_newcomers() {
  const std::vector<UnitChange> donors = halvings(true);
  auto donor = donors.begin();
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].units > 0 || fair_[i] == 0) continue;
    for (; idle_ < fair_[i] && donor != donors.end(); ++donor)
      resize(donor->task, -donor->units);
    const int units = std::min(idle_, fair_[i]);
    if (units >= tasks_[i].least) resize(i, units);
  }
}

void Trades::trade() {
  const std::vector<UnitChange> donors = halvings(false);
  for (const UnitChange& receiver : doublings()) {
    if (resized_[receiver.task]) continue;
    resized_[receiver.task] = true;  // decided once, whether it pays or not
    std::vector<const UnitChange*> taken;
    int found = idle_;
    double lost = 0;
    for (const UnitChange& donor : donors) {
      if (found >= receiver.units) break;
      if (resized_[donor.task]) continue;
      found += donor.units;
      lost -= donor.gain;
      taken.push_back(&donor);
    }
    if (found < receiver.units || receiver.gain <= kLeastReturn * lost) continue;
    for (const UnitChange* donor : taken)
      resize(donor->task, -donor->units);
    resize(receiver.task, receiver.units);
  }
}

}  // namespace

std::vector<int> allocate_by_trades(std::span<const ElasticTask> tasks, const ElasticRound& round) {
  if (round.restart_s <= 0) return allocate_greedily(tasks, round);
  return Trades(tasks, round).sizes();
}

}  // namespace slackline::core
