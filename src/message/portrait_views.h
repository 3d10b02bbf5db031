// What families of tasks use, over REST, as plain values (as in views.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/portrait.h"

namespace slackline {

// One resource: CPU in cores and memory in bytes of one pod, GPUs and their memory as shares 0..1.
struct PortraitUseView {
  UsageKind kind = UsageKind::kCpu;
  // Of all measured windows, older ones less and less; not less than that, and at most 5 % more.
  double median = 0;
  double p95 = 0;
};

// How long the family runs on as many GPUs of a type, by its own past.
struct PortraitTimeView {
  GpuType gpu_type;
  int gpus = 0;
  double median_s = 0;
  double low_s = 0;  // 9 of 10 runs end between the two
  double high_s = 0;
  int runs = 0;
  bool earned = false;  // the interval was measured
};

// What the family's next run should ask for, of one resource, on one GPU type: CPU in cores and
// memory in bytes of a pod.
struct AdviceView {
  GpuType gpu_type{};
  std::string resource;  // "gpus", "cpuRequest", "cpuLimit", "memory"
  double asked = 0;
  double advised = 0;
  double used = 0;
  bool raise = false;
  int runs = 0;
  double from_s = 0;  // epoch
  double to_s = 0;
  double coverage = 0;
  std::string confidence{};
  // What it would do to a run. Of GPUs alone; absent: nothing says.
  std::optional<double> run_s{};
  std::optional<double> advised_run_s{};
  std::string basis{};  // of these times: "model", or "past": as if it took as long as before
  std::optional<double> gpu_hours_returned{};
  std::optional<bool> deadline_kept{};  // started now; only by a model
  std::string text{};
};

// GET /v1/portraits
struct PortraitView {
  std::string key;
  std::string name;  // the family as declared, else the owner of its runs
  Portrait portrait;
  GpuType gpu_type;             // of its last run
  std::int64_t evidence = 0;    // runs that advice rests on
  std::optional<double> score;  // 0..1
  int level = 0;                // 1..10
  std::vector<PortraitUseView> use{};
  std::vector<PortraitTimeView> times{};
  // Of an answer about a Job: "exact", of its family; "similar", borrowed from the nearest one, at
  // this distance. Empty: of no Job.
  std::string match{};
  std::optional<double> distance{};
  std::vector<AdviceView> advice{};        // for what the last run asked for, on its GPU type
  std::optional<double> frozen_until_s{};  // nothing is resized before; unset: it may be
  std::string packed{};                    // base64; only where it was asked for
};

}  // namespace slackline
