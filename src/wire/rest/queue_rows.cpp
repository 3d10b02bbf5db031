// The queue.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"
#include "slackline/model/spared.h"
#include "slackline/model/task.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

constexpr double kOld_s = 30;

using Row = const QueueRow&;
using View = const QueueView&;

std::vector<std::string_view> reasons_of(ReasonUse use) {
  std::vector<std::string_view> codes;
  for (const ReasonFact& fact : kReasons)
    if (fact.use == use) codes.push_back(fact.code);
  return codes;
}

std::string_view meaning_of(std::string_view code) {
  const ReasonFact* fact = find_reason(code);
  return fact == nullptr ? std::string_view() : fact->meaning;
}

// Where there is no forecast, the cell says why.
std::string predicted(Row row, const std::optional<double>& epoch_s) {
  return epoch_s ? format_rfc3339(*epoch_s) : row.forecast;
}

// "default/train to n2, 25m earlier"
std::string move_of(Row row) {
  if (!row.move) return "";
  std::vector<std::string> moves;
  for (const MovedRun& move : row.move->moves)
    moves.push_back(
        format("{} to {}", move.task.name, move.to.empty() ? "come" : value_text(move.to)));
  return format("{}, {} earlier", join(moves, ", "),
                format_duration(std::max(1.0, std::round(row.move->gain_s))));
}

std::string resize_text(Row row) {
  if (!row.resize) return "";
  if (row.resize->asked) return format("applied, written as {}", row.resize->asked->str());
  return format("{}: {}", row.resize->state, join(row.resize->texts, "; "));
}

// Also of a run without a plan, where its type is known.
std::optional<GpuType> planned_type(Row row) {
  const bool known = row.plan && !(row.plan->gpu_type.empty() && row.plan->id.empty());
  return known ? std::optional(row.plan->gpu_type) : std::nullopt;
}

std::string types_text(Row row) {
  if (const auto type = planned_type(row)) return type->str();
  const std::vector<GpuType> accepted = row.accepted_types();
  return accepted.empty() ? "any" : value_text(accepted);
}

const PreemptionNote* stops_of(Row row) {
  return row.job ? row.job->preemptions.get() : nullptr;
}

template <class T>
auto if_stopped(T PreemptionNote::* field) {
  return [field](Row row) {
    const PreemptionNote* stops = stops_of(row);
    return stops != nullptr && stops->count > 0 ? std::optional<T>(stops->*field) : std::nullopt;
  };
}

std::optional<double> work_left(Row row) {
  const PreemptionNote* stops = stops_of(row);
  return stops != nullptr ? std::optional(stops->left) : std::nullopt;
}

std::string left_of(Row row) {
  const auto left = work_left(row);
  return left ? format("{:.0f} %", 100 * *left) : "";
}

std::string done_of(Row row) {
  return row.progress ? format("{:.0f} %", 100 * *row.progress) : "";
}

// Marks what a reader must not overlook.
std::string note_of(Row row) {
  if (row.blocked) return "BLOCKED";
  if (row.cut_short) return "CUT SHORT";
  return row.predicted_late() ? "LATE" : "";
}

std::optional<bool> late(Row row) {
  if (row.predicted_late()) return true;
  return row.deadline_s && row.finish_s ? std::optional(false) : std::nullopt;
}

// "< -1d15h" where it is late by more than is forecast.
std::string margin_text(Row row) {
  if (row.margin_s) return value_text(Seconds{*row.margin_s});
  const auto below_s = row.margin_below_s();
  return below_s ? format("< {}", value_text(Seconds{*below_s})) : "";
}

std::vector<std::string> names_of(const std::vector<ObjectKey>& tasks) {
  std::vector<std::string> names;
  for (const ObjectKey& task : tasks)
    names.push_back(task.str());
  return names;
}

template <class T>
std::optional<T> of_forecast(View view, const T& value) {
  return view.forecast_s > 0 ? std::optional(value) : std::nullopt;
}

std::string leader_text(View view) {
  if (!view.active)
    return "nothing is released from here: this is what a planner of active mode would do, but for "
           "stops of running tasks";
  if (view.leader.empty()) return "no replica is the leader: no waiting task is started";
  return format("{} is the leader{}", view.leader, view.leads ? "" : "; another replica answers");
}

