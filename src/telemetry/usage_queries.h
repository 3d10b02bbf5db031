// The PromQL that is asked: one query per number, for the whole cluster or for some pods of a
// namespace. Only what a Prometheus 2.42 understands, and others that speak its language.
//
// Each looks at the raw samples of one step: `avg_over_time(M[60s])` has no value where nothing was
// scraped, while a plain `M` repeats the last sample for five minutes. docs/TELEMETRY.md says what
// each means.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/labels.h"

namespace slackline::telemetry {

enum class Quantity : std::uint8_t {
  kGpuMean,  // 0..1 of a GPU or of a MIG instance
  kGpuMax,
  kGpuMemoryMean,  // 0..1 of its framebuffer
  kGpuMemoryMax,
  kCpu,         // cores of a container, mean of the step
  kMemoryMean,  // bytes of a container's working set
  kMemoryMax,
};
inline constexpr std::size_t kQuantityCount = 7;

constexpr bool is_of_gpu(Quantity quantity) {
  return quantity <= Quantity::kGpuMemoryMax;
}

// What measures it, for people: "DCGM_FI_DEV_GPU_UTIL (dcgm-exporter)".
std::string_view source_of(Quantity quantity);

// The value as it counts, shares within 0..1; nullopt: nothing can have it, so it measures nothing.
// dcgm-exporter and the kubelet tell such numbers now and then (docs/TELEMETRY.md).
std::optional<double> possible(Quantity quantity, double value);
// Of a share that may be a little above 1 by rounding.
std::optional<double> possible_share(double value);

struct Scope {
  std::string ns;                 // empty: the whole cluster
  std::vector<std::string> pods;  // of `ns`
};

struct QueryText {
  LabelNames labels;
  Scope scope;
  int step_s = 60;
  int rate_s = 120;  // over which a rate is taken: two scrapes at least
};

std::string promql(Quantity quantity, const QueryText& text);

}  // namespace slackline::telemetry
