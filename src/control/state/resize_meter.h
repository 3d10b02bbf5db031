// What became of right-sizing (core/cluster/resizing.h), as a metric:
//
//   slackline_resizes_total{outcome}   applied: a Job was released with other amounts; kept: such a
//                                      run ended well; OOMKilled, GpuOutOfMemory, Slow: it did not
#pragma once

#include <string_view>

#include "obs/metrics.h"

namespace slackline::control {

inline constexpr std::string_view kResizeApplied = "applied";
inline constexpr std::string_view kResizeKept = "kept";

inline void count_resize(obs::MetricsRegistry& metrics, std::string_view outcome) {
  metrics.counter("slackline_resizes_total", {{"outcome", outcome}}).add();
}

}  // namespace slackline::control