using QueueColumns = std::vector<Column<QueueRow>>;

QueueColumns who_waits() {
  using C = Column<QueueRow>;
  const auto kind = [](Row row) { return to_string(row.kind); };
  return {
      C(
          "position",
          [](Row row) { return row.position > 0 ? std::optional(row.position) : std::nullopt; },
          "From 1, of a task that waits")
          .cell(">~POSITION"),
      C::only_cell("NAME", &QueueRow::key),
      C("kind", kind),
      C("namespace", [](Row row) { return row.key.ns; }),
      C("name", [](Row row) { return row.key.name; }),
      C("uid", [](Row row) { return if_any(row.uid); }),
      C("queue", &QueueRow::queue).cell("QUEUE").wide(),
      C::only_cell("KIND", kind).wide(),
      C("qosClass", &QueueRow::qos_class).cell("~CLASS"),
      C("model", [](Row row) { return if_any(row.intent->model.value_or("")); }),
      C("state", [](Row row) { return to_string(row.state); })
          .one_of(task_state_names())
          .cell("~STATE"),
      C(
          "share", [](Row row) { return if_any(std::string(row.share)); },
          "Of a run: whose the GPUs are that it uses, its queue's own, borrowed ones, or the "
          "pool's; "
          "absent: nobody has a share of that type")
          .one_of({"private", "borrowed", "pool"}),
      C(
          "spared", [](Row row) { return if_any(std::string(row.spared)); },
          "Of a run: why it is not stopped so that others start, whoever asks; absent: it may be, "
          "if that pays. Docs: RELIABILITY.md")
          .one_of(spared_codes())
          .cell("~SPARED")
          .wide(),
      C(
          "reason", [](Row row) { return if_any(row.reason); },
          "Why it waits: docs/reasons/CODE.md")
          .one_of(reasons_of(ReasonUse::kWaits))
          .cell("REASON"),
      C(
          "why", [](Row row) { return if_any(meaning_of(row.reason)); },
          "The reason as a clause for people"),
  };
}

QueueColumns due() {
  using C = Column<QueueRow>;
  return {
      C(
          "retryAfter", [](Row row) { return time_of(row.retry_s); },
          "Until when it backs off, or kube-scheduler's refusals leave it too few nodes"),
      C(
          "waitsFor", [](Row row) { return if_any(names_of(row.waits_for)); },
          "The running tasks that make room for it; absent: none does"),
      C(
          "waitsForHidden",
          [](Row row) {
            return row.waits_for_hidden > 0 ? std::optional(row.waits_for_hidden) : std::nullopt;
          },
          "More of them, of namespaces that the caller may not view; absent: none"),
      C(
          "roomSince", [](Row row) { return time_of(row.room_since_s); },
          "Since when they are stopped; absent: they were told, and still run"),
      C(
          "roomBy", [](Row row) { return time_of(row.room_by_s); },
          "When they are stopped, or their pods must have ended"),
      C("created", [](Row row) { return Time{row.created_s}; }),
      C("deadline", [](Row row) { return time_of(row.deadline_s); }).cell("DEADLINE"),
      C(
          "slackSeconds", [](Row row) { return seconds_of(row.slack_s); },
          "Until the last moment to start on the fastest placement; with a plan the margin")
          .cell(">~SLACK"),
      C(
          "marginSeconds", [](Row row) { return seconds_of(row.margin_s); },
          "From the predicted finish to the deadline; negative: late")
          .cell(">MARGIN", margin_text),
      C(
          "marginBelowSeconds", [](Row row) { return seconds_of(row.margin_below_s()); },
          "The margin is less than this: it ends after the last moment that is forecast or, of an "
          "unknown run time, starts after its deadline"),
      C("late", late, "In at least half of the futures it ends after its deadline"),
      C("blocked", &QueueRow::blocked, "As things stand it never starts"),
      C(
          "cutShort", [](Row row) { return row.cut_short ? std::optional(true) : std::nullopt; },
          "Its time limit (activeDeadlineSeconds) ends it before its work is done; absent: it does "
          "not"),
      C::only_cell("NOTE", note_of),
  };
}

