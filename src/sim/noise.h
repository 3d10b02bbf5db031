// Estimation error: by how much the true work of a task differs from what the model predicts.
// Policies never see it.
//
//   true work = predicted work x factor(task, placement)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/core/planning/plan_state.h"
#include "slackline/model/workload.h"

namespace slackline::sim {

// One row; an open field (nullopt, empty, 0) matches everything.
struct NoiseRow {
  std::optional<std::int64_t> task;
  std::string type;
  std::string pool;
  int d_node = 0;
  int d_gpn = 0;
  double factor = 1;
  int line = 0;  // of its file; 0: of none
};

class Noise {
 public:
  Noise() = default;  // the exact model

  void add(NoiseRow row);
  // The product of the rows that match: those that name no task first, then those of the task.
  double factor(const core::PlanTask& task, const std::string& pool, Placement shape) const;
  // The true time of the work.
  double true_work_s(const core::PlanTask& task, const std::vector<core::Pool>& pools,
                     const core::Choice& choice) const;
  // kInvalidArgument if a row names a pool that the platform lacks, a task that the table lacks, or
  // a type that neither the profiles nor the table know: it would never match.
  Status check(const std::vector<core::Pool>& pools, const core::TaskTable& tasks,
               const WorkloadProfiles& profiles) const;

 private:
  std::vector<NoiseRow> of_all_;
  std::unordered_map<std::int64_t, std::vector<NoiseRow>> of_task_;
};

// CSV with the header `task,type,pool,d_node,d_gn,factor`: a row names either a task, or a type,
// pool and shape; the other fields are empty.
Result<Noise> parse_noise_csv(std::string_view text);

// Log-normal with the given sigma: exp(sigma (a + b) / sqrt 2), a standard normal by (type, pool,
// shape) and b by task, drawn in the order of the table. The same seed gives the same noise on
// every machine.
Noise draw_noise(const core::TaskTable& tasks, const std::vector<core::Pool>& pools, double sigma,
                 std::uint64_t seed);

}  // namespace slackline::sim
