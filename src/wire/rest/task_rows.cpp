// Tasks and their placements.
#include "slackline/base/duration.h"
#include "slackline/model/task.h"
#include "wire/rest/cell_text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

// A field of the task itself, or of its annotations.
template <class T>
auto of_task(T Task::* field) {
  return [field](const ListedTask& row) -> const T& { return row.task.*field; };
}

template <class T>
auto of_intent(T TaskIntent::* field) {
  return [field](const ListedTask& row) -> const T& { return row.task.intent.*field; };
}

auto text_of_intent(std::optional<std::string> TaskIntent::* field) {
  return [field](const ListedTask& row) { return (row.task.intent.*field).value_or(""); };
}

// `every` stands before the others, where the annotation says so.
template <class T>
auto as_annotated(bool TaskIntent::* any, std::string_view every,
                  std::vector<T> TaskIntent::* list) {
  return [=](const ListedTask& row) {
    std::vector<std::string> texts;
    if (row.task.intent.*any) texts.emplace_back(every);
    for (const T& one : row.task.intent.*list)
      texts.push_back(one.str());
    return texts;
  };
}

std::string plan_id_of(const ListedTask& row) {
  const auto& job = row.task.job;
  return job && job->plan ? job->plan->id : "";
}

std::optional<Time> creation_of(const ListedTask& row) {
  return row.task.created_s > 0 ? std::optional(Time{row.task.created_s}) : std::nullopt;
}

// "waiting", "waiting: kai-scheduler".
std::string state_text(const ListedTask& row) {
  const std::string_view state = to_string(row.task.state);
  return row.left_to.empty() ? std::string(state) : format("{}: {}", state, row.left_to);
}

}  // namespace

template <>
const Columns<ListedTask>& columns<ListedTask>() {
  using C = Column<ListedTask>;
  using Listed = const ListedTask&;
  const auto kind = [](Listed row) { return row.task.kind_name(); };
  static const Columns<ListedTask> kColumns = {
      "Task",
      {
          C("kind", kind, "Job, Gang, Pod or the kind of the pods' controller"),
          C("namespace", [](Listed row) { return row.task.key.ns; }).cell("NAMESPACE"),
          C("name", [](Listed row) { return row.task.key.name; }).cell("NAME"),
          C::only_cell("~KIND", kind),
          C("uid", of_task(&Task::uid)),
          C("state", [](Listed row) { return to_string(row.task.state); })
              .one_of(task_state_names())
              .cell("STATE", state_text),
          C(
              "leftTo", [](Listed row) { return if_any(row.left_to); },
              "Who starts it while it waits: a scheduler that does not ask Slackline, or Kueue; "
              "absent: kube-scheduler or Slackline"),
          C("model", text_of_intent(&TaskIntent::model), "Empty: not named").cell("~MODEL"),
          C("mode",
            [](Listed row) {
              return to_string(row.task.intent.mode.value_or(WorkloadMode::kTraining));
            }),
          C("qosClass",
            [](Listed row) {
              return to_string(row.task.intent.qos_class.value_or(QosClass::kNormal));
            }).cell("~CLASS"),
          C("queue", [](Listed row) { return queue_of(row.task.intent, row.task.key.ns); }),
          C("gang", text_of_intent(&TaskIntent::gang)),
          C("plan", plan_id_of),
          C(
              "shape", [](Listed row) { return row.task.listed_shape(); },
              "As written: nodes x GPUs of each; of members that differ, in units of them")
              .cell("SHAPE"),
          C("placements", as_annotated(&TaskIntent::any_placement, "auto", &TaskIntent::placements),
            "As annotated; auto: any"),
          C("gpuTypes", as_annotated(&TaskIntent::any_gpu_type, "any", &TaskIntent::gpu_types),
            "As annotated; any: any")
              .cell("GPU TYPES"),
          C("gpuResource", of_task(&Task::gpu_resource)),
          C("gpus", of_task(&Task::all_gpus), "Of all its pods"),
          C("gpusPerPod", of_task(&Task::gpus_per_pod), "Of the largest one"),
          C("podsWanted", of_task(&Task::pods_wanted)),
          C("podsBound", of_task(&Task::pods_bound)),
          C("podsUnbound", of_task(&Task::pods_unbound)),
          C("priority", of_task(&Task::priority)),
          C("created", creation_of),
          C(
              "started", [](Listed row) { return time_of(row.started_s()); },
              "Since when it runs; absent: it does not"),
          C("deadline", [](Listed row) { return time_of(row.deadline_s); }).cell("DEADLINE"),
          C("batchSize", of_intent(&TaskIntent::batch_size), "Global, of all GPUs together"),
          C("iterations", of_intent(&TaskIntent::iterations)),
          C("expectedDurationSeconds", of_intent(&TaskIntent::expected_duration_s)),
          C("expectedDurationOn", of_intent(&TaskIntent::expected_duration_on),
            "The GPU type that it names for that; absent: none"),
          C("nodes", of_task(&Task::nodes), "Of its bound pods").cell("NODES"),
          C(
              "gpuType", [](Listed row) { return if_any(row.gpu_type); },
              "Where it runs; absent: it does not, or the type is not known"),
          C("problems", of_intent(&TaskIntent::problems), "Annotations that cannot be read"),
          C(
              "hints", [](Listed row) { return if_any(row.hints); },
              "What its annotations leave open, as the webhook warns of it; absent: nothing, or a "
              "list was asked for"),
      }};
  return kColumns;
}