QueueColumns foretold() {
  using C = Column<QueueRow>;
  return {
      C(
          "predictedStart", [](Row row) { return time_of(row.start_s); },
          "Median of the simulated futures")
          .cell("STARTS", [](Row row) { return predicted(row, row.start_s); }),
      C(
          "predictedStartP90", [](Row row) { return time_of(row.start_p90_s); },
          "Nine futures in ten have started by then"),
      C(
          "predictedFinish", [](Row row) { return time_of(row.finish_s); },
          "Median of the simulated futures")
          .cell("FINISHES", [](Row row) { return predicted(row, row.finish_s); }),
      C(
          "predictedFinishP90", [](Row row) { return time_of(row.finish_p90_s); },
          "Nine futures in ten have ended by then"),
      C(
          "chance", [](Row row) { return row.chance; },
          "Share of the futures in which it meets its deadline, 0..1; absent: it has none, or no "
          "finish is predicted and it may be met"),
      C(
          "forecast", [](Row row) { return if_any(row.forecast); },
          "Why no start or finish is predicted")
          .one_of(reasons_of(ReasonUse::kForecast)),
      C(
          "lengthSource", [](Row row) { return if_any(row.length_source); },
          "Where its run time comes from; history: its family's own past; similar: a guess by the "
          "nearest family of its namespace; "
          "at-most: nothing but activeDeadlineSeconds, or Kueue's label max-exec-time-seconds; "
          "expected-duration-for-all-types: its GPU types are taken as equal, because no key names "
          "the one that it holds for; absent: it is not known")
          .one_of({"model", "expected-duration", "expected-duration-for-all-types", "history",
                   "similar", "at-most"})
          .cell("RUN TIME BY")
          .wide(),
  };
}

QueueColumns placed() {
  using C = Column<QueueRow>;
  return {
      C(
          "shape", [](Row row) { return row.shape ? row.shape->str() : "auto"; },
          "Of the plan; of a task that waits as written, auto: Slackline chooses")
          .cell("~SHAPE"),
      C::only_cell("GPU TYPE", types_text),
      C("gpus", &QueueRow::gpus).cell(">GPUS").wide(),
      C::only_cell("MODEL", [](Row row) { return row.intent->model; }).wide(),
      C("gpuType", planned_type, "Of the plan"),
      C(
          "nodes", [](Row row) { return if_any(row.nodes); },
          "Of the plan; of a task that waits those that the policy keeps for it; absent: none"),
      C("plan", [](Row row) { return row.plan ? if_any(row.plan->id) : std::nullopt; })
          .cell("PLAN")
          .wide(),
      C(
          "gpuTypes", [](Row row) { return if_any(row.accepted_types()); },
          "Of a task that waits, in order of preference; absent: any"),
  };
}

QueueColumns past() {
  using C = Column<QueueRow>;
  return {
      C::only_cell(">AGE", [](Row row) { return Seconds{row.age_s}; }).wide(),
      C::only_cell("RETRIED AFTER", [](Row row) { return time_of(row.retry_s); }).wide(),
      C::only_cell("WAITS FOR",
                   [](Row row) {
                     std::vector<std::string> names = names_of(row.waits_for);
                     if (row.waits_for_hidden > 0)
                       names.push_back(format("{} of other namespaces", row.waits_for_hidden));
                     return names;
                   })
          .wide(),
      C::only_cell("ROOM BY", [](Row row) { return time_of(row.room_by_s); }).wide(),
      C("preemptions", if_stopped(&PreemptionNote::count),
        "How often it was stopped for another task; absent: never")
          .cell(">STOPS")
          .wide(),
      C("workLeft", work_left, "Share of its work that the last stop left to do")
          .cell(">LEFT", left_of)
          .wide(),
      C("lostGpuSeconds", if_stopped(&PreemptionNote::lost_gpu_s),
        "GPU time that all stops together have lost")
          .cell(">LOST GPU S")
          .wide(),
      C(
          "progress", [](Row row) { return row.progress; },
          "Share of its work that is done: as its Job reported, else the elapsed share of the "
          "predicted time; absent: unknown")
          .cell(">DONE", done_of)
          .wide(),
      C(
          "reported",
          [](Row row) {
            const auto told = row.job ? row.job->progress : nullptr;
            return told ? std::optional(*told) : std::nullopt;
          },
          "The last report of progress that counts; absent: none"),
      C("move", &QueueRow::move,
        "Running tasks that should go on elsewhere, so that this one gains; absent: none")
          .cell("MOVE", move_of)
          .wide(),
      C("resize", &QueueRow::resize, "What its family's past says of its request; absent: nothing")
          .cell("RESIZE", resize_text)
          .wide(),
  };
}

