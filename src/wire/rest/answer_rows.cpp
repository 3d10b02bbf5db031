// Answers: why a task waits, when it will run, what one would cost, what a change would do.
#include <cmath>
#include <string>
#include <vector>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"
#include "slackline/model/task.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

std::optional<SpanView> if_known(const SpanView& span) {
  return span.empty() ? std::nullopt : std::optional(span);
}

std::string percent_of(const std::optional<double>& share) {
  return share ? format("{:.0f} %", 100 * *share) : "";
}

std::string time_cell(const std::optional<double>& epoch_s) {
  return epoch_s ? format_rfc3339(std::round(*epoch_s)) : "";
}

std::optional<std::int64_t> if_some(std::int64_t count) {
  return count > 0 ? std::optional(count) : std::nullopt;
}

std::string signed_duration(const std::optional<double>& s) {
  if (!s) return "";
  return format("{} {}", format_duration(std::abs(*s)), *s < 0 ? "earlier" : "later");
}

constexpr std::string_view kChanceAbout = "To meet the deadline: share of the simulated futures";

std::string shape_cell(const QuoteRowView& row) {
  if (row.shape) return row.shape->str();
  return row.written ? "auto" : "";
}

std::string note_cell(const QuoteRowView& row) {
  std::vector<std::string> notes;
  if (row.best) notes.emplace_back("best");
  if (row.written) notes.emplace_back("as written");
  if (!row.accepted) notes.emplace_back("not asked for");
  if (!row.why_not.empty()) notes.push_back(row.why_not);
  return join(notes, ", ");
}

std::string delays_cell(const QuoteRowView& row) {
  if (!row.delayed) return "";
  if (*row.delayed == 0) return "nobody";
  std::string text = counted(*row.delayed, "task");
  if (*row.stopped > 0) text += format(" ({} stopped)", *row.stopped);
  if (!row.delays.empty())
    text += format(": {} by {}", row.delays.front().task,
                   row.delays.front().by_s ? format_duration(*row.delays.front().by_s)
                                           : "more than is forecast");
  return text;
}

}  // namespace

template <>
const Columns<SpanView>& columns<SpanView>() {
  using C = Column<SpanView>;
  static const Columns<SpanView> kColumns = {
      "Span",
      {
          C(
              "p50", [](const SpanView& span) { return time_of(span.p50_s); },
              "Median of the simulated futures; absent: beyond what is forecast"),
          C(
              "p90", [](const SpanView& span) { return time_of(span.p90_s); },
              "Nine futures in ten have come to it by then; absent: beyond what is forecast"),
      }};
  return kColumns;
}

template <>
const Columns<CoverageView>& columns<CoverageView>() {
  using C = Column<CoverageView>;
  static const Columns<CoverageView> kColumns = {
      "Coverage",
      {
          C("intervals", &CoverageView::intervals, "From p10 to p90, of the last forecasts"),
          C("held", &CoverageView::held, "Those in which it really happened"),
          C(
              "share",
              [](const CoverageView& view) {
                return view.intervals > 0 ? std::optional(view.share()) : std::nullopt;
              },
              "0.8 is aimed at; absent: none ended yet"),
      }};
  return kColumns;
}

template <>
const Columns<EtaView>& columns<EtaView>() {
  using C = Column<EtaView>;
  using V = const EtaView&;
  static const Columns<EtaView> kColumns = {
      "Eta",
      {
          C("task", &EtaView::task, "NAMESPACE/NAME"),
          C("kind", &EtaView::kind),
          C("state", &EtaView::state).one_of(task_state_names()),
          C("standing", &EtaView::standing,
            "starts: now or already; waits: until later; misses: its deadline, or its time limit "
            "ends it unfinished, or it never starts; unknown: too little data")
              .one_of({"starts", "waits", "misses", "unknown"}),
          C(
              "reason", [](V view) { return if_any(view.reason); },
              "Why it waits: docs/reasons/CODE.md"),
          C("deadline", [](V view) { return time_of(view.deadline_s); }),
          C("start", [](V view) { return if_known(view.start); }),
          C("finish", [](V view) { return if_known(view.finish); }),
          C(
              "cutShort",
              [](V view) { return view.cut_short ? std::optional(true) : std::nullopt; },
              "Its time limit (activeDeadlineSeconds) ends it before its work is done; absent: it "
              "does not"),
          C("chance", &EtaView::chance, kChanceAbout),
          C(
              "forecast", [](V view) { return if_any(view.forecast); },
              "Why no start or finish is predicted"),
          C(
              "lengthSource", [](V view) { return if_any(view.length_source); },
              "As in the queue; absent: its run time is not known"),
          C(
              "forecastTime",
              [](V view) {
                return view.forecast_s > 0 ? std::optional(Time{view.forecast_s}) : std::nullopt;
              },
              "The moment for which it was forecast"),
          C("startHeld", &EtaView::start_held, "How far earlier forecasts of starts came true"),
          C("finishHeld", &EtaView::finish_held, "The same of finishes"),
      }};
  return kColumns;
}