template <>
const Columns<PlacementRow>& columns<PlacementRow>() {
  using C = Column<PlacementRow>;
  static const Columns<PlacementRow> kColumns = {
      "Placement",
      {
          C("gpuType", &PlacementRow::gpu_type).cell("GPU TYPE", type_shown<PlacementRow>()),
          C("shape", &PlacementRow::shape, "Nodes x GPUs of each").cell("SHAPE"),
          C("throughputSamplesPerSecond", &PlacementRow::throughput_samples_per_s,
            "Absent: no speed is predicted")
              .cell(">SAMPLES/S"),
          C("throughputLow", &PlacementRow::throughput_low,
            "9 of 10 runs are expected between low and high")
              .cell(">~LOW"),
          C("throughputHigh", &PlacementRow::throughput_high).cell(">~HIGH"),
          C("source", &PlacementRow::source, kSourceAbout)
              .cell("~SOURCE", source_shown<PlacementRow>()),
          C("extrapolated", &PlacementRow::extrapolated, kExtrapolatedAbout),
          C(
              "latSeconds", [](const PlacementRow& row) { return seconds_of(row.latency_s); },
              "Lat: start-up and run time; absent: unknown")
              .cell(">RUN TIME"),
          C("cost", &PlacementRow::cost).cell(">~COST"),
          C("cer", &PlacementRow::cer, "Cost-efficiency ratio; absent: unknown").cell(">~CER"),
          C(
              "feasible", [](const PlacementRow& row) { return Tristate{row.feasible}; },
              "Started now it meets the deadline; null: unknown")
              .cell("MEETS DEADLINE"),
          C("allowed", &PlacementRow::allowed, "The task's placements and gpu-types permit it"),
          C("fitsNow", &PlacementRow::fits_now, "It would fit into what is free now")
              .cell("FITS NOW"),
          C("written", &PlacementRow::written, "The shape as submitted"),
          C("reason", &PlacementRow::reason, "Why not")
              .cell("NOTE",
                    [](const PlacementRow& row) {
                      return row.written && row.allowed ? "as submitted" : row.reason;
                    }),
      }};
  return kColumns;
}

template <>
const Columns<PlacementsView>& columns<PlacementsView>() {
  using C = Column<PlacementsView>;
  static const Columns<PlacementsView> kColumns = {
      "Placements",
      {
          C("task", &PlacementsView::task, "NAMESPACE/NAME"),
          C("model", [](const PlacementsView& view) { return if_any(view.model); }),
          C(
              "note", [](const PlacementsView& view) { return if_any(view.note); },
              "Where the numbers come from, or why there are none"),
      }};
  return kColumns;
}

}  // namespace slackline::wire