std::optional<std::string> if_counted(std::int64_t count) {
  return count > 0 ? std::optional(std::to_string(count)) : std::nullopt;
}

}  // namespace

template <>
const Columns<QueueRow>& columns<QueueRow>() {
  static const Columns<QueueRow> kColumns = {
      "QueuedTask", joined<QueueRow>({who_waits(), due(), foretold(), placed(), past()})};
  return kColumns;
}

template <>
const Columns<QueueView>& columns<QueueView>() {
  using C = Column<QueueView>;
  static const Columns<QueueView> kColumns = {
      "Queue",
      {
          C(
              "leader", [](View view) { return if_any(view.leader); },
              "The replica that holds the Lease and plans; absent: none does"),
          C(
              "forecastTime", [](View view) { return of_forecast(view, Time{view.forecast_s}); },
              "The moment for which starts and finishes were forecast"),
          C(
              "forecastAge",
              [](View view) { return of_forecast(view, format_duration(view.forecast_age_s())); },
              "How long ago that was, as in 1m30s"),
          C(
              "unknownRuns", [](View view) { return if_counted(view.unknown_runs); },
              "Running pods without a plan whose end is a guess; absent: none"),
          C(
              "leftAlone", [](View view) { return if_counted(view.left_alone); },
              "Jobs and pods without owner that ask for devices of a DeviceClass which no node "
              "lists; absent: none"),
          C(
              "forOthers", [](View view) { return if_counted(view.for_others); },
              "Pods that ask for GPUs and wait for schedulers which do not ask Slackline: no "
              "forecast knows when; absent: none"),
          C("leads", &QueueView::leads, "The replica that answers is the leader"),
          C("counts", &QueueView::counts,
            "How many of all its tasks are waiting, starting, running; and late, blocked, once "
            "more"),
      }};
  return kColumns;
}

std::string preface_of(const QueueView& view) {
  std::string preface;
  if (!view.unknown_namespace.empty())
    preface = format("there is no namespace {}\n", printable(view.unknown_namespace, 64));
  if (view.forecast_age_s() > kOld_s)
    preface += format("forecasts are {} old\n", format_duration(view.forecast_age_s()));
  if (view.unknown_runs > 0)
    preface += format(
        "running pods without model and iterations, or expected-duration: {}; their ends are "
        "guesses\n",
        view.unknown_runs);
  if (view.unannotated > 0)
    preface += format(
        "{} without annotations of Slackline: run times are those of earlier runs, or unknown\n",
        counted(view.unannotated, "task waits", "tasks wait"));
  if (view.left_alone > 0)
    preface +=
        format("{} left to kube-scheduler: no node lists the devices that a DeviceClass serves\n",
               counted(view.left_alone, "task is", "tasks are"));
  if (view.for_others > 0)
    preface += format(
        "{} for another scheduler, which does not ask Slackline (extender.schedulerNames): {}; no "
        "forecast knows when\n",
        counted(view.for_others, "pod with GPUs waits", "pods with GPUs wait"),
        join({view.other_schedulers.begin(), view.other_schedulers.end()}, ", "));
  if (!view.leads) preface += leader_text(view) + "\n";
  const auto unled = std::ranges::count(view.rows, reason::kNotLed, &QueueRow::reason);
  if (!view.active && unled > 0)
    preface += format(
        "{} for Slackline since active mode was left, and no planner runs (NotLed): start one, or "
        "`slackline release`\n",
        counted(unled, "task waits", "tasks wait"));
  return preface;
}

}  // namespace slackline::wire
