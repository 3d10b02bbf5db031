// Answers over REST: why a task waits, when it will run, what one would cost, what a change would
// do (as plain values, like views.h). Times are epoch seconds; codes are those of reason.h.
//
// Names of tasks are NAMESPACE/NAME. Tasks of namespaces that the one who asks may not view are
// left out by name: they are counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/model/ids.h"
#include "slackline/model/placement.h"

namespace slackline {

// The median of the simulated futures, and what nine of ten have reached. Unset: beyond the
// horizon.
struct SpanView {
  std::optional<double> p50_s;
  std::optional<double> p90_s;

  bool empty() const { return !p50_s && !p90_s; }
};

// How many of the last intervals from p10 to p90 held what happened.
struct CoverageView {
  std::int64_t intervals = 0;
  std::int64_t held = 0;

  double share() const {
    return intervals == 0 ? 0 : static_cast<double>(held) / static_cast<double>(intervals);
  }
};

// GET /v1/tasks/NAMESPACE/NAME/eta
struct EtaView {
  std::string task;
  std::string kind;
  std::string state;   // as QueueRow::state
  std::string reason;  // why it waits; empty: it has a plan
  std::optional<double> deadline_s;
  SpanView start;
  SpanView finish;
  std::optional<double> chance;  // to meet the deadline
  std::string forecast;          // why there is no start or finish; empty: there are both
  std::string length_source{};   // as QueueRow::length_source
  double forecast_s = 0;         // the moment for which it was forecast
  CoverageView start_held;       // of earlier forecasts
  CoverageView finish_held;
  bool blocked = false;
  bool cut_short = false;  // as QueueRow::cut_short

  // "starts", "waits", "misses", "unknown": what exit codes tell.
  std::string standing;
};

struct ReliefView {
  std::string task;  // empty: it is not named
  std::int64_t gpus = 0;
  SpanView ends;
};

struct BlockerView {
  std::string reason;
  std::string what;
  std::optional<std::int64_t> need;
  std::optional<std::int64_t> have;
  std::vector<std::string> on{};  // the tasks for which it waits
  std::int64_t on_hidden = 0;     // and so many that are not named
  std::vector<ReliefView> relief{};
  SpanView ends;
  std::string detail;
};

struct NodeGroupView {
  std::string code;
  std::string what;  // "other GPU type"
  std::int64_t nodes = 0;
  std::vector<std::string> tasks{};
  std::int64_t tasks_hidden = 0;
  std::optional<double> until_s;
  std::string detail{};
};

struct ChangeView {
  std::string kind;
  std::string what;
  std::string task;  // of GiveWay, where it is named
  SpanView start;
  SpanView finish;
  std::optional<double> chance;
};

// GET /v1/tasks/NAMESPACE/NAME/explain
struct ExplainView {
  EtaView eta;
  std::vector<std::string> problems;  // of its annotations and amounts
  std::vector<std::string> hints{};   // at what its annotations do not mean
  std::vector<BlockerView> blockers;  // worst first
  std::int64_t nodes_total = 0;
  std::vector<NodeGroupView> nodes;  // the most first
  std::string node;                  // that was asked about; empty: none
  std::optional<NodeGroupView> node_group;
  std::vector<ChangeView> changes;  // the most helpful first
  std::int64_t changes_tried = 0;
  std::int64_t changes_not_tried = 0;  // there was no time
};

// A task that would end later.
struct DelayView {
  std::string task;
  std::optional<double> by_s;  // unset: beyond the horizon
  bool stopped = false;        // it runs now, and would be stopped or shrunk
};

struct QuoteRowView {
  bool best = false;
  bool written = false;
  bool accepted = true;
  std::string gpu_type;  // "unknown" where no label tells; empty: any that the task accepts
  std::optional<Placement> shape;
  std::optional<double> run_s;
  std::optional<double> gpu_hours;
  SpanView start;
  SpanView finish;
  std::optional<double> chance;
  std::optional<double> latest_s;
  std::vector<DelayView> delays{};      // those that are named
  std::optional<std::int64_t> delayed;  // tasks; unset: not played
  std::optional<std::int64_t> stopped;  // of them, that run now
  bool cut_short = false;               // as core::QuoteRow::cut_short
  std::string why_not;
};

// POST /v1/quote
struct QuoteView {
  std::string task;
  std::optional<double> deadline_s;
  std::string length_source;            // as QueueRow::length_source
  std::string reason;                   // why it would not be planned at all now
  std::string note;                     // for people
  std::string refusal;                  // of active mode's webhook; empty: none
  std::vector<std::string> problems{};  // annotations that cannot be read, and its warnings
  std::vector<std::string> advice{};    // what its family's portrait says
  // Tasks that wait and are predicted to start before the task as written; unset: it does not
  // start.
  std::optional<std::int64_t> before{};
  std::int64_t tried = 0;
  std::vector<QuoteRowView> rows{};
  bool is_reviewed = true;  // the webhook is asked about tasks of its namespace
};

struct WhatIfRow {
  std::string task;  // empty: one of those that are not named
  std::string state;
  std::string verdict;  // "gains", "loses", "same" or, of a run without a plan, "ends"
  SpanView start_before;
  SpanView start_after;
  SpanView finish_before;
  SpanView finish_after;
  std::optional<double> change_s;  // of the median finish, else start; negative: earlier
  std::optional<double> chance_before;
  std::optional<double> chance_after;
};

// GET /v1/whatif
struct WhatIfView {
  std::string question;
  std::int64_t gains = 0;
  std::int64_t loses = 0;
  std::int64_t same = 0;
  std::int64_t ends = 0;      // runs without a plan, which Slackline does not start again
  std::int64_t hidden = 0;    // of all of these, tasks that are not named
  double in_time_before = 0;  // tasks that meet their deadline, expected
  double in_time_after = 0;
  std::int64_t with_deadline = 0;
  std::vector<WhatIfRow> rows;  // those that are named and change, the greatest first
};

// GET /v1/calendar
struct CalendarRow {
  std::string gpu_type;
  double begins_s = 0;
  double ends_s = 0;
  std::int64_t gpus = 0;
  std::int64_t free_p50 = 0;
  std::int64_t free_p90 = 0;
};

}  // namespace slackline
