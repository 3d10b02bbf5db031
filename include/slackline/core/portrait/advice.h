// Advice: what a task should ask for, from what the runs of its family used (docs/PORTRAITS.md has
// the formulas and their sources).
//
// Pure. It grows with usage and never with less of it. GPUs are never advised above the request,
// CPU and memory above it only where measured use was. Numbers come with their evidence, and GPUs
// with what the change would do to the run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/core/portrait/family.h"
#include "slackline/core/throughput/prediction.h"
#include "slackline/model/portrait.h"

namespace slackline::core {

inline constexpr double kGpuTarget = 0.9;  // of the advised GPUs that usage should fill
inline constexpr double kCpuTarget = 0.5;  // likewise of CPU
inline constexpr double kMemoryMargin = 0.15;
// After OOMKilled, as the Vertical Pod Autoscaler does: by the greater of the two, and for as long.
inline constexpr double kShortageGrowth = 1.2;
inline constexpr double kShortageBytes = 1e8;
inline constexpr double kShortageSeen_s = 8 * 24 * 3600.0;
// Use above a limit cannot be measured: a limit counts as reached from here on.
inline constexpr double kAtLimit = 0.95;
// No pod is advised to ask for less, unless it does.
inline constexpr std::int64_t kLeastCpu_milli = 25;
inline constexpr std::int64_t kLeastMemory_bytes = 250'000'000;

enum class Confidence : std::uint8_t { kLow, kMedium, kHigh };
std::string_view to_string(Confidence confidence);  // "low", "medium", "high"

struct Evidence {
  int runs = 0;
  double from_s = 0;  // their first measurement and their last end, epoch seconds
  double to_s = 0;
  double coverage = 0;  // the least part of a run that was measured
  // High: three runs of one image, measured for nine tenths. Medium: two runs. Low: fewer, or
  // borrowed from a similar family.
  Confidence confidence = Confidence::kLow;
};

// A shape that the task may take, with the run in it as a throughput model predicts it.
struct ShapeOffer {
  Placement shape;
  std::optional<double> run_s;  // nullopt: no model says
};

struct AdviceQuestion {
  PortraitMatch match = PortraitMatch::kExact;
  Placement asked;
  PodRequests requests;
  GpuType gpu_type;                   // that it is to run on
  std::vector<ShapeOffer> shapes;     // allowed ones, the one asked for among them
  std::optional<double> time_left_s;  // until its deadline, from its start; nullopt: it has none
  double now_s = 0;
};

struct GpuAdvice {
  Placement asked;
  Placement advised;        // an allowed shape, or as asked
  int needed = 0;           // GPUs, by usage alone
  double utilisation = 0;   // of the GPUs asked for, mean over the runs
  double memory_share = 0;  // likewise, the highest
  Evidence evidence;

  // What it would do to a run. Absent: nothing says.
  std::optional<double> asked_run_s;
  std::optional<double> advised_run_s;
  std::optional<double> gpu_hours_returned;
  bool modelled = false;  // by a throughput model; else as if the run took as long as before
  std::optional<bool> deadline_kept;
};

// CPU in thousandths of a core, memory in bytes; of one pod.
struct AmountAdvice {
  std::int64_t asked = 0;  // 0: nothing
  std::int64_t advised = 0;
  double used = 0;        // that the number comes from
  bool raise = false;     // above what was asked for
  bool shortage = false;  // a run was ended for lack of it
  Evidence evidence;
};

// Absent where nothing was measured for it.
struct Advice {
  std::optional<GpuAdvice> gpus;
  std::optional<AmountAdvice> cpu_request;
  std::optional<AmountAdvice> cpu_limit;
  std::optional<AmountAdvice> memory;

  bool any() const { return gpus || cpu_request || cpu_limit || memory; }
};

Advice advise(const Portrait& portrait, const AdviceQuestion& question);

// The shapes of a task that names none: as many nodes with fewer GPUs on each; then, where it asks
// for several nodes, fewer nodes.
std::vector<Placement> smaller_shapes(Placement asked);

// With the run times that the model predicts; nullopt where it predicts none.
std::vector<ShapeOffer> offers_of(const PreparedModel& model, double iterations,
                                  std::span<const Placement> shapes);

// For people: "the last 3 runs used 1.2 of 4 GPUs (30 % of their time, at most 22 % of their
// memory): 2 GPUs (1x2) are enough; ..."
std::string explain(const GpuAdvice& advice);

enum class AdvisedAmount : std::uint8_t { kCpuRequest, kCpuLimit, kMemory };
// "asks for 64.0 GiB of memory, the last 3 runs used at most 4.0 GiB: 4.6 GiB are enough
// (confidence high)"
std::string explain(AdvisedAmount what, const AmountAdvice& advice);

}  // namespace slackline::core
