// Estimation error: by how much the true work of a task differs from what the model predicts.
// Policies never see it.
//
//   true work = predicted work x factor(task, placement)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/core/plan_state.h"

namespace slackline::sim {

class Noise {
 public:
  Noise() = default;  // the exact model

  // The factor of a placement of the type times that of the task; 1 where nothing is said.
  double factor(const core::PlanTask& task, const std::string& pool, Placement shape) const;

  void set_shape(const std::string& type, const std::string& pool, Placement shape, double factor) {
    shapes_[{type, pool, shape}] = factor;
  }
  void set_task(std::int64_t id, double factor) { tasks_[id] = factor; }
  bool exact() const { return shapes_.empty() && tasks_.empty(); }

 private:
  std::map<std::tuple<std::string, std::string, Placement>, double> shapes_;
  std::unordered_map<std::int64_t, double> tasks_;
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
