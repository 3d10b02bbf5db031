// Several policies on the same trace, side by side, for people.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/bound.h"
#include "sim/report.h"

namespace slackline::sim {

// One row per policy, named as written. With several rows the best figure of every column has a '*'
// (ties: all of them). Policies that leave tasks unserved say so. The line below has the bounds of
// every policy.
std::string format_comparison(const std::vector<std::pair<std::string, Report>>& rows,
                              const Bounds& bounds);

// The same for programs, unrounded: CSV, a row per policy and one named "bound", where it has a
// figure: policy,q,q_prior,q_normal,makespan_h,norm_latency,norm_latency_p95,urgent_latency,
// max_wait_h,mean_wait_h,gpu_hours,util_arrivals,preemptions,unserved,load,feasible_alone
std::string format_comparison_csv(const std::vector<std::pair<std::string, Report>>& rows,
                                  const Bounds& bounds);

// "fifo,savable-p,margin=0.2,qos" is three policies: a part with '=' belongs to the one before it.
std::vector<std::string> split_policies(std::string_view text);

}  // namespace slackline::sim
