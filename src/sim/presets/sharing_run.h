// One simulated run of tasks that may share GPUs, two on each at most; private to src/sim/presets.
// A task runs to its end where it started, at the speed that its neighbour leaves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/presets/pair_world.h"
#include "slackline/base/random.h"
#include "slackline/core/sharing/share.h"

namespace slackline::sim {

// Run time alone: log-normal (sigma 1, mean 1 h), 300 s to 48 h.
double draw_run_s(Random& random);

struct SharingTask {
  int kind = 0;  // task of PairWorld; of a running one the variant in which it runs
  double submit_s = 0;
  double solo_s = 0;  // run time alone
  double pace = 1;    // of its variant alone, over that of `solo_s`
};

struct SharingLoad {
  int gpus = 16;
  int tasks = 500;
  double load = 1;  // run time alone of all tasks over GPU time until the last one comes
};

// Kinds uniform, run times alone log-normal (sigma 1, mean 1 h, 300 s to 48 h), Poisson arrivals.
std::vector<SharingTask> draw_sharing_tasks(const SharingLoad& load, int kinds, std::uint64_t seed);

struct SharingGpu {
  std::vector<std::size_t> residents;  // tasks by index, at most two
  double together_since_s = 0;
};

struct SharingState {
  std::vector<SharingTask> tasks;
  std::vector<std::size_t> waiting;  // in order of arrival
  std::vector<SharingGpu> gpus;

  core::SharePlaces places() const;
};

struct SharingStart {
  std::size_t waiting = 0;
  std::size_t gpu = 0;
  std::optional<int> variant;  // of its family; nullopt: as it is
};

struct SharingScheduler {
  // The next waiting task to start, and where.
  std::function<std::optional<SharingStart>(const SharingState&)> pick;
  // Two kinds ran beside each other for a minute or more.
  std::function<void(int, int)> saw;
};

struct SharingOutcome {
  double mean_completion_s = 0;  // from submit to finish
  double worst_slowdown = 0;     // (finish - start) / run time alone
  int joined = 0;                // tasks that started beside a resident
  int bound_broken = 0;          // of them those that made it slower than its bound
};

// `bound`: the least speed that a resident accepts, over its speed alone.
SharingOutcome run_sharing(const PairWorld& world, const std::vector<SharingTask>& tasks, int gpus,
                           double bound, const SharingScheduler& scheduler);

}  // namespace slackline::sim
