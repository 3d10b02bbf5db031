// FinishedTask: a Job or gang that has ended, as history keeps it: what was promised, predicted and
// true.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/ids.h"

namespace slackline {

// How a deadline ended. A failed Job has missed its deadline, however early it failed.
enum class DeadlineResult : std::uint8_t { kNone, kMet, kMissed };

std::string_view to_string(DeadlineResult result);  // "none", "met", "missed"

// What a run used, as far as it was measured.
struct MeasuredUse {
  double gpu_share = 0;   // 0..1, mean over its GPUs and the time that was measured
  double gpu_memory = 0;  // 0..1, the highest share of a GPU's memory
  double gpu_s = 0;       // of the run that was measured; 0: nothing, or others shared its GPUs
  double cpu_cores = 0;   // of a pod, mean over pods and time
  double cpu_s = 0;
  friend bool operator==(const MeasuredUse&, const MeasuredUse&) = default;
};

// How a run went in the virtual cluster (core/shadow/virtual_cluster.h), as long as it really was.
struct ShadowRun {
  double started_s = 0;
  double finished_s = 0;
  std::int64_t gpus = 0;

  double gpu_hours() const { return static_cast<double>(gpus) * (finished_s - started_s) / 3600; }
};

// Times are epoch seconds, durations seconds.
struct FinishedTask {
  ObjectKey key;
  Uid uid;
  std::string queue;
  std::string qos_class;
  std::string model;  // workload type; empty = not named
  GpuType gpu_type;   // several are joined with '+'; empty = not known
  std::int64_t gpus = 0;
  double created_s = 0;
  std::optional<double> started_s;  // of its first pod
  double finished_s = 0;
  bool succeeded = false;
  bool deleted = false;  // before it had ended: its deadline counts no more
  std::optional<double> deadline_s;
  std::optional<double> predicted_s;  // predicted run time, as the plan said at the release
  double gpu_hours = 0;
  std::string resized_from{};            // the shape as written, of a run that right-sizing changed
  std::string family{};                  // core::portrait_key(); empty: of an earlier version
  std::int64_t asked_gpus = 0;           // before anybody changed it; 0: of an earlier version
  std::int64_t pods = 0;                 // that it had at a time; likewise
  std::int64_t cpu_milli = 0;            // that each asked for
  std::optional<MeasuredUse> use = {};   // absent: not measured
  std::optional<ShadowRun> shadow = {};  // absent: not played, or its length was not known
  std::string kind = "Job";              // else of the gang's controller, or "Gang" of a label's
  double held_s = 0;                     // while any of its pods ran; 0: not known
  std::string gang{};                    // uid and part of its controller; empty: not known
  std::int64_t stops = 0;                // for other tasks, or by disruptions; its shape may differ

  DeadlineResult result() const;
  std::optional<double> wait_s() const;
  // Without the time for which it was stopped, where that is known.
  std::optional<double> duration_s() const;
};

// Selects finished tasks. Empty = all.
struct HistoryQuery {
  std::string ns{};
  std::string queue{};
  double since_s = 0;           // that ended at this time or later
  std::size_t limit = 100;      // 1..1000
  std::string continue_from{};  // HistoryPage::next; empty = from the newest
  std::string name{};           // of the task; with `ns` it is found by an index
};

struct HistoryPage {
  std::vector<FinishedTask> rows;  // by their end, newest first
  std::string next;                // empty = no more
};

}  // namespace slackline