template <>
const Columns<ReliefView>& columns<ReliefView>() {
  using C = Column<ReliefView>;
  static const Columns<ReliefView> kColumns = {
      "Relief",
      {
          C(
              "task", [](const ReliefView& view) { return if_any(view.task); },
              "NAMESPACE/NAME, be it planned or not; absent: one that you may not view"),
          C("gpus", &ReliefView::gpus),
          C("ends", [](const ReliefView& view) { return if_known(view.ends); }),
      }};
  return kColumns;
}

template <>
const Columns<BlockerView>& columns<BlockerView>() {
  using C = Column<BlockerView>;
  using V = const BlockerView&;
  static const Columns<BlockerView> kColumns = {
      "Blocker",
      {
          C("reason", &BlockerView::reason, "docs/reasons/CODE.md"),
          C("what", &BlockerView::what, "Of which need and have count, or what is true"),
          C("need", &BlockerView::need),
          C("have", &BlockerView::have),
          C("short",
            [](V view) {
              return view.need && view.have ? std::optional(*view.need - *view.have) : std::nullopt;
            }),
          C(
              "waitsFor", [](V view) { return if_any(view.on); },
              "NAMESPACE/NAME; of PodsEnding: for which it was stopped"),
          C(
              "waitsForHidden", [](V view) { return if_some(view.on_hidden); },
              "Tasks that you may not view"),
          C(
              "freedBy", [](V view) { return if_any(view.relief); },
              "Runs whose end is enough, in order of time"),
          C("ends", [](V view) { return if_known(view.ends); }),
          C("detail", [](V view) { return if_any(view.detail); }),
      }};
  return kColumns;
}

template <>
const Columns<NodeGroupView>& columns<NodeGroupView>() {
  using C = Column<NodeGroupView>;
  using V = const NodeGroupView&;
  static const Columns<NodeGroupView> kColumns = {
      "NodeGroup",
      {
          C("constraint", &NodeGroupView::code, "Stable code"),
          C("what", &NodeGroupView::what),
          C("nodes", &NodeGroupView::nodes),
          C(
              "heldFor", [](V view) { return if_any(view.tasks); }, "NAMESPACE/NAME"),
          C(
              "heldForHidden", [](V view) { return if_some(view.tasks_hidden); },
              "Tasks that you may not view"),
          C(
              "until", [](V view) { return time_of(view.until_s); },
              "Of full nodes: when the first has room for one pod; of refused ones: when the "
              "first is tried again"),
          C(
              "detail", [](V view) { return if_any(view.detail); },
              "Of refused nodes: what kube-scheduler said of the first"),
      }};
  return kColumns;
}

template <>
const Columns<ChangeView>& columns<ChangeView>() {
  using C = Column<ChangeView>;
  using V = const ChangeView&;
  static const Columns<ChangeView> kColumns = {
      "Change",
      {
          C("kind", &ChangeView::kind)
              .one_of({"FewerGpus", "OtherType", "FreeShape", "LaterDeadline", "HigherClass",
                       "GiveWay", "Quota"}),
          C("what", &ChangeView::what),
          C(
              "task", [](V view) { return if_any(view.task); },
              "Of GiveWay: who would be stopped; absent: you may not view it"),
          C("start", [](V view) { return if_known(view.start); }),
          C("finish", [](V view) { return if_known(view.finish); }),
          C("chance", &ChangeView::chance, kChanceAbout),
      }};
  return kColumns;
}

