// Answers, for people.
#include <algorithm>
#include <cmath>
#include <string>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"
#include "slackline/model/task.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kMostName = 200;
constexpr std::size_t kMostRefusal = 1000;
constexpr std::size_t kMostDetail = 600;

// "2026-11-24T12:00:00Z (in 1h10m)"
std::string time_text(double time_s, double now_s) {
  const double in_s = std::round((time_s - now_s) / 60) * 60;
  std::string text = format_rfc3339(std::round(time_s));
  if (now_s <= 0 || std::abs(in_s) < 60) return text;
  return text + (in_s > 0 ? format(" (in {})", format_duration(in_s))
                          : format(" ({} ago)", format_duration(-in_s)));
}

std::string line(std::string_view name, const std::string& text) {
  return format("{:10}{}\n", name, text);
}

std::string span_text(const SpanView& span, double now_s) {
  if (!span.p50_s) return "beyond what is forecast in most futures";
  std::string text = time_text(*span.p50_s, now_s);
  if (span.p90_s && *span.p90_s - *span.p50_s >= 1)
    text += format(", nine times in ten by {}", format_rfc3339(std::round(*span.p90_s)));
  if (!span.p90_s) text += ", one time in ten beyond what is forecast";
  return text;
}

std::string chance_text(const std::optional<double>& chance) {
  return chance ? format(", chance to meet it {:.0f} %", 100 * *chance) : "";
}

std::string held_text(const CoverageView& held, std::string_view of) {
  if (held.intervals == 0) return "";
  return line("", format("of the last {} such intervals of {} {:.0f} % held", held.intervals, of,
                         100 * held.share()));
}

std::string length_text(std::string_view source) {
  if (source == "at-most") return "the time when Kubernetes ends it: at most that long";
  if (source != "expected-duration-for-all-types") return std::string(source);
  return "expected-duration, as if its GPU types were equal: slackline.dev/expected-duration-on "
         "names the one that it holds for";
}

std::string hidden_text(std::int64_t hidden) {
  return hidden > 0 ? format("{} of other namespaces", hidden) : "";
}

std::string names_text(std::vector<std::string> names, std::int64_t hidden) {
  for (std::string& name : names)
    name = printable(name, kMostName);
  if (hidden > 0) names.push_back(hidden_text(hidden));
  return join(names, ", ");
}

std::string relief_text(const BlockerView& blocker) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, blocker.relief.size()); ++i) {
    const ReliefView& relief = blocker.relief[i];
    text += format("      {} of {}", counted(relief.gpus, "GPU"),
                   relief.task.empty() ? "another task" : printable(relief.task, kMostName));
    if (relief.ends.p50_s)
      text += format(" end {}", format_rfc3339(std::round(*relief.ends.p50_s)));
    if (relief.ends.p90_s)
      text += format(", nine times in ten by {}", format_rfc3339(std::round(*relief.ends.p90_s)));
    text += '\n';
  }
  if (blocker.relief.size() > kShown)
    text += format("      and {} more\n", blocker.relief.size() - kShown);
  return text;
}

std::string blocker_text(const BlockerView& blocker, double now_s) {
  std::string text = format("  {}: {}", blocker.reason, printable(blocker.what, 400));
  if (blocker.need && blocker.have)
    text += format(": needs {}, has {}, {} short", *blocker.need, *blocker.have,
                   std::max<std::int64_t>(0, *blocker.need - *blocker.have));
  if (!blocker.detail.empty()) text += format(" ({})", printable(blocker.detail, kMostDetail));
  if (!blocker.on.empty() || blocker.on_hidden > 0)
    text += format("; {} {}", blocker.reason == reason::kPodsEnding ? "stopped for" : "waits for",
                   names_text(blocker.on, blocker.on_hidden));
  if (blocker.ends.p50_s) text += format("; until {}", time_text(*blocker.ends.p50_s, now_s));
  return text + "\n" + relief_text(blocker);
}

// "of 40 nodes: 12 other GPU type, 20 full until 14:10, 2 held for others (default/a)"
std::string nodes_text(const ExplainView& view) {
  std::vector<std::string> groups;
  for (const NodeGroupView& group : view.nodes) {
    std::string text = format("{} {}", group.nodes, group.what);
    if (group.until_s) text += format(" until {}", format_rfc3339(std::round(*group.until_s)));
    if (!group.tasks.empty() || group.tasks_hidden > 0)
      text += format(" ({})", names_text(group.tasks, group.tasks_hidden));
    groups.push_back(std::move(text));
  }
  return format("of {} nodes: {}\n", view.nodes_total, join(groups, ", "));
}

