// quote: what a task that is not submitted yet would get: when it would start and finish, for what
// GPU time, and whom it would delay, as it is written and for every other GPU type and shape.
//
// A candidate is one placement of the task. The first is the task as it is written, in whatever
// placement the policy would choose; at most kMostCandidates are tried, those that would run
// fastest on each type first, and fewer if time runs out. Every candidate plays the same futures
// (core/answers/trials.h). Nothing is written.
//
// Pure; times are epoch seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/core/answers/trials.h"
#include "slackline/core/answers/variants.h"
#include "slackline/core/cluster/queue.h"

namespace slackline::core {

inline constexpr std::size_t kMostCandidates = 16;
inline constexpr std::size_t kMostQuoteRows = 64;

struct QuoteRow {
  bool written = false;              // the task as it is
  bool accepted = true;              // by its own gpu-types and placements
  GpuType gpu_type;                  // empty: nodes of no known type, or of the row as written
  std::optional<Placement> shape{};  // unset of a free choice, and where none is possible
  std::optional<double> run_s{};     // predicted, start to finish
  std::optional<double> gpu_hours{};
  std::optional<Forecast> forecast{};  // unset: it was not tried, or cannot start
  // Until when it may be submitted and still meet its deadline in nine futures of ten, if it then
  // waits as long as now; in the past: it is too late.
  std::optional<double> latest_s{};
  std::optional<std::vector<Delay>> delays{};  // unset: not played
  bool cut_short = false;  // its time limit ends it before its work is done; its start holds
  std::string why_not{};   // there is no finish: "not tried", or what is missing
};

struct Quote {
  std::vector<QuoteRow> rows;  // as written first, then by predicted finish
  std::optional<double> deadline_s{};
  double later_s = 0;  // by which that is earlier, for pods of its Job that come after it
  bool length_known = false;
  std::optional<Hindrance> hindrance{};  // why the task would not be planned at all now
  int tried = 0;
  // The best of what it accepts: in time with the fewest GPU-hours, else the first to finish.
  std::optional<std::size_t> best{};
};

struct QuoteOptions {
  Expected expected{};
  StopAsked stop{};  // candidates that are not tried by then are marked so
};

// The queue of a snapshot that has the task twice (with_variants): as it is written, and free to
// run on every type and in every shape, so that all its placements are known.
struct QuotedTask {
  Variant written;
  Variant free;
  std::int64_t waves = 1;  // of its Job, one after the other (task_catalog.h); it is in the first
};
// `task` as it would be submitted at `now_s`.
QuotedTask quoted(const Variant& task, double now_s);

// Of the snapshot with both, and its queue. kMostCandidates rows and the others.
Quote make_quote(const ClusterSnapshot& snapshot, const Queue& queue, const QuotedTask& task,
                 const Policy& policy, double now_s, const QuoteOptions& options);

}  // namespace slackline::core
