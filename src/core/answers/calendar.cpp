#include "slackline/core/answers/calendar.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace slackline::core {
namespace {

constexpr int kNotSeen = std::numeric_limits<int>::max();

// MIG slices and shared GPUs of a type are of a resource of their own.
using Kind = std::pair<GpuType, std::string>;

Kind kind_of(const QueuePool& pool) {
  return {pool.pool.type, pool.pool.resource};
}

// Of one kind, in one future, by slot: the least that is free.
using Least = std::vector<int>;

class FreeWatcher {
 public:
  FreeWatcher(const Queue& queue, double now_s, const CalendarOptions& options)
      : queue_(queue),
        now_s_(now_s),
        options_(options),
        slots_(std::max<std::size_t>(
            1, static_cast<std::size_t>(std::lround(options.horizon_s / options.slot_s)))) {}

  // What is free from `at_s` on.
  void look(int future, double at_s, const PlanState& state) {
    std::map<Kind, int> free;
    for (PoolIndex pool = 0; pool < queue_.pools().size(); ++pool) {
      int& of_kind = free[kind_of(queue_.pools()[pool])];
      for (PoolNode node = 0; node < queue_.pools()[pool].nodes.size(); ++node)
        of_kind += std::max(0, state.free().at(pool, node));
    }
    Future& seen = futures_[future];
    fill(seen, at_s);
    seen.last = std::move(free);
    note(seen, slot_of(at_s));
  }

  std::vector<CalendarSlot> slots() {
    std::map<Kind, int> gpus;
    for (const QueuePool& pool : queue_.pools())
      gpus[kind_of(pool)];
    count_gpus(gpus);
    for (auto& [number, seen] : futures_)
      fill(seen, now_s_ + options_.slot_s * static_cast<double>(slots_));
    std::vector<CalendarSlot> all;
    for (const auto& [kind, total] : gpus)
      for (std::size_t slot = 0; slot < slots_; ++slot) {
        std::vector<int> free;
        for (const auto& [number, seen] : futures_)
          free.push_back(seen.least.at(kind)[slot]);
        std::sort(free.begin(), free.end());
        const double begins_s = now_s_ + options_.slot_s * static_cast<double>(slot);
        all.push_back({kind.first, kind.second, begins_s, begins_s + options_.slot_s, total,
                       free[(free.size() - 1) / 2], free[(free.size() - 1) / 10]});
      }
    return all;
  }

 private:
  struct Future {
    std::map<Kind, Least> least;
    std::map<Kind, int> last;  // free since then
    std::size_t next = 0;      // the first slot that was not entered yet
  };

  std::size_t slot_of(double at_s) const {
    const double slot = std::max(0.0, (at_s - now_s_) / options_.slot_s);
    return std::min(slots_, static_cast<std::size_t>(slot));
  }

  // Slots up to that of this time begin with what was free last.
  void fill(Future& seen, double until_s) const {
    for (; seen.next <= slot_of(until_s); ++seen.next)
      note(seen, seen.next);
  }

  void note(Future& seen, std::size_t slot) const {
    if (slot >= slots_) return;
    for (const auto& [kind, free] : seen.last) {
      Least& least = seen.least[kind];
      least.resize(slots_, kNotSeen);
      least[slot] = std::min(least[slot], free);
    }
  }

  void count_gpus(std::map<Kind, int>& gpus) const {
    const PlanState& state = queue_.state();
    for (PoolIndex pool = 0; pool < queue_.pools().size(); ++pool)
      for (PoolNode node = 0; node < queue_.pools()[pool].nodes.size(); ++node)
        gpus[kind_of(queue_.pools()[pool])] += state.free().at(pool, node);
    for (const TaskIndex task : state.running())
      gpus[kind_of(queue_.pools()[state.running_choice(task).pool])] +=
          state.running_choice(task).gpus;
  }

  const Queue& queue_;
  double now_s_;
  const CalendarOptions& options_;
  std::size_t slots_;
  std::map<int, Future> futures_;
};

}  // namespace

std::vector<CalendarSlot> make_calendar(const Queue& queue, const Policy& policy, double now_s,
                                        const CalendarOptions& options) {
  RolloutOptions played;
  played.horizon_s = options.horizon_s;
  played.expected = options.expected.tasks;
  played.window_s = options.expected.window_s;
  played.resolution = resolution_for(queue.state().waiting().size());
  played.followers = followers_in(queue.state());
  played.stop = options.stop;
  FreeWatcher watcher(queue, now_s, options);
  const Futures futures(queue.state().tasks(), now_s, played, false);
  const auto look = [&](int future, double at_s, const PlanState& state) {
    watcher.look(future, at_s, state);
  };
  if (!futures.watch(queue.state(), policy, look)) return {};
  return watcher.slots();
}

}  // namespace slackline::core
