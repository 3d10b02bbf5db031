// FinishedTask: a Job that has ended, as history keeps it: what was promised, predicted and true.
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
  std::optional<double> deadline_s;
  std::optional<double> predicted_s;  // predicted run time, as the plan said at the release
  double gpu_hours = 0;

  DeadlineResult result() const;
  std::optional<double> wait_s() const;
  std::optional<double> duration_s() const;
};

// Selects finished tasks. Empty = all.
struct HistoryQuery {
  std::string ns{};
  std::string queue{};
  double since_s = 0;           // that ended at this time or later
  std::size_t limit = 100;      // 1..1000
  std::string continue_from{};  // HistoryPage::next; empty = from the newest
};

struct HistoryPage {
  std::vector<FinishedTask> rows;  // by their end, newest first
  std::string next;                // empty = no more
};

}  // namespace slackline