template <>
const Columns<ExplainView>& columns<ExplainView>() {
  using C = Column<ExplainView>;
  using V = const ExplainView&;
  static const Columns<ExplainView> kColumns = {
      "Explanation",
      {
          C("eta", &ExplainView::eta),
          C(
              "problems", [](V view) { return if_any(view.problems); },
              "Annotations that cannot be read: they do not count"),
          C(
              "hints", [](V view) { return if_any(view.hints); },
              "At what annotations that can be read do not mean"),
          C("blockers", &ExplainView::blockers, "All of them, the worst first"),
          C("nodesTotal", &ExplainView::nodes_total),
          C("nodes", &ExplainView::nodes, "Every node once, by what keeps the task off it"),
          C(
              "node", [](V view) { return if_any(view.node); }, "That was asked about"),
          C("nodeConstraint", &ExplainView::node_group),
          C("changes", &ExplainView::changes,
            "Single changes that help, each planned with; the most helpful first"),
          C("changesTried", &ExplainView::changes_tried),
          C("changesNotTried", &ExplainView::changes_not_tried, "There was no time"),
      }};
  return kColumns;
}

template <>
const Columns<DelayView>& columns<DelayView>() {
  using C = Column<DelayView>;
  static const Columns<DelayView> kColumns = {
      "Delay",
      {
          C("task", &DelayView::task, "NAMESPACE/NAME"),
          C(
              "bySeconds", [](const DelayView& view) { return seconds_of(view.by_s); },
              "Its finish; absent: beyond what is forecast"),
          C("stopped", &DelayView::stopped, "It runs now, and would be stopped or shrunk"),
      }};
  return kColumns;
}

template <>
const Columns<QuoteRowView>& columns<QuoteRowView>() {
  using C = Column<QuoteRowView>;
  using V = const QuoteRowView&;
  static const Columns<QuoteRowView> kColumns = {
      "QuoteRow",
      {
          C(
              "gpuType", [](V row) { return if_any(row.gpu_type); },
              "unknown: no label tells; absent: any that the task accepts")
              .cell("GPU TYPE", [](V row) { return row.gpu_type.empty() ? "any" : row.gpu_type; }),
          C(
              "shape", [](V row) { return row.shape; },
              "Nodes x GPUs of each; absent: Slackline chooses")
              .cell("SHAPE", shape_cell),
          C("runSeconds", [](V row) { return seconds_of(row.run_s); }).cell(">RUN TIME"),
          C("gpuHours", &QuoteRowView::gpu_hours).cell(">GPU-HOURS"),
          C("start",
            [](V row) {
              return if_known(row.start);
            }).cell("STARTS", [](V row) { return time_cell(row.start.p50_s); }),
          C("finish",
            [](V row) {
              return if_known(row.finish);
            }).cell("FINISHES", [](V row) { return time_cell(row.finish.p50_s); }),
          C::only_cell("90 % BY", [](V row) { return time_cell(row.finish.p90_s); }),
          C("chance", &QuoteRowView::chance, kChanceAbout)
              .cell(">IN TIME", [](V row) { return percent_of(row.chance); }),
          C(
              "latestSubmit", [](V row) { return time_of(row.latest_s); },
              "Submitted by then it meets its deadline in nine futures of ten, if it then waits as "
              "long as now")
              .cell("SUBMIT BY", [](V row) { return time_cell(row.latest_s); }),
          C(
              "delayed", [](V row) { return row.delayed; },
              "Tasks that would end later; absent: not played")
              .cell("DELAYS", delays_cell),
          C(
              "stopped", [](V row) { return row.stopped; },
              "Of them, those that run now and would be stopped or shrunk"),
          C(
              "delays", [](V row) { return if_any(row.delays); },
              "Those of them that you may view, the most delayed first"),
          C("best", &QuoteRowView::best,
            "Of what it accepts: in time with the fewest GPU-hours, else the first to finish"),
          C("written", &QuoteRowView::written, "The task as it is"),
          C("accepted", &QuoteRowView::accepted, "By its gpu-types and placements"),
          C(
              "cutShort", [](V row) { return row.cut_short ? std::optional(true) : std::nullopt; },
              "It starts, and its time limit ends it before its work is done"),
          C(
              "reason", [](V row) { return if_any(row.why_not); }, "Why there is no finish"),
          C::only_cell("NOTE", note_cell),
      }};
  return kColumns;
}

