// One simulated run of elastic tasks on units that are divided anew every period; private to
// src/sim/presets. Speed is linear in units, and a task that was resized does nothing for a while.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "slackline/core/elastic/allocation.h"

namespace slackline::sim {

// The loss after 0, 1, 2, ... iterations, from 1 down to 0; a straight line between two of them.
using LossSteps = std::vector<double>;

struct ElasticJob {
  double submit_s = 0;
  double work_s = 0;  // on one unit, all iterations
  std::shared_ptr<const LossSteps> losses;
  std::uint64_t noise_seed = 0;
  double weight = 1;
};

struct ElasticLoad {
  int jobs = 80;
  int units = 160;
  double restart_s = 0;
  core::CurveShape fitted = core::CurveShape::kPower;
  double period_s = 120;
  bool early_stop = false;  // a task ends when its returns diminish
};

// Poisson arrivals 15 s apart, work log-normal (sigma 0.8, mean 120 unit-minutes). Curves of
// `measured`, each as often; without any half of them exponential and half of them powers.
std::vector<ElasticJob> draw_elastic_jobs(
    int jobs, std::span<const std::shared_ptr<const LossSteps>> measured, std::uint64_t seed);

// The units of each task from now on.
using ElasticPolicy =
    std::function<std::vector<int>(std::span<const core::ElasticTask>, const core::ElasticRound&)>;

inline constexpr double kHeavyWeight = 4;
// Gives each job this weight by this chance; the others keep 1.
void draw_weights(std::vector<ElasticJob>& jobs, double share, std::uint64_t seed);

struct ElasticOutcome {  // means over the jobs, from submit; NaN: of no job
  double to90_s = 0;     // until 90 % of the fall of the loss is done; of those that get there
  double to95_s = 0;
  double completion_s = 0;   // or until the early stop
  double loss_14min = 0;     // what is left of the fall 14 minutes after submit
  double heavy_to90_s = 0;   // to90_s of the jobs with kHeavyWeight
  double owed_unit_min = 0;  // below the fair share over the whole run; 0 of those above it
  double stopped = 0;        // share of jobs that ended by an early stop
  double lost = 0;           // share of jobs that ended so before 90 %
};

ElasticOutcome run_elastic(const ElasticLoad& load, const std::vector<ElasticJob>& jobs,
                           const ElasticPolicy& policy);

}  // namespace slackline::sim