std::string changes_text(const ExplainView& view) {
  if (view.changes_tried + view.changes_not_tried == 0) return "";
  std::string text;
  for (const ChangeView& change : view.changes) {
    text += format("  {}: starts {}", printable(change.what, kMostName),
                   change.start.p50_s ? format_rfc3339(std::round(*change.start.p50_s))
                                      : "beyond what is forecast");
    if (change.finish.p50_s)
      text += format(", finishes {}", format_rfc3339(std::round(*change.finish.p50_s)));
    if (change.chance) text += format(", in time {:.0f} %", 100 * *change.chance);
    text += '\n';
  }
  text = (text.empty() ? "no single change helps" : "what would help, each planned with:\n") + text;
  if (view.changes.empty()) text += format(" ({} tried)\n", view.changes_tried);
  if (view.changes_not_tried > 0)
    text += format("  {} changes were not tried: no time\n", view.changes_not_tried);
  return text;
}

}  // namespace

std::string text_of(const EtaView& eta) {
  const double now_s = eta.forecast_s;
  std::string text = format("{}: {}{}\n", printable(eta.task, kMostName), eta.state,
                            eta.reason.empty() ? "" : format(" ({})", eta.reason));
  const bool waits = eta.state == to_string(TaskState::kWaiting);
  if (eta.start.empty() && eta.finish.empty() && !eta.forecast.empty())
    text += line("forecast", "none: " + eta.forecast);
  const bool begins = eta.state == to_string(TaskState::kStarting);
  if (!eta.start.empty() && waits)
    text += line("starts", span_text(eta.start, now_s)) + held_text(eta.start_held, "starts");
  else if (eta.start.p50_s)
    text += line(begins ? "released" : "started", time_text(*eta.start.p50_s, now_s));
  if (!eta.finish.empty())
    text += line("finishes", span_text(eta.finish, now_s)) + held_text(eta.finish_held, "finishes");
  else if (!eta.start.empty())
    text += line("finishes", "unknown: " + (eta.forecast.empty() ? eta.reason : eta.forecast));
  if (eta.cut_short)
    text += line("cut short", "its time limit (activeDeadlineSeconds) ends it unfinished");
  if (!eta.length_source.empty()) text += line("run time", "by " + length_text(eta.length_source));
  if (eta.deadline_s)
    text += line("deadline", time_text(*eta.deadline_s, now_s) + chance_text(eta.chance));
  return text;
}

std::string text_of(const ExplainView& view) {
  const double now_s = view.eta.forecast_s;
  std::string text = text_of(view.eta);
  for (const std::string& problem : view.problems)
    text += format("does not count: {}\n", printable(problem, 400));
  for (const std::string& hint : view.hints)
    text += format("note: {}\n", printable(hint, 400));
  if (!view.blockers.empty()) text += "it waits for:\n";
  for (const BlockerView& blocker : view.blockers)
    text += blocker_text(blocker, now_s);
  if (view.node_group) {
    text += format("node {}: {}", printable(view.node, kMostName), view.node_group->what);
    if (view.node_group->until_s)
      text += format(" until {}", format_rfc3339(std::round(*view.node_group->until_s)));
    if (!view.node_group->detail.empty())
      text += format(" ({})", printable(view.node_group->detail, kMostDetail));
    text += '\n';
  }
  if (!view.nodes.empty()) text += nodes_text(view);
  return text + changes_text(view);
}

std::string preface_of(const QuoteView& view) {
  std::string text = printable(view.task, kMostName);
  if (view.deadline_s) text += format(", deadline {}", format_rfc3339(*view.deadline_s));
  if (!view.length_source.empty())
    text += format("; run time by {}", length_text(view.length_source));
  else if (view.rows.empty() ||
           std::any_of(view.rows.begin(), view.rows.end(),
                       [](const QuoteRowView& row) { return row.start.p50_s || row.shape; }))
    text +=
        "; its run time is unknown: name model, batch-size and iterations, or expected-duration";
  text += '\n';
  if (!view.refusal.empty())
    text += format("it would be refused: {}\n", printable(view.refusal, kMostRefusal));
  if (const ReasonFact* fact = find_reason(view.reason))
    text += format("it would not be planned now: {}: {}\n", fact->code, fact->meaning);
  if (!view.note.empty()) text += printable(view.note, kMostName) + "\n";
  for (const auto* lines : {&view.problems, &view.advice})
    for (const std::string& each : *lines)
      text += printable(each, 400) + "\n";
  return text;
}

std::string preface_of(const WhatIfView& view) {
  std::string text = format("{}: {}, {} lose, {} stay", printable(view.question, 400),
                            counted(view.gains, "task gains", "tasks gain"), view.loses, view.same);
  if (view.hidden > 0) text += format(" ({})", hidden_text(view.hidden));
  text += '\n';
  if (view.ends > 0)
    text += format(
        "{} without a plan of Slackline: what controls them may start them anew, and no forecast "
        "counts that\n",
        counted(view.ends, "run ends", "runs end"));
  if (view.with_deadline > 0)
    text += format("of {} deadlines {:.1f} are met now, {:.1f} then\n", view.with_deadline,
                   view.in_time_before, view.in_time_after);
  return text;
}

}  // namespace slackline::wire
