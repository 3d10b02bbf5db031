// Calibration runs.
#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {

template <>
const Columns<CalibrationRow>& columns<CalibrationRow>() {
  using C = Column<CalibrationRow>;
  using Row = const CalibrationRow&;
  static const Columns<CalibrationRow> kColumns = {
      "Calibration",
      {
          C("model", &CalibrationRow::model).cell("MODEL").wide(),
          C("namespace", [](Row row) { return row.job.ns; }).cell("NAMESPACE"),
          C(
              "job", [](Row row) { return row.job.name; }, "That the run is made from")
              .cell("JOB"),
          C("gpuType", [](Row row) { return if_any(row.gpu_type); }).cell("GPU TYPE"),
          C(
              "shape", [](Row row) { return row.shape; }, "Nodes x GPUs per node")
              .cell("SHAPE"),
          C("iterations", &CalibrationRow::iterations).cell(">ITERATIONS"),
          C("bits", &CalibrationRow::bits,
            "That the run is expected to say of the speed of the model")
              .cell(">BITS", [](Row row) { return row.bits ? format("{:.1f}", *row.bits) : ""; }),
          C("state", &CalibrationRow::state)
              .one_of({"wanted", "waits", "runs", "measured", "failed", "none"})
              .cell("STATE"),
          C("why", [](Row row) { return if_any(row.why); }).cell("WHY"),
      }};
  return kColumns;
}

template <>
const Columns<CalibrationView>& columns<CalibrationView>() {
  using C = Column<CalibrationView>;
  static const Columns<CalibrationView> kColumns = {
      "Calibrations",
      {
          C("gpuMinutesLeft", &CalibrationView::gpu_minutes_left,
            "That calibration runs of all models may still use in the present 24 hours"),
          C("gpuMinutesPerDay", &CalibrationView::gpu_minutes_per_day),
      }};
  return kColumns;
}

std::string preface_of(const CalibrationView& view) {
  return format("calibration runs may use {:.0f} more of {:.0f} GPU minutes a day\n",
                view.gpu_minutes_left, view.gpu_minutes_per_day);
}

}  // namespace slackline::wire