template <>
const Columns<QuoteView>& columns<QuoteView>() {
  using C = Column<QuoteView>;
  using V = const QuoteView&;
  static const Columns<QuoteView> kColumns = {
      "Quote",
      {
          C("task", &QuoteView::task, "NAMESPACE/NAME"),
          C("deadline", [](V view) { return time_of(view.deadline_s); }),
          C(
              "lengthSource", [](V view) { return if_any(view.length_source); },
              "Where its run time comes from; absent: it is not known"),
          C(
              "reason", [](V view) { return if_any(view.reason); },
              "Why it would not be planned at all now"),
          C(
              "refusal", [](V view) { return if_any(view.refusal); },
              "Why the webhook of active mode would refuse it; absent: it would not"),
          C("note", [](V view) { return if_any(view.note); }),
          C(
              "problems", [](V view) { return if_any(view.problems); },
              "Annotations that cannot be read, and what the webhook would warn of"),
          C(
              "advice", [](V view) { return if_any(view.advice); },
              "What the portrait of its family says"),
          C("before", &QuoteView::before,
            "Tasks that wait and are predicted to start before it; absent: it does not start"),
          C("tried", &QuoteView::tried, "Placements that were played forward, at most 16"),
      }};
  return kColumns;
}

template <>
const Columns<WhatIfRow>& columns<WhatIfRow>() {
  using C = Column<WhatIfRow>;
  using V = const WhatIfRow&;
  static const Columns<WhatIfRow> kColumns = {
      "WhatIfTask",
      {
          C("task", &WhatIfRow::task, "NAMESPACE/NAME").cell("NAME"),
          C("state", &WhatIfRow::state).one_of(task_state_names()).cell("~STATE"),
          C("verdict", &WhatIfRow::verdict).one_of({"gains", "loses", "ends"}).cell("VERDICT"),
          C("startBefore", [](V row) { return if_known(row.start_before); }),
          C("startAfter", [](V row) { return if_known(row.start_after); }),
          C("finishBefore",
            [](V row) {
              return if_known(row.finish_before);
            }).cell("FINISHES NOW", [](V row) { return time_cell(row.finish_before.p50_s); }),
          C("finishAfter",
            [](V row) {
              return if_known(row.finish_after);
            }).cell("THEN", [](V row) { return time_cell(row.finish_after.p50_s); }),
          C(
              "changeSeconds", [](V row) { return seconds_of(row.change_s); },
              "Of the median finish, else start; negative: earlier; absent: from or to beyond "
              "what is forecast")
              .cell(">CHANGE", [](V row) { return signed_duration(row.change_s); }),
          C("chanceBefore", &WhatIfRow::chance_before, kChanceAbout)
              .cell(">IN TIME NOW", [](V row) { return percent_of(row.chance_before); }),
          C("chanceAfter", &WhatIfRow::chance_after, kChanceAbout)
              .cell(">IN TIME THEN", [](V row) { return percent_of(row.chance_after); }),
      }};
  return kColumns;
}

template <>
const Columns<WhatIfView>& columns<WhatIfView>() {
  using C = Column<WhatIfView>;
  static const Columns<WhatIfView> kColumns = {
      "WhatIf",
      {
          C("question", &WhatIfView::question),
          C("gains", &WhatIfView::gains, "Tasks that would end earlier"),
          C("loses", &WhatIfView::loses, "Tasks that would end later"),
          C("same", &WhatIfView::same),
          C("ends", &WhatIfView::ends,
            "Jobs and pods without a plan that a drain ends: Slackline does not start them again"),
          C("hidden", &WhatIfView::hidden, "Of those that change, tasks that you may not view"),
          C("withDeadline", &WhatIfView::with_deadline),
          C("inTimeBefore", &WhatIfView::in_time_before,
            "Tasks that meet their deadline, as a sum of chances"),
          C("inTimeAfter", &WhatIfView::in_time_after),
      }};
  return kColumns;
}

template <>
const Columns<CalendarRow>& columns<CalendarRow>() {
  using C = Column<CalendarRow>;
  using V = const CalendarRow&;
  static const Columns<CalendarRow> kColumns = {
      "CalendarSlot",
      {
          C("gpuType", &CalendarRow::gpu_type,
            "With the resource, where it is of MIG slices or shared GPUs")
              .cell("GPU TYPE"),
          C("begins",
            [](V row) {
              return Time{row.begins_s};
            }).cell("BEGINS", [](V row) { return time_cell(row.begins_s); }),
          C("ends",
            [](V row) {
              return Time{row.ends_s};
            }).cell("ENDS", [](V row) { return time_cell(row.ends_s); }),
          C("gpus", &CalendarRow::gpus, "Of the type, in usable nodes").cell(">GPUS"),
          C("freeP50", &CalendarRow::free_p50,
            "Free all the time, in at least half of the simulated futures")
              .cell(">FREE"),
          C("freeP90", &CalendarRow::free_p90, "The same in nine futures of ten").cell(">SURE"),
      }};
  return kColumns;
}

}  // namespace slackline::wire
