// Tasks and their placements.
#include "slackline/base/duration.h"
#include "slackline/model/task.h"
#include "wire/rest/cell_text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {

template <>
const Columns<TaskView>& columns<TaskView>() {
  using C = Column<TaskView>;
  static const Columns<TaskView> kColumns = {
      "Task",
      {
          C("kind", &TaskView::kind, "Job, Gang, Pod or the kind of the pods' controller"),
          C("namespace", [](const TaskView& task) { return task.key.ns; }).cell("NAMESPACE"),
          C("name", [](const TaskView& task) { return task.key.name; }).cell("NAME"),
          C::only_cell("~KIND", &TaskView::kind),
          C("uid", &TaskView::uid),
          C("state", &TaskView::state).one_of(task_state_names()).cell("STATE"),
          C("model", &TaskView::model, "Empty: not named").cell("~MODEL"),
          C("mode", &TaskView::mode),
          C("qosClass", &TaskView::qos_class).cell("~CLASS"),
          C("queue", &TaskView::queue),
          C("gang", &TaskView::gang),
          C("plan", &TaskView::plan_id),
          C("shape", &TaskView::shape, "As written: nodes x GPUs of each").cell("SHAPE"),
          C("placements", &TaskView::placements, "As annotated; auto: any"),
          C("gpuTypes", &TaskView::gpu_types, "As annotated; any: any").cell("GPU TYPES"),
          C("gpuResource", &TaskView::gpu_resource),
          C("gpusPerPod", &TaskView::gpus_per_pod),
          C("podsWanted", &TaskView::pods_wanted),
          C("podsBound", &TaskView::pods_bound),
          C("podsUnbound", &TaskView::pods_unbound),
          C("priority", &TaskView::priority),
          C("created",
            [](const TaskView& task) {
              return task.created_s > 0 ? std::optional(Time{task.created_s}) : std::nullopt;
            }),
          C(
              "started", [](const TaskView& task) { return time_of(task.started_s); },
              "Since when it runs; absent: it does not"),
          C("deadline",
            [](const TaskView& task) {
              return time_of(task.deadline_s);
            }).cell("DEADLINE"),
          C("batchSize", &TaskView::batch_size, "Global, of all GPUs together"),
          C("iterations", &TaskView::iterations),
          C("expectedDurationSeconds", &TaskView::expected_duration_s),
          C(
              "expectedDurationOn",
              [](const TaskView& task) { return if_any(task.expected_duration_on); },
              "The GPU type that it names for that; absent: none"),
          C("nodes", &TaskView::nodes, "Of its bound pods").cell("NODES"),
          C(
              "gpuType", [](const TaskView& task) { return if_any(task.gpu_type.str()); },
              "Where it runs; absent: it does not, or the type is not known"),
          C("problems", &TaskView::problems, "Annotations that cannot be read"),
          C(
              "hints", [](const TaskView& task) { return if_any(task.hints); },
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
