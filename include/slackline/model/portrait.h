// Portrait: what the runs of one family of tasks really used, asked for, took and came to. Bounded:
// histograms and the last few runs, never raw samples. core/portrait makes and reads it.
//
// Times are epoch seconds, durations seconds. CPU and memory are of one pod.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/ids.h"
#include "slackline/model/placement.h"
#include "slackline/model/resize.h"
#include "slackline/model/task_intent.h"
#include "slackline/model/usage.h"

namespace slackline {

// A decaying histogram in the compact form that is stored: buckets by their number, ascending, each
// once. What a bucket means, and how weights fade: core/portrait/histogram.h.
struct UsageHistogram {
  struct Bucket {
    std::uint16_t number = 0;
    double weight = 0;  // > 0, at `reference_s`
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  std::vector<Bucket> buckets;
  double reference_s = 0;
  friend bool operator==(const UsageHistogram&, const UsageHistogram&) = default;
};

// In the order of Portrait::histograms.
enum class UsageKind : std::uint8_t { kCpu, kMemory, kGpu, kGpuMemory };
inline constexpr std::size_t kUsageKindCount = 4;
std::string_view to_string(UsageKind kind);  // "cpu", "memory", "gpu", "gpuMemory"

enum class RunOutcome : std::uint8_t {
  kSucceeded,
  kFailed,
  kOutOfMemory,     // OOMKilled
  kGpuOutOfMemory,  // failed with the framebuffer full
};
std::string_view to_string(RunOutcome outcome);  // "succeeded" ... "gpuOutOfMemory"

// What a task asked for, or is advised to ask for.
struct PodRequests {
  std::int64_t cpu_milli = 0;                   // 0: it asked for none
  std::optional<std::int64_t> cpu_limit_milli;  // nullopt: no limit
  std::int64_t memory_bytes = 0;                // 0: it asked for none
  friend bool operator==(const PodRequests&, const PodRequests&) = default;
};

// How a run was resized.
struct ResizedRun {
  PodRequests given;      // instead of PortraitRun::requests
  double expected_s = 0;  // how long it should have run; 0: nothing said
};

// A resized run that was too small or too slow.
struct ResizeRollback {
  double at_s = 0;  // 0: there was none
  Uid run{};
  std::string task{};  // its name
  ResizeFailure failure = ResizeFailure::kNone;
};

// How right-sizing went, by the runs that it resized.
struct ResizeRecord {
  double kept_s = 0;             // the end of the latest run that went well; 0: none has
  ResizeRollback rolled_back{};  // the latest
};

// One run from its first start to its end, as a portrait learns it.
struct PortraitRun {
  UsageSample usage;  // of the whole run; its `task` and `run` name it, measured or not
  GpuType gpu_type;   // several are joined with '+'; empty = not known
  Placement shape;    // that it ran in
  Placement asked;    // before anybody changed it
  PodRequests requests;
  double finished_s = 0;
  double run_s = 0;              // that its pods ran
  std::optional<double> wait_s;  // from its creation to its first start
  RunOutcome outcome = RunOutcome::kSucceeded;
  int preemptions = 0;
  std::optional<double> speed;          // observed / predicted progress
  std::string image_digest;             // as observed; empty = not known
  std::optional<ResizedRun> resized{};  // nullopt: it ran as written
  bool others_changed = false;          // its pods had amounts that nobody wrote on its Job
  // A pod of it failed and was made again, or its user stopped it, and Slackline did not: its time
  // says nothing of the next run's. Known at its end, and not kept.
  bool retried = false;
};

// The end of a run, kept longer than what it used.
struct PastRun {
  Uid run;
  GpuType gpu_type;
  int gpus = 0;
  double run_s = 0;  // 0: it says nothing of the next run's
  double finished_s = 0;
  RunOutcome outcome = RunOutcome::kSucceeded;
};

// A run that its memory limit ended.
struct MemoryShortage {
  Uid run;
  double bytes = 0;  // it needed more than this
  double at_s = 0;
};

// A sum over runs. Its mean is 0 without any.
struct Tally {
  std::int64_t runs = 0;
  double sum = 0;
  double max = 0;

  void add(double value) {
    max = runs == 0 ? value : std::max(max, value);
    sum += value;
    ++runs;
  }
  double mean() const { return runs > 0 ? sum / static_cast<double>(runs) : 0; }
};

// Which runs a portrait is of.
struct PortraitIdentity {
  std::string department;  // namespace
  std::string family;      // as declared; empty: owner, image and model tell runs apart
  std::string owner;       // name of the controller without a generated suffix
  std::string image;       // reference as written
  std::string model;       // workload type; empty = not named
  std::string framework;   // kind of the controller: "Job", "PyTorchJob"
  WorkloadMode mode = WorkloadMode::kTraining;
  std::optional<double> parameters;  // of the model
  std::string submitter{};           // of the last run, as the webhook proved it; empty: nobody
};

struct Portrait {
  PortraitIdentity identity;
  std::string image_digest;  // of the run that ended last, where known
  int version = 1;           // grows when a later run has another digest

  std::array<UsageHistogram, kUsageKindCount> histograms;
  std::vector<PortraitRun> recent;        // evidence: by (finished_s, run), a few per GPU type
  std::vector<PastRun> past;              // by (finished_s, run)
  std::vector<MemoryShortage> shortages;  // by (at_s, run)
  // |ln(observed / predicted)| of the run times that its past had predicted.
  UsageHistogram time_errors;
  PodRequests requests;         // of the run that ended last
  Placement asked;              // likewise
  bool others_changed = false;  // likewise, as PortraitRun has it

  std::array<std::int64_t, 4> outcomes{};  // by RunOutcome
  std::int64_t preemptions = 0;
  Tally waits_s;
  Tally runs_s;  // of runs that succeeded
  Tally speeds;
  ResizeRecord resizing;
  double first_s = 0;  // the first end of a run
  double last_s = 0;   // the last one

  std::int64_t runs() const { return outcomes[0] + outcomes[1] + outcomes[2] + outcomes[3]; }
};

}  // namespace slackline
